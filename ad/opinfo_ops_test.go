package ad

import (
	"maps"
	"math"
	"slices"
)

type infoOp = func(c *infoCase) []Tensor

// infoOps are the counterparts of PyTorch's ops.
var infoOps = map[string]infoOp{}

func init() {
	for name, f := range infoUnary {
		infoOps[name] = func(c *infoCase) []Tensor { return just(each(f, c.t(0, "input"))) }
	}
	for name, f := range infoBinary {
		infoOps[name] = func(c *infoCase) []Tensor { return just(paired(f, c.t(0, "input"), c.t(1, "other"))) }
	}
	for name, f := range infoReduced {
		infoOps[name] = func(c *infoCase) []Tensor { return just(c.reduced(c.t(0), 1, f)) }
	}
	for _, list := range []map[string]infoOp{infoArithmetic, infoAxes, infoShapes, infoProducts, infoNets, infoLosses,
		infoMasked, infoRest} {
		maps.Copy(infoOps, list)
	}
}

func scaledBy(c float64) func(a *Node) *Node { return func(a *Node) *Node { return Scale(c, a) } }

func unchanged(a *Node) *Node { return a }

func trunc(a *Node) *Node { return Mul(Sign(a), Floor(Abs(a))) }

// rounded goes to the even one of two as near.
func rounded(a *Node) *Node {
	up := Floor(Offset(.5, a))
	odd := Greater(Mod(up, Uniform(2, a)), Uniform(0, a))
	half := Equal(Sub(up, a), Uniform(.5, a))
	return Sub(up, Mul(odd, half))
}

func elu(alpha float64) func(a *Node) *Node {
	return func(a *Node) *Node {
		zero := Uniform(0, a)
		return Where(Greater(a, zero), a, Scale(alpha, Expm1(Where(Greater(a, zero), zero, a))))
	}
}

func silu(a *Node) *Node { return Mul(a, Sigmoid(a)) }

var infoUnary = map[string]func(a *Node) *Node{
	"abs": Abs, "acos": Acos, "acosh": Acosh, "asin": Asin, "asinh": Asinh, "atan": Atan, "atanh": Atanh,
	"ceil": func(a *Node) *Node { return Neg(Floor(Neg(a))) }, "floor": Floor, "trunc": trunc, "cos": Cos,
	"cosh":    Cosh,
	"deg2rad": scaledBy(math.Pi / 180), "rad2deg": scaledBy(180 / math.Pi), "digamma": Digamma, "erf": Erf,
	"erfc": Erfc,
	"exp":  Exp, "exp2": func(a *Node) *Node { return Exp(Scale(math.Ln2, a)) }, "expm1": Expm1,
	"frac": func(a *Node) *Node { return Sub(a, trunc(a)) }, "lgamma": Lgamma, "log": Log, "log1p": Log1p,
	"log10": func(a *Node) *Node { return Scale(1/math.Ln10, Log(a)) },
	"log2":  func(a *Node) *Node { return Scale(1/math.Ln2, Log(a)) }, "neg": Neg, "positive": unchanged,
	"reciprocal": func(a *Node) *Node { return Pow(a, -1) }, "rsqrt": Rsqrt, "sigmoid": Sigmoid, "sign": Sign,
	"sgn": Sign, "sin": Sin, "sinh": Sinh, "sqrt": Sqrt, "square": Square, "tan": Tan, "tanh": Tanh,
	"nn.functional.relu": ReLU, "nn.functional.silu": silu, "clone": unchanged, "contiguous": unchanged,
	"conj":         unchanged,
	"resolve_conj": unchanged, "resolve_neg": unchanged, "real": unchanged, "conj_physical": unchanged,
	"double":                   unchanged,
	"nn.functional.mish":       func(a *Node) *Node { return Mul(a, Tanh(Softplus(a))) },
	"nn.functional.softsign":   func(a *Node) *Node { return Div(a, Offset(1, Abs(a))) },
	"nn.functional.tanhshrink": func(a *Node) *Node { return Sub(a, Tanh(a)) },
	"nn.functional.relu6":      func(a *Node) *Node { return Clip(a, 0, 6) },
	"nn.functional.logsigmoid": func(a *Node) *Node { return Neg(Softplus(Neg(a))) },
	"nn.functional.hardswish":  func(a *Node) *Node { return Scale(1./6, Mul(a, Clip(Offset(3, a), 0, 6))) },
	"nn.functional.selu":       func(a *Node) *Node { return Scale(1.0507009873554805, elu(1.6732632423543772)(a)) },
	"sinc": func(a *Node) *Node {
		zero, one := Uniform(0, a), Uniform(1, a)
		safe := Scale(math.Pi, Where(Equal(a, zero), one, a))
		return Where(Equal(a, zero), one, Div(Sin(safe), safe))
	},
	"special.ndtr": NormalCDF, "special.log_ndtr": LogNormalCDF, "nan_to_num": unchanged,
	"special.erfcx": func(a *Node) *Node { return Mul(Exp(Square(a)), Erfc(a)) },
	"special.entr":  func(a *Node) *Node { return Neg(xlogy(a, a)) },
	"zero_":         func(a *Node) *Node { return Uniform(0, a) },
	"angle":         func(a *Node) *Node { return Scale(math.Pi, Less(a, Uniform(0, a))) },
}

