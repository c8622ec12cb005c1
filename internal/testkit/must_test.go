package testkit_test

import (
	"io"
	"strconv"
	"testing"

	"dsbo/internal/testkit"
)

func TestTry(t *testing.T) {
	got := 0
	if err := testkit.Catch(func() { got = testkit.Get(strconv.Atoi("7")) }); err != nil || got != 7 {
		t.Errorf("%d, %v; want 7 and no error", got, err)
	}
	err := testkit.Catch(func() {
		testkit.OK(nil)
		testkit.Get2(1, 2, io.EOF)
		t.Error("a step followed one that failed")
	})
	if err != io.EOF {
		t.Errorf("error %v, want that of the step", err)
	}
	defer func() {
		if r := recover(); r != "other" {
			t.Errorf("recovered %v, want the panic that is no failure of a step", r)
		}
	}()
	_ = testkit.Catch(func() { panic("other") })
}
