package algo

import (
	"cmp"
	"math"
	"slices"

	"dsbo"
)

// A Compression says what is sent of a vector: "none" (the default) sends all, "top" the Keep
// numbers of largest absolute value (of equal ones the first), with their places, "round" all of
// them in Bits bits, as s·round(v L/s)/L with s = max |v| and L = 2^(Bits−1) − 1, half to even.
type Compression struct {
	Kind string `json:"kind,omitempty"`
	Keep int    `json:"keep,omitempty"`
	Bits int    `json:"bits,omitempty"`
}

// check requires a compression that exists.
func (s *Compression) check(c *checker, name string) {
	c.choice(name, &s.Kind, "none", "top", "round")
	c.require(s.Kind != "top" || s.Keep >= 1, name, "with keep at least 1", s.Keep)
	c.require(s.Kind != "round" || s.Bits >= 2 && s.Bits <= 32, name, "with bits from 2 to 32", s.Bits)
}

// compressor returns what compresses so. It belongs to one goroutine at a time.
func (s Compression) compressor() dsbo.Compressor {
	switch s.Kind {
	case "top":
		return &top{keep: s.Keep}
	case "round":
		return rounded{s.Bits}
	}
	return uncompressed{}
}

type uncompressed struct{}

func (uncompressed) Compress([]float64) {}

func (uncompressed) Size(n int) (floats, bytes int) { return n, 8 * n }

// top keeps the largest entries. A place travels in 4 bytes.
type top struct {
	keep  int
	order []int
}

func (t *top) Compress(v []float64) {
	if t.keep >= len(v) {
		return
	}
	t.order = t.order[:0]
	for i := range v {
		t.order = append(t.order, i)
	}
	slices.SortFunc(t.order, func(i, j int) int {
		return cmp.Or(cmp.Compare(math.Abs(v[j]), math.Abs(v[i])), cmp.Compare(i, j))
	})
	for _, i := range t.order[t.keep:] {
		v[i] = 0
	}
}

func (t *top) Size(n int) (floats, bytes int) {
	m := min(t.keep, n)
	return 2 * m, 12 * m
}

// rounded rounds all entries to levels, and sends their scale beside.
type rounded struct{ bits int }

func (r rounded) Compress(v []float64) {
	scale, levels := 0.0, math.Ldexp(1, r.bits-1)-1
	for _, e := range v {
		scale = max(scale, math.Abs(e))
	}
	if scale == 0 {
		return
	}
	for i, e := range v {
		v[i] = scale * math.RoundToEven(e*levels/scale) / levels
	}
}

func (r rounded) Size(n int) (floats, bytes int) { return n + 1, (n*r.bits+7)/8 + 8 }
