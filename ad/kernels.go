package ad

import (
	"dsbo/ad/internal/engine"
	"dsbo/internal/kernel"
)

// The inputs that a kernel reads entry by entry before it writes the same entry of the output.
var first, second, both = []int{0}, []int{1}, []int{0, 1}

// kernels is an op whose inputs are cut along the batch as in args, see [engine.Op].
func kernels(args string, f32 func(*call[float32]), f64 func(*call[float64])) engine.Op {
	return engine.Op{Args: args, F32: f32, F64: f64}
}

// with is an op of kernels that take a rule, or what they have to know of it.
func with[R any](r R, args string, f32 func(R, *call[float32]), f64 func(R, *call[float64])) engine.Op {
	return kernels(args, func(c *call[float32]) { f32(r, c) }, func(c *call[float64]) { f64(r, c) })
}

// summing is an op that sums over the rows of its inputs.
func summing(args string, f32 func(*call[float32]), f64 func(*call[float64])) engine.Op {
	return engine.Op{Args: args, Sum: true, F32: f32, F64: f64}
}

// mapping is an op that computes entry by entry of one input.
func mapping(f32 func(dst, a []float32), f64 func(dst, a []float64)) engine.Op {
	return engine.Op{Args: "r", InPlace: first,
		F32: func(c *call[float32]) { f32(c.Dst.V, c.In[0].V) },
		F64: func(c *call[float64]) { f64(c.Dst.V, c.In[0].V) }}
}

// computing is an op that computes each entry in float64.
func computing(f func(float64) float64) engine.Op {
	return mapping(mapped[float32](f), mapped[float64](f))
}

func mapped[T Float](f func(float64) float64) func(dst, a []T) {
	return func(dst, a []T) {
		for i, v := range a {
			dst[i] = T(f(float64(v)))
		}
	}
}

// computing2 is an op that computes each entry of two inputs in float64.
func computing2(f func(a, b float64) float64) engine.Op {
	return combining(mapped2[float32](f), mapped2[float64](f))
}

func mapped2[T Float](f func(a, b float64) float64) func(dst, a, b []T) {
	return func(dst, a, b []T) {
		for i, v := range a {
			dst[i] = T(f(float64(v), float64(b[i])))
		}
	}
}

// combining is an op that computes entry by entry of two inputs.
func combining(f32 func(dst, a, b []float32), f64 func(dst, a, b []float64)) engine.Op {
	return engine.Op{Args: "rr", InPlace: both,
		F32: func(c *call[float32]) { f32(c.Dst.V, c.In[0].V, c.In[1].V) },
		F64: func(c *call[float64]) { f64(c.Dst.V, c.In[0].V, c.In[1].V) }}
}

// cheap marks an op that takes no longer than reading its output from memory.
func cheap(o engine.Op) engine.Op {
	o.Cheap = true
	return o
}

// overwriting marks a cheap op whose output may lie in the place of its first input.
func overwriting(o engine.Op) engine.Op {
	o.InPlace = first
	return cheap(o)
}

// arithmetical marks an op that can be in a plan's tail.
func arithmetical(kind engine.Kind, o engine.Op) engine.Op {
	o.Kind, o.Tail = kind, true
	return cheap(o)
}

// resuming marks a sum that can continue in the memory of another.
func resuming(o engine.Op) engine.Op {
	o.Resumes = true
	return o
}

// uncut marks an op that is not cut into strips of a tile.
func uncut(o engine.Op) engine.Op {
	o.WholeTile = true
	return o
}

// moveRows copies rows of n numbers each, which begin toStep numbers apart in to, and fromStep in
// from. Numbers of short rows are moved one by one.
func moveRows[T Float](rows, n int, to []T, toStep int, from []T, fromStep int) {
	for i := range rows {
		d, s := to[i*toStep:][:n], from[i*fromStep:][:n]
		if n > shortRow {
			copy(d, s)
			continue
		}
		//lint:ignore S1001 see shortRow
		for j, v := range s {
			d[j] = v
		}
	}
}

// shortRow is the longest row for which a loop of its own takes no longer than a call.
const shortRow = 8

func copyKernel[T Float](c *call[T]) { copy(c.Dst.V, c.In[0].V) }

// addTo sets dst = a + b, with a crew where they are long: two processors move more memory than
// one.
func addTo[T Float](dst, a, b []T) {
	if team := kernel.NewCrew(len(dst) * kernel.EntryWork); team != nil {
		team.Share(len(dst), func(from, to int) { kernel.AddTo(dst[from:to], a[from:to], b[from:to]) })
		return
	}
	kernel.AddTo(dst, a, b)
}

// scale sets dst = factor·a, with a crew where they are long.
func scale[T Float](dst []T, factor T, a []T) {
	if team := kernel.NewCrew(len(dst) * kernel.EntryWork); team != nil {
		team.Share(len(dst), func(from, to int) { kernel.Scale(dst[from:to], factor, a[from:to]) })
		return
	}
	kernel.Scale(dst, factor, a)
}
