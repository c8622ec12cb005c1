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
//	                  Exp Expm1 Log Log1p LogAddExp Tanh Sigmoid Softplus Erf Sin Cos Tan Asin
//	                  Acos Atan Atan2 Sinh Cosh Asinh Acosh Atanh Floor Mod Uniform
//	                  Erfc Lgamma Digamma Polygamma NormalCDF LogNormalCDF
//	  with kinks      ReLU Step Abs Sign Max Min Clip
//	  of conditions   Where Greater GreaterEqual Less LessEqual Equal NotEqual
//	products          MatMul MatVec Outer BatchMatMul Dot RowDot ColDot ScaleBy RowScale ColScale
//	                  Distances
//	small systems     Solve LogDet Cholesky SolveLower SymmetricEigen, and Batch... for stacked
//	                  ones; SVD QR LeastSquares Inverse SignOfDet Det
//	sums              SumAll Mean SumRows SumCols CumSum ReverseCumSum
//	rows and columns  AddRow AddCol RepeatRow RepeatCol RowSoftmax
//	                  RowLogSumExp RowMax RowMin RowHit
//	parts             Part PartVec Place Item Rows Cols ConcatRows
//	                  ConcatCols Reshape Flatten Transpose
//	more than 2 axes  Einsum Broadcast TensorOf, and a Tensor's Transpose, Sum, Mean, Max, Min,
//	                  Prod, Norm, LogSumExp, Softmax; Reduced, Along, Accumulated take any
//	                  function of rows; Entries Slice Flip Roll Tile Repeat Pad PadWith Resize
//	                  ResizeBy MeanPool MaxPool Unfold
//	tables            Gather, which is an embedding too; NewConst
//	                  SegmentSum ScatterAdd SparseMatMul
//	orders            SortRows ArgSort TopK ArgMax TakeAlongRows PlaceAlongRows
//	images            Im2col Col2im Convolve ConvTranspose MaxPool AvgPool
//	recurrences       Scan
//	implicit          Root FixedPoint ArgMin, with derivatives by the implicit function theorem
//	no derivatives    StopGradient Detached
//	one's own         CustomGrad, and Remat, whose values are not kept
//	marks             Outputs, for Gauss-Newton products
//
// ops.md has a line for each, with its counterparts in PyTorch and NumPy, and what to write for
// names of theirs that are not here.
//
// Lengths of nodes may be 0: sums of no entries are 0, and what has no value, such as a maximum of
// none, is refused. Elementwise ops of two inputs broadcast shapes as NumPy does, see [Add]. Ops of
// one kind on the same inputs are one node, however often a loss asks for them: see [Detached].
//
// At a kink the derivative is one side's, or 0, as each op documents. Gorgonia's ops that have an
// equivalent in the set may be used in a loss and are replaced by it; other ops are refused with an
// error that names the op and what to use instead.
//
// Derivatives can be parts of a graph themselves: [Grad], [VJP], [JVP], [Jacobian] and [Hessian]
// build nodes. [Derivs] computes the derivatives of a loss. Of its products, [Curvature] makes
// spectra, traces and diagonals, and [Derivs.SparseHessian] Hessians that are mostly 0.
//
// Constructors such as [MatMul] panic on shapes that do not fit; [Compile], [Differentiate] and
// [Grad] return that as an error that matches dsbo.ErrShape, and names the line of Build. Package
// adtest checks a loss against finite differences; dsbo/models/nn has layers made of these ops.
//
// # Programs
//
// A compiled [Program] gives any values of a [Func]: scalars, vectors or matrices. Package
// ad/internal/engine runs it; a rule's method lower describes its op to the engine.
//
//   - A program works through the rows of a batch in tiles that stay in cache. Minibatch rows are
//     read where they lie, and the zeros of a sparse table are no work.
//   - Products of convolutions have no patches in memory.
//   - Values whose lives do not overlap share memory, also with other programs ([Workspace]).
//   - Expensive values that depend on the point alone are kept for the next product
//     there. A value is computed again only when an input that it depends on has changed.
//   - Products at a point read no rows whose second derivative is 0 there, if most are such rows.
//   - Nothing is allocated once every derivative has been computed, but by processors that share
//     the rows of a batch.
//   - Vectors may be float64 or float32 ([Derivs.Float32]), whichever the program computes in.
//   - A program uses one processor, and for many rows, large products and long vectors also
//     processors that no other program runs on, with the same bits.
//
// [Derivs.Listing] lists a program's steps; [Derivs.WriteDOT] draws a loss and its derivative.
//
// Training needs no bilevel problem: a loss may have no x (P = 0), [DerivsIn.ValueGrad] gives the
// value and the gradient in one pass, [Sizes] a program for each batch size, and dsbo/models/nn has
// layers, optimizers and a trainer.
//
// One graph has one batch size: keep a program for each batch size, and for each goroutine a fork
// of it ([Program.Fork], [Derivs.Fork]). Forks share what is compiled, and, with workspaces of one
// [Pool], scratch memory.
//
// # Reading order
//
// A [Node] is Gorgonia's; op.go has the rule behind each node and family.go the nodes of one
// function. elementwise.go, broadcast.go, reduce.go and matmul.go are the ops that most losses use.
// grad.go sweeps over nodes. program.go compiles them, derivs.go asks for derivatives.
//
// # Why not Gorgonia's own derivatives
//
// gorgonia.Grad of its own result gives the first gradient again, without an error, and some ops
// have wrong second derivatives, so no Hessian-vector product follows from them. This package takes
// Gorgonia's graphs as the notation of losses, and differentiates them by rules that are closed
// under differentiation. gorgonia.md has what is taken and what is refused of Gorgonia; its
// TapeMachine runs the derivatives by [Derivs.UseGorgonia].
package ad
