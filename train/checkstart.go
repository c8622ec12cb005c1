package train

import (
	"cmp"
	"math"

	"dsbo"
	"dsbo/internal/linalg"
)

// CheckStart checks that derivatives are finite where a run starts, for the agents of this process
// and all their examples: both gradients, and a product with ∇²_yy g_i and ∇²_xy g_i each. The
// error matches [dsbo.ErrConfig] and names the derivative, the entry and the point. Problems
// without evaluation, such as those with noise, are not checked.
func (p Problem) CheckStart(x, y []float64) error {
	dx, dy, v := make([]float64, len(x)), make([]float64, len(y)), make([]float64, len(y))
	linalg.Fill(v, 1)
	for i, o := range p.Evaluate {
		// finite returns err or, if that is nil, an error if an entry of dst is not finite, with
		// the entry of x or y (at) that it belongs to.
		finite := func(what string, err error, dst, at []float64) error {
			for j, d := range dst {
				if err == nil && (math.IsNaN(d) || math.IsInf(d, 0)) {
					err = dsbo.ConfigErrorf("agent %d: the %s must be finite where the run starts; entry %d is %g, at "+
						"%.4g with ‖x‖ = %.4g and ‖y‖ = %.4g: change the loss or the start (-x0, "+
						"models.Starter)", p.agents().Number(i), what, j, d, at[j], linalg.Norm(x), linalg.Norm(y))
				}
			}
			return err
		}
		if o == nil { // an agent of another process
			continue
		}
		err := cmp.Or( // each is asked and checked before the next one overwrites dx and dy
			finite("gradient of the upper loss by x", o.UpperGrad(dx, dy, x, y, allExamples), dx, x),
			finite("gradient of the upper loss by y", nil, dy, y),
			finite("gradient of the lower loss by y", o.LowerGrad(dy, x, y, allExamples), dy, y),
			finite("Hessian of the lower loss by y, times ones,", o.HVP(dy, x, y, v, allExamples), dy, y),
			finite("derivative of the lower loss by x and y, times ones,", o.JVP(dx, x, y, v, allExamples), dx, x))
		if err != nil {
			return err
		}
	}
	return nil
}
