package ad

import (
	"reflect"
	"unsafe"

	"dsbo/ad/internal/engine"
)

// What the engine chooses is no part of what it offers: tests read its own fields, and limit it
// there.

// inside returns a field of the engine's, by its path through pointers.
func inside(v any, path ...string) reflect.Value {
	r, ok := v.(reflect.Value)
	if !ok {
		r = reflect.ValueOf(v)
	}
	for _, name := range path {
		r = reflect.Indirect(r).FieldByName(name)
	}
	return r
}

// fieldAs returns the place of a field, whose type is T.
func fieldAs[T any](field reflect.Value) *T { return (*T)(unsafe.Pointer(field.UnsafeAddr())) }

// elements returns the elements of a list.
func elements(list reflect.Value) (all []reflect.Value) {
	for i := range list.Len() {
		all = append(all, list.Index(i))
	}
	return all
}

// setTile makes the tiles of p and of its later forks n examples long at most, before p has any.
func setTile(p *Program, n int) {
	tile := fieldAs[int](inside(p.template, "tile"))
	*tile = min(n, *tile)
	for _, l := range elements(inside(p.template, "layouts")) {
		*fieldAs[int](inside(l, "tile")) = *tile
	}
}

// poolOf returns where p's scratch memory comes from.
func poolOf(p *Program) *Pool { return (*Pool)(inside(p.m, "memory", "pool").UnsafePointer()) }

// scratchOf returns the scratch memory that a pool has, and how many programs use some of it.
func scratchOf(p *Pool) (list [][]float64, busy int) {
	return *fieldAs[[][]float64](inside(p, "list")), *fieldAs[int](inside(p, "busy"))
}

// layoutOf returns the engine's choices for a plan.
func layoutOf(d *code, p *engine.Plan) reflect.Value {
	return inside(d.template, "layouts").Index(int(inside(p, "number").Int()))
}

// tailOf returns how many steps a plan has in its tail, and all blocks of the tail together.
func tailOf(d *code, p *engine.Plan) (steps, work int) {
	tail := inside(layoutOf(d, p), "tail")
	if tail.IsNil() {
		return 0, 0
	}
	for _, busy := range elements(inside(tail, "busy")) {
		work += busy.Len()
	}
	return inside(tail, "steps").Len(), work
}

// resumedBy returns how many sums of a plan continue in the memory of another.
func resumedBy(d *code, p *engine.Plan) (sums int) {
	const resumes = 1
	for _, role := range elements(inside(layoutOf(d, p), "roles")) {
		if role.Uint() == resumes {
			sums++
		}
	}
	return sums
}

// hasStrips reports whether a step of a plan runs in strips.
func hasStrips(d *code, p *engine.Plan) bool {
	for _, pass := range elements(inside(layoutOf(d, p), "groups")) {
		for _, group := range elements(pass) {
			if inside(group, "rows").Int() > 0 {
				return true
			}
		}
	}
	return false
}

// keptBy returns the products of matrices with rows that do not depend on a direction, how many of
// them are kept, and the numbers that are kept.
func keptBy(d *code) (products, kept, numbers int) {
	values, directions := inside(d.template, "values"), inside(d.template, "directions").Uint()
	for _, s := range elements(inside(d.template, "steps")) {
		v := values.Index(int(inside(s, "out").Int()))
		if inside(s, "Terms").Int() > 0 && inside(s, "tiled").Bool() && inside(v, "deps").Uint()&directions == 0 {
			products++
			if inside(v, "kept").Bool() {
				kept++
			}
		}
	}
	return products, kept, int(inside(d.template, "kept").Int())
}

// recomputed returns how many steps of a plan ran last though they do not depend on a direction.
func recomputed(d *Derivs, p *engine.Plan) (steps int) {
	for _, k := range elements(inside(p, "order")) {
		ins := inside(d.m, "instrs").Index(int(k.Int()))
		out := inside(d.m, "slots").Index(int(inside(ins, "out").Int()))
		if inside(ins, "run").Bool() && inside(out, "deps").Uint()&inside(d.m, "directions").Uint() == 0 {
			steps++
		}
	}
	return steps
}

// hasScratch reports whether a slot that retains nothing or the last call is in scratch memory.
func hasScratch(d *Derivs) bool {
	for _, s := range elements(inside(d.m, "slots")) {
		if !inside(s, "retained").Bool() && inside(s, "source").IsNil() && (inside(s, "buf").Len() > 0 ||
			inside(s, "tiles").Len() > 0) {
			return true
		}
	}
	for _, a := range elements(inside(d.m, "in")) {
		if inside(a, "V").Len() > 0 {
			return true
		}
	}
	return inside(d.m, "scratch").Len() > 0 || inside(d.m, "call", "Dst", "V").Len() > 0
}