// xlogy is 0 where a is 0.
func xlogy(a, b *Node) *Node {
	zero := Uniform(0, a)
	return Where(Equal(a, zero), zero, Mul(a, Log(Where(Equal(a, zero), Uniform(1, a), b))))
}

func swapped(f func(a, b *Node) *Node) func(a, b *Node) *Node {
	return func(a, b *Node) *Node { return f(b, a) }
}

// halfMax shares the derivative of equal numbers, as PyTorch does.
func halfMax(a, b *Node) *Node {
	tie := Equal(a, b)
	return Where(tie, Scale(.5, Add(a, b)), Max(a, b))
}

func halfMin(a, b *Node) *Node { return Neg(halfMax(Neg(a), Neg(b))) }

var infoBinary = map[string]func(a, b *Node) *Node{
	"mul": Mul, "true_divide": Div, "atan2": Atan2, "maximum": halfMax, "minimum": halfMin, "fmax": halfMax,
	"fmin": halfMin, "remainder": Mod, "pow": Power, "float_power": Power, "logaddexp": LogAddExp, "xlogy": xlogy,
	"fmod":  func(a, b *Node) *Node { return Sub(a, Mul(b, trunc(Div(a, b)))) },
	"hypot": func(a, b *Node) *Node { return Sqrt(Add(Square(a), Square(b))) },
	"logaddexp2": func(a, b *Node) *Node {
		return Scale(1/math.Ln2, LogAddExp(Scale(math.Ln2, a), Scale(math.Ln2, b)))
	},
	"special.xlog1py": func(a, b *Node) *Node {
		zero := Uniform(0, a)
		return Where(Equal(a, zero), zero, Mul(a, Log1p(b)))
	},
	"copysign": func(a, b *Node) *Node {
		positive := GreaterEqual(b, Uniform(0, b))
		return Mul(Abs(a), Offset(-1, Scale(2, positive)))
	},
	"ldexp":    func(a, b *Node) *Node { return Mul(a, Exp(Scale(math.Ln2, b))) },
	"__radd__": Add, "__rmul__": Mul, "__rsub__": swapped(Sub), "__rdiv__": swapped(Div), "__rpow__": swapped(Power),
	"__rmod__":  swapped(Mod),
	"clamp_min": Max, "clamp_max": Min,
}

func rowVariance(correction float64) func(rows *Node) *Node {
	return func(rows *Node) *Node {
		_, n := dims(rows)
		centred := AddCol(rows, Neg(rowMean(rows)))
		return Scale(1/(float64(n)-correction), RowDot(centred, centred))
	}
}

// rowAmax shares the derivative among equal entries.
func rowAmax(rows *Node) *Node {
	_, n := dims(rows)
	hit := Equal(rows, RepeatCol(RowMax(rows), n))
	return Div(SumCols(Where(hit, rows, Uniform(0, rows))), SumCols(hit))
}

var infoReduced = map[string]func(rows *Node) *Node{
	"mean": rowMean, "sum": SumCols, "amax": rowAmax, "amin": func(a *Node) *Node { return Neg(rowAmax(Neg(a))) },
	"prod": RowProd, "logsumexp": RowLogSumExp,
}

