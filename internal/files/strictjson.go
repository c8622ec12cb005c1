// StrictJSON reads the files that people write for this module: one JSON object of known fields,
// each at most once, by its exact name and without null. encoding/json on its own accepts repeated
// fields, other cases of their letters and null.

package files

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"slices"
	"strings"

	"dsbo/internal/wording"
)

// StrictJSON reads one object into the struct that to points to. Each field of the struct has two
// tags: json is its name in the object, and must describes its valid values for errors. A field
// missing from the object is left as it is. Errors name the rule and the offending value.
func StrictJSON(data []byte, to any) error {
	object := reflect.ValueOf(to).Elem()
	var known, seen []string
	fields := slices.DeleteFunc(reflect.VisibleFields(object.Type()),
		func(f reflect.StructField) bool { return f.Anonymous })
	for _, f := range fields {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		known = append(known, name)
	}
	if bytes.HasPrefix(data, []byte("\ufeff")) { // which editors do not show
		return errors.New("it must be UTF-8 without a byte order mark, with which it begins")
	}
	dec := json.NewDecoder(bytes.NewReader(data))
	if t, err := dec.Token(); err != nil || t != json.Delim('{') {
		return errors.New("it must be a JSON object {...}")
	}
	for dec.More() {
		t, err := dec.Token()
		if err != nil {
			return syntaxError(dec, err)
		}
		name, _ := t.(string) // the decoder allows nothing else before a colon
		i := slices.Index(known, name)
		instead, isStruck := wording.Struck(name)
		switch {
		case i < 0 && isStruck:
			return fmt.Errorf("field %q is gone: %s", name, instead)
		case i < 0:
			return fmt.Errorf("field %q is not known; it must be one of %s", name, strings.Join(known, ", "))
		case slices.Contains(seen, name):
			return fmt.Errorf("field %q must be given once; it is given twice", name)
		}
		seen = append(seen, name)
		var raw json.RawMessage
		if err := dec.Decode(&raw); err != nil {
			return syntaxError(dec, err)
		}
		if wrong := setField(object.FieldByIndex(fields[i].Index), raw); wrong != "" {
			return fmt.Errorf("field %q must be %s; it %s", name, fields[i].Tag.Get("must"), wrong)
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

// setField sets a field to a value, or returns the value's fault, such as "is null".
func setField(field reflect.Value, raw json.RawMessage) (wrong string) {
	if string(raw) == "null" {
		return "is null"
	}
	for dec := json.NewDecoder(bytes.NewReader(raw)); ; {
		t, err := dec.Token()
		if err != nil {
			break
		}
		if t == nil {
			return "holds null"
		}
	}
	err := json.Unmarshal(raw, field.Addr().Interface())
	if kind, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		if _, number, ok := strings.Cut(kind.Value, " "); ok { // "number -1"
			return "is " + number
		}
		return "is of type " + kind.Value
	}
	if err != nil {
		return "is wrong: " + err.Error()
	}
	return ""
}

func syntaxError(dec *json.Decoder, err error) error {
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		err = errors.New("the file ends early")
	}
	return fmt.Errorf("at byte %d: %w", dec.InputOffset(), err)
}
