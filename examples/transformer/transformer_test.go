package main

import (
	"bytes"
	"math"
	"os"
	"slices"
	"testing"

	"dsbo/ad"
	"dsbo/data"
	"dsbo/experiment"
	"dsbo/experiment/experimenttest"
	"dsbo/models"
	"dsbo/models/modeltest"
	"dsbo/runs"
)

var task experiment.Task // of all tests: models are registered once

func TestMain(m *testing.M) {
	task = newTask()
	os.Exit(m.Run())
}

// TestModels: derivatives follow the losses, for examples of two sources.
func TestModels(t *testing.T) {
	const rows, classes = 6, 3
	pixels, labels := make([]float64, rows*side*side), make([]uint8, rows)
	for i := range pixels {
		pixels[i] = math.Abs(math.Sin(float64(i * i)))
		labels[i/(side*side)] = uint8(i % classes)
	}
	pictures, err := ad.FloatTable(rows, side*side, pixels)
	if err != nil {
		t.Fatal(err)
	}
	targets, err := ad.LabelTable(labels, classes)
	if err != nil {
		t.Fatal(err)
	}
	e := data.Examples{X: pictures, Target: targets, ID: []int{3, 4, 5, 6, 7, 8}}
	all := map[string]models.Model{"body": newBody(classes, 1), "sources": newSources(classes, 2, 12, 1)}
	for name, m := range all {
		t.Run(name, func(t *testing.T) { modeltest.TestModel(t, m, data.Shard{Train: e, Val: e}) })
	}
}

func TestTask(t *testing.T) {
	experimenttest.TestTask(t, task, "-model=body", "-train=20", "-val=20", "-batch=8", "-K=2")
}

// TestSources: the weights of sources with wrong labels fall, and the others' rise.
func TestSources(t *testing.T) {
	folder := t.TempDir()
	args := []string{"-model=sources", "-bad=1", "-agents=3", "-train=100", "-val=100", "-K=12", "-rivals=false",
		"-evaluate=off", "-report=false", "-quiet", "-force", "-out=" + folder}
	var out bytes.Buffer
	if err := experiment.Run(t.Context(), task, args, &out, &out); err != nil {
		t.Fatalf("%v\n%s", err, out.String())
	}
	x, err := runs.Folder(folder).ReadLambda()
	if err != nil {
		t.Fatal(err)
	}
	if bad, good := x[0], slices.Min(x[1:]); !(bad < 0 && good > 0) {
		t.Errorf("x is %v; it must be below 0 for the source with wrong labels, and above for the others", x)
	}
}
