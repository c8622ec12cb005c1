package assess

import (
	"math"
	"math/rand/v2"
	"slices"

	"dsbo/internal/kernel"
	"dsbo/internal/linalg"
	"dsbo/internal/num"
)

// permutations is how often the targets are permuted to see what chance gives.
const permutations = 199

// readDraws is the number of draws for which rows are read once.
const readDraws = 32

// mostPermuted is the number of columns and outputs up to which the test is made.
const mostPermuted = 2000

// permuted returns the number of sums that [Effects.Chance] takes, 0 where it is not made.
func (e *Effects) permuted() int {
	n := e.outputs() * len(e.use)
	if !permutes(n, e.Rows) {
		return 0
	}
	if e.Kind == Hazard {
		return (permutations + 3) * n
	}
	return (permutations+1)*n + e.outputs()
}

// slopesName returns the name of these sums.
func (e *Effects) slopesName() string {
	if e.Kind == Hazard {
		return "slopes with random signs"
	}
	return "slopes with permuted targets"
}

// permutes reports whether the test is made with a number of columns and outputs, and of rows.
func permutes(n, rows int) bool {
	return 0 < n && n <= mostPermuted && float64(rows)*float64(n*(permutations+1)) <= mostProducts
}

// Chance returns the p value of the hypothesis that no column affects the target; 0 if it is not
// tested, for example with too many columns. The statistics are the sum and the largest of the
// squared slopes U_j of the columns at 0. Their null distribution has the targets permuted within
// each site (Westfall, Young 1993), which needs no model. Weights that do not count rows are
// ignored. Sites exchange sums of 200 slopes for each column. For survival times, random signs of
// the rows' parts of the slopes replace permutations (Lin, Wei, Ying 1993): censoring may depend on
// columns, and then rows are not exchangeable. Squares of slopes are in units of their variance,
// which with random signs is smaller than under the hypothesis; with fewer than 3 events for each
// column this is too far off, and nothing is tested.
func (e *Effects) Chance(seed uint64) (float64, error) {
	m, p := e.outputs(), len(e.use)
	if e.permuted() == 0 || e.Kind == Hazard && e.events < float64(leastOfColumn*p) {
		return 0, nil
	}
	sum := make([]float64, e.permuted())
	draws := permutations + 1
	err := e.Sum(e.slopesName(), sum, func(i int, part []float64) error {
		s := e.sites[i]
		if s == nil {
			return nil
		}
		random := rand.New(rand.NewPCG(num.SplitMix(seed), num.SplitMix(num.SplitMix(uint64(i))^streamPermuted)))
		if e.Kind == Hazard {
			e.addSigned(s, part, random)
			return nil
		}
		y := e.centred(s, part[draws*m*p:])
		targets := make([]float64, readDraws*len(y)) // of some draws, for which the rows are read once
		var of []int                                 // the row of each unit that rows count
		for r := range s.Rows {
			of = append(of, slices.Repeat([]int{r}, int(s.rowsOf(r)))...)
		}
		for first := 0; first < draws; first += readDraws {
			clear(targets)
			some := min(readDraws, draws-first)
			for b := range some {
				for k, from := range random.Perm(len(of)) {
					if first+b == 0 {
						from = k
					}
					linalg.Axpy(targets[b*len(y)+of[k]*m:][:m], 1, y[of[from]*m:][:m])
				}
			}
			e.each(s, func(from, n int, x []float64) {
				for b := range some {
					kernel.GemmTN(m, p, n, part[(first+b)*m*p:], p, targets[b*len(y)+from*m:], m, x, p, true)
				}
			})
		}
		return nil
	})
	if err != nil {
		return 0, err
	}
	return e.asLarge(sum), nil
}

// asLarge returns of the sums of draws how likely ones as large as the first are by chance.
func (e *Effects) asLarge(sum []float64) float64 {
	m, p, draws := e.outputs(), len(e.use), permutations+1
	var above [2]float64
	var truth [2]float64
	for b := range draws {
		var of [2]float64
		for j := range p {
			square := 0.0
			for a := range m {
				u, unit := sum[(b*m+a)*p+j], sum[draws*m*p+a]
				if e.Kind == Hazard {
					unit = sum[(draws+min(b, 1))*p+j]
				}
				square += float64(u*u) / max(unit, math.SmallestNonzeroFloat64)
			}
			of[0], of[1] = of[0]+square, max(of[1], square)
		}
		for k, v := range of {
			if b == 0 {
				truth[k] = v
			} else if v >= float64(truth[k]*(1-1e-12)) {
				above[k]++
			}
		}
	}
	return min(1, 2*(1+min(above[0], above[1]))/float64(draws))
}

// centred returns the targets of a site's rows less their means, and adds their squares to squares.
func (e *Effects) centred(s *rows, squares []float64) []float64 {
	m := e.outputs()
	y, mean, all := make([]float64, s.Rows*m), make([]float64, m), 0.0
	for r, v := range s.Target {
		switch k := e.output(int(v)); {
		case e.Classes == 0:
			y[r] = v
		case k >= 0:
			y[r*m+k] = 1
		}
		linalg.Axpy(mean, s.rowsOf(r), y[r*m:][:m])
		all += s.rowsOf(r)
	}
	linalg.Scale(mean, 1/all, mean)
	for r := range s.Rows {
		linalg.Axpy(y[r*m:][:m], -1, mean)
		for a, v := range y[r*m:][:m] {
			squares[a] += float64(v * v * s.rowsOf(r))
		}
	}
	return y
}

// addSigned adds the slopes of a site's rows at 0, draws with random signs, and the variances of
// both.
func (e *Effects) addSigned(s *rows, part []float64, random *rand.Rand) {
	p := len(e.use)
	at := e.riskOf(s, make([]float64, p))
	draws, variance := part[:(permutations+1)*p], part[(permutations+1)*p:]
	for row := range s.Rows {
		n, slope := s.rowsOf(row), at.slope[row*p:][:p]
		if n == 0 {
			continue
		}
		linalg.Axpy(draws[:p], 1, slope)
		for j, v := range slope {
			variance[j] += float64(at.bends[row*p+j] * at.x[row*p+j])
			variance[p+j] += float64(v*v) / n
		}
		for to := range slices.Chunk(draws[p:], p) {
			sign := 0.0
			for range int(n) { // once for each row represented
				sign += float64(1 - 2*random.IntN(2))
			}
			linalg.Axpy(to, sign/n, slope)
		}
	}
}

// streamPermuted separates the draws of permutations from all other draws.
const streamPermuted = 0x7065726d7574
