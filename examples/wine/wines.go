package main

import (
	"path/filepath"

	"dsbo"
	"dsbo/ad"
	"dsbo/data"
	"dsbo/table"
)

// readWines reads the one file whose name fits a pattern, of a format that package table knows or of our own.
func readWines(pattern string) (data.Examples, error) {
	files, err := filepath.Glob(pattern)
	if err != nil || len(files) != 1 {
		return data.Examples{}, dsbo.Errorf(dsbo.ErrConfig, "-data must have one file %s; it has %q", pattern, files)
	}
	t, err := table.Open(files[0], table.Options{})
	if err != nil {
		return data.Examples{}, err
	}
	return examples(t)
}

// examples are the rows of a table: its last column is the quality of a wine, which the others are to tell.
func examples(t *table.Table) (data.Examples, error) {
	features := len(t.Columns) - 1
	x, quality := make([]float64, 0, t.Rows()*features), make([]float64, 0, t.Rows())
	for row := range t.Rows() {
		for j, c := range t.Columns {
			if c.Kind != table.Number || c.Missing(row) {
				return data.Examples{}, &table.FileError{File: t.Name, Column: c.Name, Reason: "each wine must have a number here"}
			}
			if j < features {
				x = append(x, float64(c.Number(row)))
			} else {
				quality = append(quality, float64(c.Number(row)))
			}
		}
	}
	measured, err := ad.FloatTable(t.Rows(), features, x)
	if err != nil {
		return data.Examples{}, err
	}
	target, err := ad.FloatTable(t.Rows(), 1, quality)
	return data.Examples{X: measured, Target: target}, err
}
