package engine

import (
	"fmt"

	"dsbo"
)

// Mat is a row-major R×C block; a vector of length n is n×1 and a scalar 1×1. Sparse rows have no
// V.
type Mat[T Float] struct {
	V      []T
	R, C   int
	sparse *sparseRows[T]
}

// Row returns row i.
func (m Mat[T]) Row(i int) []T { return m.V[i*m.C : (i+1)*m.C] }

// IndexAt returns entry i of idx, the index of a row. An index out of range fails the run with an
// error that matches [dsbo.ErrShape].
func (m Mat[T]) IndexAt(idx Mat[T], i int) int {
	v := idx.V[i]
	at := int(v)
	if uint(at) >= uint(m.R) || v != T(at) {
		m.refuse(idx, i)
	}
	return at
}

func (m Mat[T]) refuse(idx Mat[T], i int) {
	panic(&indexError{value: float64(idx.V[i]), rows: m.R, entry: i, of: idx.R, where: fmt.Sprintf("entry %d", i)})
}

// An indexError is the error for an entry of a vector of indices.
type indexError struct {
	value     float64
	rows      int // of the indexed matrix
	entry, of int // the position of the index, and how many there are
	where     string
	op        fmt.Stringer
}

func (e *indexError) Error() string {
	return fmt.Sprintf("%v: indices must be whole numbers from 0 to %d; %s is %v", e.op, e.rows-1, e.where, e.value)
}

func (e *indexError) Unwrap() error { return dsbo.ErrShape }

// A Failure is what a kernel panics with to fail the run with an error.
type Failure struct{ Err error }

// Failed returns the error of a [Failure], or of an index; other panics are raised again.
func Failed(r any) error {
	switch r := r.(type) {
	case Failure:
		return r.Err
	case *indexError:
		return r
	}
	panic(r)
}

// CallBlock is the length of Call.Block, which fits into the first-level cache.
const CallBlock = 1024

// A Call is one run of a kernel. A summing kernel overwrites Dst if First, and adds to it if not.
type Call[T Float] struct {
	Dst   Mat[T]
	In    []Mat[T]
	First bool
	Block *[CallBlock]T // scratch of kernels
}

// Clear zeroes the output of a sum before its first block of rows.
func (c *Call[T]) Clear() {
	if c.First {
		clear(c.Dst.V)
	}
}

// An Op is what the engine knows of an op.
type Op struct {
	Name fmt.Stringer // in errors
	Kind Kind         // what the engine may make of it
	// Args has a letter for each input: it is cut by rows along with the output ('r'), read whole
	// ('w') or not read at all ('n'). Empty: everything is needed whole.
	Args    string
	Sum     bool  // the output is summed over the rows of the batch and has none itself
	Block   int   // rows of the output that must stay together; 0: any number
	Pairs   bool  // of blocks: an input that has one block alone goes with all blocks of the output
	InPlace []int // inputs whose entries the kernel reads only before it writes the same entry

	Tail      bool // with InPlace: entry i of the output depends on entry i of those inputs alone
	Cheap     bool // takes no longer than reading the output from memory
	Resumes   bool // the sum can continue in the memory of another sum
	WholeTile bool // must not, or need not, be cut into strips of a tile
	Terms     int  // of a product of matrices: the numbers summed for each of its numbers

	TransA, TransB bool // of a Product
	Offset         int  // of a View, Place or AddPart
	Remat          Mark // whether a part begins or ends whose values are not kept

	F32 func(*Call[float32]) // the kernel in float32
	F64 func(*Call[float64]) // the kernel in float64
}

// A Mark is the beginning or end of a part of the graph.
type Mark int8

const (
	Begin Mark = 1
	End   Mark = -1
)

// A Kind is a meaning that the engine makes use of.
type Kind uint8

const (
	Other   Kind = iota
	Product      // op(A)·op(B), where op transposes by TransA and TransB
	Add          // entry by entry
	Mul          // entry by entry
	View         // the entries of the input from Offset on, in their order
	Place        // zeros, with the input from Offset on
	AddPart      // the first input, to which the second is added from Offset on
)
