package modelfile

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"dsbo"
	"dsbo/internal/disk"
	"dsbo/runs"
	"dsbo/tables/modelfile/onnx"
)

// Open reads the model of a run folder, of a model.json, or of a model.onnx; which of them it is says the content. Errors match
// [dsbo.ErrConfig].
func Open(path string) (*Model, error) {
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
	m, err := readGraph(data)
	if err != nil {
		return nil, dsbo.Errorf(dsbo.ErrConfig, "%s: %w; a model must be one of dsbo tune, which knows how its columns become features", path, err)
	}
	return m, nil
}

// readGraph reads the content of a model.onnx of this package: its recipe and weights, of which it makes the graph anew, to the byte.
func readGraph(data []byte) (*Model, error) {
	file, err := onnx.Read(data)
	if err != nil {
		return nil, err
	}
	text := file.Text(recipeText)
	if text == "" {
		return nil, errors.New("not an ONNX file that can be read here: it must have a recipe among its texts, as models of dsbo tune have")
	}
	m := new(Model)
	if err := decodeStrict([]byte(text), &m.recipe); err != nil {
		return nil, fmt.Errorf("recipe: %w", err)
	}
	m.Layers = layersOfGraph(file.Graph, len(m.recipe.Features()))
	if err := m.check(); err != nil {
		return nil, err
	}
	graph := m.graph(text)
	graph.Producer, graph.Version, graph.Doc = file.Producer, file.Version, file.Doc
	if !bytes.Equal(graph.Encode(), data) {
		return nil, errors.New("the graph must be the one that is made of its recipe and weights; it is another one")
	}
	return m, nil
}

// layersOfGraph returns the layers whose products a graph has, the first of n inputs.
func layersOfGraph(g onnx.Graph, in int) (layers []Layer) {
	weights := map[string][]float64{}
	for _, c := range g.Constants {
		weights[c.Name] = c.Doubles
	}
	for i, n := range g.Nodes {
		if n.Op != "Gemm" || len(n.Inputs) < 2 {
			continue
		}
		l := Layer{In: in, Weights: weights[n.Inputs[1]]}
		if len(n.Inputs) > 2 {
			l.Bias = weights[n.Inputs[2]]
		}
		for unit, op := range unitOperators {
			if g.Nodes[min(i+1, len(g.Nodes)-1)].Op == op {
				l.Unit = unit
			}
		}
		l.Out = len(l.Weights) / max(in, 1)
		layers, in = append(layers, l), l.Out
	}
	return layers
}
