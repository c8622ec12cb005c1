package ad

import (
	"math"
	"slices"
)

func lossOf(c *infoCase, t Tensor) []Tensor {
	switch c.word(-1, "reduction", "mean") {
	case "none":
		return just(t)
	case "sum":
		return just(TensorOf(SumAll(t.Node)))
	}
	return just(TensorOf(Mean(t.Node)))
}

func pairLoss(f func(c *infoCase, a, b *Node) *Node) infoOp {
	return func(c *infoCase) []Tensor {
		if c.has(-1, "weight") {
			panic(notHere("weights"))
		}
		return lossOf(c, paired(func(a, b *Node) *Node { return f(c, a, b) }, c.t(0), c.t(1, "target")))
	}
}

func huber(a *Node, delta float64) *Node {
	size := Abs(a)
	return Where(Less(size, Uniform(delta, a)), Scale(.5, Square(a)), Scale(delta, Offset(-delta/2, size)))
}

// classLoss is of the scores of classes, which are axis 1, or 0 of one example.
func classLoss(logs bool) infoOp {
	return func(c *infoCase) []Tensor {
		t := c.t(0)
		axis := min(1, len(t.Shape)-1)
		smooth := c.number(-1, "label_smoothing", 0)
		target, ok := c.argument(1, "target").(map[string]any)
		if !ok || target["n"] == nil || smooth > 0 {
			panic(notHere("targets that are no classes"))
		}
		if logs {
			t = c.along(t, axis, logSoftmax)
		}
		classes, shape := c.data(1, "target")
		ignored := c.whole(-1, "ignore_index", -100)
		apart := strides(shape)
		weights, sum := make([]float64, len(classes)), 0.
		var given []float64
		if w, ok := c.argument(-1, "weight").(map[string]any); ok {
			if w["n"] == nil {
				panic(notHere("weights that are differentiated"))
			}
			given = floats(w["n"])
		}
		for i, k := range classes {
			if k != ignored {
				weights[i] = 1
				if given != nil {
					weights[i] = given[k]
				}
			}
			sum += weights[i]
		}
		chosen := pickedBy(t, shape, func(at []int) []int {
			k := 0
			for i, v := range at {
				k += v * apart[i]
			}
			if classes[k] == ignored {
				return []int{-1}
			}
			return slices.Insert(slices.Clone(at), axis, classes[k])
		})
		w := TensorOf(NewConst(c.one, "weights of classes", len(weights), 0, weights), shape...)
		losses := paired(func(a, b *Node) *Node { return Neg(Mul(a, b)) }, chosen, w)
		if c.word(-1, "reduction", "mean") == "mean" {
			return just(TensorOf(Scale(1/sum, SumAll(losses.Node))))
		}
		return lossOf(c, losses)
	}
}

