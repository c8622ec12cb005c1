package modeltest_test

import (
	"fmt"
	"testing"

	"dsbo/ad"
	"dsbo/models"
	"dsbo/models/modeltest"
)

// forgetful is a ridge whose lower loss has lost its penalty, and x with it.
type forgetful struct{ ridge }

func (f forgetful) Lower(x, y *ad.Node, b models.Batch) *ad.Node { return f.Upper(x, y, b) }

// findings is what TestModel takes in place of a *testing.T outside of go test.
type findings struct {
	testing.TB
	checks []string
}

func (*findings) Helper() {}

func (f *findings) Errorf(_ string, args ...any) { f.checks = append(f.checks, fmt.Sprint(args[0])) }

// The test of a model is one line, modeltest.TestModel(t, model, shard). Here it looks at a right
// model, and at one whose lower loss does not depend on x.
func ExampleTestModel() {
	shard := examples(30, 3, 0, normal)
	for _, m := range []models.Model{ridge{3}, forgetful{ridge{3}}} {
		var found findings
		modeltest.TestModel(&found, m, shard)
		fmt.Printf("%T: %q\n", m, found.checks)
	}
	// Output:
	// modeltest_test.ridge: []
	// modeltest_test.forgetful: ["x"]
}
