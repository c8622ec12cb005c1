// Package ad gives higher-order derivatives of losses that are written as Gorgonia graphs.
//
// A model author builds a scalar from the ops of this package:
//
//	d, err := ad.Differentiate(ad.Loss{P: p, Q: q, Rows: m, Inputs: inputs,
//		Build: func(x, y *ad.Node, in []*ad.Node) *ad.Node { ... }})
//
// and gets its value, ∇_x, ∇_y, (∇²_yy)v and (∇²_xy)v, and, for tests and dense methods, the whole
// Hessian and Jacobian. Products with second derivatives come from double backpropagation
// (Pearlmutter 1994): [Grad] sweeps over a graph in reverse and gives nodes that can be swept over
// again, to any order. No product forms a matrix of second derivatives. The time of compiling is
// proportional to the nodes.
//
// # Ops
//
// Gorgonia's own ops are often wrong, or fail, when they are differentiated twice, and
// gorgonia.Grad cannot be applied to its own result. Here each op's derivative is built from the
// same closed set of ops:
//
//	elementwise       Add Sub Mul Div Sum Scale Neg Offset Square Pow Power Sqrt Rsqrt
//	                  Exp Expm1 Log Log1p Tanh Sigmoid Softplus Erf Sin Cos Uniform
//	  with kinks      ReLU Step Abs Sign Max Min Clip
//	products          MatMul MatVec Outer BatchMatMul Dot RowDot ColDot ScaleBy RowScale ColScale
//	sums              SumAll Mean SumRows SumCols
//	rows and columns  AddRow AddCol RepeatRow RepeatCol RowSoftmax
//	                  RowLogSumExp RowMax RowMin RowHit
//	parts             Part PartVec Place Item Rows Cols ConcatRows
//	                  ConcatCols Reshape Flatten Transpose
//	tables            Gather, which is an embedding too; NewConst
//	images            Im2col Col2im MaxPool AvgPool
//	marks             Outputs, for Gauss-Newton products
//
// At a kink the derivative is that of one side, or 0: that of ReLU at 0 is 0, that of the largest
// of equal entries goes to the first one; each op says which. Gorgonia's ops that have an
// equivalent in the set may be used in a loss and are replaced by it; the others are refused with
// an error that names the op and what to use instead.
//
// Constructors such as [MatMul] panic on shapes that do not fit; [Compile], [Differentiate] and
// [Grad] return that as an error that matches dsbo.ErrShape, and names the line of Build. Package
// adtest checks a loss against finite differences; dsbo/models/nn has layers made of these ops.
//
// # Programs
//
// A compiled [Program] gives any values of a [Func], scalars, vectors or matrices. It leaves out
// what nothing needs, and works through the rows of a batch in tiles that stay in cache, and what
// lies between two products in strips of these, reading minibatch rows where they lie, also those
// of a sparse table, of which products of matrices read what is not 0; products of convolutions
// have no patches in memory, and what is left to do entry by entry at the end goes to the caller's
// vectors in blocks. Values whose lives do not overlap share memory, with those of other programs
// too ([Workspace]); what the point alone determines is kept for the next product there, if it is
// dear, and computed again only when an input that it depends on has changed. Programs allocate
// nothing once every derivative has been computed. Whether they compute in float64 or float32,
// vectors may be of either type ([Derivs.Float32]), without a pass that converts them. A program
// uses one processor, and for large products and long vectors those that no other program runs on,
// with the same bits. One graph has one batch size: keep a program per batch size, and for each
// goroutine a fork of it ([Program.Fork], [Derivs.Fork]): forks share what is compiled, and, with
// workspaces of one [Pool], scratch memory.
package ad
