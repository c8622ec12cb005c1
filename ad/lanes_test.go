package ad

import (
	"fmt"
	"testing"

	"dsbo/internal/kernel"
	"dsbo/internal/testkit"
)

// products holds every step-th column of d's whole Hessian and Jacobian against its products with
// the unit vectors, to the bit. All lanes have their turn with a step that has no factor in common
// with 24, their number.
func products(t *testing.T, d *Derivs, x, y []float64, step int) {
	t.Helper()
	p, q := len(x), len(y)
	h, again, j := make([]float64, q*q), make([]float64, q*q), make([]float64, p*q)
	testkit.OK(d.Hessian(h, x, y))
	testkit.OK(d.Jacobian(j, x, y))
	e, hv, jv, col := make([]float64, q), make([]float64, q), make([]float64, p), make([]float64, p)
	for k := 0; k < q; k += step {
		e[k] = 1
		testkit.OK(d.HVP(hv, x, y, e))
		testkit.OK(d.JVP(jv, x, y, e))
		e[k] = 0
		for i := range col {
			col[i] = j[i*q+k]
		}
		sameBits(t, fmt.Sprint("column of the Hessian ", k), h[k*q:(k+1)*q], hv)
		sameBits(t, fmt.Sprint("column of the Jacobian ", k), col, jv)
	}
	testkit.OK(d.Hessian(again, x, y))
	sameBits(t, "the Hessian after the products", again, h)
}

// TestWholeMatricesOnEveryPath: so it is for every column of the tasks of the paper, which are more
// than there are lanes.
func TestWholeMatricesOnEveryPath(t *testing.T) {
	for path := kernel.Generic; kernel.Supported(path); path++ {
		t.Run(path.String(), func(t *testing.T) {
			defer kernel.Use(path)()
			for _, c := range []struct {
				name string
				k    *task
				loss func(k *task) Loss
			}{
				{"softmax", newTask(70, 13, 5, 1), (*task).softmaxLoss},
				{"logistic", newTask(150, 37, 2, 1), (*task).logisticLoss},
			} {
				for _, single := range []bool{false, true} {
					l := c.loss(c.k)
					l.Float32 = single
					d := testkit.Get(Differentiate(l))
					setTile(d.Program, 64)
					for _, in := range l.Inputs {
						testkit.OK(d.Bind(in.Name, c.k.tables[in.Name], nil))
					}
					t.Run(fmt.Sprint(c.name, " float32=", single),
						func(t *testing.T) { products(t, d, c.k.x[:l.P], c.k.y[:l.Q], 1) })
				}
			}
		})
	}
}
