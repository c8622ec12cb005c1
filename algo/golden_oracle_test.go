package algo_test

import (
	"encoding/json"
	"fmt"
	"math"

	"dsbo"
)

// goldenData is the "data" of a golden file, with the lengths of x and y.
type goldenData struct {
	P, Q   int    `json:"-"`
	Reduce string // logistic: "sum" (or nothing) or "mean"
	C      int    // softmax: classes
	Agents []map[string]json.RawMessage
}

// part reads a vector or a matrix of one agent, matrices row by row.
func (d goldenData) part(agent int, key string) []float64 {
	var v any
	if err := json.Unmarshal(d.Agents[agent][key], &v); err != nil {
		panic(fmt.Sprintf("golden data of agent %d has no readable %s: %v", agent, key, err))
	}
	flat, _ := flatten(v)
	return flat
}

// newOracle makes the full-batch oracle of one agent of a golden problem.
func newOracle(kind string, d goldenData, agent int) dsbo.ValueOracle {
	part := func(key string) []float64 { return d.part(agent, key) }
	c := &closed{p: d.P, q: d.Q}
	switch kind {
	case "logistic":
		tr, va := rows{part("Xtr"), part("ytr")}, rows{part("Xval"), part("yval")}
		c.loss = logistic{tr, va, d.P, d.Reduce == "mean"}
	case "softmax":
		tr, va := rows{part("Xtr"), part("ytr")}, rows{part("Xval"), part("yval")}
		c.loss = softmax{tr, va, d.P, d.C}
	case "quadratic":
		c.loss = quadratic{part("A"), part("B"), part("c"), part("D"), part("t"), part("E"), part("e"), d.P, d.Q}
	case "dsco":
		c.loss = dsco{part("A"), part("b"), part("D"), part("t"), part("w"), d.P, d.Q}
	default:
		panic("golden kind " + kind + " is unknown")
	}
	return c
}

// A loss gives f, g and their derivatives in closed form. Destinations come in as zeros.
type loss interface {
	f(x, y []float64) float64
	g(x, y []float64) float64
	fx(dst, x, y []float64)
	fy(dst, x, y []float64)
	gy(dst, x, y []float64)
	hvp(dst, x, y, v []float64)
	jvp(dst, x, y, v []float64)
}

// closed is the oracle of a loss; it is full batch, so samples are ignored.
type closed struct {
	p, q int
	loss loss
}

func (c *closed) Dims() (int, int) { return c.p, c.q }

func (c *closed) UpperGrad(dx, dy, x, y []float64, _ dsbo.Sample) error {
	if dx != nil {
		clear(dx)
		c.loss.fx(dx, x, y)
	}
	if dy != nil {
		clear(dy)
		c.loss.fy(dy, x, y)
	}
	return nil
}

func (c *closed) LowerGrad(dst, x, y []float64, _ dsbo.Sample) error {
	clear(dst)
	c.loss.gy(dst, x, y)
	return nil
}

func (c *closed) HVP(dst, x, y, v []float64, _ dsbo.Sample) error {
	clear(dst)
	c.loss.hvp(dst, x, y, v)
	return nil
}

func (c *closed) JVP(dst, x, y, v []float64, _ dsbo.Sample) error {
	clear(dst)
	c.loss.jvp(dst, x, y, v)
	return nil
}

func (c *closed) Values(x, y []float64, _ dsbo.Sample) (float64, float64, error) {
	return c.loss.f(x, y), c.loss.g(x, y), nil
}

func softplus(t float64) float64 { return max(t, 0) + math.Log1p(math.Exp(-math.Abs(t))) }

func sigmoid(t float64) float64 {
	e := math.Exp(-math.Abs(t))
	if t >= 0 {
		return 1 / (1 + e)
	}
	return e / (1 + e)
}

func dot(a, b []float64) (s float64) {
	for i := range a {
		s += a[i] * b[i]
	}
	return s
}

func axpy(dst []float64, a float64, x []float64) {
	for i := range dst {
		dst[i] += a * x[i]
	}
}

// mulAdd adds a M v to dst, M row-major; mulAddT adds a M' v.
func mulAdd(dst []float64, a float64, m, v []float64) {
	for i := range dst {
		dst[i] += a * dot(m[i*len(v):(i+1)*len(v)], v)
	}
}

