package modelfile

import (
	"bytes"
	"errors"
	"io/fs"
	"path/filepath"

	"dsbo"
	"dsbo/features"
	"dsbo/internal/disk"
	"dsbo/modelfile/onnx"
	"dsbo/runs"
	"dsbo/table"
)

// Open reads the model of a run folder, of a model.json, or of a model.onnx; which of them it is says the content. Errors match
// [dsbo.ErrConfig].
func Open(path string) (Predictor, error) {
	info, err := disk.Stat(path)
	if err != nil {
		return nil, dsbo.Errorf(dsbo.ErrConfig, "model: %w", err)
	}
	if info.IsDir() {
		file := filepath.Join(path, runs.ModelFile)
		if _, err := disk.Stat(file); errors.Is(err, fs.ErrNotExist) {
			return nil, dsbo.Errorf(dsbo.ErrConfig, "%s has no %s: it must be the folder of a run of tables that has finished", path, runs.ModelFile)
		}
		return Read(file)
	}
	data, err := runs.Folder(filepath.Dir(path)).ReadFile(filepath.Base(path))
	if err != nil {
		return nil, dsbo.Errorf(dsbo.ErrConfig, "model: %w", err)
	}
	if bytes.HasPrefix(bytes.TrimSpace(data), []byte("{")) {
		return Read(path)
	}
	g, err := parseGraph(data)
	if err != nil {
		return nil, dsbo.Errorf(dsbo.ErrConfig, "%s: %w; a model must be one of dsbo tune, which knows how its columns become features", path, err)
	}
	return g, nil
}

// A Graph is a model of a model.onnx, which predicts by running its graph.
type Graph struct {
	recipe  features.Recipe
	program *onnx.Program
}

// parseGraph reads the content of a model.onnx of this package.
func parseGraph(data []byte) (*Graph, error) {
	m, err := onnx.Decode(data)
	if err != nil {
		return nil, err
	}
	text := m.Text(recipeText)
	if text == "" {
		return nil, errors.New("it must have a recipe among its texts, as models of dsbo tune have")
	}
	g := new(Graph)
	if err := decodeStrict([]byte(text), &g.recipe); err != nil {
		return nil, dsbo.Errorf(dsbo.ErrConfig, "recipe: %w", err)
	}
	if err := checkRecipe(g.recipe); err != nil {
		return nil, dsbo.Errorf(dsbo.ErrConfig, "recipe: %w", err)
	}
	if g.program, err = onnx.NewProgram(m.Graph); err != nil {
		return nil, err
	}
	return g, nil
}

// Recipe implements [Predictor].
func (g *Graph) Recipe() features.Recipe { return g.recipe }

// Predict implements [Predictor]. It fails if the graph is not that of its recipe.
func (g *Graph) Predict(in *features.Encoder, first, end int) (Predictions, error) {
	var raw []*onnx.Tensor
	for i := range in.Inputs {
		raw = append(raw, tensor(&in.Inputs[i], first, end))
	}
	if s := g.recipe.Sparse; s != nil {
		raw = append(raw, sparseTensor(in, s.Columns, first, end))
	}
	out, err := g.program.Run(raw...)
	if err != nil {
		return Predictions{}, err
	}
	rows, of := end-first, g.recipe.Target
	switch {
	case of.Kind == features.Class && len(out) == 2 && len(out[0].Words) == rows && len(out[1].Doubles) == rows*len(of.Classes):
		return Predictions{Labels: out[0].Words, Probabilities: out[1].Doubles}, nil
	case of.Kind != features.Class && len(out) == 1 && len(out[0].Doubles) == rows:
		return Predictions{Values: out[0].Doubles}, nil
	}
	return Predictions{}, dsbo.Errorf(dsbo.ErrConfig, "the outputs of the graph are not those of its recipe's target, of kind %s", of.Kind)
}

// sparseTensor returns the numbers of so many sparse columns with their zeros.
func sparseTensor(in *features.Encoder, columns, first, end int) *onnx.Tensor {
	t := &onnx.Tensor{Type: onnx.Float, Shape: []int{end - first, columns}, Floats: make([]float32, (end-first)*columns)}
	for row := first; row < end; row++ {
		in.SparseNumbers(t.Floats[(row-first)*columns:][:columns], row)
	}
	return t
}

// tensor returns values as the graph takes them.
func tensor(in *features.EncodedInput, first, end int) *onnx.Tensor {
	t := &onnx.Tensor{Type: onnx.Float, Shape: []int{end - first, 1}}
	if in.Kind == table.Word {
		t.Type = onnx.String
	}
	for row := first; row < end; row++ {
		if in.Kind == table.Word {
			t.Words = append(t.Words, in.Word(row))
		} else {
			t.Floats = append(t.Floats, in.Number(row))
		}
	}
	return t
}
