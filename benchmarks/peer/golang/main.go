// Command golang times the gradient and the Hessian-vector product of deep networks by other Go
// programs: Gorgonia's TapeMachine, and GoMLX on its backend in Go. The networks, batches and types
// are the same as in the rows deep-... of the command compare.
//
//	cd benchmarks/peer/golang && go run . -seconds 1
//
// It is a module of its own, so that dsbo does not require GoMLX.
package main

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"runtime"
	"slices"
	"time"
)

// A network is dense layers of these sizes or, if there are none, two convolutions of 5×5 pixels
// with stride 2 to 8 and 16 channels and a dense layer; hidden units are ReLU. The loss is the mean
// cross-entropy and a decay of all weights.
type network struct {
	name  string
	sizes []int
}

var networks = []network{
	{"784-256-128-10", []int{784, 256, 128, 10}},
	{"784-1024-1024-10", []int{784, 1024, 1024, 10}},
	{"lenet", nil},
}

const decay = .01

// shapes returns the shapes of the parameters: of a dense layer in×out and out, of a convolution
// 5×5×in×out and out.
func (n network) shapes() (list [][]int) {
	sizes := n.sizes
	if sizes == nil {
		list = [][]int{{5, 5, 1, 8}, {8}, {5, 5, 8, 16}, {16}}
		sizes = []int{256, 10}
	}
	for i, out := range sizes[1:] {
		list = append(list, []int{sizes[i], out}, []int{out})
	}
	return list
}

type float interface{ float32 | float64 }

// An engine has compiled a network's loss of one batch. Either function may be nil: the engine
// cannot do that.
type engine struct{ gradient, product func() }

// numbers are the data of one row, random.
type numbers[T float] struct {
	pictures, onehot   []T
	weights, direction [][]T
}

func draw[T float](n network, batch int) (d numbers[T]) {
	r := rand.New(rand.NewPCG(1, uint64(batch)))
	d.pictures, d.onehot = make([]T, batch*784), make([]T, batch*10)
	for i := range d.pictures {
		d.pictures[i] = T(r.Float64())
	}
	for i := range batch {
		d.onehot[i*10+r.IntN(10)] = 1
	}
	normal := func(shape []int) []T {
		size := 1
		for _, s := range shape {
			size *= s
		}
		v := make([]T, size)
		for i := range v {
			v[i] = T(.05 * r.NormFloat64())
		}
		return v
	}
	for _, s := range n.shapes() {
		d.weights, d.direction = append(d.weights, normal(s)), append(d.direction, normal(s))
	}
	return d
}

func main() {
	seconds := flag.Float64("seconds", 1, "how long each measurement takes, at least 3 calls")
	only := flag.String("only", "", "the one network to measure (default all)")
	most := flag.Int("batch", 256, "largest batch")
	flag.Parse()
	runtime.GOMAXPROCS(1)
	fmt.Printf("one thread, median ms of gradient and Hessian-vector product\n\n")
	fmt.Println("| network | batch | type | engine | gradient | HVP |\n|---|---|---|---|---|---|")
	for _, n := range networks {
		for _, batch := range []int{64, 256} {
			if *only != "" && n.name != *only || batch > *most {
				continue
			}
			row(n, batch, "f32", *seconds, gomlxEngine[float32], gorgoniaEngine[float32])
			row(n, batch, "f64", *seconds, gomlxEngine[float64], gorgoniaEngine[float64])
		}
	}
}

func row[T float](n network, batch int, kind string, seconds float64, gomlx,
	gorgonia func(network, int, numbers[T]) engine) {
	for _, e := range []struct {
		name string
		make func(network, int, numbers[T]) engine
	}{{"GoMLX 0.26.0, Go backend", gomlx}, {"Gorgonia 0.9.18, TapeMachine", gorgonia}} {
		engine := e.make(n, batch, draw[T](n, batch))
		fmt.Printf("| %s | %d | %s | %s | %s | %s |\n", n.name, batch, kind, e.name, median(seconds, engine.gradient),
			median(seconds, engine.product))
	}
}

// median returns the median time in ms of f, "–" for nil, and the word of what f panics with.
func median(seconds float64, f func()) (text string) {
	if f == nil {
		return "–"
	}
	defer func() {
		if r := recover(); r != nil {
			fmt.Fprintln(os.Stderr, r)
			text = "fails"
		}
	}()
	f()
	var times []float64
	for begin := time.Now(); time.Since(begin).Seconds() < seconds || len(times) < 3; {
		start := time.Now()
		f()
		times = append(times, 1e3*time.Since(start).Seconds())
	}
	slices.Sort(times)
	return fmt.Sprintf("%.2f", times[len(times)/2])
}
