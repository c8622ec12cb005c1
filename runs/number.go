package runs

import (
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"strings"
	"sync"
)

// A Number is a float64 that JSON shows as null where it is not known or not finite.
type Number float64

// Unknown returns the Number that is not known.
func Unknown() Number { return Number(math.NaN()) }

// Known reports whether n is a finite number.
func (n Number) Known() bool { return !math.IsNaN(float64(n)) && !math.IsInf(float64(n), 0) }

// MarshalJSON implements json.Marshaler.
func (n Number) MarshalJSON() ([]byte, error) {
	if !n.Known() {
		return []byte("null"), nil
	}
	return json.Marshal(float64(n))
}

// UnmarshalJSON implements json.Unmarshaler.
func (n *Number) UnmarshalJSON(data []byte) error {
	if string(data) == "null" {
		*n = Unknown()
		return nil
	}
	return json.Unmarshal(data, (*float64)(n))
}

// A numberName is a name in the JSON of a type.
type numberName struct {
	of   reflect.Type
	name string
}

// numberFields are the indices of the fields that [NumberOf] was asked for.
var numberFields sync.Map

// NumberOf returns the number with a JSON name in a value of a run folder, such as a [Record], a
// [Summary] or a [Model]. It caches the field's index by type and name, and panics if there is
// none.
func NumberOf(v any, name string) Number {
	s := reflect.ValueOf(v)
	at, ok := numberFields.Load(numberName{s.Type(), name})
	if !ok {
		for _, f := range reflect.VisibleFields(s.Type()) {
			if tag, _, _ := strings.Cut(f.Tag.Get("json"), ","); tag == name {
				at = f.Index
			}
		}
		numberFields.Store(numberName{s.Type(), name}, at)
	}
	if at == nil {
		panic(fmt.Sprintf("runs: %v must have a number %q in JSON", s.Type(), name))
	}
	f := s.FieldByIndex(at.([]int))
	if f.CanInt() {
		return Number(f.Int())
	}
	return Number(f.Float())
}

// setUnknown makes the Numbers in a struct unknown, which are to be read from JSON that may lack
// some of them.
func setUnknown(v reflect.Value) {
	for i := range v.NumField() {
		switch field := v.Field(i); {
		case field.Type() == reflect.TypeFor[Number]():
			field.SetFloat(math.NaN())
		case field.Kind() == reflect.Struct:
			setUnknown(field)
		}
	}
}
