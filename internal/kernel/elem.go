package kernel

// FromBytes sets dst = scale·src, each byte taken as a number from 0 to 255 and the product
// rounded once. dst and src have one length.
func FromBytes[T Float](dst []T, src []byte, scale T) {
	checkLen("FromBytes", len(dst), len(src))
	fromBytes(dst, src, scale)
}

// AddTo sets dst = x + y. All have one length, and dst may be x or y.
func AddTo[T Float](dst, x, y []T) {
	checkLen("AddTo", len(dst), len(x), len(y))
	addTo(dst, x, y)
}

// SubTo sets dst = x − y. All have one length, and dst may be x or y.
func SubTo[T Float](dst, x, y []T) {
	checkLen("SubTo", len(dst), len(x), len(y))
	subTo(dst, x, y)
}

// MulTo sets dst = x·y entry by entry. All have one length, and dst may be x or y.
func MulTo[T Float](dst, x, y []T) {
	checkLen("MulTo", len(dst), len(x), len(y))
	mulTo(dst, x, y)
}

// Axpy adds a·x to dst; the product is rounded before it is added, on every path. Both have one
// length, and dst may be x.
func Axpy[T Float](dst []T, a T, x []T) {
	checkLen("Axpy", len(dst), len(x))
	axpy(dst, a, x)
}

// Scale sets dst = a·x. Both have one length, and dst may be x.
func Scale[T Float](dst []T, a T, x []T) {
	checkLen("Scale", len(dst), len(x))
	scale(dst, a, x)
}

// Dot returns Σ x_i y_i of two slices of one length. The order of summation depends on the length alone.
func Dot[T Float](x, y []T) T {
	checkLen("Dot", len(x), len(y))
	return dotSum(x, y)
}

// Sum returns Σ x_i. The order of summation depends on the length alone.
func Sum[T Float](x []T) T { return sum(x) }

// Prefetch asks the processor to begin loading src into its caches while it goes on with other
// work. It changes no result; without assembly it does nothing.
func Prefetch(src []byte) { prefetch(src) }
