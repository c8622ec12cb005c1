package ad

import (
	"slices"
)

func betas(c *infoCase, product func(a, b Tensor) Tensor) []Tensor {
	alpha, beta := c.number(-1, "alpha", 1), c.number(-1, "beta", 1)
	return just(paired(func(a, b *Node) *Node { return Add(Scale(beta, a), Scale(alpha, b)) }, c.t(0),
		product(c.t(1), c.t(2))))
}

func pairs(f func(a, b Tensor) Tensor) infoOp {
	return func(c *infoCase) []Tensor { return just(f(c.t(0), c.t(1))) }
}

func einsums(spec string) func(a, b Tensor) Tensor {
	return func(a, b Tensor) Tensor { return Einsum(spec, a, b) }
}

func ofMatrix(f func(a *Node) []*Node) infoOp {
	return func(c *infoCase) []Tensor { return eachMatrix(c.t(0), f) }
}

// withRight solves for right sides, which are vectors where they have an axis less.
func solving(c *infoCase, f func(a, b *Node) *Node) []Tensor {
	a, b := c.t(0), c.t(1)
	vector := len(b.Shape) == 1 || len(b.Shape) == len(a.Shape)-1 && slices.Equal(b.Shape, a.Shape[:len(a.Shape)-1])
	if vector {
		b = insertAxis(b, len(b.Shape))
	}
	lead := named("").commonShape(a.Shape[:len(a.Shape)-2], b.Shape[:len(b.Shape)-2])
	widen := func(t Tensor) Tensor { return like(t, append(slices.Clone(lead), t.Shape[len(t.Shape)-2:]...)) }
	a, b = widen(a), widen(b)
	am, n, rows, _ := matricesOf(a)
	bm, _, height, cols := matricesOf(b)
	var parts []*Node
	for i := range n {
		parts = append(parts, Flatten(f(Rows(am, i*rows, rows), Rows(bm, i*height, height))))
	}
	shape := append(slices.Clone(lead), parts[0].Shape()[0]/cols, cols)
	if vector {
		shape = shape[:len(shape)-1]
	}
	return just(TensorOf(ConcatRows(parts...), shape...))
}

func lowerOf(a *Node, upper bool) *Node {
	_, k := dims(a)
	t := TensorOf(a, k, k)
	return pickedBy(t, t.Shape, func(at []int) []int {
		if !upper && at[0] >= at[1] || upper && at[0] <= at[1] {
			return at
		}
		return []int{-1}
	}).Node
}

func triangular(c *infoCase) []Tensor {
	upper, left, unit := c.flag(-1, "upper", false), c.flag(-1, "left", true), c.flag(-1, "unitriangular", false)
	return solving(c, func(a, b *Node) *Node {
		_, k := dims(a)
		if unit {
			strict := Sub(lowerOf(a, upper), Mul(a, identityLike(a, k, k)))
			a = Add(strict, identityLike(a, k, k))
		}
		if !left {
			a, b = Transpose(a), Transpose(b)
		}
		low := lowerOf(a, upper == left)
		var x *Node
		if upper == left {
			x = SolveLower(Transpose(low), b, true)
		} else {
			x = SolveLower(low, b, false)
		}
		if !left {
			x = Transpose(x)
		}
		return x
	})
}

func power2(a *Node, n int) *Node {
	_, k := dims(a)
	out := identityLike(a, k, k)
	for range max(n, -n) {
		out = MatMul(out, a, false, false)
	}
	if n < 0 {
		return Inverse(out)
	}
	return out
}

func pseudoinverse(c *infoCase) []Tensor {
	c.only()
	return eachMatrix(c.t(0), func(a *Node) []*Node {
		u, s, v := SVD(a)
		return []*Node{MatMul(ColScale(v, Pow(s, -1)), u, false, true)}
	})
}

