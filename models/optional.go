package models

import (
	"reflect"

	"dsbo"
)

// optional are the interfaces that a model may implement. Bounded is none of its own: it is
// Penalized, and more.
var optional = []reflect.Type{
	reflect.TypeFor[Scorer](), reflect.TypeFor[Checker](), reflect.TypeFor[Starter](), reflect.TypeFor[XStarter](),
	reflect.TypeFor[Shaper](), reflect.TypeFor[StronglyConvex](), reflect.TypeFor[Penalized](),
	reflect.TypeFor[Curved](), reflect.TypeFor[Layered](), reflect.TypeFor[Meant](), reflect.TypeFor[Baselined](),
	reflect.TypeFor[Simplified](), reflect.TypeFor[Restrained](), reflect.TypeFor[Masked](), reflect.TypeFor[Batched](),
	reflect.TypeFor[Joint](), reflect.TypeFor[Leveled](),
}

// checkMethods returns an error that matches [dsbo.ErrConfig] if a method of m has the name of an
// optional method but another signature, or a pointer receiver although m is no pointer. Such a
// method would never be called, without any sign of it.
func checkMethods(m Model) error {
	typ := reflect.TypeOf(m)
	all := typ // with the methods of pointer receivers
	if typ.Kind() != reflect.Pointer {
		all = reflect.PointerTo(typ)
	}
	for _, want := range optional {
		for i := range want.NumMethod() {
			method := want.Method(i)
			switch has, ok := all.MethodByName(method.Name); {
			case !ok || typ.Implements(want):
			case all.Implements(want):
				return dsbo.ConfigErrorf(
					"method %s of model %v belongs to *%[2]v: pass the model as a pointer", method.Name, typ)
			default:
				return dsbo.ConfigErrorf("method %s of model %v must be %v, as models.%s says, or have "+
					"another name; it is %v", method.Name, typ, method.Type, want.Name(), signature(has.Type))
			}
		}
	}
	return nil
}

// signature returns the type of a method without its receiver.
func signature(method reflect.Type) reflect.Type {
	var in, out []reflect.Type
	for i := 1; i < method.NumIn(); i++ {
		in = append(in, method.In(i))
	}
	for i := range method.NumOut() {
		out = append(out, method.Out(i))
	}
	return reflect.FuncOf(in, out, method.IsVariadic())
}
