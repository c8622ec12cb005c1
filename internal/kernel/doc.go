// Package kernel has the inner loops of compiled programs: products of matrices of any size, and
// with the patches of images, pooling, the exponential family and elementwise arithmetic over
// float32 and float64 slices.
//
// # Layout
//
// Matrices are row-major with an explicit row stride (the distance between the starts of two rows,
// at least the number of columns). Sizes may be any number from 0 up. Nothing outside of the named
// entries is read or written, and slices need no alignment. Bounds are checked once a call; a slice
// that is too short panics with the name of the function, the slice and the length that it needs. A
// destination must not overlap an input unless the function says so.
//
// [BytesNT] and [BytesTN] are products with a matrix of bytes whose rows lie anywhere, as the rows
// of a minibatch do, without the zeros at the ends of rows. [SparseRowNT] and its kin are products
// with one sparse row. [PatchesNT], [PatchesTN] and [ImagesNN] are the products of convolutions,
// which read the patches where they lie in the images; a [Pooling] does so too. Products copy what
// they read again and again to memory that is kept for the next ones, as much as there ever were
// products at once.
//
// # Paths
//
// Each function has three paths: generated assembly for AVX-512 and for AVX2 with FMA, and plain
// Go, which serves every other machine, builds with the noasm tag, and the tests as the reference.
// The best path of the machine is chosen once at start. The environment variable
// DSBO_KERNEL=generic|avx2|avx512 asks for a lesser one; [Env] reports if the machine lacks it, and
// [Use] changes the path for a test.
//
// # Processors
//
// Large products of matrices, and work entry by entry on long vectors, are shared with goroutines
// on idle processors: GOMAXPROCS less the calls of [Begin] without an [End]. With as many agents at
// work as processors, each has one. Plain Go's products are not shared. Compiled programs share the
// rows of a batch in the same way, see [Hire].
//
// # Accuracy
//
// Bounds on the error of a function are relative ones, or in units of the last place (ulp), down to
// the smallest normal number; below it, where numbers have fewer digits, they are as many units of
// the smallest number. The float32 functions work in float64 and round once.
//
// # Same bits
//
// Every function adds in an order that is a function of the sizes alone, so one path gives the same
// bits on every call, whatever the alignment and the number of processors. A row of [GemmNT],
// [BytesNT] or [GemmNN], of a softmax and of a log-sum-exp does not depend on the other rows of the
// call, nor an entry of [Dots] on anything but its two rows; an image in [PatchesNT] and [ImagesNN]
// does not depend on the other images; and [GemmTN], [BytesTN], [PatchesTN] and [GemmNN] that
// accumulate continue the sums in C, so that a batch cut into tiles of any size gives the bits of
// the uncut batch. The two assembly paths agree with each other to the bit. The plain path never
// fuses a multiply with an add; it differs from the others by rounding alone.
//
// # Why not gonum's BLAS
//
// Its products add in an order that depends on the machine, and have no assembly of AVX-512: a
// gradient on MNIST in float32 takes them seven times as long (benchmarks/results/derivatives.csv).
// Losses also need products that BLAS has not, such as of bytes and of patches of images.
package kernel

//go:generate go -C gen run . ..

// Float is the set of element types.
type Float interface{ float32 | float64 }
