package models_test

import (
	"testing"

	"dsbo/internal/kernel/kerneltest"
)

// TestOnEveryPath: every model conforms, and is its closed form, whichever kernels do the work.
func TestOnEveryPath(t *testing.T) { kerneltest.Everywhere(t, "^(Test|Example)") }
