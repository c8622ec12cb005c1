package algotest

import (
	"reflect"
	"slices"
	"testing"

	"dsbo"
)

// CheckCapabilities checks that an oracle around another one passes each capability on to the
// other one's, once a question, but for hidden ones, and has no other. The other one has a single
// capability at a time, which counts its questions and answers with zeros.
func CheckCapabilities(t *testing.T, wrap func(dsbo.Oracle) dsbo.Oracle, hidden ...string) {
	t.Helper()
	fields := reflect.VisibleFields(reflect.TypeFor[dsbo.OracleCapabilities]())[1:] // after Of
	for _, f := range fields {
		asked, inner := 0, &bare{Oracle: NewQuadratics(1, 1, 1, 1)[0]}
		inner.also.Of = inner
		reflect.ValueOf(&inner.also).Elem().FieldByIndex(f.Index).Set(
			reflect.MakeFunc(f.Type, func([]reflect.Value) (results []reflect.Value) {
				asked++
				for out := range f.Type.Outs() {
					results = append(results, reflect.Zero(out))
				}
				return results
			}))
		also, err := dsbo.Capabilities(wrap(inner))
		if err != nil {
			t.Fatal(err)
		}
		for _, other := range fields {
			is := !reflect.ValueOf(*also).FieldByIndex(other.Index).IsNil()
			if want := other.Name == f.Name && !slices.Contains(hidden, f.Name); is != want {
				t.Errorf("%T of an oracle with %s alone has %s: %t, want %t", also.Of, f.Name, other.Name, is, want)
			}
		}
		if slices.Contains(hidden, f.Name) {
			continue
		}
		var arguments []reflect.Value
		for in := range f.Type.Ins() {
			argument := reflect.Zero(in)
			if in.Kind() == reflect.Slice {
				argument = reflect.MakeSlice(in, 1, 1)
			}
			arguments = append(arguments, argument)
		}
		reflect.ValueOf(*also).FieldByIndex(f.Index).Call(arguments)
		if asked != 1 {
			t.Errorf("%s of %T asks the other oracle %d times, want once", f.Name, also.Of, asked)
		}
	}
}

// bare is an oracle with capabilities that are set from outside.
type bare struct {
	dsbo.Oracle
	also dsbo.OracleCapabilities
}

func (b *bare) Capabilities() *dsbo.OracleCapabilities { return &b.also }