func mulAddT(dst []float64, a float64, m, v []float64) {
	for i := range v {
		axpy(dst, a*v[i], m[i*len(dst):(i+1)*len(dst)])
	}
}

// rows are examples: X row-major, one label each.
type rows struct{ x, label []float64 }

func (r rows) len() int { return len(r.label) }

func (r rows) row(i, p int) []float64 { return r.x[i*p : (i+1)*p] }

// logistic: g = R ψ(label x_e'y) + Σ_j e^{x_j} y_j²/2, f = R ψ, ψ(t) = log(1+e^{−t}), R the sum or the mean.
type logistic struct {
	tr, va rows
	p      int
	mean   bool
}

func (l logistic) scale(r rows) float64 {
	if l.mean {
		return 1 / float64(r.len())
	}
	return 1
}

func (l logistic) value(r rows, y []float64) (s float64) {
	for i, t := range r.label {
		s += softplus(-t * dot(r.row(i, l.p), y))
	}
	return s * l.scale(r)
}

func (l logistic) grad(dst []float64, r rows, y []float64) {
	for i, t := range r.label {
		axpy(dst, -t*sigmoid(-t*dot(r.row(i, l.p), y))*l.scale(r), r.row(i, l.p))
	}
}

func (l logistic) f(_, y []float64) float64 { return l.value(l.va, y) }
func (l logistic) g(x, y []float64) float64 {
	s := l.value(l.tr, y)
	for j := range y {
		s += math.Exp(x[j]) * y[j] * y[j] / 2
	}
	return s
}
func (l logistic) fx(_, _, _ []float64)   {}
func (l logistic) fy(dst, _, y []float64) { l.grad(dst, l.va, y) }
func (l logistic) gy(dst, x, y []float64) {
	l.grad(dst, l.tr, y)
	for j := range y {
		dst[j] += math.Exp(x[j]) * y[j]
	}
}
func (l logistic) hvp(dst, x, y, v []float64) {
	for i := range l.tr.label {
		r := l.tr.row(i, l.p)
		m := dot(r, y)
		axpy(dst, sigmoid(m)*sigmoid(-m)*dot(r, v)*l.scale(l.tr), r)
	}
	for j := range y {
		dst[j] += math.Exp(x[j]) * v[j]
	}
}
func (l logistic) jvp(dst, x, y, v []float64) {
	for j := range y {
		dst[j] += math.Exp(x[j]) * y[j] * v[j]
	}
}

// softmax: y is c×p; g = mean cross-entropy + Σ_kj e^{x_j} y_kj²/(cp), f = mean cross-entropy.
type softmax struct {
	tr, va rows
	p, c   int
}

// probabilities returns the softmax of the logits of a row, and the log of their normalizer minus the logit of the label.
func (l softmax) probabilities(r rows, i int, y []float64) (pr []float64, ce float64) {
	logit, top := make([]float64, l.c), math.Inf(-1)
	for k := range logit {
		logit[k] = dot(r.row(i, l.p), y[k*l.p:(k+1)*l.p])
		top = max(top, logit[k])
	}
	pr, sum := make([]float64, l.c), 0.0
	for k := range logit {
		pr[k] = math.Exp(logit[k] - top)
		sum += pr[k]
	}
	for k := range pr {
		pr[k] /= sum
	}
	return pr, math.Log(sum) - (logit[int(r.label[i])] - top)
}

func (l softmax) value(r rows, y []float64) (s float64) {
	for i := range r.label {
		_, ce := l.probabilities(r, i, y)
		s += ce / float64(r.len())
	}
	return s
}

func (l softmax) grad(dst []float64, r rows, y []float64) {
	for i, t := range r.label {
		pr, _ := l.probabilities(r, i, y)
		pr[int(t)]--
		for k, w := range pr {
			axpy(dst[k*l.p:(k+1)*l.p], w/float64(r.len()), r.row(i, l.p))
		}
	}
}

