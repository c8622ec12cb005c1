package main

import (
	"math"
	"testing"

	"dsbo/ad"
	"dsbo/data"
	"dsbo/models/modeltest"
)

func TestModel(t *testing.T) {
	const rows, features, classes = 30, 5, 3
	x, labels := make([]float64, rows*features), make([]uint8, rows)
	for i := range x {
		x[i] = math.Sin(float64(i * i))
		labels[i/features] = uint8(i % classes)
	}
	table, err := ad.FloatTable(rows, features, x)
	if err != nil {
		t.Fatal(err)
	}
	targets, err := ad.LabelTable(labels, classes)
	if err != nil {
		t.Fatal(err)
	}
	e := data.Examples{X: table, Target: targets}
	modeltest.TestModel(t, squares{features, classes}, data.Shard{Train: e, Val: e})
}
