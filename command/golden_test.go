package command

import (
	"encoding/json"
	"math"
	"slices"
	"strings"
	"testing"

	"dsbo/algo"
	"dsbo/internal/cli"
	"dsbo/internal/linalg"
	"dsbo/internal/testkit"
)

// matrix is a matrix of a golden file, row by row; a vector is one of one row.
type matrix [][]float64

// times returns Mv.
func (m matrix) times(v []float64) []float64 {
	out := make([]float64, len(m))
	for i, row := range m {
		for j, w := range row {
			out[i] += float64(w * v[j])
		}
	}
	return out
}

// transposed returns M'.
func (m matrix) transposed() matrix {
	t := make(matrix, len(m[0]))
	for j := range t {
		for _, row := range m {
			t[j] = append(t[j], row[j])
		}
	}
	return t
}

// plus returns a + s b.
func plus(a []float64, s float64, b []float64) []float64 {
	a = slices.Clone(a)
	for i, v := range b {
		a[i] += float64(s * v)
	}
	return a
}

// A goldenFile is what the verb golden writes, by names whose case counts.
type goldenFile map[string]json.RawMessage

func newGoldenFile(text string) (f goldenFile) {
	testkit.OK(json.Unmarshal([]byte(text), &f))
	return f
}

// member returns what has a name.
func member[T any](f goldenFile, name string) (v T) {
	testkit.OK(json.Unmarshal(f[name], &v))
	return v
}

// TestGoldenByHand: from what the file tells, and Algorithm D-SOBA written down anew in a few
// lines, follow its iterates. Sums of ten terms in another order agree to 1e-12 of their size,
// which is some 1.
func TestGoldenByHand(t *testing.T) {
	f := newGoldenFile(runCommand(t, "golden", "-K=6", `-params={"alpha": 0.2, "theta": 0.3}`, "dsoba"))
	n, p, q, K := member[int](f, "n"), member[int](f, "p"), member[int](f, "q"), member[int](f, "K")
	alpha, beta := member[float64](f, "alpha"), member[float64](f, "beta")
	gamma, theta := member[float64](f, "gamma"), member[float64](f, "theta")
	w, agents := member[matrix](f, "W"), member[[]goldenFile](member[goldenFile](f, "data"), "agents")
	iterates := member[[]goldenFile](f, "iterates")
	x, y, z, r := zeros(n, p), zeros(n, q), zeros(n, q), zeros(n, p)
	mix := func(v matrix) matrix { // W v, by columns
		var out matrix
		for i := range n {
			sum := make([]float64, len(v[0]))
			for j, share := range w[i] {
				sum = plus(sum, share, v[j])
			}
			out = append(out, sum)
		}
		return out
	}
	for k := 0; ; k++ {
		for name, hand := range map[string]matrix{"X": x, "Y": y, "Z": z} {
			for i, got := range member[matrix](iterates[k], name) {
				if d := math.Sqrt(linalg.Dist2(hand[i], got)); !(d < 1e-12) {
					t.Errorf("iteration %d, agent %d: %s is %v, by hand %v", k, i, name, got, hand[i])
				}
			}
		}
		if k == K {
			break
		}
		var nx, ny, nz, nr matrix
		for i, a := range agents {
			for j, row := range member[matrix](a, "A") {
				if row[j] < 1 {
					t.Errorf("agent %d: A[%d][%d] is %g; A must be at least I", i, j, j, row[j])
				}
			}
			gy := plus(plus(member[matrix](a, "A").times(y[i]), -1, member[matrix](a, "B").times(x[i])), -1,
				member[[]float64](a, "c"))
			fy := member[matrix](a, "D").times(plus(y[i], -1, member[[]float64](a, "t")))
			hz := plus(member[matrix](a, "A").times(z[i]), -1, fy)
			u := plus(plus(member[matrix](a, "E").times(x[i]), 1, member[[]float64](a, "e")), 1,
				member[matrix](a, "B").transposed().times(z[i])) // −J z, as ∇²_xy g = −B'
			nx = append(nx, plus(x[i], -alpha, r[i]))
			ny = append(ny, plus(y[i], -beta, gy))
			nz = append(nz, plus(z[i], -gamma, hz))
			nr = append(nr, plus(plus(make([]float64, p), 1-theta, r[i]), theta, u))
		}
		x, y, z, r = mix(nx), mix(ny), mix(nz), nr
	}
}

func zeros(n, cols int) (m matrix) {
	for range n {
		m = append(m, make([]float64, cols))
	}
	return m
}

// TestGoldenOfAllMethods: each method has a trajectory, of which another run has the same bits, or
// is refused by the parameter that it lacks.
func TestGoldenOfAllMethods(t *testing.T) {
	t.Parallel()
	needs := map[string]string{"dascgd": "compositional problems alone"}
	for _, m := range algo.Names() {
		args := []string{"golden", "-K=2", "-p=2", "-q=2", m}
		if slices.Contains(algo.Parameters(testkit.Get(algo.New(m))), "lg") {
			args = append(args, `-params={"lg": 3}`)
		}
		text, err := command(t, args...)
		if want := needs[m]; want != "" {
			testkit.WantError(t, m, err, nil, want)
			text, err = command(t, "golden", "-K=2", "-kind=logistic", m)
		}
		if needs[m] != "" && err != nil {
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", m, err)
			continue
		}
		f := newGoldenFile(text)
		e := member[goldenFile](f, "expected")
		if n := len(member[[]goldenFile](f, "iterates")); n != 3 || len(member[matrix](e, "x_bar")) != n ||
			len(member[[]float64](e, "Phi")) != n || len(member[matrix](e, "y_bar")) != n-1 {
			t.Errorf("%s: %d iterates", m, n)
		}
		if needs[m] == "" && text != runCommand(t, args...) {
			t.Errorf("%s has other bits the second time", m)
		}
	}
}

// TestGoldenRefused: what does not fit is refused by name.
func TestGoldenRefused(t *testing.T) {
	for args, want := range map[string]string{
		"":                             "one METHOD is required, of madsbo",
		"nosuch":                       `algorithm "nosuch" is unknown`,
		"dsoba -kind=cubic":            `-kind must be quadratic or logistic; it is "cubic"`,
		"dsoba -agents=0":              "-agents must be from 1 to 64; it is 0",
		"dsoba -p=1000":                "-p must be from 1 to 256; it is 1000",
		"dsoba -params={x:1}":          "parameters must be a JSON object",
		`dsoba -params={"x":1}`:        `dsoba has no parameter "x"`,
		`dsoba -params={"beta":"1/L"}`: "beta must be numbers here",
		`dsoba -K=2000 -params={"beta":9,"gamma":9}`: "of dsoba must stay finite; after iteration",
	} {
		_, err := command(t, append([]string{"golden"}, strings.Fields(args)...)...)
		testkit.WantError(t, args, err, nil, want)
		if cli.Code(err) == 0 {
			t.Errorf("%s: exit code 0", args)
		}
	}
}
