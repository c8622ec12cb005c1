package train_test

import (
	"errors"
	"math"
	"strings"
	"testing"

	"dsbo"
	"dsbo/train"
)

// A broken oracle has one number that is not finite in one of its answers.
type broken struct {
	dsbo.ValueOracle
	upperX, upperY, lower, hvp, jvp float64
}

func (o broken) Capabilities() *dsbo.OracleCapabilities {
	of := *o.ValueOracle.Capabilities()
	of.Of = o
	return &of
}

func (o broken) UpperGrad(dx, dy, x, y []float64, s dsbo.Sample) error {
	err := o.ValueOracle.UpperGrad(dx, dy, x, y, s)
	dx[1], dy[2] = dx[1]+o.upperX, dy[2]+o.upperY
	return err
}

func (o broken) LowerGrad(dst, x, y []float64, s dsbo.Sample) error {
	err := o.ValueOracle.LowerGrad(dst, x, y, s)
	dst[3] += o.lower
	return err
}

func (o broken) HVP(dst, x, y, v []float64, s dsbo.Sample) error {
	err := o.ValueOracle.HVP(dst, x, y, v, s)
	dst[4] += o.hvp
	return err
}

func (o broken) JVP(dst, x, y, v []float64, s dsbo.Sample) error {
	err := o.ValueOracle.JVP(dst, x, y, v, s)
	dst[0] += o.jvp
	return err
}

// TestCheckStart: a run whose losses have no derivatives where it starts does not begin, and the
// error names the agent, the loss, the entry and the point.
func TestCheckStart(t *testing.T) {
	for want, o := range map[string]broken{
		"gradient of the upper loss by x must be finite": {upperX: math.NaN()},
		"gradient of the upper loss by y":                {upperY: math.Inf(1)},
		"entry 3 is NaN, at 0.5":                         {lower: math.NaN()},
		"entry 4 is +Inf, at 0.5":                        {hvp: math.Inf(1)},
		"entry 0 is -Inf, at 2 with":                     {jvp: math.Inf(-1)},
	} {
		c, _ := config(t)
		c.StartX, c.Problem.Start = []float64{2, 2, 2}, []float64{.5, .5, .5, .5, .5, .5}
		o.ValueOracle = c.Problem.Evaluate[1]
		c.Problem.Evaluate[1] = o
		_, err := train.Run(t.Context(), c)
		if !errors.Is(err, dsbo.ErrConfig) || !strings.Contains(err.Error(), want) ||
			!strings.Contains(err.Error(), "agent 1") {
			t.Errorf("%v must be a configuration's error with %q", err, want)
		}
	}
}
