package models

import (
	"fmt"

	"dsbo"
	"dsbo/ad"
	"dsbo/internal/linalg"
)

// penalty is Penalty of [dsbo.OracleCapabilities], offered if the model is [Penalized].
func (o *Oracle) penalty(dst, x []float64) error {
	if len(dst) != o.q || len(x) != o.p {
		return dsbo.ShapeErrorf("len(dst) and len(x) must be q=%d and p=%d; they are %d and %d", o.q, o.p,
			len(dst), len(x))
	}
	o.programs.model.(Penalized).Penalty(dst, x)
	return nil
}

// Diagonal is Diagonal of [dsbo.OracleCapabilities]. For a [Curved] model it is exact, at the cost
// of about two gradients.
//
// Otherwise it is the mean of v∘(∇²_yy g_i)v over 8 vectors v of random signs (Bekas, Kokiopoulou
// and Saad 2007), at the cost of 8 products. The estimate is unbiased, entry j has the standard
// deviation √(Σ_{k≠j} H_jk² / 8), and the penalty's part is exact. Each agent draws its own signs,
// the same in each call, so an average over n agents is as exact as 8n vectors.
func (o *Oracle) Diagonal(dst, x, y []float64, s dsbo.Sample) error {
	if len(dst) != o.q {
		return dsbo.ShapeErrorf("dst must have q = %d numbers; it has %d", o.q, len(dst))
	}
	idx, rows := o.low.rowsOf(s)
	program, err := o.diagonalProgram(rows)
	if err != nil {
		return fmt.Errorf("agent %d, diagonal: %w", o.low.cfg.Agent, err)
	}
	if program == nil {
		return o.estimateDiagonal(dst, x, y, s)
	}
	if err := o.low.bind(program, s, idx, rows); err != nil {
		return err
	}
	if err := program.Eval(dst, x, y); err != nil {
		return err
	}
	m, ok := o.programs.model.(Penalized) // the closed form of such a model does not contain P(x)
	if !ok {
		return nil
	}
	penalty := o.programs.scratch(o.q)
	defer o.programs.vectors.Add(penalty)
	m.Penalty(*penalty, x)
	linalg.Add(dst, dst, *penalty)
	return nil
}

// diagonalProgram returns the compiled closed form for batches of the given number of rows. It
// returns nil if the model is not [Curved], or if its Diagonal returns nil with its settings;
// o.diagonals = nil records the latter, so that no graph is built a second time.
func (o *Oracle) diagonalProgram(rows int) (*ad.Program, error) {
	m, ok := o.programs.model.(Curved)
	if !ok || o.diagonals == nil {
		return nil, nil
	}
	if p := o.diagonals[rows]; p != nil {
		return p, nil
	}
	f, err := o.programs.compile(diagonalForm, &o.low.ex, rows, o.low.cfg.Float32, o.low.memory,
		func(x, y *ad.Node, b Batch) ([]*ad.Node, error) {
			if d := m.Diagonal(x, y, b); d != nil {
				return []*ad.Node{d}, nil
			}
			return nil, nil
		})
	switch {
	case err != nil:
		return nil, err
	case f.values == 0:
		o.diagonals = nil
		return nil, nil
	}
	o.diagonals[rows] = f.program
	return f.program, nil
}

// diagonalProbes is how many vectors of signs estimate a diagonal.
const diagonalProbes = 8

// estimateDiagonal writes to dst the mean of v∘(∇²_yy g_i)v over vectors v of random signs.
func (o *Oracle) estimateDiagonal(dst, x, y []float64, s dsbo.Sample) error {
	probe, product := o.programs.scratch(o.q), o.programs.scratch(o.q)
	defer o.programs.vectors.Add(probe)
	defer o.programs.vectors.Add(product)
	clear(dst)
	for k := range diagonalProbes {
		o.low.draw.Signs(*probe, k)
		if err := o.HVP(*product, x, y, *probe, s); err != nil {
			return err
		}
		for j, v := range *probe {
			dst[j] += float64(v * (*product)[j] / diagonalProbes)
		}
	}
	return nil
}
