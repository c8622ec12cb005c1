package assess

import (
	"math"
	"math/rand/v2"
	"slices"

	"dsbo/internal/kernel"
	"dsbo/internal/linalg"
	"dsbo/internal/num"
)

// permutations is the number of permutations of the targets that estimate the null distribution.
const permutations = 199

// readDraws is the number of draws that share one pass over the rows; their targets are in memory
// at the same time.
const readDraws = 32

// mostPermuted is the largest number of columns times outputs that is tested.
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
// tested, for example with too many columns. The slope U_j of a column is the derivative of the log
// likelihood by its weight where all weights are 0. There are two statistics, the sum of the
// squared slopes and the largest one. Their null distribution comes from permutations of the
// targets within each site (Westfall, Young 1993), which assumes no model. Weights that do not
// count rows are ignored. For each column, sites exchange sums of 200 slopes: of the true targets,
// then of the permutations.
//
// For survival times, random signs of the rows' terms of the slopes replace permutations (Lin, Wei,
// Ying 1993), because censoring may depend on columns, which makes rows not exchangeable. Squared
// slopes are in units of their variance. Random signs underestimate it; with fewer than 3 events
// for each column too much, so nothing is tested then.
func (e *Effects) Chance(seed uint64) (float64, error) {
	if e.permuted() == 0 || e.Kind == Hazard && e.events < float64(leastOfColumn*len(e.use)) {
		return 0, nil
	}
	sum := make([]float64, e.permuted())
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
		e.addPermuted(s, part, random)
		return nil
	})
	if err != nil {
		return 0, err
	}
	return e.asLarge(sum), nil
}

// addPermuted adds a site's sums to part: for each draw the slopes at weights of 0, with its
// targets permuted, and the sum of squares of each output. The rows are read once for readDraws
// draws.
func (e *Effects) addPermuted(s *rows, part []float64, random *rand.Rand) {
	m, p, draws := e.outputs(), len(e.use), permutations+1
	y := e.centred(s, part[draws*m*p:])
	targets := make([]float64, readDraws*len(y)) // permuted, of the draws of one pass
	var of []int                                 // a row that represents n rows is in it n times
	for r := range s.Rows {
		of = append(of, slices.Repeat([]int{r}, int(s.rowsOf(r)))...)
	}
	for first := 0; first < draws; first += readDraws {
		clear(targets)
		some := min(readDraws, draws-first)
		for b := range some {
			for k, from := range random.Perm(len(of)) {
				if first+b == 0 { // draw 0 has the true order
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
}

// asLarge returns the p value of the statistics of draw 0, the true targets, among all draws. sum
// has m·p slopes for each draw, for m outputs and p columns; then their variances: one for each
// output, or, for hazards, p for draw 0 and p for the random signs. A statistic that equals the
// true one but for rounding counts as large. The smaller of two p values is doubled (Bonferroni).
func (e *Effects) asLarge(sum []float64) float64 {
	m, p, draws := e.outputs(), len(e.use), permutations+1
	var above [2]float64 // draws whose sum, and largest, of squares is as large as the true one
	var truth [2]float64
	for b := range draws {
		var of [2]float64 // the sum and the largest of this draw
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

// centred returns the targets of a site's rows, one number for each output, minus the site's mean.
// Classes become indicators, all 0 for the reference class. The sum of squares of each output is
// added to squares.
func (e *Effects) centred(s *rows, squares []float64) []float64 {
	m := e.outputs()
	y, mean, total := make([]float64, s.Rows*m), make([]float64, m), 0.0
	for r, v := range s.Target {
		switch k := e.output(int(v)); {
		case e.Classes == 0:
			y[r] = v
		case k >= 0:
			y[r*m+k] = 1
		}
		linalg.Axpy(mean, s.rowsOf(r), y[r*m:][:m])
		total += s.rowsOf(r)
	}
	linalg.Scale(mean, 1/total, mean)
	for r := range s.Rows {
		linalg.Axpy(y[r*m:][:m], -1, mean)
		for a, v := range y[r*m:][:m] {
			squares[a] += float64(v * v * s.rowsOf(r))
		}
	}
	return y
}

// addSigned adds a site's sums for hazards to part: the slopes at weights of 0, permutations of
// them with random signs of the rows' terms, the variance of the true slopes by the second
// derivatives, and the variance of the signed ones. A row that represents n rows draws n signs.
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
		for signed := range slices.Chunk(draws[p:], p) {
			sign := 0.0
			for range int(n) { // once for each row represented
				sign += float64(1 - 2*random.IntN(2))
			}
			linalg.Axpy(signed, sign/n, slope)
		}
	}
}

// streamPermuted separates the draws of permutations from all other draws.
const streamPermuted = 0x7065726d7574
