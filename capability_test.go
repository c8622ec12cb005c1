package dsbo_test

import (
	"errors"
	"strings"
	"testing"

	"dsbo"
	"dsbo/algo/algotest"
	"dsbo/internal/testkit"
	"dsbo/network"
)

// unaware is a wrapper that knows nothing of capabilities: it counts gradients alone.
type unaware struct {
	dsbo.Oracle
	gradients int
}

func (o *unaware) LowerGrad(dst, x, y []float64, s dsbo.Sample) error {
	o.gradients++
	return o.Oracle.LowerGrad(dst, x, y, s)
}

// aware passes values on, and hides the rest.
type aware struct{ unaware }

func (o *aware) Capabilities() *dsbo.OracleCapabilities {
	return &dsbo.OracleCapabilities{Of: o, Values: o.Oracle.Capabilities().Values}
}

// unawareMixer and muteMixer are likewise around an exchange.
type unawareMixer struct{ dsbo.Mixer }

type muteMixer struct{ unawareMixer }

func (muteMixer) Capabilities() *dsbo.MixerCapabilities { return nil }

// TestCapabilities: a wrapper that says nothing of capabilities is refused where any are asked for,
// whether the inner one is reached around it or not; one that says which it has, has these.
func TestCapabilities(t *testing.T) {
	inner := algotest.NewQuadratics(1, 2, 3, 1)[0]
	for _, o := range []dsbo.Oracle{&unaware{Oracle: inner}, &unaware{Oracle: &aware{unaware{Oracle: inner}}}} {
		also, err := dsbo.Capabilities(o)
		if !errors.Is(err, dsbo.ErrCapability) || !strings.Contains(err.Error(), "*dsbo_test.unaware must have") {
			t.Errorf("%v must name the wrapper and match ErrCapability", err)
		}
		if also.Values != nil || also.Hessian != nil {
			t.Error("there are capabilities beside the error")
		}
	}
	also := testkit.Get(dsbo.Capabilities(&aware{unaware{Oracle: inner}}))
	if also.Values == nil || also.Hessian != nil || also.Penalty != nil {
		t.Error("the wrapper must have values alone")
	}
	w := testkit.Get(network.Ring(1, 0.5)).W
	end := testkit.Get(network.NewAverages(network.NewLocal(w), w, network.AverageOptions{})).Agent(0)
	if _, err := dsbo.Capabilities(unawareMixer{end}); !errors.Is(err, dsbo.ErrCapability) {
		t.Errorf("%v must match ErrCapability", err)
	}
	if m := testkit.Get(dsbo.Capabilities(muteMixer{unawareMixer{end}})); m.Average != nil || m.Of != nil {
		t.Error("the mixer must have no capability")
	}
	if testkit.Get(dsbo.Capabilities(end)).Average == nil {
		t.Error("an end has averages")
	}
}
