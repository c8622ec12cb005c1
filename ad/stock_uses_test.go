package ad

import (
	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

type stockUse struct {
	name    string
	f       nodeFunc
	refused string // what the error advises, "" for a use that is translated
}

// stockUses are uses of Gorgonia's functions that return nodes; each name begins with the
// function's.
var stockUses = []stockUse{
	{"Abs", func(a *Node) (*Node, error) { return gorgonia.Abs(Offset(-1, a)) }, ""},
	{"Add", func(a *Node) (*Node, error) { return gorgonia.Add(a, Square(a)) }, ""},
	{"Add a scalar", func(a *Node) (*Node, error) { return gorgonia.Add(a, sumOf(a)) }, ""},
	{"Add a constant", func(a *Node) (*Node, error) { return gorgonia.Add(three(), a) }, ""},
	{"Add a constant on the right", func(a *Node) (*Node, error) { return gorgonia.Add(a, three()) }, ""},
	{"Add a constant tensor", func(a *Node) (*Node, error) {
		return gorgonia.Add(vec4(a), gorgonia.NewConstant(tensor.New(tensor.WithBacking([]float64{1, 2, 3, 4}))))
	}, "use ad.NewConst"},
	{"At", func(a *Node) (*Node, error) { return gorgonia.At(a, 5) }, ""},
	{"At a place in a matrix", shaped(func(a *Node) (*Node, error) { return gorgonia.At(a, 2, 1) }, 4, 4), ""},
	{"Auto", func(a *Node) (*Node, error) {
		return gorgonia.Auto(gorgonia.BroadcastHadamardProd, Part(a, 0, 3, 4), Part(a, 2, 1, 4))
	}, ""},
	{"AveragePool1D, which is MaxPool1D",
		shaped(func(a *Node) (*Node, error) { return gorgonia.AveragePool1D(a, 2, 0, 1) }, 2, 1, 1, 8), ""},
	{"AveragePool2D", shaped(func(a *Node) (*Node, error) { return gorgonia.AveragePool2D(a, kernel2, none, one) }, 1,
		1, 4, 4), "use ad.AvgPool"},
	{"BatchNorm", shaped(func(a *Node) (*Node, error) {
		s := leafOf(a, "scale", tensor.Float64, 1, 1, 4, 4)
		n, _, _, _, err := gorgonia.BatchNorm(a, s, s, .9, 1e-5)
		return n, err
	}, 1, 1, 4, 4), "use nn.BatchNorm"},
	{"BatchedMatMul", shaped(func(a *Node) (*Node, error) {
		return gorgonia.BatchedMatMul(a,
			gorgonia.Must(gorgonia.Reshape(gorgonia.Must(gorgonia.Sin(a)), tensor.Shape{2, 4, 2})))
	}, 2, 2, 4), ""},
	{"BatchedMatMul, transposed", shaped(func(a *Node) (*Node, error) {
		return gorgonia.BatchedMatMul(a, gorgonia.Must(gorgonia.Sin(a)), false, true)
	}, 2, 2, 4), ""},
	{"BinaryXent", func(a *Node) (*Node, error) { return gorgonia.BinaryXent(Sigmoid(a), Sin(a)) }, "use ad.Offset"},
	{"BinomialRandomNode", func(a *Node) (*Node, error) {
		return gorgonia.Add(a, gorgonia.BinomialRandomNode(a.Graph(), tensor.Float64, 3, .5, 16))
	}, "use an input"},
	{"Broadcast", func(a *Node) (*Node, error) {
		m, v, err := gorgonia.Broadcast(Part(a, 0, 2, 4), Part(a, 3, 1, 4),
			gorgonia.NewBroadcastPattern(nil, []byte{0}))
		if err != nil {
			return nil, err
		}
		return gorgonia.HadamardProd(m, v)
	}, ""},
	{"BroadcastAdd", withRow3(gorgonia.BroadcastAdd), ""},
	{"BroadcastAdd columns", func(a *Node) (*Node, error) {
		return gorgonia.BroadcastAdd(PartVec(a, 4, 2), Part(a, 0, 2, 3), []byte{1}, nil)
	}, ""},
	{"BroadcastAdd of a tensor of three axes", shaped(func(a *Node) (*Node, error) {
		return gorgonia.BroadcastAdd(a,
			gorgonia.Must(gorgonia.Reshape(gorgonia.Must(gorgonia.Slice(a, gorgonia.S(0))), tensor.Shape{1, 2, 4})),
			nil, []byte{0})
	}, 2, 2, 4), ""},
	{"BroadcastSub", withRow3(gorgonia.BroadcastSub), ""},
	{"BroadcastHadamardProd", func(a *Node) (*Node, error) {
		return gorgonia.BroadcastHadamardProd(Part(a, 0, 2, 3), PartVec(a, 4, 2), nil, []byte{1})
	}, ""},
	{"BroadcastHadamardDiv", withRow3(gorgonia.BroadcastHadamardDiv), ""},
	{"BroadcastPow", withRow3(gorgonia.BroadcastPow), ""},
	{"BroadcastEq", alongRows(gorgonia.BroadcastEq), ""},
	{"BroadcastNe", alongRows(gorgonia.BroadcastNe), ""},
	{"BroadcastGt", alongRows(gorgonia.BroadcastGt), ""},
	{"BroadcastGte", alongRows(gorgonia.BroadcastGte), ""},
	{"BroadcastLt", alongRows(gorgonia.BroadcastLt), ""},
	{"BroadcastLte", alongRows(gorgonia.BroadcastLte), ""},
	{"ByIndices", func(a *Node) (*Node, error) { return gorgonia.ByIndices(a, leafOf(a, "i", tensor.Int, 2), 0) },
		"use ad.Gather"},
	{"CTCLoss", func(a *Node) (*Node, error) {
		return gorgonia.CTCLoss(gorgonia.Must(gorgonia.Reshape(a, tensor.Shape{4, 2, 2})),
			leafOf(a, "t", tensor.Int, 2, 2), leafOf(a, "il", tensor.Int, 2), leafOf(a, "tl", tensor.Int, 2),
			gorgonia.ReductionMean)
	}, "no second derivative"},
	{"Ceil", gorgonia.Ceil, "it has no derivative"},
	{"Concat", func(a *Node) (*Node, error) { return gorgonia.Concat(0, vec4(a), Sin(a)) }, ""},
	{"Concat rows", func(a *Node) (*Node, error) { return gorgonia.Concat(0, square2(a), Part(Sin(a), 1, 3, 2)) }, ""},
	{"Concat columns", func(a *Node) (*Node, error) { return gorgonia.Concat(1, square2(a), Part(Sin(a), 1, 2, 3)) },
		""},
	{"Concat tensors", shaped(func(a *Node) (*Node, error) {
		return gorgonia.Concat(1, a, gorgonia.Must(gorgonia.Sin(a)))
	}, 2, 2, 4), ""},
	{"Conv1d", func(a *Node) (*Node, error) {
		series := gorgonia.Must(gorgonia.Reshape(Neg(a), tensor.Shape{2, 2, 1, 4}))
		return gorgonia.Conv1d(series,
			gorgonia.Must(gorgonia.Reshape(Sin(PartVec(a, 0, 12)), tensor.Shape{3, 2, 1, 2})), 2, 1, 2, 1)
	}, ""},
	{"Conv2d", func(a *Node) (*Node, error) {
		images := gorgonia.Must(gorgonia.Reshape(a, tensor.Shape{2, 1, 2, 4}))
		return gorgonia.Conv2d(images, gorgonia.Must(gorgonia.Reshape(Sin(PartVec(a, 0, 8)), tensor.Shape{2, 1, 2, 2})),
			kernel2, []int{1, 0}, []int{1, 1}, one)
	}, ""},
	{"Conv2d, dilated", func(a *Node) (*Node, error) {
		images := gorgonia.Must(gorgonia.Reshape(a, tensor.Shape{1, 1, 4, 4}))
		return gorgonia.Conv2d(images, gorgonia.Must(gorgonia.Reshape(vec4(a), tensor.Shape{1, 1, 2, 2})), kernel2,
			none, one, []int{2, 2})
	}, ""},
	{"ConvType", func(a *Node) (*Node, error) { return gorgonia.ConvType(a, tensor.Float64, tensor.Float32) },
		"one element type"},
	{"Cos", gorgonia.Cos, ""},
	{"Cube", gorgonia.Cube, ""},
	{"DiagFlat", gorgonia.DiagFlat, "use ad.RowScale"},
	{"Div by a scalar", func(a *Node) (*Node, error) { return gorgonia.Div(a, sumOf(a)) }, ""},
	{"Div of a constant", func(a *Node) (*Node, error) { return gorgonia.Div(three(), a) }, ""},
	{"Div by a constant", func(a *Node) (*Node, error) { return gorgonia.Div(a, three()) }, ""},
	{"Dropout", func(a *Node) (*Node, error) { return gorgonia.Dropout(a, .5) }, "use a mask as an input"},
	{"Eq", func(a *Node) (*Node, error) { return gorgonia.Eq(a, Sin(a), true) }, ""},
	{"Exp", gorgonia.Exp, ""},
	{"Expm1", gorgonia.Expm1, ""},
	{"Exp minus 1, which Gorgonia rewrites", func(a *Node) (*Node, error) {
		return gorgonia.Sub(gorgonia.Must(gorgonia.Exp(a)), gorgonia.NewConstant(1.))
	}, ""},
	{"Floor", gorgonia.Floor, "it has no derivative"},
	{"GaussianRandomNode", func(a *Node) (*Node, error) {
		return gorgonia.Add(a, gorgonia.GaussianRandomNode(a.Graph(), tensor.Float64, 0, 1, 16))
	}, "use an input"},
	{"GlobalAveragePool2D", shaped(func(a *Node) (*Node, error) { return gorgonia.GlobalAveragePool2D(a) }, 2, 2, 1, 4),
		""},
	{"GroupNorm", shaped(func(a *Node) (*Node, error) {
		s := leafOf(a, "s", tensor.Float64, 1, 4, 1, 1)
		return gorgonia.GroupNorm(a, s, s, 2, 4, 1e-5)
	}, 2, 4, 1, 2), "use nn.GroupNorm"},
	{"Gt", whereHolds(gorgonia.Gt, same, Sin), ""},
	{"Gt a constant", whereHolds(gorgonia.Gt, same, constant3), ""},
	{"Gt of truth values", func(a *Node) (*Node, error) { return gorgonia.Gt(a, Square(a), false) }, "use ad.Step"},
	{"Gte", whereHolds(gorgonia.Gte, Sin, same), ""},
	{"HadamardDiv", func(a *Node) (*Node, error) { return gorgonia.HadamardDiv(Sin(a), a) }, ""},
	{"HadamardDiv by a scalar", func(a *Node) (*Node, error) { return gorgonia.HadamardDiv(a, sumOf(a)) }, ""},
	{"HadamardDiv of a scalar", func(a *Node) (*Node, error) { return gorgonia.HadamardDiv(sumOf(a), a) }, ""},
	{"HadamardProd", func(a *Node) (*Node, error) { return gorgonia.HadamardProd(a, Sin(a)) }, ""},
	{"HadamardProd with a scalar", func(a *Node) (*Node, error) { return gorgonia.HadamardProd(a, sumOf(a)) }, ""},
	{"Im2Col", shaped(func(a *Node) (*Node, error) {
		return gorgonia.Im2Col(a, tensor.Shape{1, 2}, tensor.Shape{0, 1}, tensor.Shape{2, 2}, tensor.Shape{1, 1})
	}, 1, 2, 2, 4), ""},
	{"Im2Col with two strides", shaped(func(a *Node) (*Node, error) {
		return gorgonia.Im2Col(a, kernel2, none, tensor.Shape{2, 1}, one)
	}, 1, 1, 4, 4), ""},
	{"Im2Col with wide padding", shaped(func(a *Node) (*Node, error) {
		return gorgonia.Im2Col(a, kernel2, tensor.Shape{2, 2}, one, one)
	}, 1, 1, 4, 4), "use ad.Im2col"},
	{"Inverse", gorgonia.Inverse, ""},
	{"InverseSqrt", gorgonia.InverseSqrt, ""},
	{"KeepDims", shaped(func(a *Node) (*Node, error) {
		return gorgonia.KeepDims(a, false, func(a *Node) (*Node, error) { return gorgonia.Sum(a, 1) })
	}, 4, 4), ""},
	{"LeakyRelu", func(a *Node) (*Node, error) { return gorgonia.LeakyRelu(Offset(-1.2, a), .1) }, ""},
	{"Log", gorgonia.Log, ""},
	{"Log of 1+a, which Gorgonia rewrites", func(a *Node) (*Node, error) {
		return gorgonia.Log(gorgonia.Must(gorgonia.Add(gorgonia.NewConstant(1.), a)))
	}, ""},
	{"Log of Sigmoid, which Gorgonia rewrites", chain(gorgonia.Sigmoid, gorgonia.Log), ""},
	{"Log1p", gorgonia.Log1p, ""},
	{"Log2", gorgonia.Log2, ""},
	{"LogSoftMax", shaped(func(a *Node) (*Node, error) { return gorgonia.LogSoftMax(a) }, 4, 4), ""},
	{"LogSumExp, whose value is another one", func(a *Node) (*Node, error) { return gorgonia.LogSumExp(a, 0) }, ""},
	{"Lt", whereHolds(gorgonia.Lt, Sin, same), ""},
	{"Lte", whereHolds(gorgonia.Lte, same, constant3), ""},
	{"Max", func(a *Node) (*Node, error) { return gorgonia.Max(a) }, ""},
	{"Max along rows", shaped(func(a *Node) (*Node, error) { return gorgonia.Max(a, 0) }, 4, 4), ""},
	{"Max along columns", shaped(func(a *Node) (*Node, error) { return gorgonia.Max(a, 1) }, 4, 4), ""},
	{"MaxBetween", func(a *Node) (*Node, error) { return gorgonia.MaxBetween(a, Offset(.3, Sin(a))) }, ""},
	{"MaxPool1D", shaped(func(a *Node) (*Node, error) { return gorgonia.MaxPool1D(a, 3, 1, 2) }, 2, 1, 1, 8), ""},
	{"MaxPool2D", shaped(func(a *Node) (*Node, error) { return gorgonia.MaxPool2D(a, kernel2, none, one) }, 1, 2, 2, 4),
		""},
	{"MaxPool2D, padded on one side", shaped(func(a *Node) (*Node, error) {
		return gorgonia.MaxPool2D(a, kernel2, []int{1, 0, 0, 0}, one)
	}, 1, 1, 4, 4), "use ad.MaxPool"},
	{"Mean", func(a *Node) (*Node, error) { return gorgonia.Mean(a) }, ""},
	{"Mean of a matrix", shaped(func(a *Node) (*Node, error) { return gorgonia.Mean(a) }, 4, 4), ""},
	{"Mean along rows", shaped(func(a *Node) (*Node, error) { return gorgonia.Mean(a, 0) }, 4, 4), ""},
	{"MinBetween", func(a *Node) (*Node, error) { return gorgonia.MinBetween(a, Offset(.3, Sin(a))) }, ""},
	{"Mish", gorgonia.Mish, ""},
	{"Mul a scalar on the left", func(a *Node) (*Node, error) { return gorgonia.Mul(sumOf(a), a) }, ""},
	{"Mul a scalar on the right", func(a *Node) (*Node, error) { return gorgonia.Mul(a, sumOf(a)) }, ""},
	{"Mul a constant", func(a *Node) (*Node, error) { return gorgonia.Mul(three(), a) }, ""},
	{"Mul scalars", func(a *Node) (*Node, error) { return gorgonia.Mul(sumOf(a), sumOf(Sin(a))) }, ""},
	{"Mul vectors", func(a *Node) (*Node, error) { return gorgonia.Mul(a, Sin(a)) }, ""},
	{"Mul a matrix and a vector", func(a *Node) (*Node, error) {
		return gorgonia.Mul(square2(a), PartVec(Sin(a), 1, 2))
	}, ""},
	{"Mul a vector and a matrix", func(a *Node) (*Node, error) {
		return gorgonia.Mul(PartVec(Sin(a), 1, 2), square2(a))
	}, ""},
	{"Mul matrices", func(a *Node) (*Node, error) { return gorgonia.Mul(Part(a, 0, 4, 1), Part(Sin(a), 0, 1, 4)) }, ""},
	{"Ne", whereHolds(gorgonia.Ne, same, Sin), ""},
	{"Neg", gorgonia.Neg, ""},
	{"Norm", func(a *Node) (*Node, error) { return gorgonia.Norm(a, 0, 2) }, ""},
	{"Norm of third order", func(a *Node) (*Node, error) { return gorgonia.Norm(a, 0, 3) }, ""},
	{"OneHotVector", func(a *Node) (*Node, error) {
		return gorgonia.Add(a, gorgonia.OneHotVector(3, 16, tensor.Float64))
	}, "use ad.NewConst"},
	{"OuterProd", func(a *Node) (*Node, error) { return gorgonia.OuterProd(a, Sin(a)) }, ""},
	{"Pow", func(a *Node) (*Node, error) { return gorgonia.Pow(a, gorgonia.NewConstant(3.)) }, ""},
	{"Pow of a constant", func(a *Node) (*Node, error) { return gorgonia.Pow(gorgonia.NewConstant(2.), a) }, ""},
	{"Pow by a node", func(a *Node) (*Node, error) { return gorgonia.Pow(a, Sin(a)) }, ""},
	{"Ravel", shaped(gorgonia.Ravel, 4, 4), ""},
	{"Rectify", func(a *Node) (*Node, error) { return gorgonia.Rectify(Offset(-1.2, a)) }, ""},
	{"ReduceAdd", func(a *Node) (*Node, error) { return gorgonia.ReduceAdd(gorgonia.Nodes{a, Sin(a), Square(a)}) }, ""},
	{"ReduceMul", func(a *Node) (*Node, error) {
		return gorgonia.ReduceMul(gorgonia.Nodes{sumOf(a), sumOf(Sin(a)), sumOf(Square(a))})
	}, ""},
	{"Reshape", func(a *Node) (*Node, error) { return gorgonia.Reshape(a, tensor.Shape{2, 8}) }, ""},
	{"Reshape of an intermediate node to four axes",
		chain(gorgonia.Sin, func(a *Node) (*Node, error) { return gorgonia.Reshape(a, tensor.Shape{2, 2, 2, 2}) }), ""},
	{"Sigmoid", gorgonia.Sigmoid, ""},
	{"Sign", func(a *Node) (*Node, error) {
		return gorgonia.HadamardProd(a, gorgonia.Must(gorgonia.Sign(Offset(-1.2, a))))
	}, ""},
	{"Sin", gorgonia.Sin, ""},
	{"SizeOf", func(a *Node) (*Node, error) { return gorgonia.Mul(gorgonia.Must(gorgonia.SizeOf(0, a)), a) }, ""},
	{"Slice", func(a *Node) (*Node, error) { return gorgonia.Slice(a, gorgonia.S(1, 3)) }, ""},
	{"Slice of one number", func(a *Node) (*Node, error) { return gorgonia.Slice(a, gorgonia.S(3)) }, ""},
	{"Slice a row", shaped(func(a *Node) (*Node, error) { return gorgonia.Slice(a, gorgonia.S(2)) }, 4, 4), ""},
	{"Slice a column", shaped(func(a *Node) (*Node, error) { return gorgonia.Slice(a, nil, gorgonia.S(2)) }, 4, 4), ""},
	{"Slice rows and columns",
		shaped(func(a *Node) (*Node, error) { return gorgonia.Slice(a, gorgonia.S(1, 3), gorgonia.S(0, 3)) }, 4, 4),
		""},
	{"Slice with steps", shaped(func(a *Node) (*Node, error) { return gorgonia.Slice(a, gorgonia.S(0, 4, 2)) }, 4, 4),
		""},
	{"Slice of three axes", shaped(func(a *Node) (*Node, error) {
		return gorgonia.Slice(a, nil, gorgonia.S(1), gorgonia.S(1, 3))
	}, 2, 2, 4), ""},
	{"SoftMax", shaped(func(a *Node) (*Node, error) { return gorgonia.SoftMax(a) }, 4, 4), ""},
	{"SoftMax of a vector", func(a *Node) (*Node, error) { return gorgonia.SoftMax(a) }, ""},
	{"SoftMax along the first axis", shaped(func(a *Node) (*Node, error) { return gorgonia.SoftMax(a, 0) }, 2, 8), ""},
	{"Softplus", gorgonia.Softplus, ""},
	{"Sparsemax", shaped(func(a *Node) (*Node, error) { return gorgonia.Sparsemax(a) }, 4, 4), "use ad.RowSoftmax"},
	{"Sqrt", gorgonia.Sqrt, ""},
	{"Square", gorgonia.Square, ""},
	{"Sub", func(a *Node) (*Node, error) { return gorgonia.Sub(a, Square(a)) }, ""},
	{"Sub from a scalar", func(a *Node) (*Node, error) { return gorgonia.Sub(sumOf(a), a) }, ""},
	{"Sub a constant", func(a *Node) (*Node, error) { return gorgonia.Sub(a, three()) }, ""},
	{"Sub from a constant", func(a *Node) (*Node, error) { return gorgonia.Sub(three(), a) }, ""},
	{"Sum", func(a *Node) (*Node, error) { return gorgonia.Sum(Square(a)) }, ""},
	{"Sum of a matrix", func(a *Node) (*Node, error) { return gorgonia.Sum(square2(a)) }, ""},
	{"Sum along rows", func(a *Node) (*Node, error) { return gorgonia.Sum(square2(a), 0) }, ""},
	{"Sum along columns", func(a *Node) (*Node, error) { return gorgonia.Sum(square2(a), 1) }, ""},
	{"Sum along one of three axes", shaped(func(a *Node) (*Node, error) { return gorgonia.Sum(a, 1) }, 2, 2, 4), ""},
	{"Sum along two of three axes", shaped(func(a *Node) (*Node, error) { return gorgonia.Sum(a, 0, 2) }, 2, 2, 4), ""},
	{"Tanh", gorgonia.Tanh, ""},
	{"Tensordot", shaped(func(a *Node) (*Node, error) {
		return gorgonia.Tensordot([]int{1}, []int{0}, a, gorgonia.Must(gorgonia.Sin(a)))
	}, 4, 4), ""},
	{"Tensordot of three axes", shaped(func(a *Node) (*Node, error) {
		return gorgonia.Tensordot([]int{2, 0}, []int{2, 0}, a, gorgonia.Must(gorgonia.Sin(a)))
	}, 2, 2, 4), ""},
	{"Transpose", shaped(func(a *Node) (*Node, error) { return gorgonia.Transpose(a) }, 2, 8), ""},
	{"Transpose three axes", shaped(func(a *Node) (*Node, error) { return gorgonia.Transpose(a, 2, 0, 1) }, 2, 2, 4),
		""},
	{"Transpose four axes", shaped(func(a *Node) (*Node, error) { return gorgonia.Transpose(a, 0, 3, 1, 2) },
		2, 2, 2, 2), ""},
	{"Transpose six axes", shaped(func(a *Node) (*Node, error) { return gorgonia.Transpose(a, 5, 4, 3, 2, 1, 0) }, 2, 2,
		2, 1, 2, 1), ""},
	{"Transpose five axes that all move", func(a *Node) (*Node, error) {
		five := gorgonia.Must(gorgonia.Reshape(ConcatRows(Flatten(a), Flatten(a)), tensor.Shape{2, 2, 2, 2, 2}))
		return gorgonia.Transpose(five, 4, 3, 2, 1, 0)
	}, ""},
	{"Unconcat", func(a *Node) (*Node, error) {
		ns, err := gorgonia.Unconcat(Part(a, 0, 4, 4), 1, 2)
		if err != nil {
			return nil, err
		}
		return gorgonia.HadamardProd(ns[0], ns[1])
	}, ""},
	{"UniformRandomNode", func(a *Node) (*Node, error) {
		return gorgonia.Add(a, gorgonia.UniformRandomNode(a.Graph(), tensor.Float64, 0, 1, 16))
	}, "use an input"},
	{"Upsample2D", shaped(func(a *Node) (*Node, error) { return gorgonia.Upsample2D(a, 2) }, 1, 2, 2, 4), ""},
	{"YOLOv3", shaped(func(a *Node) (*Node, error) {
		return gorgonia.YOLOv3(a, []float32{1, 2}, []int{0}, 4, 3, .5)
	}, 1, 8, 1, 2), "no second derivative"},
}

// untaped are uses on which the TapeMachine fails, with what they should be.
var untaped = map[string]nodeFunc{
	"At":                     func(a *Node) (*Node, error) { return Item(a, 5), nil },
	"At a place in a matrix": func(a *Node) (*Node, error) { return Scale(1.25, Item(a, 9)), nil },
}

// notOps are Gorgonia's functions that return nodes but apply no op of their own: leaves, sweeps,
// graphs, statements and wrappers.
var notOps = []string{"ApplyOp", "ApplyOpWithName", "Backpropagate", "Compile", "CompileFunction", "Grad", "Lift1",
	"Lift1Axial", "Lift2", "Lift2Broadcast",
	"Must", "NewConstant", "NewMatrix", "NewScalar", "NewTensor", "NewUniqueNode", "NewVector", "NodeFromAny",
	"NodesFromInputs", "Read", "Set", "Sort",
	"UnstableSort", "WalkGraph"}
