package main

import (
	"bytes"
	"context"
	"math"
	"math/rand/v2"
	"os"
	"runtime"
	"runtime/debug"
	"strconv"

	"dsbo/data"
	"dsbo/internal/num"
	"dsbo/internal/testkit"
	"dsbo/models"
)

// A question is asked about a lower loss at a point y; its answer goes to dst.
type question struct {
	name   string
	length func(q int) int // of the answer
	ask    func(o *models.Oracle, dst, x, y []float64) error
}

// The questions of a price, in the order of its columns.
const (
	gradient = iota
	product
	byProducts
	whole
	questionCount
)

// questions returns what is asked about a loss of q parameters, products along a vector v.
func questions(v []float64) [questionCount]question {
	one, square := func(q int) int { return q }, func(q int) int { return q * q }
	type oracle = *models.Oracle
	return [questionCount]question{
		{"gradient", one, func(o oracle, dst, x, y []float64) error { return o.LowerGrad(dst, x, y, allExamples) }},
		{"HVP", one, func(o oracle, dst, x, y []float64) error { return o.HVP(dst, x, y, v, allExamples) }},
		{"Hessian by HVPs", square, hessianByProducts},
		{"Hessian", square, func(o oracle, dst, x, y []float64) error { return o.Hessian(dst, x, y, allExamples) }},
	}
}

// hessianByProducts writes the whole Hessian, a column by a product along each unit vector.
func hessianByProducts(o *models.Oracle, dst, x, y []float64) error {
	unit := make([]float64, len(y))
	for i := range y {
		unit[i] = 1
		if err := o.HVP(dst[i*len(y):][:len(y)], x, y, unit, allExamples); err != nil {
			return err
		}
		unit[i] = 0
	}
	return nil
}

// A price is what questions about one loss cost: milliseconds of the processor, and the MB that the
// process needs at most for the compiled loss and the answer. NaN: it was not asked.
type price struct {
	q      float64
	ms, mb [questionCount]float64
}

// priceOf measures a model's lower loss of some examples, whole Hessians if dense.
func priceOf(m models.Model, e data.Examples, repeats int, dense bool) price {
	_, q := m.Dims()
	p := price{q: float64(q)}
	for i, asked := range questions(normal(rand.New(rand.NewPCG(uint64(q), 7)), q, 1)) {
		p.ms[i], p.mb[i] = math.NaN(), math.NaN()
		switch {
		case i < byProducts:
			p.ms[i], p.mb[i] = costOf(m, e, asked, repeats)
		case dense:
			p.ms[i], p.mb[i] = costOf(m, e, asked, min(repeats, 2))
		}
	}
	return p
}

// costOf asks a question several times, each time at a point of which nothing is known, and returns
// the least processor time in ms, after a call that compiles, and the peak of memory in MB. An
// answer that is the last one's was not computed at its point, and is an error.
func costOf(m models.Model, e data.Examples, asked question, repeats int) (ms, mb float64) {
	pp, q := m.Dims()
	r := rand.New(rand.NewPCG(uint64(q), 5))
	x, y := normal(r, pp, 0.1), normal(r, q, 0.1)
	defer debug.SetGCPercent(debug.SetGCPercent(10)) // the peak has little garbage
	peak := peakFromHere()
	o := oracleOf(m, e)
	defer runtime.KeepAlive(o) // it lives where the peak is taken
	dst, last := make([]float64, asked.length(q)), math.NaN()
	for i := range repeats + 1 {
		for k := range y {
			y[k] *= 1.01
		}
		start := testkit.ProcessorTime()
		testkit.OK(asked.ask(o, dst, x, y))
		if t := 1e3 * (testkit.ProcessorTime() - start).Seconds(); i == 1 || i > 1 && t < ms {
			ms = t
		}
		testkit.WantNew(&last, dst)
	}
	return ms, peak() / 1e6
}

// oracleOf returns the oracle of a model that trains on examples.
func oracleOf(m models.Model, e data.Examples) *models.Oracle {
	return testkit.Get(models.NewOracle(m, data.Shard{Train: e, Val: e}, models.Config{}))
}

// peakFromHere returns what tells how many bytes the process has needed at most beyond what it has
// now: by how much the resident set rose, where the system counts that, and no less than what lives
// when it is called, as pages that the heap had and did not use are in no rise.
func peakFromHere() func() float64 {
	before := num.LiveBytes()
	debug.FreeOSMemory()
	if os.WriteFile("/proc/self/clear_refs", []byte("5"), 0) != nil { // which sets the peak to what is resident
		return func() float64 { return num.LiveBytes() - before }
	}
	resident := statusBytes("VmHWM:")
	return func() float64 { return max(statusBytes("VmHWM:")-resident, num.LiveBytes()-before) }
}

// statusBytes returns an entry of what Linux tells of this process.
func statusBytes(name string) float64 {
	_, after, _ := bytes.Cut(testkit.Get(os.ReadFile("/proc/self/status")), []byte(name))
	return 1024 * testkit.Get(strconv.ParseFloat(string(bytes.Fields(after)[0]), 64))
}

// hessian compares products with whole Hessians, of convex losses and of networks.
func hessian(_ context.Context, l *lab) {
	f := hessianFigures{
		newChart("hessian-time", "Second derivatives: processor time", "q, length of y", "ms, 64 examples"),
		newChart("hessian-memory", "Second derivatives: memory", "q, length of y", "MB at the peak"),
		newChart("hessian", "Second derivatives: memory against processor time", "ms, 64 examples", "MB at the peak")}
	for _, c := range secondOrder() {
		list := pick(l, c.sizes, c.quick)
		if len(list) == 0 {
			continue
		}
		header := []string{c.name + ", q"}
		for _, asked := range questions(nil) {
			header = append(header, asked.name+", ms", "MB")
		}
		rows := table{header}
		var prices, dense []price
		for _, size := range list {
			m, e := c.model(size)
			_, q := m.Dims()
			p := priceOf(m, e, pick(l, 10, 1), q <= c.dense)
			prices = append(prices, p)
			if q <= c.dense {
				dense = append(dense, p)
			}
			cells := []float64{p.q}
			for k := range questionCount {
				cells = append(cells, p.ms[k], p.mb[k])
			}
			rows.add(cells)
		}
		l.table(rows)
		f.add(l, c.name, "one Hessian-vector product", product, prices)
		f.add(l, c.name, "the whole Hessian", whole, dense)
	}
	l.save(f.time, f.memory, f.both)
}

// hessianFigures show time and memory against q, and one against the other.
type hessianFigures struct{ time, memory, both *chart }

// add draws what a question costs of a model in several sizes, and prints how that grows.
func (f hessianFigures) add(l *lab, model, name string, asked int, prices []price) {
	q := column(prices, func(p price) float64 { return p.q })
	ms := column(prices, func(p price) float64 { return p.ms[asked] })
	mb := column(prices, func(p price) float64 { return p.mb[asked] })
	if last := max(0, len(q)-3); len(q) > 1 {
		l.printf("%s, %s: time grows as q^%.2f, memory as q^%.2f\n\n", model, name, slope(q[last:], ms[last:]),
			slope(q[last:], mb[last:]))
	}
	f.time.line(model+": "+name, q, ms)
	f.memory.line(model+": "+name, q, mb)
	for i := range q {
		f.both.point(name, ms[i], mb[i]).Points = true
	}
}
