package ad

import (
	"errors"
	"math/rand/v2"
	"runtime"
	"runtime/debug"
	"testing"

	"go.uber.org/goleak"

	"dsbo/ad/adtest"
	"dsbo/ad/internal/engine"
	"dsbo/internal/testkit"
)

func TestMain(m *testing.M) {
	debug.SetGCPercent(400) // the tests make thousands of small programs, whose memory is short-lived
	goleak.VerifyTestMain(m)
}

// calls asks d for everything, at a point that changes with i, on minibatch idx.
func (k *task) calls(d *Derivs, i int, idx []int, dst *[4][]float64) error {
	k.y[i%len(k.y)] += 1e-3
	k.v[i%len(k.v)] -= 1e-3
	bound := errors.Join(d.Bind("X", k.tables["X"], idx), d.Bind("T", k.tables["T"], idx))
	_, err := d.Value(k.x, k.y)
	return errors.Join(bound, err, d.Grad(dst[0], dst[1], k.x, k.y), d.HVP(dst[2], k.x, k.y, k.v),
		d.JVP(dst[3], k.x, k.y, k.v))
}

// softmaxTask is the paper's MNIST task in small, its tables in the given form.
func softmaxTask(asBytes, float32 bool, rows int) (*task, *Derivs, [4][]float64) {
	k := newTask(150, 16, 5, 1) // 16 columns: bytes are read in place
	if asBytes {
		b := make([]uint8, len(k.data))
		for i := range b {
			b[i] = uint8(i * 37)
		}
		k.tables["X"] = testkit.Get(ByteTable(k.m, k.d, b, 1./255))
	}
	l := k.softmaxLoss()
	l.Rows, l.Float32 = rows, float32
	d := testkit.Get(Differentiate(l))
	setTile(d.Program, 64)
	if rows < k.m {
		k.idx = rand.New(rand.NewPCG(1, 1)).Perm(k.m)[:rows]
	}
	for _, name := range []string{"X", "T"} {
		testkit.OK(d.Bind(name, k.tables[name], k.idx))
	}
	return k, d, [4][]float64{make([]float64, k.d), make([]float64, k.c*k.d), make([]float64, k.c*k.d),
		make([]float64, k.d)}
}

func TestNoAllocations(t *testing.T) {
	for _, c := range []struct {
		name             string
		asBytes, float32 bool
		rows             int
	}{
		{"all rows", false, false, 150}, {"all rows, bytes", true, false, 150}, {"all rows, float32", false, true, 150},
		{"minibatch", false, false, 100}, {"minibatch, bytes, float32", true, true, 100},
	} {
		t.Run(c.name, func(t *testing.T) {
			k, d, dst := softmaxTask(c.asBytes, c.float32, c.rows)
			var batches [][]int
			for i := range 8 {
				batches = append(batches, nil)
				if c.rows < k.m {
					batches[i] = rand.New(rand.NewPCG(2, uint64(i))).Perm(k.m)[:c.rows]
				}
			}
			i := 0
			var err error
			allocs := testing.AllocsPerRun(100, func() {
				err = errors.Join(err, k.calls(d, i, batches[i%8], &dst))
				i++
			})
			testkit.OK(err)
			if allocs != 0 {
				t.Errorf("%v allocations a round of value, gradients, HVP and JVP; want none", allocs)
			}
		})
	}
}

// TestFlatHeap: a program has no more memory after 500 runs than after 10.
func TestFlatHeap(t *testing.T) {
	k, d, dst := softmaxTask(true, true, 150)
	live := func() uint64 {
		runtime.GC()
		runtime.GC() // what finalizers of the first had
		var s runtime.MemStats
		runtime.ReadMemStats(&s)
		return s.HeapAlloc
	}
	run := func(times int) uint64 {
		for i := range times {
			testkit.OK(k.calls(d, i, nil, &dst))
		}
		return live()
	}
	before, after := run(10), run(500)
	// The runtime's own bookkeeping moves by some kilobytes; a leaked vector of 80 float32 a run
	// would be 160 of them.
	const slack = 64 << 10
	if after > before+slack {
		t.Errorf("%d bytes live after 10 runs, %d after 510", before, after)
	}
	runtime.KeepAlive(d)
}

// TestScratchIsLeft: after a run a program refers to no scratch memory, which another one may
// replace.
func TestScratchIsLeft(t *testing.T) {
	k, d, dst := softmaxTask(false, false, 150)
	testkit.OK(errors.Join(k.calls(d, 0, nil, &dst), d.Hessian(make([]float64, len(k.y)*len(k.y)), k.x, k.y)))
	if d.m.(engine.Inspector).HoldsScratch() {
		t.Error("a slot or the last call is in scratch memory")
	}
}

// TestProductsAtOnePoint: a product at the point of the one before computes nothing again that
// does not depend on the direction, and has the bits of a first product.
func TestProductsAtOnePoint(t *testing.T) {
	for _, asBytes := range []bool{false, true} {
		k, d, dst := softmaxTask(asBytes, false, 150)
		_, fresh, _ := softmaxTask(asBytes, false, 150)
		testkit.OK(d.HVP(dst[1], k.x, k.y, k.v))
		k.v[0]++
		testkit.OK(d.HVP(dst[1], k.x, k.y, k.v))
		testkit.OK(fresh.HVP(dst[2], k.x, k.y, k.v))
		sameBits(t, "product", dst[1], dst[2])
		if n := d.m.(engine.Inspector).Recomputed(d.plans[0][1<<hvp].Load()); n > 0 {
			t.Errorf("bytes=%v: %d steps are computed again", asBytes, n)
		}
	}
}

// TestOnEveryPath: values, gradients and products against closed forms and differences, tile by
// tile and whole, the same bits after any history, and no allocations, whichever kernels do
// the work.
func TestOnEveryPath(t *testing.T) {
	adtest.Everywhere(t, "^Test(ExtremeLogits|TableReads|SameBitsAfterAnyHistory|NegativeZero|NoAllocations"+
		testkit.Sized("", "", "|Ops")+")$")
}
