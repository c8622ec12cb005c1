package ad

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"
	"testing"

	"dsbo/internal/linalg"
	"dsbo/internal/testkit"
)

// TestForks: forks that ask for derivatives at once, each in an order of its own, so that one
// compiles what another runs on, and read the same tables, have the bits of programs that share
// nothing, and scratch memory for as many as there are processors.
func TestForks(t *testing.T) {
	const agents, rounds = 6, 3
	for _, c := range []struct {
		asBytes, float32 bool
		rows             int
	}{{false, false, 150}, {true, true, 100}} {
		t.Run(fmt.Sprintf("%+v", c), func(t *testing.T) {
			one, first, _ := softmaxTask(c.asBytes, c.float32, c.rows)
			pool := new(Pool)
			errs := make([]error, agents)
			var results, want [agents][rounds][]float64
			var wg sync.WaitGroup
			for i := range agents {
				k, fresh, _ := softmaxTask(c.asBytes, c.float32, c.rows)
				k.y[i]++
				d := first.Fork(&Workspace{Pool: pool})
				idx := make([]int, c.rows)
				for j := range idx {
					idx[j] = (7*j + i) % k.m
				}
				for r := range rounds {
					want[i][r] = testkit.Get(k.answers(fresh, idx, i))
				}
				k.tables = one.tables
				wg.Go(func() {
					for r := range rounds {
						var err error
						results[i][r], err = k.answers(d, idx, i)
						errs[i] = errors.Join(errs[i], err)
					}
				})
			}
			wg.Wait()
			testkit.OK(errors.Join(errs...))
			for i := range agents {
				for r := range rounds {
					sameBits(t, fmt.Sprintf("agent %d, round %d", i, r), results[i][r], want[i][r])
				}
			}
			list, busy := pool.Scratch()
			if n := len(list); n > runtime.GOMAXPROCS(0) || busy != 0 {
				t.Errorf("%d blocks of scratch memory, %d in use, of %d processors", n, busy, runtime.GOMAXPROCS(0))
			}
		})
	}
}

// answers asks d for everything, beginning with derivative number first, and returns it in one
// order.
func (k *task) answers(d *Derivs, idx []int, first int) ([]float64, error) {
	err := errors.Join(d.Bind("X", k.tables["X"], idx), d.Bind("T", k.tables["T"], idx))
	p, q := len(k.x), len(k.y)
	all := make([]float64, 1+p+q+q+p+q*q)
	value, dx, dy, hv, jv, hessian := all[:1], all[1:][:p], all[1+p:][:q], all[1+p+q:][:q],
		all[1+p+q+q:][:p], all[1+p+q+q+p:]
	asks := []func() error{
		func() (err error) { value[0], err = d.Value(k.x, k.y); return err },
		func() error { return d.Grad(dx, dy, k.x, k.y) },
		func() error { return d.HVP(hv, k.x, k.y, k.v) },
		func() error { return d.JVP(jv, k.x, k.y, k.v) },
		func() error { return d.Hessian(hessian, k.x, k.y) },
	}
	for i := range asks {
		err = errors.Join(err, asks[(first+i)%len(asks)]())
	}
	return all, err
}

// TestForksOfStackedProducts: forks that multiply stacked matrices at the same time share no memory
// of the kernel.
func TestForksOfStackedProducts(t *testing.T) {
	const n, size, forks = 8, 12, 4
	const q = n * size * size
	all := testkit.Get(Differentiate(Loss{P: 1, Q: q, Build: func(_, y *Node, _ []*Node) *Node {
		m := Part(y, 0, n*size, size)
		return SumAll(Square(BatchMatMul(m, m, n, false, true)))
	}}))
	var got [forks][]float64
	errs := make([]error, forks)
	var wg sync.WaitGroup
	for i := range forks {
		d, y := all.Fork(nil), make([]float64, q)
		for j := range y {
			y[j] = float64(i + j%7)
		}
		got[i] = make([]float64, q)
		want := make([]float64, q)
		testkit.OK(d.Grad(nil, want, []float64{0}, y))
		wg.Go(func() {
			for range 200 {
				y[0] = -y[0] // another point
				errs[i] = errors.Join(errs[i], d.Grad(nil, got[i], []float64{0}, y))
				if y[0] == float64(i) && !slices.Equal(got[i], want) {
					errs[i] = errors.Join(errs[i], fmt.Errorf("fork %d has another gradient beside others", i))
					return
				}
			}
		})
	}
	wg.Wait()
	testkit.OK(errors.Join(errs...))
}

// TestSameBitsOnManyProcessors: a network whose products are large enough to be shared has the
// same derivatives on any number of processors.
func TestSameBitsOnManyProcessors(t *testing.T) {
	const rows, in, hidden = 96, 301, 517 // of products that are shared, with parts that are not whole
	q := hidden*in + hidden*hidden
	r := rand.New(rand.NewPCG(1, 2))
	normal := func(n int) []float64 {
		v := normals(r, n)
		linalg.Scale(v, .05, v)
		return v
	}
	x, y, v, table := []float64{.3}, normal(q), normal(q), testkit.Get(FloatTable(rows, in, normal(rows*in)))
	for _, single := range []bool{true, false} {
		if testing.Short() && !single {
			break
		}
		var want [4][]float64
		for _, processors := range map[bool][]int{true: {1, 2, 4}, false: {1, 3}}[single] {
			d := testkit.Get(Differentiate(
				Loss{P: 1, Q: q, Rows: rows, Float32: single,
					Inputs: []Input{{Name: "X", Shape: []int{in}, Batch: true}},
					Build: func(x, y *Node, data []*Node) *Node {
						h := ReLU(MatMul(data[0], Part(y, 0, hidden, in), false, true))
						o := Outputs(Tanh(MatMul(h, Part(y, hidden*in, hidden, hidden), false, true)))
						return Add(SumAll(Square(o)), ScaleBy(SumAll(Exp(x)), Dot(y, y)))
					}}))
			testkit.OK(d.Bind("X", table, nil))
			got := [4][]float64{make([]float64, q), make([]float64, q), make([]float64, 1), make([]float64, q)}
			before := runtime.GOMAXPROCS(processors)
			err := errors.Join(d.Grad(nil, got[0], x, y), d.HVP(got[1], x, y, v), d.JVP(got[2], x, y, v),
				d.GaussNewton(got[3], x, y, v))
			runtime.GOMAXPROCS(before)
			testkit.OK(err)
			if processors == 1 {
				want = got
			}
			for i, what := range []string{"gradient", "HVP", "JVP", "Gauss-Newton product"} {
				sameBits(t, fmt.Sprintf("%s, float32=%v, %d processors", what, single, processors), got[i], want[i])
			}
		}
	}
}
