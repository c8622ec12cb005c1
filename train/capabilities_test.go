package train_test

import (
	"reflect"
	"testing"

	"dsbo"
	"dsbo/algo/algotest"
	"dsbo/internal/testkit"
	"dsbo/network"
	"dsbo/train"
)

// TestMeterPassesOn: a meter passes on all capabilities, and the oracle of several agents the
// penalty alone.
func TestMeterPassesOn(t *testing.T) {
	algotest.CheckCapabilities(t, train.Metered)
	algotest.CheckCapabilities(t, train.Shared, "Values", "LowerJointGrad", "Batch", "Hessian", "Jacobian", "Diagonal",
		"GaussNewton")
	w := testkit.Get(network.Ring(1, 0.5)).W
	end := testkit.Get(network.NewAverages(network.NewLocal(w), w, network.AverageOptions{})).Agent(0)
	of, metered := testkit.Get(dsbo.Capabilities(end)), testkit.Get(dsbo.Capabilities(train.MeteredMixer(end)))
	for _, f := range reflect.VisibleFields(reflect.TypeOf(*of)) {
		has := func(c *dsbo.MixerCapabilities) bool { return !reflect.ValueOf(*c).FieldByIndex(f.Index).IsNil() }
		if has(of) != has(metered) {
			t.Errorf("an end and its meter differ in %s", f.Name)
		}
	}
}
