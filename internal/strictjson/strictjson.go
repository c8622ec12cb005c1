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
	"strings"
)

// ErrNull is what a field's Set returns for a null within its value.
var ErrNull = errors.New("it is null")

// A Field is one that an object can have.
type Field struct {
	Name string
	Must string // what its value must be, for errors
	Set  func(raw json.RawMessage) error
}

// Object reads one object and gives each field its value, in the order of data. Errors say what must hold and what is there
// instead; that of an unknown field says that it must be known.
func Object(data []byte, known string, fields []Field) error {
	dec := json.NewDecoder(bytes.NewReader(data))
	if t, err := dec.Token(); err != nil || t != json.Delim('{') {
		return errors.New("it must be a JSON object {...}")
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
			return fmt.Errorf("field %q is not known; it must be %s", name, known)
		case seen[name]:
			return fmt.Errorf("field %q must be given once; it is given twice", name)
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
		return errors.New("it must be one object alone; something follows")
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
	if err == nil {
		return nil
	}
	if wrong, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		is := "of type " + wrong.Value
		if _, number, ok := strings.Cut(wrong.Value, " "); ok { // "number -1"
			is = number
		}
		err = errors.New("it is " + is)
	}
	return fmt.Errorf("field %q must be %s; %w", f.Name, f.Must, err)
}

func syntaxError(dec *json.Decoder, err error) error {
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		err = errors.New("the file ends early")
	}
	return fmt.Errorf("at byte %d: %w", dec.InputOffset(), err)
}
