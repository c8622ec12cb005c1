package main

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"dsbo/internal/testkit"
)

func TestDeepRows(t *testing.T) {
	measured := map[string]bool{}
	for _, w := range workers(t.Context()) {
		measured[w.label] = true
	}
	for _, d := range deepRows() {
		if !measured[d.label()] || !slices.Contains(parts(), d.part()) {
			t.Errorf("%s of %s cannot be chosen", d.label(), d.part())
		}
	}
	for _, flag := range []string{"--network", "--batch", "--dtype", "--out"} {
		if !bytes.Contains(torchProducts, []byte(`a("`+flag+`"`)) {
			t.Errorf("the peer's program has no flag %s", flag)
		}
	}
}

// TestDeepModel counts parameters and products by hand.
func TestDeepModel(t *testing.T) {
	mlp := newDeep("784-256-128-10")
	if q := mlp.params.Len(); q != 785*256+257*128+129*10 {
		t.Errorf("the network of dense layers has %d parameters", q)
	}
	first, rest := 2.*784*256, 2.*(256*128+128*10)
	if c, want := mlp.count, (productCount{2*first + 3*rest, 3*first + 8*rest, 2*first + 6*rest}); c != want {
		t.Errorf("%+v, want %+v", c, want)
	}
	lenet := newDeep(lenet)
	if q := lenet.params.Len(); q != 26*8+201*16+257*10 {
		t.Errorf("the network with convolutions has %d parameters", q)
	}
	first, rest = 2.*12*12*25*8, 2.*(4*4*200*16+256*10)
	if c := lenet.count; c.gradient != 2*first+3*rest {
		t.Errorf("a gradient has %g multiplications and additions, want %g", c.gradient, 2*first+3*rest)
	}
}

func TestMeasureDeep(t *testing.T) {
	d := deepRow{network: "784-3-10", batch: 5, kind: f32, gradient: .7, product: .6}
	times := d.measure(0)
	if !(min(times.Gradient, times.Cold, times.Warm) > 0) {
		t.Errorf("%+v: want positive times", times)
	}
	l := limit{GFLOPS: 1, GFLOPS64: 1}
	mine, other := deepTimes{1, 2, 1.5}, deepTimes{4, 8, 2}
	for _, want := range []string{"1.00", "4.00", "0.250", "2.00", "8.00", "1.50", "0.750"} {
		if line := d.row([]deepTimes{mine}, []deepTimes{other}, l); !slices.Contains(line, want) {
			t.Errorf("%q lacks %s", line, want)
		}
	}
	if line := d.row([]deepTimes{mine}, nil, l); len(line) != 17 || line[2] != "" {
		t.Errorf("%q: want 17 cells, and none of a peer", line)
	}
}

// TestDeepRival runs a stand-in for Python.
func TestDeepRival(t *testing.T) {
	dir := t.TempDir()
	script := filepath.Join(dir, "stand-in")
	testkit.OK(os.WriteFile(script,
		[]byte(
			"#!/bin/sh\nwhile [ $# -gt 1 ]; do shift; done\necho '{\"Gradient\": 1, \"Cold\": 2, \"Warm\": "+
				"3}' > \"$1\"\n"), 0o700))
	r := &rival{python: script, dir: dir}
	got, err := r.deep(t.Context(), deepRows()[0])
	if err != nil {
		t.Skipf("no shell here: %v", err)
	}
	if got != (deepTimes{1, 2, 3}) {
		t.Errorf("%+v", got)
	}
	testkit.OK(os.WriteFile(script, []byte("#!/bin/sh\nwhile [ $# -gt 1 ]; do shift; done\necho '{}' > \"$1\"\n"),
		0o700))
	if _, err := r.deep(t.Context(), deepRows()[0]); err == nil {
		t.Error("no error for a result without times")
	}
}
