package modeltest

import (
	"encoding/binary"
	"fmt"
	"hash/crc64"

	"dsbo"
	"dsbo/internal/linalg"
	"dsbo/internal/testkit"
	"dsbo/models"
)

// call is one of the oracle's questions, at a fixed point.
type call struct {
	name string
	n    int // length of the result
	ask  func(o dsbo.Oracle, dst []float64, name dsbo.Sample) error
}

// calls returns all questions at a new point.
func (s *subject) calls() []call { return s.callsAt(s.point()) }

// callsAt returns the calls to compare at a point: questions, and the diagonal if the model's is
// exact.
func (s *subject) callsAt(x, y, v []float64) []call {
	list := questions(x, y, v)
	if s.asksDiagonal() {
		diagonal := func(o dsbo.Oracle, dst []float64, n dsbo.Sample) error {
			return o.Capabilities().Diagonal(dst, x, y, n)
		}
		list = append(list, call{"diagonal of ∇²_yy g", s.q, diagonal})
	}
	return list
}

// questions returns the calls that every oracle of a model answers.
func questions(x, y, v []float64) []call {
	p, q := len(x), len(y)
	return []call{
		{"∇_x f", p, func(o dsbo.Oracle, dst []float64, n dsbo.Sample) error {
			return o.UpperGrad(dst, nil, x, y, n)
		}},
		{"∇_y f", q, func(o dsbo.Oracle, dst []float64, n dsbo.Sample) error {
			return o.UpperGrad(nil, dst, x, y, n)
		}},
		{"∇_y g", q, func(o dsbo.Oracle, dst []float64, n dsbo.Sample) error { return o.LowerGrad(dst, x, y, n) }},
		{"∇_x g", p, func(o dsbo.Oracle, dst []float64, n dsbo.Sample) error {
			return o.Capabilities().LowerJointGrad(dst, nil, x, y, n)
		}},
		{"(∇²_yy g)v", q, func(o dsbo.Oracle, dst []float64, n dsbo.Sample) error { return o.HVP(dst, x, y, v, n) }},
		{"(∇²_xy g)v", p, func(o dsbo.Oracle, dst []float64, n dsbo.Sample) error { return o.JVP(dst, x, y, v, n) }},
	}
}

// asksDiagonal reports whether the diagonal is the model's own, or cheap enough as an estimate of
// 8 products.
func (s *subject) asksDiagonal() bool {
	_, ok := s.m.(models.Curved)
	return ok || s.q < largeLimit
}

// An answer is a fingerprint of a vector, by which a test compares its bits later.
type answer struct {
	bits uint64
	norm float64
}

var table = crc64.MakeTable(crc64.ECMA)

func fingerprint(v []float64) answer {
	h := crc64.New(table)
	testkit.OK(binary.Write(h, binary.LittleEndian, v))
	return answer{h.Sum64(), linalg.Norm(v)}
}

// answers makes all the calls under one sample name.
func answers(o dsbo.Oracle, calls []call, name dsbo.Sample) []answer {
	out := make([]answer, len(calls))
	for i, c := range calls {
		dst := make([]float64, c.n)
		if err := c.ask(o, dst, name); err != nil {
			testkit.OK(fmt.Errorf("%s: %w", c.name, err))
		}
		out[i] = fingerprint(dst)
	}
	return out
}

// sameBits compares two sets of answers.
func sameBits(calls []call, a, b []answer, what string) error {
	for i, c := range calls {
		if a[i].bits != b[i].bits {
			return fmt.Errorf("%s: %s has two answers, with norms %.17g and %.17g", what, c.name, a[i].norm, b[i].norm)
		}
	}
	return nil
}
