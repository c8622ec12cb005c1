package report

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"strings"
)

// Fields is a JSON object as a list of its leaves, in the order of the file. The key of a nested
// leaf is the path to it with dots between, such as oracle_calls.hvp.
type Fields []Field

// A Field is one leaf.
type Field struct {
	Key  string
	Text string // strings without quotes, numbers as written, arrays as compact JSON
	raw  byte   // first byte of the JSON value: what kind it is
}

// maxDepth is how deeply objects may be nested in a run's files.
const maxDepth = 16

// parseFields reads one JSON object and nothing after it.
func parseFields(data []byte) (Fields, error) {
	data = bytes.TrimSpace(data)
	if !json.Valid(data) {
		var v any
		err := json.Unmarshal(data, &v)
		return nil, fmt.Errorf("not JSON: %v", err)
	}
	if data[0] != '{' {
		return nil, fmt.Errorf("JSON %.20q: want an object", data)
	}
	return flatten(nil, "", data, 0)
}

// flatten appends the leaves of an object, which is valid JSON, to fs.
func flatten(fs Fields, prefix string, object []byte, depth int) (Fields, error) {
	if depth > maxDepth {
		return nil, fmt.Errorf("%s: objects nested more than %d deep", prefix, maxDepth)
	}
	d := json.NewDecoder(bytes.NewReader(object))
	if _, err := d.Token(); err != nil {
		return nil, err
	}
	for d.More() {
		key, err := d.Token()
		if err != nil {
			return nil, err
		}
		var raw json.RawMessage
		if err := d.Decode(&raw); err != nil {
			return nil, err
		}
		path := prefix + fmt.Sprint(key)
		switch raw[0] {
		case '{':
			if fs, err = flatten(fs, path+".", raw, depth+1); err != nil {
				return nil, err
			}
		case '"':
			var s string
			if err := json.Unmarshal(raw, &s); err != nil {
				return nil, err
			}
			fs = append(fs, Field{Key: path, Text: s, raw: '"'})
		default:
			var compact bytes.Buffer
			if err := json.Compact(&compact, raw); err != nil {
				return nil, err
			}
			fs = append(fs, Field{Key: path, Text: compact.String(), raw: raw[0]})
		}
	}
	return fs, nil
}

// number returns the leaf as a number: NaN for null and for a word such as "NaN", which JSON has
// no number for. ok is false if it is no number.
func (f Field) number() (v float64, ok bool) {
	switch f.raw {
	case 'n':
		return math.NaN(), true
	case '"', '-', '0', '1', '2', '3', '4', '5', '6', '7', '8', '9':
		v, err := strconv.ParseFloat(f.Text, 64)
		if err != nil && !math.IsInf(v, 0) { // 1e999 is a number, if not a finite one
			return math.NaN(), false
		}
		return v, true
	}
	return math.NaN(), false
}

// Get returns the text of a leaf, "" if there is none.
func (fs Fields) Get(key string) string {
	for _, f := range fs {
		if f.Key == key {
			return f.Text
		}
	}
	return ""
}

// Number returns a leaf as a number, NaN if there is none or it is something else.
func (fs Fields) Number(key string) float64 {
	for _, f := range fs {
		if f.Key == key {
			v, _ := f.number()
			return v
		}
	}
	return math.NaN()
}

// Under returns the leaves below a path, with the rest of their keys.
func (fs Fields) Under(path string) Fields {
	var below Fields
	for _, f := range fs {
		if rest, ok := strings.CutPrefix(f.Key, path+"."); ok {
			f.Key = rest
			below = append(below, f)
		}
	}
	return below
}
