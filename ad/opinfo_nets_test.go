package ad

import (
	"math"
	"slices"
)

// pooled applies one pooling along each of the last axes.
func pooled(dims int, f func(t Tensor, axis int, p Pooling) Tensor, mean bool) infoOp {
	return func(c *infoCase) []Tensor {
		t := c.t(0)
		size := c.list(1, "kernel_size", dims, 1)
		stride, pad, apart := c.list(2, "stride", dims, 0), c.list(3, "padding", dims, 0),
			slices.Repeat([]int{1}, dims)
		p := Pooling{Ceil: c.flag(4+btoi(!mean), "ceil_mode", false)}
		factor := 1.
		if mean {
			p.Inside = !c.flag(5, "count_include_pad", true)
			if c.has(6, "divisor_override") {
				if p.Ceil {
					panic(notHere("divisors of windows that reach beyond"))
				}
				p.Inside = false
				for _, s := range size {
					factor *= float64(s)
				}
				factor /= c.number(6, "divisor_override", 1)
			}
		} else {
			apart = c.list(4, "dilation", dims, 1)
		}
		for i := dims - 1; i >= 0; i-- {
			p.Size, p.Stride, p.Pad, p.Dilation = size[i], stride[i], pad[i], apart[i]
			t = f(t, len(t.Shape)-dims+i, p)
		}
		return just(each(scaledBy(factor), t))
	}
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}

func adaptive(dims int, f func(t Tensor, axis int, p Pooling) Tensor) infoOp {
	return func(c *infoCase) []Tensor {
		t := c.t(0)
		size := c.list(1, "output_size", dims, -1)
		for i := dims - 1; i >= 0; i-- {
			axis := len(t.Shape) - dims + i
			n := size[i]
			if n < 0 {
				n = t.Shape[axis]
			}
			t = f(t, axis, Pooling{Windows: n})
		}
		return just(t)
	}
}

var interpolations = map[string][2]Interpolation{"nearest": {Nearest, Nearest},
	"nearest-exact": {NearestExact, Nearest},
	"linear":        {Linear, LinearAligned}, "bilinear": {Linear, LinearAligned}, "trilinear": {Linear, LinearAligned},
	"bicubic": {Cubic, CubicAligned}}

func interpolating(mode string, aligned bool) infoOp {
	return func(c *infoCase) []Tensor {
		t := c.t(0)
		mode := c.word(3, "mode", mode)
		if mode == "area" {
			c.Args[1] = c.argument(1, "size")
			return adaptive(len(c.t(0).Shape)-2, Tensor.MeanPool)(&infoCase{Args: []any{c.Args[0], c.Args[1]},
				in:  c.in,
				one: c.one})
		}
		by, ok := interpolations[mode]
		if !ok {
			panic(notHere("mode " + mode))
		}
		k := btoi(c.flag(4, "align_corners", aligned))
		dims := len(t.Shape) - 2
		if scale := c.number(2, "scale_factor", 0); scale > 0 {
			for i := range dims {
				t = t.ResizeBy(2+i, scale, by[k])
			}
			return just(t)
		}
		for i, n := range c.list(1, "size", dims, 0) {
			t = t.Resize(2+i, n, by[k])
		}
		return just(t)
	}
}

// convolving is by windows of each axis and sums of products, for one to three axes.
func convolving(dims int) infoOp {
	return func(c *infoCase) []Tensor {
		x, w := c.t(0), c.t(1)
		single := len(x.Shape) == dims+1
		if single {
			x = insertAxis(x, 0)
		}
		groups := c.whole(6, "groups", 1)
		stride, dilation := c.list(3, "stride", dims, 1), c.list(5, "dilation", dims, 1)
		pad := slices.Repeat([]int{0}, 2*dims)
		if s := c.word(4, "padding", ""); s == "unchanged" {
			for i := range dims {
				all := dilation[i] * (w.Shape[2+i] - 1)
				pad[2*i], pad[2*i+1] = all/2, all-all/2
			}
		} else if s == "" {
			for i, p := range c.list(4, "padding", dims, 0) {
				pad[2*i], pad[2*i+1] = p, p
			}
		}
		n := x.Shape[0]
		x = TensorOf(x.Node, append([]int{n, groups, x.Shape[1] / groups}, x.Shape[2:]...)...)
		spec, kernel, out := "ngc", "goc", "ngo"
		for i := range dims {
			axis := 3 + 2*i
			x = x.Pad(axis, pad[2*i], pad[2*i+1], Zeros)
			x = x.Unfold(axis, Pooling{Size: w.Shape[2+i], Stride: stride[i], Dilation: dilation[i]})
			spec, kernel, out = spec+"xyz"[i:i+1]+"XYZ"[i:i+1], kernel+"XYZ"[i:i+1], out+"xyz"[i:i+1]
		}
		f := w.Shape[0]
		w = TensorOf(w.Node, append([]int{groups, f / groups}, w.Shape[1:]...)...)
		o := Einsum(spec+","+kernel+"->"+out, x, w)
		o = TensorOf(o.Node, append([]int{n, f}, o.Shape[3:]...)...)
		if c.has(2, "bias") {
			o = paired(Add, o, TensorOf(c.t(2, "bias").Node, append([]int{f}, slices.Repeat([]int{1}, dims)...)...))
		}
		if single {
			o = TensorOf(o.Node, o.Shape[1:]...)
		}
		return just(o)
	}
}

