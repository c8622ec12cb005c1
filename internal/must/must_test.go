package must_test

import (
	"io"
	"strconv"
	"testing"

	"dsbo/internal/must"
)

func TestTry(t *testing.T) {
	got := 0
	if err := must.Try(func() { got = must.Get(strconv.Atoi("7")) }); err != nil || got != 7 {
		t.Errorf("%d, %v; want 7 and no error", got, err)
	}
	err := must.Try(func() {
		must.OK(nil)
		must.Get2(1, 2, io.EOF)
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
	_ = must.Try(func() { panic("other") })
}