var infoLosses = map[string]infoOp{
	"nn.functional.mse_loss": pairLoss(func(_ *infoCase, a, b *Node) *Node { return Square(Sub(a, b)) }),
	"nn.functional.l1_loss":  pairLoss(func(_ *infoCase, a, b *Node) *Node { return Abs(Sub(a, b)) }),
	"nn.functional.smooth_l1_loss": pairLoss(func(c *infoCase, a, b *Node) *Node {
		beta := c.number(-1, "beta", 1)
		if beta == 0 {
			return Abs(Sub(a, b))
		}
		return Scale(1/beta, huber(Sub(a, b), beta))
	}),
	"nn.functional.huber_loss": pairLoss(func(c *infoCase, a, b *Node) *Node {
		return huber(Sub(a, b), c.number(-1, "delta", 1))
	}),
	"nn.functional.cross_entropy": classLoss(true), "nn.functional.nll_loss": classLoss(false),
	"nn.functional.binary_cross_entropy": pairLoss(func(_ *infoCase, a, b *Node) *Node {
		return Neg(Add(Mul(b, Log(a)), Mul(Offset(1, Neg(b)), Log1p(Neg(a)))))
	}),
	"nn.functional.binary_cross_entropy_with_logits": pairLoss(func(c *infoCase, a, b *Node) *Node {
		if c.has(-1, "pos_weight") {
			panic(notHere("weights"))
		}
		return Sub(Softplus(a), Mul(a, b))
	}),
	"nn.functional.soft_margin_loss": pairLoss(func(_ *infoCase, a, b *Node) *Node { return Softplus(Neg(Mul(a, b))) }),
	"nn.functional.kl_div": func(c *infoCase) []Tensor {
		logs := c.flag(-1, "log_target", false)
		t := paired(func(a, b *Node) *Node {
			if logs {
				return Mul(Exp(b), Sub(b, a))
			}
			return Sub(xlogy(b, b), Mul(b, a))
		}, c.t(0), c.t(1, "target"))
		if c.word(-1, "reduction", "mean") == "batchmean" {
			return just(TensorOf(Scale(1/float64(t.Shape[0]), SumAll(t.Node))))
		}
		return lossOf(c, t)
	},
	"nn.functional.poisson_nll_loss": pairLoss(func(c *infoCase, a, b *Node) *Node {
		eps := c.number(-1, "eps", 1e-8)
		loss := Sub(a, Mul(b, Log(Offset(eps, a))))
		if c.flag(-1, "log_input", true) {
			loss = Sub(Exp(a), Mul(b, a))
		}
		if c.flag(-1, "full", false) {
			one := Uniform(1, b)
			safe := Where(Greater(b, one), b, one)
			stirling := Add(Sub(Mul(safe, Log(safe)), safe), Scale(.5, Log(Scale(2*math.Pi, safe))))
			loss = Add(loss, Where(Greater(b, one), stirling, Uniform(0, b)))
		}
		return loss
	}),
	"nn.functional.gaussian_nll_loss": func(c *infoCase) []Tensor {
		eps := c.number(-1, "eps", 1e-6)
		v := c.t(2, "var")
		t := c.t(0)
		if len(v.Shape) < len(t.Shape) && len(v.Shape) > 0 && v.Shape[len(v.Shape)-1] != 1 &&
			slices.Equal(v.Shape, t.Shape[:len(t.Shape)-1]) {
			v = insertAxis(v, len(v.Shape))
		}
		return lossOf(c, Broadcast(func(in ...*Node) *Node {
			over := StopGradient(Sub(Max(in[2], Uniform(eps, in[2])), in[2])) // a clamp whose derivative is 1
			s := Add(in[2], over)
			loss := Scale(.5, Add(Log(s), Div(Square(Sub(in[0], in[1])), s)))
			if c.flag(-1, "full", false) {
				loss = Offset(.5*math.Log(2*math.Pi), loss)
			}
			return loss
		}, t, c.t(1, "target"), v))
	},
	"nn.functional.hinge_embedding_loss": pairLoss(func(c *infoCase, a, b *Node) *Node {
		one := Uniform(1, a)
		return Add(Mul(Equal(b, one), a),
			Mul(Equal(b, Uniform(-1, a)), ReLU(Offset(c.number(-1, "margin", 1), Neg(a)))))
	}),
	"nn.functional.margin_ranking_loss": func(c *infoCase) []Tensor {
		m := c.number(-1, "margin", 0)
		return lossOf(c, Broadcast(func(in ...*Node) *Node {
			return ReLU(Offset(m, Neg(Mul(in[2], Sub(in[0], in[1])))))
		}, c.t(0), c.t(1), c.t(2)))
	},
	"nn.functional.cosine_similarity": func(c *infoCase) []Tensor {
		p := paired(Mul, c.t(0), c.t(1))
		axis := axisOf(p, c.whole(2, "dim", 1))
		square := func(t Tensor) Tensor { return each(Square, like(t, p.Shape)).Sum(axis) }
		eps := c.number(3, "eps", 1e-8)
		n := paired(func(a, b *Node) *Node {
			return Mul(Max(Sqrt(a), Uniform(eps, a)), Max(Sqrt(b), Uniform(eps, b)))
		}, square(c.t(0)), square(c.t(1)))
		return just(paired(Div, p.Sum(axis), n))
	},
	"nn.functional.pairwise_distance": func(c *infoCase) []Tensor {
		d := each(func(a *Node) *Node { return Offset(c.number(-1, "eps", 1e-6), a) }, paired(Sub, c.t(0), c.t(1)))
		axis := len(d.Shape) - 1
		out := d.Reduced(vectorNorm(c.number(-1, "p", 2)), axis)
		if c.flag(-1, "keepdim", false) {
			out = insertAxis(out, axis)
		}
		return just(out)
	},
}

// maskedOp applies an op to rows in which entries that a mask leaves out are a number.
func maskedOp(outside float64, f func(rows *Node) *Node) infoOp {
	return func(c *infoCase) []Tensor { return just(c.reduced(maskedTensor(c, outside), 1, f)) }
}

func maskedTensor(c *infoCase, outside float64) Tensor {
	t := c.t(0)
	if c.has(-1, "mask") {
		t = paired(func(a, m *Node) *Node { return Where(m, a, Uniform(outside, a)) }, t, c.t(-1, "mask"))
	}
	c.Kw["dim"] = c.argument(1, "dim")
	return t
}

func maskedAlong(outside float64, f func(rows *Node) *Node) infoOp {
	return func(c *infoCase) []Tensor {
		axis := c.whole(1, "dim", 0)
		return just(c.along(maskedTensor(c, outside), axis, f))
	}
}

var infoMasked = map[string]infoOp{
	"masked.sum": maskedOp(0, SumCols), "masked.prod": maskedOp(1, RowProd),
	"masked.amax":        maskedOp(math.Inf(-1), rowAmax),
	"masked.amin":        maskedOp(math.Inf(1), infoReduced["amin"]),
	"masked.logsumexp":   maskedOp(math.Inf(-1), RowLogSumExp),
	"masked.softmax":     maskedAlong(math.Inf(-1), RowSoftmax),
	"masked.log_softmax": maskedAlong(math.Inf(-1), logSoftmax),
	"masked.cumsum": func(c *infoCase) []Tensor {
		t := maskedTensor(c, 0)
		return just(t.Accumulated(Add, axisOf(t, c.whole(1, "dim", 0))))
	},
	"masked.cumprod": func(c *infoCase) []Tensor {
		t := maskedTensor(c, 1)
		return just(t.Accumulated(Mul, axisOf(t, c.whole(1, "dim", 0))))
	},
}
