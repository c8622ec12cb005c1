package models_test

import (
	"testing"

	"dsbo/internal/kernel/kerneltest"
)

// TestOnEveryPath: models are their closed forms, and the basic ones conform, whichever kernels do the work. What else the tests here show is of
// graphs, which all paths have alike; the kernels have tests of their own.
func TestOnEveryPath(t *testing.T) {
	kerneltest.Everywhere(t, "ClosedForm$|^TestModels$|^TestLeNetByHand$|^TestSparseIsDense$")
}
