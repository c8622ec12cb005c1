package models_test

import (
	"testing"

	"dsbo/ad/adtest"
)

// TestOnEveryPath: models are their closed forms, and the basic ones conform, whichever kernels do
// the work. What else the tests here show is of graphs, which all paths have alike; the kernels
// have tests of their own.
func TestOnEveryPath(t *testing.T) {
	adtest.Everywhere(t, "ClosedForm$|^TestModels$|^TestLeNetByHand$|^TestSparseIsDense$")
}
