package algo

import (
	"cmp"

	"dsbo"
	"dsbo/internal/linalg"
)

// SABA is SABA (Dagréou, Ablin, Vaiter, Moreau, "A framework for bilevel optimization that enables
// stochastic and global variance reduction algorithms", NeurIPS 2022), for one agent: [SOBA] with a
// table (SAGA) of each of its five quantities: ∇_y g, Hz and Jz, with a row for each batch of the
// training examples, and ∇_y f and ∇_x f, with a row for each of the validation examples. m is the
// mean of a table's rows. With the batches that the iteration draws, all five at the point of now:
//
//	new: the quantity on the batch;  in place of it: new − row + m
//	m += share of the batch · (new − row);  row = new
//	x −= α (∇_x f − J z),  y −= β ∇_y g,  z −= γ (H z − b)
//
// The lines are certain, from public code. It converges exactly with constant steps. Losses must be
// means over examples, which oracles check. Batches are a partition (Batch of
// [dsbo.OracleCapabilities]); the drawn ones are of {Lower, k, 0} and {Upper, k, 0}. The tables
// take 2q + p numbers for a batch of the training examples and p + q for one of the others.
type SABA struct {
	Alpha Schedule `json:"alpha,omitzero" default:"0.1"` // α, step of x
	Beta  Schedule `json:"beta,omitzero" default:"0.1"`  // β, step of y
	Gamma Schedule `json:"gamma,omitzero" default:"0.1"` // γ, step of z
	// batches: one number, or for training and validation
	Batches counts `json:"batches,omitempty" default:"10"`
	Start   string `json:"init,omitempty" must:"one of zero, full"` // tables at the start; full: of all batches

	tripleState
	d     triple
	sides [2]sagaSide
}

// The quantities of the lower and of the upper side, by their places in a sagaSide's lists.
const (
	lowerY, hz, jz = 0, 1, 2
	upperY, upperX = 0, 1
)

// A sagaSide is the tables of quantities that are asked for on the same batches.
type sagaSide struct {
	draws dsbo.Set      // Lower or Upper
	of    dsbo.Set      // LowerBatch or UpperBatch
	names []string      // of the quantities, in checkpoints
	mean  [][]float64   // the mean of the table's rows, for each quantity
	table [][][]float64 // the row of each batch, for each quantity
	fresh [][]float64   // new, then new − row + m, for each quantity
}

// Init implements [Method].
func (a *SABA) Init(p, q, K int) error {
	return a.prepare(a, p, q, K, func(c *checker) {
		n := len(a.Batches)
		c.require(n <= 2 && min(a.Batches[0], a.Batches[n-1]) >= 1, "batches", "one number or two, at least 1",
			a.Batches)
		if c.err != nil {
			return
		}
		a.d = a.directionTriple()
		a.sides = [2]sagaSide{{draws: dsbo.Lower, of: dsbo.LowerBatch, names: []string{"lower_y", "hz", "jz"}},
			{draws: dsbo.Upper, of: dsbo.UpperBatch, names: []string{"upper_y", "upper_x"}}}
		for i := range a.sides {
			a.addTables(&a.sides[i], a.Batches[min(i, n-1)])
		}
	})
}

// addTables makes the tables of a side, which are part of the state.
func (a *SABA) addTables(s *sagaSide, batches int) {
	length := map[string]int{"jz": len(a.x), "upper_x": len(a.x)} // the others are as long as y
	s.table = make([][][]float64, batches)
	for _, name := range s.names {
		n := cmp.Or(length[name], len(a.y))
		rows := a.carried(name+"_table", batches*n)
		for b := range s.table {
			s.table[b] = append(s.table[b], rows[b*n:(b+1)*n])
		}
		s.mean, s.fresh = append(s.mean, a.carried(name+"_mean", n)), append(s.fresh, a.newVec(n))
	}
}

// Traits implements [Described].
func (a *SABA) Traits() Traits {
	return a.traits(Traits{OneAgent: true,
		FullBatch: "it draws one of its own batches, a partition of the examples",
		Bounds: func(c Curvature) Curvature { // 2/L is descent's: by default steps are SAGA's 1/(3L)
			c.Beta, c.Gamma = c.Y/6, c.Z/6
			return c
		}})
}

// Cost of an iteration: nothing is sent; one gradient of f and of g, one Hessian- and one
// Jacobian-vector product, and in the first, where the tables are filled, one more of each batch.
func (a *SABA) Cost(k int) Cost {
	lower, upper := 1, 1
	if k == 0 && a.Start == "full" {
		lower, upper = lower+len(a.sides[0].table), upper+len(a.sides[1].table)
	}
	return Cost{Calls: dsbo.Calls{UpperGrad: upper, LowerGrad: lower, HVP: lower, JVP: lower}}
}

// step is one outer iteration.
func (a *SABA) step(w *Turn, k int) {
	for i := range a.sides {
		s := &a.sides[i]
		if k == 0 && a.Start == "full" {
			for b := range s.table {
				a.move(w, s, dsbo.Sample{Set: s.of, K: b, T: len(s.table)})
			}
		}
		a.move(w, s, w.Draw(s.draws, 0))
	}
	lower, upper := a.sides[0].fresh, a.sides[1].fresh
	linalg.Sub(a.d.x, upper[upperX], lower[jz]) // ∇_x f − J z
	copy(a.d.y, lower[lowerY])
	linalg.Sub(a.d.z, lower[hz], upper[upperY]) // H z − b
	a.descend(a.d, k)
}

// move computes the quantities of side s on a draw's batch. It sets fresh to new − row + m, with
// row and m from before, and then updates the batch's rows and the means.
func (a *SABA) move(w *Turn, s *sagaSide, draw dsbo.Sample) {
	batch, share := batchOf(w, draw, len(s.table))
	if s.of == dsbo.UpperBatch {
		w.UpperGrad(s.fresh[upperX], s.fresh[upperY], a.x, a.y, batch)
	} else {
		w.LowerGrad(s.fresh[lowerY], a.x, a.y, batch)
		w.HVP(s.fresh[hz], a.x, a.y, a.z, batch)
		w.JVP(s.fresh[jz], a.x, a.y, a.z, batch)
	}
	if w.err != nil {
		return
	}
	for i, fresh := range s.fresh {
		row, mean := s.table[batch.K][i], s.mean[i]
		for e, v := range fresh {
			moved := v - row[e]
			row[e], fresh[e] = v, moved+mean[e]
			mean[e] += float64(share * moved)
		}
	}
}
