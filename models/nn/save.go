package nn

import (
	"fmt"
	"io"

	"dsbo"
	"dsbo/internal/files"
)

// memories returns the state of the optimizer, or of each of its groups, and their numbers of
// parameters. An optimizer of another kind has no state here.
func (t *Trainer) memories() (list []*Memory, lengths []int) {
	all := []group{{o: t.optimizer, z: t.Z}}
	if g, ok := t.optimizer.(*Groups); ok {
		all = g.groups
	}
	for _, g := range all {
		if k, ok := g.o.(Keeper); ok {
			list, lengths = append(list, k.Kept()), append(lengths, len(g.z))
		}
	}
	return list, lengths
}

// epochsName names the number of epochs in a saved file.
const epochsName = "trainer/epochs"

func stepsName(k int) string     { return fmt.Sprintf("optimizer/%d/steps", k) }
func vectorName(k, i int) string { return fmt.Sprintf("optimizer/%d/%d", k, i) }

// Save writes the parameters as named float32 arrays in the safetensors format, and the optimizer's
// memory. A trainer that loads the file continues with the same bits.
func (t *Trainer) Save(w io.Writer) error {
	single := func(name string, values []float32, shape ...int) files.Tensor {
		tensor := files.Tensor{Name: name, Shape: shape, Single: true}
		for _, v := range values {
			tensor.Data = append(tensor.Data, float64(v))
		}
		return tensor
	}
	number := func(name string, v float64) files.Tensor {
		return files.Tensor{Name: name, Shape: []int{1}, Data: []float64{v}}
	}
	var list []files.Tensor
	for _, p := range t.params.List() {
		shape := []int{p.Rows}
		if p.Cols > 0 {
			shape = append(shape, p.Cols)
		}
		list = append(list, single(p.Name, t.Z[p.Offset:][:p.Len()], shape...))
	}
	list = append(list, number(epochsName, float64(t.epochs)))
	memories, _ := t.memories()
	for k, m := range memories {
		list = append(list, number(stepsName(k), float64(m.Steps)))
		for i, v := range m.Vectors {
			list = append(list, single(vectorName(k, i), v, len(v)))
		}
	}
	return files.WriteTensors(w, nil, list...)
}

// Load reads parameters written by [Trainer.Save] or another program, and the optimizer's memory,
// which starts empty if the file has none. It ignores other arrays of the file. It fails with
// [dsbo.ErrConfig], and leaves the trainer as it is, if a parameter is missing or has another
// shape, or the memory belongs to other parameters.
func (t *Trainer) Load(r io.Reader) error {
	file, err := io.ReadAll(r)
	if err != nil {
		return err
	}
	_, list, err := files.ReadTensors(file)
	if err != nil {
		return err
	}
	of := map[string]files.Tensor{}
	for _, tensor := range list {
		of[tensor.Name] = tensor
	}
	z := make([]float32, len(t.Z))
	for _, p := range t.params.List() {
		tensor := of[p.Name]
		dims := 1 + min(p.Cols, 1) // of a vector or a matrix
		if n := len(tensor.Shape); n != dims || tensor.Shape[0] != p.Rows || len(tensor.Data) != p.Len() {
			return dsbo.ConfigErrorf(
				"parameter %q must have %d rows and %d columns (0: a vector) in the file; its shape there is %v",
				p.Name, p.Rows, p.Cols, tensor.Shape)
		}
		copy(z[p.Offset:], singles(tensor))
	}
	memories, lengths := t.memories()
	loaded := make([]Memory, len(memories))
	for k := range memories {
		loaded[k].Steps = int(first(of[stepsName(k)]))
		for i := 0; of[vectorName(k, i)].Data != nil; i++ {
			v := singles(of[vectorName(k, i)])
			if len(v) != lengths[k] {
				return dsbo.ConfigErrorf("%s in the file must be of %d parameters; it is of %d", vectorName(k, i),
					lengths[k], len(v))
			}
			loaded[k].Vectors = append(loaded[k].Vectors, v)
		}
	}
	copy(t.Z, z) // all is right
	t.epochs = uint64(first(of[epochsName]))
	for k, m := range memories {
		*m = loaded[k]
	}
	return nil
}

// first returns a tensor's first number, 0 where it has none.
func first(t files.Tensor) float64 {
	if len(t.Data) == 0 {
		return 0
	}
	return t.Data[0]
}

// singles returns a tensor's numbers.
func singles(t files.Tensor) []float32 {
	list := make([]float32, len(t.Data))
	for i, v := range t.Data {
		list[i] = float32(v)
	}
	return list
}