var infoArithmetic = map[string]infoOp{
	"add": func(c *infoCase) []Tensor {
		return just(paired(func(a, b *Node) *Node { return Add(a, Scale(c.number(2, "alpha", 1), b)) },
			c.t(0), c.t(1)))
	},
	"sub": func(c *infoCase) []Tensor {
		return just(paired(func(a, b *Node) *Node { return Sub(a, Scale(c.number(2, "alpha", 1), b)) },
			c.t(0), c.t(1)))
	},
	"rsub": func(c *infoCase) []Tensor {
		return just(paired(func(a, b *Node) *Node { return Sub(b, Scale(c.number(2, "alpha", 1), a)) },
			c.t(0), c.t(1)))
	},
	"div": func(c *infoCase) []Tensor {
		return just(paired(func(a, b *Node) *Node {
			switch c.word(-1, "rounding_mode", "") {
			case "floor":
				return Floor(Div(a, b))
			case "trunc":
				return trunc(Div(a, b))
			}
			return Div(a, b)
		}, c.t(0), c.t(1)))
	},
	"round": func(c *infoCase) []Tensor {
		times := math.Pow(10, c.number(-1, "decimals", 0))
		return just(each(func(a *Node) *Node { return Scale(1/times, rounded(Scale(times, a))) }, c.t(0)))
	},
	"lerp": func(c *infoCase) []Tensor {
		return just(Broadcast(func(in ...*Node) *Node { return Add(in[0], Mul(in[2], Sub(in[1], in[0]))) },
			c.t(0), c.t(1), c.t(2)))
	},
	"addcmul": func(c *infoCase) []Tensor {
		v := c.number(-1, "value", 1)
		return just(Broadcast(func(in ...*Node) *Node { return Add(in[0], Scale(v, Mul(in[1], in[2]))) },
			c.t(0), c.t(1), c.t(2)))
	},
	"addcdiv": func(c *infoCase) []Tensor {
		v := c.number(-1, "value", 1)
		return just(Broadcast(func(in ...*Node) *Node { return Add(in[0], Scale(v, Div(in[1], in[2]))) },
			c.t(0), c.t(1), c.t(2)))
	},
	"where": func(c *infoCase) []Tensor {
		return just(Broadcast(func(in ...*Node) *Node { return Where(in[1], in[0], in[2]) }, c.t(0), c.t(1), c.t(2)))
	},
	"masked_fill": func(c *infoCase) []Tensor {
		return just(Broadcast(func(in ...*Node) *Node { return Where(in[1], in[2], in[0]) }, c.t(0), c.t(1), c.t(2)))
	},
	"clamp": func(c *infoCase) []Tensor {
		t := c.t(0)
		if c.has(1, "min") {
			t = paired(Max, t, c.t(1, "min"))
		}
		if c.has(2, "max") {
			t = paired(Min, t, c.t(2, "max"))
		}
		return just(t)
	},
	"fill": func(c *infoCase) []Tensor {
		return just(Broadcast(func(in ...*Node) *Node { return in[1] }, c.t(0), c.t(1)))
	},
	"polygamma": func(c *infoCase) []Tensor {
		n := c.tensorArg()
		return just(each(func(a *Node) *Node { return Polygamma(c.whole(0, "n", 0)+c.whole(1, "n", 0), a) }, n))
	},
	"logit": func(c *infoCase) []Tensor {
		return just(each(func(a *Node) *Node {
			if eps := c.number(1, "eps", 0); eps > 0 {
				a = Clip(a, eps, 1-eps)
			}
			return Sub(Log(a), Log1p(Neg(a)))
		}, c.t(0)))
	},
	"mvlgamma": func(c *infoCase) []Tensor {
		p := c.whole(1, "p", 1)
		return just(each(func(a *Node) *Node {
			sum := Uniform(float64(p*(p-1))/4*math.Log(math.Pi), a)
			for j := range p {
				sum = Add(sum, Lgamma(Offset(-float64(j)/2, a)))
			}
			return sum
		}, c.t(0)))
	},
	"dist": func(c *infoCase) []Tensor {
		d := paired(Sub, c.t(0), c.t(1))
		return just(TensorOf(Flatten(vectorNorm(c.number(2, "p", 2))(Reshape(d.Node, 1, d.Node.Shape().TotalSize()))),
			[]int{}...))
	},
}

// tensorArg is the first argument that is a tensor.
func (c *infoCase) tensorArg() Tensor {
	for i, a := range c.Args {
		if m, ok := a.(map[string]any); ok && m["y"] != nil {
			c.Args = slices.Replace(slices.Clone(c.Args), i, i+1, any(0.))
			return c.tensorOf(a)
		}
	}
	panic(notHere("no tensor"))
}

// vectorNorm is the norm of an order of each row.
func vectorNorm(p float64) func(rows *Node) *Node {
	return func(rows *Node) *Node {
		switch p {
		case 0:
			return SumCols(NotEqual(rows, Uniform(0, rows)))
		case 1:
			return SumCols(Abs(rows))
		case 2:
			return RowNorm(rows)
		case math.Inf(1):
			return rowAmax(Abs(rows))
		case math.Inf(-1):
			return Neg(rowAmax(Neg(Abs(rows))))
		}
		zero := Uniform(0, rows)
		sizes := Where(Equal(rows, zero), zero, Pow(Abs(Where(Equal(rows, zero), Uniform(1, rows), rows)), p))
		if p < 0 {
			sizes = Pow(Abs(rows), p)
		}
		sums := SumCols(sizes)
		zeros := Uniform(0, sums)
		return Where(Equal(sums, zeros), zeros, Pow(Where(Equal(sums, zeros), Uniform(1, sums), sums), 1/p))
	}
}
