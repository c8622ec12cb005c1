package modelfile

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"dsbo"
	"dsbo/internal/files"
	"dsbo/internal/testkit"
)

func Example_safetensors() {
	var file bytes.Buffer
	weights := files.Tensor{Name: "layer0.weight", Shape: []int{1, 2}, Data: []float64{.5, -1}}
	if err := files.WriteTensors(&file, map[string]string{"format": "pt"}, weights); err != nil {
		fmt.Println(err)
	}
	metadata, tensors, err := files.ReadTensors(file.Bytes())
	fmt.Println(metadata, tensors, err)
	// Output: map[format:pt] [{layer0.weight [1 2] [0.5 -1] false}] <nil>
}

func TestRoundTrip(t *testing.T) {
	want := []files.Tensor{
		{Name: "z", Shape: []int{2, 3}, Data: []float64{1, -0., math.Inf(1), math.SmallestNonzeroFloat64, 5, 6}},
		{Name: `a "b" <c>`, Shape: []int{1}, Data: []float64{math.Pi}},
		{Name: "scalar", Shape: []int{}, Data: []float64{7}},
	}
	for count := range len(want) + 1 {
		var file bytes.Buffer
		testkit.OK(files.WriteTensors(&file, nil, want[:count]...))
		if n := file.Len() % 8; n != 0 {
			t.Errorf("%d arrays: the file ends %d bytes after a multiple of 8", count, n)
		}
		_, got := testkit.Get2(files.ReadTensors(file.Bytes()))
		if d := cmp.Diff(want[:count], append([]files.Tensor{}, got...)); d != "" {
			t.Error(d)
		}
	}
}

// file makes a file of a header and zeros.
func file(header string, data int) []byte {
	return append(append(binary.LittleEndian.AppendUint64(nil, uint64(len(header))), header...), make([]byte, data)...)
}

func TestTensorsRefused(t *testing.T) {
	const ok = `"a": {"dtype": "F64", "shape": [1], "data_offsets": [0, 8]}`
	for _, c := range []struct {
		file []byte
		says string
	}{
		{nil, "must have at least 8 bytes; it has 0"},
		{binary.LittleEndian.AppendUint64(nil, 1), "at most 0 bytes"},
		{binary.LittleEndian.AppendUint64(nil, 1<<63), "it has 9223372036854775808"},
		{file(``, 0), "must be a JSON object"},
		{file(`[]`, 0), "must be a JSON object"},
		{file(`{`, 0), "EOF"},
		{file(`{} {}`, 0), `one object alone; "{}" follows`},
		{file(`{}`, 8), "must have all 8 bytes after the header; they have 0"},
		{file(`{`+ok+`,`+ok+`}`, 8), `"a" stands there twice`},
		{file(`{`+ok+`}`, 7), "end at 7 at most; they are 0 to 8"},
		{file(`{`+strings.Replace(ok, "F64", "F16", 1)+`}`, 8), `must be F64 or F32; it is "F16"`},
		{file(`{`+strings.Replace(ok, "[1]", "[2]", 1)+`}`, 8), "the shape [2] does not have 8 bytes"},
		{file(`{`+strings.Replace(ok, "[1]", "[-1]", 1)+`}`, 8), "the shape [-1]"},
		{file(`{`+strings.Replace(ok, "[1]", "[4611686018427387904, 4]", 1)+`}`, 8), "the shape"},
		{file(`{`+strings.Replace(ok, "[0, 8]", "[8, 16]", 1)+`}`, 16), "must begin at 0"},
		{file(`{`+strings.Replace(ok, "[0, 8]", "[0, -8]", 1)+`}`, 8), "they are 0 to -8"},
		{file(`{`+strings.Replace(ok, "[0, 8]", "[0]", 1)+`}`, 8), "two data_offsets; it has 1"},
		{file(`{`+ok+`,`+strings.Replace(ok, `"a"`, `"b"`, 1)+`}`, 8), "must begin at 8"},
		{file(`{"__metadata__": {"a": 1}}`, 0), "__metadata__"},
	} {
		_, _, err := files.ReadTensors(c.file)
		if !errors.Is(err, dsbo.ErrConfig) || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%q: error %v, want %q", c.file, err, c.says)
		}
	}
	a := files.Tensor{Name: "a", Shape: []int{2}, Data: []float64{1}}
	if err := files.WriteTensors(&bytes.Buffer{}, nil, a); !errors.Is(err, dsbo.ErrShape) {
		t.Errorf("one number in a shape of two: error %v", err)
	}
	a.Data = []float64{1, 2}
	if err := files.WriteTensors(&bytes.Buffer{}, nil, a, a); !errors.Is(err, dsbo.ErrShape) {
		t.Errorf("one name twice: error %v", err)
	}
}

// FuzzRead: what can be read is written and read again as the same arrays.
func FuzzReadTensors(f *testing.F) {
	f.Add(file(`{"a":{"dtype":"F64","shape":[1],"data_offsets":[0,8]},"__metadata__":{"b":"c"}}`, 8))
	f.Add(file(`{}`, 0))
	f.Fuzz(func(t *testing.T, data []byte) {
		metadata, tensors, err := files.ReadTensors(data)
		if err != nil {
			return
		}
		var again bytes.Buffer
		testkit.OK(files.WriteTensors(&again, metadata, tensors...))
		metadata2, tensors2 := testkit.Get2(files.ReadTensors(again.Bytes()))
		if len(metadata) != len(metadata2) || len(tensors) != len(tensors2) {
			t.Errorf("%d texts and %d arrays became %d and %d", len(metadata), len(tensors),
				len(metadata2), len(tensors2))
		}
	})
}
