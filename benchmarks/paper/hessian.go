package main

import (
	"bytes"
	"context"
	"math"
	"math/rand/v2"
	"os"
	"runtime"
	"runtime/debug"
	"slices"
	"strconv"

	"dsbo/ad"
	"dsbo/data"
	_ "dsbo/experiment/compare"
	"dsbo/internal/num"
	"dsbo/internal/testkit"
	"dsbo/models"
	"dsbo/runs/report"
)

// A growing is a model in several sizes, whose second derivatives are measured.
type growing struct {
	name  string
	model func(size int) (m models.Model, features int)
	sizes []int // the first one in a quick run
	dense int   // largest q of the whole Hessian
}

func growingModels() []growing {
	return []growing{
		{"logistic", func(n int) (models.Model, int) { return models.Logistic{Features: n}, n },
			[]int{100, 784, 2500, 7840, 100_000, 1_000_000}, 7840},
		{"softmax", func(n int) (models.Model, int) { return models.Softmax{Features: n, Classes: 10}, n },
			[]int{10, 78, 250, 784, 10_000, 100_000}, 7840},
		{"MLP 784-h-10", func(h int) (models.Model, int) {
			return models.MLP{Features: 784, Outputs: 10, Hidden: []int{h}, Penalties: models.PerLayer{}}, 784
		}, []int{1, 2, 4, 40, 400, 1200}, 4000},
		{"LeNet, n and 2n filters", func(n int) (models.Model, int) {
			return models.LeNet{Side: 28, Classes: 10, Filters: [2]int{n, 2 * n}, Hidden: 8 * n, PerLayer: true}, 784
		}, []int{1, 2, 3, 10, 40}, 4000},
		{"attention", func(w int) (models.Model, int) { return newAttentive(w), pictureSide * pictureSide },
			[]int{4, 8, 16, 64, 256}, 4000},
	}
}

// drawnExamples are 64 random pictures of ten classes, by the brightest of their first pixels, or
// for a logistic loss with labels ±1.
func drawnExamples(m models.Model, features int, r *rand.Rand) data.Examples {
	const rows = 64
	pixels, labels, signs := make([]uint8, rows*features), make([]uint8, rows), make([]float64, rows)
	for i := range pixels {
		pixels[i] = uint8(r.IntN(256))
	}
	for i := range labels {
		first := pixels[i*features:][:10]
		labels[i] = uint8(slices.Index(first, slices.Max(first)))
		signs[i] = float64(2*int(labels[i]%2) - 1)
	}
	e := data.Examples{X: testkit.Get(ad.ByteTable(rows, features, pixels, 1./255)),
		Target: testkit.Get(ad.LabelTable(labels, 10))}
	if _, ok := m.(models.Logistic); ok {
		e.Target = testkit.Get(ad.FloatTable(rows, 1, signs))
	}
	return e
}

// A question is asked about a lower loss at a point y; its answer goes to dst.
type question struct {
	name   string
	length func(q int) int // of the answer
	ask    func(o *models.Oracle, dst, x, y []float64) error
}

// The questions of a model, in the order of the columns.
const (
	product = 1
	whole   = 2
)

// questions returns what is asked about a loss of q parameters, products along a vector v.
func questions(v []float64) []question {
	one, square := func(q int) int { return q }, func(q int) int { return q * q }
	type oracle = *models.Oracle
	return []question{
		{"gradient", one, func(o oracle, dst, x, y []float64) error { return o.LowerGrad(dst, x, y, allExamples) }},
		{"HVP", one, func(o oracle, dst, x, y []float64) error { return o.HVP(dst, x, y, v, allExamples) }},
		{"Hessian", square, func(o oracle, dst, x, y []float64) error { return o.Hessian(dst, x, y, allExamples) }},
	}
}

// costOf asks a question about a model's lower loss several times, each time at a point of which
// nothing is known, and returns the median of their processor times in ms, after a call that
// compiles, as the least of them is at times a mistake of the system's clock, and the MB that the
// process needs at most for the compiled loss and the answer. An answer that is the last one's was
// not computed at its point, and is an error.
func costOf(m models.Model, e data.Examples, asked question, repeats int) (ms, mb float64) {
	pp, q := m.Dims()
	r := rand.New(rand.NewPCG(uint64(q), 5))
	x, y := normal(r, pp, 0.1), normal(r, q, 0.1)
	defer debug.SetGCPercent(debug.SetGCPercent(10)) // the peak has little garbage
	peak := peakFromHere()
	o := testkit.Get(models.NewOracle(m, data.Shard{Train: e, Val: e}, models.Config{}))
	defer runtime.KeepAlive(o) // it lives where the peak is taken
	dst, last := make([]float64, asked.length(q)), math.NaN()
	var times []float64
	for i := range repeats + 1 {
		for k := range y {
			y[k] *= 1.01
		}
		start := testkit.ProcessorTime()
		testkit.OK(asked.ask(o, dst, x, y))
		if i > 0 {
			times = append(times, 1e3*(testkit.ProcessorTime()-start).Seconds())
		}
		testkit.WantNew(&last, dst)
	}
	return num.Median(times), peak() / 1e6
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

// hessian compares products with whole Hessians, of convex losses and of networks, prints the
// exponents of q with which they grow by the last three sizes, and draws them.
func hessian(_ context.Context, l *lab) {
	times := report.Figure{Title: "Second derivatives: time", XLabel: "q", XScale: report.Log,
		YLabel: "processor time, ms", YScale: report.Log}
	memory := times
	memory.Title, memory.YLabel = "Second derivatives: memory", "MB"
	for _, c := range growingModels() {
		rows := table{{c.name + ", q", "gradient, ms", "MB", "HVP, ms", "MB", "Hessian, ms", "MB"}}
		var sizes, ms, mb [whole + 1][]float64 // by question
		for _, size := range pick(l, c.sizes, c.sizes[:1]) {
			m, features := c.model(size)
			e := drawnExamples(m, features, rand.New(rand.NewPCG(5, 5)))
			_, q := m.Dims()
			cells := []float64{float64(q)}
			for i, asked := range questions(normal(rand.New(rand.NewPCG(uint64(q), 7)), q, 1)) {
				if i == whole && q > c.dense {
					cells = append(cells, math.NaN(), math.NaN())
					continue
				}
				t, peak := costOf(m, e, asked, pick(l, []int{11, 11, 3}[i], 1))
				sizes[i], ms[i], mb[i] = append(sizes[i], float64(q)), append(ms[i], t), append(mb[i], peak)
				cells = append(cells, t, peak)
			}
			rows.add(cells)
		}
		l.table(rows)
		for i := product; i <= whole; i++ {
			name := questions(nil)[i].name
			line := report.Series{Name: c.name + ", " + name, X: sizes[i], Y: ms[i]}
			times.Series = append(times.Series, line)
			line.Y = mb[i]
			memory.Series = append(memory.Series, line)
			if last := len(sizes[i]) - 3; last >= 0 {
				l.printf("%s, %s: time grows as q^%.2f, memory as q^%.2f\n\n", c.name, name,
					slope(sizes[i][last:], ms[i][last:]), slope(sizes[i][last:], mb[i][last:]))
			}
		}
	}
	if l.figures != "" {
		testkit.OK(report.Save(&times, l.figures, "hessian-time"))
		testkit.OK(report.Save(&memory, l.figures, "hessian-memory"))
	}
}