func (l softmax) f(_, y []float64) float64 { return l.value(l.va, y) }
func (l softmax) g(x, y []float64) float64 {
	s := l.value(l.tr, y)
	for i, v := range y {
		s += math.Exp(x[i%l.p]) * v * v / float64(l.c*l.p)
	}
	return s
}
func (l softmax) fx(_, _, _ []float64)   {}
func (l softmax) fy(dst, _, y []float64) { l.grad(dst, l.va, y) }
func (l softmax) gy(dst, x, y []float64) {
	l.grad(dst, l.tr, y)
	l.ridge(dst, x, y)
}
func (l softmax) ridge(dst, x, v []float64) {
	for i := range v {
		dst[i] += 2 / float64(l.c*l.p) * math.Exp(x[i%l.p]) * v[i]
	}
}
func (l softmax) hvp(dst, x, y, v []float64) {
	for i := range l.tr.label {
		pr, _ := l.probabilities(l.tr, i, y)
		r, u := l.tr.row(i, l.p), make([]float64, l.c)
		mulAdd(u, 1, v, r)
		mean := dot(pr, u)
		for k := range u {
			axpy(dst[k*l.p:(k+1)*l.p], pr[k]*(u[k]-mean)/float64(l.tr.len()), r)
		}
	}
	l.ridge(dst, x, v)
}
func (l softmax) jvp(dst, x, y, v []float64) {
	for i := range y {
		dst[i%l.p] += 2 / float64(l.c*l.p) * math.Exp(x[i%l.p]) * y[i] * v[i]
	}
}

// quadratic: g = y'Ay/2 − y'(Bx + c), f = (y−t)'D(y−t)/2 + x'Ex/2 + e'x.
type quadratic struct {
	A, B, c, D, t, E, e []float64
	p, q                int
}

func (l quadratic) off(y []float64) []float64 {
	w := append([]float64(nil), y...)
	axpy(w, -1, l.t)
	return w
}
func (l quadratic) form(m, v []float64) float64 {
	mv := make([]float64, len(v))
	mulAdd(mv, 1, m, v)
	return dot(v, mv)
}
func (l quadratic) f(x, y []float64) float64 {
	return l.form(l.D, l.off(y))/2 + l.form(l.E, x)/2 + dot(l.e, x)
}
func (l quadratic) g(x, y []float64) float64 {
	b := append([]float64(nil), l.c...)
	mulAdd(b, 1, l.B, x)
	return l.form(l.A, y)/2 - dot(y, b)
}
func (l quadratic) fx(dst, x, _ []float64) {
	copy(dst, l.e)
	mulAdd(dst, 1, l.E, x)
}
func (l quadratic) fy(dst, _, y []float64) { mulAdd(dst, 1, l.D, l.off(y)) }
func (l quadratic) gy(dst, x, y []float64) {
	mulAdd(dst, 1, l.A, y)
	mulAdd(dst, -1, l.B, x)
	axpy(dst, -1, l.c)
}
func (l quadratic) hvp(dst, _, _, v []float64) { mulAdd(dst, 1, l.A, v) }
func (l quadratic) jvp(dst, _, _, v []float64) { mulAddT(dst, -1, l.B, v) }

// dsco: G(x) = sin(Ax) + b, g = y'y/2 − G(x)'y, f = Σ_k D_k (y_k−t_k)²/2 + log(1+e^{w'y}).
type dsco struct {
	A, b, D, t, w []float64
	p, q          int
}

func (l dsco) inner(x []float64) (ax []float64) {
	ax = make([]float64, l.q)
	mulAdd(ax, 1, l.A, x)
	return ax
}
func (l dsco) f(_, y []float64) float64 {
	s := softplus(dot(l.w, y))
	for k := range y {
		s += l.D[k] * (y[k] - l.t[k]) * (y[k] - l.t[k]) / 2
	}
	return s
}
func (l dsco) g(x, y []float64) float64 {
	s := dot(y, y)/2 - dot(l.b, y)
	for k, a := range l.inner(x) {
		s -= math.Sin(a) * y[k]
	}
	return s
}
func (l dsco) fx(_, _, _ []float64) {}
func (l dsco) fy(dst, _, y []float64) {
	for k := range y {
		dst[k] = l.D[k]*(y[k]-l.t[k]) + l.w[k]*sigmoid(dot(l.w, y))
	}
}
func (l dsco) gy(dst, x, y []float64) {
	for k, a := range l.inner(x) {
		dst[k] = y[k] - math.Sin(a) - l.b[k]
	}
}
func (l dsco) hvp(dst, _, _, v []float64) { copy(dst, v) }
func (l dsco) jvp(dst, x, _, v []float64) {
	for k, a := range l.inner(x) {
		axpy(dst, -math.Cos(a)*v[k], l.A[k*l.p:(k+1)*l.p])
	}
}
