package modelfile

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"path/filepath"

	"dsbo"
	"dsbo/internal/files"
	"dsbo/internal/wording"
	"dsbo/models"
	"dsbo/runs"
	"dsbo/tables/assess"
	"dsbo/tables/features"
)

// format is the number of the format of model.json.
const format = 1

// description is the content of model.json.
type description struct {
	Format  int                `json:"format" must:"a whole number"`
	Recipe  features.Recipe    `json:"recipe" must:"an object"`
	Layers  []layerDescription `json:"layers" must:"a list of objects"`
	Weights weightsFile        `json:"weights" must:"an object"`
	Origin  Origin             `json:"origin" must:"an object"`

	Baseline *assess.Baseline `json:"baseline,omitempty" must:"an object"`
}

type layerDescription struct {
	In   int         `json:"in"`
	Out  int         `json:"out"`
	Bias bool        `json:"bias"`
	Unit models.Unit `json:"unit"`
}

type weightsFile struct {
	File   string `json:"file"`
	SHA256 string `json:"sha256"`
}

// Write writes the model's three files to a folder, with a prefix before their names, each of them
// complete or not at all, model.json last. The files of weights and graph have the same bytes for
// the same model and program, whenever it was made.
func (m *Model) Write(folder runs.Folder, prefix string) error {
	recipe, err := json.Marshal(m.recipe)
	if err != nil {
		return err
	}
	var weights bytes.Buffer
	metadata := map[string]string{"description": prefix + runs.ModelFile}
	if err := files.WriteTensors(&weights, metadata, m.tensors()...); err != nil {
		return err
	}
	d := description{Format: format, Recipe: m.recipe, Origin: m.Origin, Baseline: m.Baseline,
		Weights: weightsFile{prefix + runs.WeightsFile, fmt.Sprintf("%x", sha256.Sum256(weights.Bytes()))}}
	for _, l := range m.Layers {
		d.Layers = append(d.Layers, layerDescription{l.In, l.Out, l.Bias != nil, l.Unit})
	}
	text, err := json.MarshalIndent(d, "", "  ")
	if err != nil {
		return err
	}
	for _, f := range []struct {
		name string
		data []byte
	}{{runs.WeightsFile, weights.Bytes()}, {runs.ONNXFile, m.onnx(string(recipe))},
		{runs.ModelFile, append(wording.JSON(text), '\n')}} {
		if err := folder.WriteFile(prefix+f.name, f.data); err != nil {
			return err
		}
	}
	return nil
}

// tensors returns the weights under their names.
func (m *Model) tensors() []files.Tensor {
	var list []files.Tensor
	for i, l := range m.Layers {
		list = append(list, files.Tensor{Name: weightName(i), Shape: []int{l.Out, l.In}, Data: l.Weights})
		if l.Bias != nil {
			list = append(list, files.Tensor{Name: biasName(i), Shape: []int{l.Out}, Data: l.Bias})
		}
	}
	return list
}

func weightName(layer int) string { return fmt.Sprintf("layer%d.weight", layer) }
func biasName(layer int) string   { return fmt.Sprintf("layer%d.bias", layer) }

// Read reads a model from its model.json and the file of weights beside it. Errors match
// [dsbo.ErrConfig] and name the file: it is not there, has names that are not known, or does not
// fit the other one.
func Read(path string) (*Model, error) {
	folder := runs.Folder(filepath.Dir(path))
	text, err := folder.ReadFile(filepath.Base(path))
	if err == nil {
		err = runs.CheckListed(folder)
	}
	if err != nil {
		return nil, dsbo.ConfigErrorf("%w", err)
	}
	d, err := parseDescription(text)
	if err != nil {
		return nil, dsbo.ConfigErrorf("%s: %w", path, err)
	}
	m := &Model{recipe: d.Recipe, Origin: d.Origin, Baseline: d.Baseline}
	weights := folder.Path(d.Weights.File)
	data, err := folder.ReadFile(d.Weights.File)
	if err != nil {
		return nil, dsbo.ConfigErrorf("weights of %s: %w", path, err)
	}
	if fmt.Sprintf("%x", sha256.Sum256(data)) != d.Weights.SHA256 {
		return nil, dsbo.ConfigErrorf(
			"%s is not the file that %s was written with: its SHA-256 is another one", weights, path)
	}
	_, tensors, err := files.ReadTensors(data)
	if err != nil {
		return nil, dsbo.ConfigErrorf("%s: %w", weights, err)
	}
	if m.Layers, err = layersOf(d.Layers, tensors); err != nil {
		return nil, dsbo.ConfigErrorf("%s: %w", weights, err)
	}
	if err := m.check(); err != nil {
		return nil, dsbo.ConfigErrorf("%s: %w", path, err)
	}
	return m, nil
}

// parseDescription reads the text of a model.json, in which each name must be known.
func parseDescription(text []byte) (*description, error) {
	d := new(description)
	if err := files.StrictJSON(text, d); err != nil {
		return nil, err
	}
	if d.Format != format {
		return nil, fmt.Errorf("its format must be %d, which this program knows; it is %d", format, d.Format)
	}
	if name := d.Weights.File; name == "" || name != filepath.Base(name) {
		return nil, fmt.Errorf("the file of weights must lie beside it; it is %q", name)
	}
	dec := json.NewDecoder(bytes.NewReader(text)) // once more: StrictJSON checks the names of the outer object alone
	dec.DisallowUnknownFields()
	return d, dec.Decode(new(description))
}

// layersOf takes the weights of layers from tensors, all of which must be there and no others.
func layersOf(described []layerDescription, tensors []files.Tensor) ([]Layer, error) {
	of := map[string]files.Tensor{}
	for _, t := range tensors {
		of[t.Name] = t
	}
	take := func(name string, shape ...int) ([]float64, error) {
		t, there := of[name]
		if !there || fmt.Sprint(t.Shape) != fmt.Sprint(shape) {
			return nil, fmt.Errorf("array %q must be there in the shape %v; it is %v", name, shape, t.Shape)
		}
		delete(of, name)
		return t.Data, nil
	}
	var layers []Layer
	for i, d := range described {
		l := Layer{In: d.In, Out: d.Out, Unit: d.Unit}
		var err error
		if l.Weights, err = take(weightName(i), d.Out, d.In); err != nil {
			return nil, err
		}
		if d.Bias {
			if l.Bias, err = take(biasName(i), d.Out); err != nil {
				return nil, err
			}
		}
		layers = append(layers, l)
	}
	if len(of) > 0 {
		return nil, fmt.Errorf("there are %d arrays that no layer has", len(of))
	}
	return layers, nil
}
