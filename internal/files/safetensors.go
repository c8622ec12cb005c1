package files

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"dsbo"
)

// What follows reads and writes files of named arrays in the safetensors format, which the
// libraries of Python and Rust know:
//
//	8 bytes   N, the length of the header, little-endian
//	N bytes   a JSON object: for each array its type, shape and place after the header;
//	          texts under "__metadata__"
//	          the numbers of the arrays, little-endian, row by row, one array after the other
//
// Of the types of the format it has float64 and float32 ("F64", "F32").

// A Tensor is a named array.
type Tensor struct {
	Name   string
	Shape  []int     // each at least 1
	Data   []float64 // as many as the product of Shape, the last index running fastest
	Single bool      // they are float32 in the file
}

// typ returns the format's name of the array's type, and the bytes of a number.
func (t *Tensor) typ() (name string, size int) {
	if t.Single {
		return "F32", 4
	}
	return "F64", 8
}

const metadataName = "__metadata__"

// maxHeader is the largest length of a header, the length of the format's own library.
const maxHeader = 100_000_000

// tensorEntry is an array's entry in the header.
type tensorEntry struct {
	Type    string `json:"dtype"`
	Shape   []int  `json:"shape"`
	Offsets []int  `json:"data_offsets"` // first byte and the one after the last, after the header
}

// WriteTensors writes arrays in their order, and metadata, texts by name. Errors match
// [dsbo.ErrShape].
func WriteTensors(w io.Writer, metadata map[string]string, tensors ...Tensor) error {
	header := map[string]any{}
	if len(metadata) > 0 {
		header[metadataName] = metadata
	}
	end := 0
	for _, t := range tensors {
		typ, bytes := t.typ()
		size, ok := sizeOf(t.Shape, bytes)
		if !ok || size != bytes*len(t.Data) {
			return dsbo.ShapeErrorf("array %q must have as many numbers as its shape %v; it has %d", t.Name,
				t.Shape, len(t.Data))
		}
		if _, twice := header[t.Name]; twice || t.Name == metadataName {
			return dsbo.ShapeErrorf("names of arrays must differ, and from %s; there is %q",
				metadataName, t.Name)
		}
		header[t.Name] = tensorEntry{typ, t.Shape, []int{end, end + size}}
		end += size
	}
	text, err := json.Marshal(header)
	if err != nil {
		return err
	}
	text = append(text, strings.Repeat(" ", 7-(len(text)+7)%8)...) // so that numbers are aligned
	out := append(binary.LittleEndian.AppendUint64(nil, uint64(len(text))), text...)
	for _, t := range tensors {
		for _, v := range t.Data {
			if t.Single {
				out = binary.LittleEndian.AppendUint32(out, math.Float32bits(float32(v)))
			} else {
				out = binary.LittleEndian.AppendUint64(out, math.Float64bits(v))
			}
		}
	}
	_, err = w.Write(out)
	return err
}

// ReadTensors returns the arrays of a file, in the order of their bytes, and its metadata.
// Allocations never exceed the file's bytes. Errors match [dsbo.ErrConfig] and name the violated
// rule: header and offsets are inside the file, and each byte belongs to exactly one array.
func ReadTensors(file []byte) (metadata map[string]string, tensors []Tensor, err error) {
	if len(file) < 8 {
		return nil, nil, dsbo.ConfigErrorf("a safetensors file must have at least 8 bytes; it has %d",
			len(file))
	}
	n := binary.LittleEndian.Uint64(file)
	if n > maxHeader || n > uint64(len(file)-8) {
		return nil, nil, dsbo.ConfigErrorf("the header must have at most %d bytes; it has %d",
			min(maxHeader, len(file)-8), n)
	}
	metadata, entries, err := readHeader(file[8 : 8+n])
	if err != nil {
		return nil, nil, dsbo.ConfigErrorf("header: %w", err)
	}
	data, at := file[8+n:], 0
	for _, e := range entries {
		t, err := e.read(data, at)
		if err != nil {
			return nil, nil, dsbo.ConfigErrorf("array %q: %w", e.name, err)
		}
		tensors, at = append(tensors, t), e.Offsets[1]
	}
	if at != len(data) {
		return nil, nil, dsbo.ConfigErrorf("arrays must have all %d bytes after the header; they have %d",
			len(data), at)
	}
	return metadata, tensors, nil
}

type namedEntry struct {
	name string
	tensorEntry
}

// readHeader reads the header's object, its arrays sorted by their first byte. A name may stand
// there once.
func readHeader(text []byte) (metadata map[string]string, entries []namedEntry, err error) {
	d := json.NewDecoder(bytes.NewReader(text))
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return nil, nil, fmt.Errorf("it must be a JSON object; it begins with %.20q", text)
	}
	seen := map[string]bool{}
	for d.More() {
		t, err := d.Token()
		if err != nil {
			return nil, nil, err
		}
		name, _ := t.(string) // the decoder allows nothing else before a colon
		if seen[name] {
			return nil, nil, fmt.Errorf("%q stands there twice", name)
		}
		seen[name] = true
		if name == metadataName {
			if err := d.Decode(&metadata); err != nil {
				return nil, nil, fmt.Errorf("%s: %w", name, err)
			}
			continue
		}
		e := namedEntry{name: name}
		if err := d.Decode(&e.tensorEntry); err != nil {
			return nil, nil, fmt.Errorf("array %q: %w", name, err)
		}
		if len(e.Offsets) != 2 {
			return nil, nil, fmt.Errorf("array %q must have two data_offsets; it has %d", name, len(e.Offsets))
		}
		entries = append(entries, e)
	}
	if _, err := d.Token(); err != nil {
		return nil, nil, err
	}
	if rest := bytes.TrimSpace(text[d.InputOffset():]); len(rest) > 0 {
		return nil, nil, fmt.Errorf("it must be one object alone; %.20q follows", rest)
	}
	slices.SortStableFunc(entries, func(a, b namedEntry) int { return cmp.Compare(a.Offsets[0], b.Offsets[0]) })
	return metadata, entries, nil
}

// read reads the numbers of an array, which must begin at a byte.
func (e namedEntry) read(data []byte, at int) (Tensor, error) {
	first, end := e.Offsets[0], e.Offsets[1]
	t := Tensor{Name: e.name, Shape: e.Shape, Single: e.Type == "F32"}
	typ, bytes := t.typ()
	if e.Type != typ {
		return Tensor{}, fmt.Errorf("its dtype must be F64 or F32; it is %q", e.Type)
	}
	if first != at || end < first || end > len(data) {
		return Tensor{}, fmt.Errorf("its bytes must begin at %d and end at %d at most; they are %d to %d", at,
			len(data), first, end)
	}
	if size, ok := sizeOf(e.Shape, bytes); !ok || size != end-first {
		return Tensor{}, fmt.Errorf("the shape %v does not have %d bytes of %s", e.Shape, end-first, typ)
	}
	t.Data = make([]float64, (end-first)/bytes)
	for i := range t.Data {
		if number := data[first+i*bytes:]; t.Single {
			t.Data[i] = float64(math.Float32frombits(binary.LittleEndian.Uint32(number)))
		} else {
			t.Data[i] = math.Float64frombits(binary.LittleEndian.Uint64(number))
		}
	}
	return t, nil
}