// infoProducts are products and decompositions of matrices.
var infoProducts = map[string]infoOp{
	"mm": pairs(mm), "bmm": pairs(mm), "matmul": pairs(mm), "mv": pairs(mm), "dot": pairs(mm), "vdot": pairs(mm),
	"__rmatmul__": func(c *infoCase) []Tensor { return just(mm(c.t(1), c.t(0))) },
	"outer":       pairs(einsums("i,j->ij")), "kron": pairs(einsums("ij,kl->ikjl")),
	"inner": pairs(einsums("...i,ji->...j")),
	"ger":   pairs(einsums("i,j->ij")),
	"linalg.vecdot": func(c *infoCase) []Tensor {
		p := paired(Mul, c.t(0), c.t(1))
		return just(p.Sum(axisOf(p, c.whole(-1, "dim", -1))))
	},
	"addmm":   func(c *infoCase) []Tensor { return betas(c, mm) },
	"addmv":   func(c *infoCase) []Tensor { return betas(c, mm) },
	"baddbmm": func(c *infoCase) []Tensor { return betas(c, mm) },
	"addbmm":  func(c *infoCase) []Tensor { return betas(c, einsums("bij,bjk->ik")) },
	"addr":    func(c *infoCase) []Tensor { return betas(c, einsums("i,j->ij")) },
	"einsum": func(c *infoCase) []Tensor {
		return just(Einsum(c.word(1, "equation", ""), c.tensors(c.Args[0])...))
	},
	"linalg.multi_dot": func(c *infoCase) []Tensor {
		ts := c.tensors(c.Args[0])
		out := ts[0]
		for _, t := range ts[1:] {
			out = mm(out, t)
		}
		return just(out)
	},
	"cdist": func(c *infoCase) []Tensor {
		if c.number(2, "p", 2) != 2 {
			panic(notHere("another norm"))
		}
		a, b := c.t(0), c.t(1)
		d := paired(Sub, insertAxis(a, len(a.Shape)-1), insertAxis(b, len(b.Shape)-2))
		return just(d.Norm(len(d.Shape) - 1))
	},
	"cholesky": func(c *infoCase) []Tensor {
		return eachMatrix(c.t(0), func(a *Node) []*Node {
			if c.flag(1, "upper", false) {
				return []*Node{Transpose(Cholesky(Transpose(a)))}
			}
			return []*Node{Cholesky(a)}
		})
	},
	"linalg.cholesky": func(c *infoCase) []Tensor {
		return eachMatrix(c.t(0), func(a *Node) []*Node {
			l := Cholesky(Scale(.5, Add(a, Transpose(a))))
			if c.flag(-1, "upper", false) {
				l = Transpose(l)
			}
			return []*Node{l}
		})
	},
	"linalg.inv":    ofMatrix(func(a *Node) []*Node { return []*Node{Inverse(a)} }),
	"inverse":       ofMatrix(func(a *Node) []*Node { return []*Node{Inverse(a)} }),
	"linalg.inv_ex": ofMatrix(func(a *Node) []*Node { return []*Node{Inverse(a)} }),
	"linalg.det":    ofMatrix(func(a *Node) []*Node { return []*Node{Det(a)} }),
	"det":           ofMatrix(func(a *Node) []*Node { return []*Node{Det(a)} }),
	"logdet":        ofMatrix(func(a *Node) []*Node { return []*Node{LogDet(a)} }),
	"linalg.slogdet": ofMatrix(func(a *Node) []*Node {
		return []*Node{SignOfDet(a), LogDet(a)}
	}),
	"linalg.svdvals":          ofMatrix(func(a *Node) []*Node { _, s, _ := SVD(a); return []*Node{s} }),
	"linalg.pinv":             pseudoinverse,
	"pinverse":                pseudoinverse,
	"linalg.eigvalsh":         ofMatrix(func(a *Node) []*Node { v, _ := SymmetricEigen(a); return []*Node{v} }),
	"linalg.solve":            func(c *infoCase) []Tensor { return solving(c, Solve) },
	"linalg.solve_ex":         func(c *infoCase) []Tensor { return solving(c, Solve) },
	"linalg.solve_triangular": triangular,
	"cholesky_solve": func(c *infoCase) []Tensor {
		upper := c.flag(2, "upper", false)
		c.Args = append([]any{c.Args[1], c.Args[0]}, c.Args[2:]...)
		return solving(c, func(l, b *Node) *Node {
			if upper {
				l = Transpose(lowerOf(l, true))
			} else {
				l = lowerOf(l, false)
			}
			return SolveLower(l, SolveLower(l, b, false), true)
		})
	},
	"cholesky_inverse": func(c *infoCase) []Tensor {
		return eachMatrix(c.t(0), func(l *Node) []*Node {
			_, k := dims(l)
			if c.flag(1, "upper", false) {
				l = Transpose(l)
			}
			return []*Node{SolveLower(l, SolveLower(l, identityLike(l, k, k), false), true)}
		})
	},
	"linalg.matrix_power": func(c *infoCase) []Tensor {
		return eachMatrix(c.t(0), func(a *Node) []*Node { return []*Node{power2(a, c.whole(1, "n", 1))} })
	},
	"linalg.lstsq": func(c *infoCase) []Tensor {
		a := c.t(0)
		if slices.ContainsFunc(c.Out[1:], func(s []int) bool { return total(s) > 0 }) {
			panic(notHere("residuals and singular values"))
		}
		if k := len(a.Shape); a.Shape[k-2] < a.Shape[k-1] {
			return solving(c, func(a, b *Node) *Node { // the shortest solution
				return MatMul(a, Solve(MatMul(a, a, false, true), b), true, false)
			})
		}
		return solving(c, LeastSquares)
	},
	"tensordot": func(c *infoCase) []Tensor {
		a, b := c.t(0), c.t(1)
		var left, right []int
		if n, ok := c.argument(2, "dims").(float64); ok {
			for i := range int(n) {
				left, right = append(left, len(a.Shape)-int(n)+i), append(right, i)
			}
		} else {
			l := c.argument(2, "dims").([]any)
			for i, v := range floats(l[0]) {
				left, right = append(left, int(v)), append(right, int(floats(l[1])[i]))
			}
		}
		spec, out := [2][]byte{}, []byte{}
		for i := range a.Shape {
			spec[0] = append(spec[0], byte('a'+i))
			if !slices.Contains(left, i) {
				out = append(out, byte('a'+i))
			}
		}
		for i := range b.Shape {
			l := byte('A' + i)
			if k := slices.Index(right, i); k >= 0 {
				l = byte('a' + left[k])
			} else {
				out = append(out, l)
			}
			spec[1] = append(spec[1], l)
		}
		return just(Einsum(string(spec[0])+","+string(spec[1])+"->"+string(out), a, b))
	},
}
