// Package strictjson reads the files that people write for this module: one JSON object whose fields are known, each
// there once, by its exact name and not null. encoding/json on its own accepts repeated fields, other cases of their letters
// and null.
package strictjson

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// ErrNull is what a field's Set returns for a null within its value.
var ErrNull = errors.New("null")

// A Field is one that an object can have.
type Field struct {
	Name string
	Want string // what its value is, for errors
	Set  func(raw json.RawMessage) error
}

// Object reads one object and gives each field its value, in the order of data. Errors say what is wrong and what would be
// right, and for an unknown field that known is wanted.
func Object(data []byte, known string, fields []Field) error {
	dec := json.NewDecoder(bytes.NewReader(data))
	if t, err := dec.Token(); err != nil || t != json.Delim('{') {
		return errors.New("want a JSON object {...}")
	}
	seen := map[string]bool{}
	for dec.More() {
		t, err := dec.Token()
		if err != nil {
			return syntaxError(dec, err)
		}
		name, _ := t.(string) // the decoder allows nothing else before a colon
		field := find(fields, name)
		switch {
		case field == nil:
			return fmt.Errorf("unknown field %q, want %s", name, known)
		case seen[name]:
			return fmt.Errorf("field %q is given twice, want it once", name)
		}
		seen[name] = true
		var raw json.RawMessage
		if err := dec.Decode(&raw); err != nil {
			return syntaxError(dec, err)
		}
		if err := field.set(raw); err != nil {
			return err
		}
	}
	if _, err := dec.Token(); err != nil {
		return syntaxError(dec, err)
	}
	if _, err := dec.Token(); err != io.EOF {
		return errors.New("something follows the object, want one object alone")
	}
	return nil
}

func find(fields []Field, name string) *Field {
	for i := range fields {
		if fields[i].Name == name {
			return &fields[i]
		}
	}
	return nil
}

func (f *Field) set(raw json.RawMessage) error {
	err := ErrNull
	if string(raw) != "null" {
		err = f.Set(raw)
	}
	wrong, ok := errors.AsType[*json.UnmarshalTypeError](err)
	switch {
	case err == nil:
		return nil
	case err == ErrNull:
		return fmt.Errorf("field %q: found null, want %s", f.Name, f.Want)
	case ok:
		return fmt.Errorf("field %q: found %s, want %s", f.Name, wrong.Value, f.Want)
	}
	return fmt.Errorf("field %q: %w, want %s", f.Name, err, f.Want)
}

func syntaxError(dec *json.Decoder, err error) error {
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		err = errors.New("the file ends early")
	}
	return fmt.Errorf("at byte %d: %w", dec.InputOffset(), err)
}