// normalizing gives all entries along some axes mean 0 and variance 1.
func normalizing(t Tensor, axes []int, eps float64) Tensor {
	shape := slices.Clone(t.Shape)
	for _, a := range axes {
		shape[a] = 1
	}
	centred := paired(Sub, t, TensorOf(t.Mean(axes...).Node, shape...))
	variance := TensorOf(each(Square, centred).Mean(axes...).Node, shape...)
	return paired(func(a, v *Node) *Node { return Mul(a, Rsqrt(Offset(eps, v))) }, centred, variance)
}

func scaleAndShift(c *infoCase, t Tensor, weight, bias any, shape []int) Tensor {
	if weight != nil {
		t = paired(Mul, t, TensorOf(c.tensorOf(weight).Node, shape...))
	}
	if bias != nil {
		t = paired(Add, t, TensorOf(c.tensorOf(bias).Node, shape...))
	}
	return t
}

func channelShape(t Tensor) []int {
	shape := slices.Repeat([]int{1}, len(t.Shape))
	shape[1] = t.Shape[1]
	return shape
}

var infoNets = map[string]infoOp{
	"nn.functional.avg_pool1d": pooled(1, Tensor.MeanPool, true),
	"nn.functional.avg_pool2d": pooled(2, Tensor.MeanPool,
		true), "nn.functional.avg_pool3d": pooled(3, Tensor.MeanPool, true),
	"nn.functional.max_pool1d": pooled(1, Tensor.MaxPool, false),
	"nn.functional.max_pool2d": pooled(2, Tensor.MaxPool,
		false), "nn.functional.max_pool3d": pooled(3, Tensor.MaxPool, false),
	"nn.functional.adaptive_avg_pool1d": adaptive(1, Tensor.MeanPool),
	"nn.functional.adaptive_avg_pool2d": adaptive(2, Tensor.MeanPool),
	"nn.functional.adaptive_avg_pool3d": adaptive(3, Tensor.MeanPool),
	"nn.functional.adaptive_max_pool1d": adaptive(1, Tensor.MaxPool),
	"nn.functional.adaptive_max_pool2d": adaptive(2, Tensor.MaxPool),
	"nn.functional.adaptive_max_pool3d": adaptive(3, Tensor.MaxPool),
	"nn.functional.interpolate":         interpolating("nearest", false),
	"nn.functional.upsample_nearest":    interpolating("nearest", false),
	"nn.functional.upsample_bilinear":   interpolating("bilinear", true),
	"nn.functional.conv1d":              convolving(1), "nn.functional.conv2d": convolving(2),
	"nn.functional.linear": func(c *infoCase) []Tensor {
		o := Einsum("...i,oi->...o", c.t(0), atLeastMatrix(c.t(1)))
		if len(c.t(1).Shape) == 1 {
			o = TensorOf(o.Node, o.Shape[:len(o.Shape)-1]...)
		}
		if c.has(2, "bias") {
			o = paired(Add, o, c.t(2, "bias"))
		}
		return just(o)
	},
	"nn.functional.unfold": func(c *infoCase) []Tensor {
		t := c.t(0)
		single := len(t.Shape) == 3
		if single {
			t = insertAxis(t, 0)
		}
		size, apart := c.list(1, "kernel_size", 2, 1), c.list(2, "dilation", 2, 1)
		pad, stride := c.list(3, "padding", 2, 0), c.list(4, "stride", 2, 1)
		for i := range 2 {
			t = t.Unfold(2+2*i, Pooling{Size: size[i], Dilation: apart[i], Pad: pad[i], Stride: stride[i]})
		}
		s := t.Shape // n c h H w W
		t = t.Transpose(0, 1, 3, 5, 2, 4)
		t = TensorOf(t.Node, s[0], s[1]*s[3]*s[5], s[2]*s[4])
		if single {
			t = TensorOf(t.Node, t.Shape[1:]...)
		}
		return just(t)
	},
	"nn.functional.layer_norm": func(c *infoCase) []Tensor {
		t := c.t(0)
		axes := normalizedAxes(c)
		return just(scaleAndShift(c, normalizing(t, axes, c.number(4, "eps", 1e-5)), c.argument(2, "weight"),
			c.argument(3, "bias"), t.Shape[axes[0]:]))
	},
	"nn.functional.group_norm": func(c *infoCase) []Tensor {
		t := c.t(0)
		groups := c.whole(1, "num_groups", 1)
		g := TensorOf(t.Node, t.Shape[0], groups, total(t.Shape[1:])/groups)
		return just(scaleAndShift(c, TensorOf(normalizing(g, []int{2}, c.number(4, "eps", 1e-5)).Node, t.Shape...),
			c.argument(2, "weight"), c.argument(3, "bias"), channelShape(t)))
	},
	"nn.functional.batch_norm": func(c *infoCase) []Tensor {
		t := c.t(0)
		if !c.flag(5, "training", false) || c.has(1, "running_mean") {
			panic(notHere("running statistics"))
		}
		return just(scaleAndShift(c, normalizing(t, others(len(t.Shape), []int{1}), c.number(7, "eps", 1e-5)),
			c.argument(3, "weight"), c.argument(4, "bias"), channelShape(t)))
	},
	"nn.functional.instance_norm": func(c *infoCase) []Tensor {
		t := c.t(0)
		c.only()
		return just(normalizing(t, others(len(t.Shape), []int{0, 1}), 1e-5))
	},
	"nn.functional.normalize": func(c *infoCase) []Tensor {
		t := c.t(0)
		axis := axisOf(t, c.whole(2, "dim", 1))
		n := t.Reduced(vectorNorm(c.number(1, "p", 2)), axis)
		return just(paired(func(a, b *Node) *Node {
			return Div(a, Clip(b, c.number(3, "eps", 1e-12),
				math.Inf(1)))
		}, t,
			insertAxis(n, axis)))
	},
	"nn.functional.glu": func(c *infoCase) []Tensor {
		t := c.t(0)
		axis := axisOf(t, c.whole(1, "dim", -1))
		n := t.Shape[axis]
		return just(paired(func(a, b *Node) *Node { return Mul(a, Sigmoid(b)) }, t.Slice(axis, 0, n/2, 1),
			t.Slice(axis, n/2, n, 1)))
	},
	"nn.functional.gelu": func(c *infoCase) []Tensor {
		return just(each(func(a *Node) *Node {
			if c.word(-1, "approximate", "none") == "tanh" {
				inner := Scale(math.Sqrt(2/math.Pi), Add(a, Scale(.044715, Pow(a, 3))))
				return Scale(.5, Mul(a, Offset(1, Tanh(inner))))
			}
			return Mul(a, NormalCDF(a))
		}, c.t(0)))
	},
	"nn.functional.elu": func(c *infoCase) []Tensor { return just(each(elu(c.number(1, "alpha", 1)), c.t(0))) },
	"nn.functional.celu": func(c *infoCase) []Tensor {
		k := c.number(1, "alpha", 1)
		return just(each(func(a *Node) *Node { return Scale(k, elu(1)(Scale(1/k, a))) }, c.t(0)))
	},
	"nn.functional.leaky_relu": func(c *infoCase) []Tensor {
		k := c.number(1, "negative_slope", .01)
		return just(each(func(a *Node) *Node { return Where(Greater(a, Uniform(0, a)), a, Scale(k, a)) }, c.t(0)))
	},
	"nn.functional.prelu": func(c *infoCase) []Tensor {
		t, w := c.t(0), c.t(1)
		if len(t.Shape) > 1 && total(w.Shape) > 1 {
			w = TensorOf(w.Node, channelShape(t)...)
		} else {
			w = TensorOf(w.Node)
		}
		return just(paired(func(a, b *Node) *Node { return Where(Greater(a, Uniform(0, a)), a, Mul(a, b)) }, t, w))
	},
	"nn.functional.hardtanh": func(c *infoCase) []Tensor {
		return just(each(func(a *Node) *Node {
			return Clip(a, c.number(1, "min_val", -1), c.number(2, "max_val", 1))
		}, c.t(0)))
	},
	"nn.functional.hardshrink": func(c *infoCase) []Tensor {
		return just(each(func(a *Node) *Node {
			return Where(Greater(Abs(a), Uniform(c.number(1, "lambd", .5), a)), a, Uniform(0, a))
		}, c.t(0)))
	},
	"nn.functional.softshrink": func(c *infoCase) []Tensor {
		k := c.number(1, "lambd", .5)
		return just(each(func(a *Node) *Node { return Sub(a, Clip(a, -k, k)) }, c.t(0)))
	},
	"nn.functional.threshold": func(c *infoCase) []Tensor {
		return just(each(func(a *Node) *Node {
			return Where(Greater(a, Uniform(c.number(1, "threshold", 0), a)), a, Uniform(c.number(2, "value", 0), a))
		}, c.t(0)))
	},
	"nn.functional.softplus": func(c *infoCase) []Tensor {
		k := c.number(1, "beta", 1)
		return just(each(func(a *Node) *Node { return Scale(1/k, Softplus(Scale(k, a))) }, c.t(0)))
	},
	"nn.functional.pixel_shuffle": func(c *infoCase) []Tensor {
		t, r := c.t(0), c.whole(1, "upscale_factor", 1)
		s := t.Shape
		k := len(s)
		lead := total(s[:k-3])
		u := TensorOf(t.Node, lead, s[k-3]/r/r, r, r, s[k-2], s[k-1]).Transpose(0, 1, 4, 2, 5, 3)
		return just(TensorOf(u.Node, append(slices.Clone(s[:k-3]), s[k-3]/r/r, s[k-2]*r, s[k-1]*r)...))
	},
	"nn.functional.pixel_unshuffle": func(c *infoCase) []Tensor {
		t, r := c.t(0), c.whole(1, "downscale_factor", 1)
		s := t.Shape
		k := len(s)
		lead := total(s[:k-3])
		u := TensorOf(t.Node, lead, s[k-3], s[k-2]/r, r, s[k-1]/r, r).Transpose(0, 1, 3, 5, 2, 4)
		return just(TensorOf(u.Node, append(slices.Clone(s[:k-3]), s[k-3]*r*r, s[k-2]/r, s[k-1]/r)...))
	},
	"nn.functional.local_response_norm": func(c *infoCase) []Tensor {
		t, size := c.t(0), c.whole(1, "size", 1)
		alpha, beta, k := c.number(2, "alpha", 1e-4), c.number(3, "beta", .75), c.number(4, "k", 1)
		squares := each(Square, t).Pad(1, size/2, (size-1)/2, Zeros)
		means := squares.MeanPool(1, Pooling{Size: size, Stride: 1})
		return just(paired(func(a, b *Node) *Node { return Mul(a, Pow(Offset(k, Scale(alpha, b)), -beta)) },
			t, means))
	},
	"nn.functional._scaled_dot_product_attention": func(c *infoCase) []Tensor {
		q, k, v := c.t(0), c.t(1), c.t(2)
		n := len(q.Shape)
		scores := each(scaledBy(1/math.Sqrt(float64(q.Shape[n-1]))), Einsum("...id,...jd->...ij", q, k))
		if c.flag(-1, "is_causal", false) {
			mask := make([]float64, scores.Shape[n-2]*scores.Shape[n-1])
			for i := range mask {
				mask[i] = oneIf[float64](i%scores.Shape[n-1] > i/scores.Shape[n-1])
			}
			m := TensorOf(NewConst(c.one, "causal", len(mask), 0, mask), scores.Shape[n-2:]...)
			scores = paired(func(a, b *Node) *Node { return Where(b, Uniform(math.Inf(-1), a), a) }, scores, m)
		}
		if c.has(3, "attn_mask") || c.number(-1, "dropout_p", 0) > 0 {
			panic(notHere("masks"))
		}
		p := scores.Softmax(n - 1)
		return just(Einsum("...ij,...jd->...id", p, v), p)
	},
}

func atLeastMatrix(t Tensor) Tensor {
	if len(t.Shape) == 1 {
		return insertAxis(t, 0)
	}
	return t
}

// normalizedAxes are the last axes of the first tensor, as many as the normalized shape has.
func normalizedAxes(c *infoCase) []int {
	axes := others(len(c.t(0).Shape), nil)
	return axes[len(axes)-len(c.list(1, "normalized_shape", 0, 0)):]
}
