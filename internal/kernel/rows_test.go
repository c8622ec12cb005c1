package kernel

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// rowShapes are rows×cols of softmaxes: class counts, widths around every register size, and
// rows wider than the memory that RowLogSumExp has of its own.
var rowShapes = [][2]int{{0, 3}, {3, 0}, {1, 1}, {64, 10}, {7, 2}, {5, 3}, {9, 7}, {3, 8}, {3, 9},
	{4, 15}, {4, 16},
	{4, 17}, {3, 31}, {3, 33}, {2, 64}, {2, 65}, {2, 100}, {3, 200}, {2, 255}, {2, 256}, {2, 257}, {1, 1200},
	{300, 3}, {300, 1}}

func TestRows(t *testing.T) { eachType(t, testRows[float32], testRows[float64]) }

// testRows compares with sums in big arithmetic. With u the unit roundoff: x − max is rounded
// once, an absolute error of u·|x−max| in an exponent, so a relative one in eˣ; the exponential has
// 2 ulp (4u), a sum of c terms (c−1)u, the quotient u. The log-sum-exp adds the relative error of
// the sum as an absolute one, and rounds its two terms and their sum.
func testRows[T Float](t *testing.T) {
	u := roundoff[T]()
	smallest := math.SmallestNonzeroFloat64
	if size[T]() == 4 {
		smallest = math.SmallestNonzeroFloat32
	}
	rng := rand.New(rand.NewPCG(1, 2))
	for _, s := range rowShapes {
		rows, cols := s[0], s[1]
		if testing.Short() && rows*cols > 700 {
			continue
		}
		a := &arena[T]{rng: rng}
		spread := []float64{1, 10, 1000}[rng.IntN(3)]
		src := a.slice(rows*cols, func() T { return T(spread * rng.NormFloat64()) })
		soft := a.slice(rows*cols, func() T { return 0 })
		lse := a.slice(rows, func() T { return 0 })
		wantSoft, tolSoft := make([]float64, len(soft)), make([]float64, len(soft))
		wantLSE, tolLSE := make([]float64, rows), make([]float64, rows)
		for i := range rows {
			row := src[i*cols : (i+1)*cols]
			peak, e, sum := rowReference(row)
			for j, v := range row {
				w, _ := e[j].Quo(e[j], sum).Float64()
				wantSoft[i*cols+j] = w
				tolSoft[i*cols+j] = (float64(cols)+6+math.Abs(float64(v)-peak))*2*u*w + smallest
			}
			total, _ := sum.Float64()
			wantLSE[i] = peak + math.Log(total)
			tolLSE[i] = u * (float64(cols) + 40 + 4*math.Abs(wantLSE[i]))
		}
		eachPath(t, func(t *testing.T) {
			what := fmt.Sprintf("%d×%d", rows, cols)
			RowSoftmax(rows, cols, soft, src)
			RowLogSumExp(rows, cols, lse, src)
			a.check(t, what)
			within(t, what+" softmax", soft, wantSoft, tolSoft)
			within(t, what+" log-sum-exp", lse, wantLSE, tolLSE)
		})
	}
}

// rowReference returns the maximum of a row, exp(v − max) of its entries, and their sum.
func rowReference[T Float](row []T) (peak float64, e []exact, sum exact) {
	peak, sum = math.Inf(-1), fresh()
	for _, v := range row {
		peak = max(peak, float64(v))
	}
	for _, v := range row {
		x := bigExp(float64(v) - peak)
		sum.Add(sum, x)
		e = append(e, x)
	}
	return peak, e, sum
}

func TestRowLimits(t *testing.T) { eachType(t, testRowLimits[float32], testRowLimits[float64]) }

func testRowLimits[T Float](t *testing.T) {
	inf, nan := T(math.Inf(1)), T(math.NaN())
	eachPath(t, func(t *testing.T) {
		for _, c := range []struct {
			row     []T
			lse     T
			softmax []T
		}{
			{[]T{1000, -1000, 1000}, 1000 + T(math.Ln2), []T{0.5, 0, 0.5}},
			{[]T{-inf, 3, -inf}, 3, []T{0, 1, 0}},
			{[]T{-inf, -inf}, -inf, []T{nan, nan}},
			{[]T{inf, 1}, inf, []T{nan, nan}},
			{[]T{inf, nan}, nan, []T{nan, nan}},
			{[]T{1, nan, 3}, nan, []T{nan, nan, nan}},
			{[]T{nan, nan}, nan, []T{nan, nan}},
		} {
			for _, before := range []int{0, 3} {
				// The row among ordinary ones, which it must not disturb.
				n := len(c.row)
				src := make([]T, (before+2)*n)
				copy(src[before*n:], c.row)
				lse, soft := make([]T, before+2), make([]T, len(src))
				RowLogSumExp(before+2, n, lse, src)
				RowSoftmax(before+2, n, soft, src)
				same := func(x, y T) bool { return x == y || x != x && y != y }
				if !same(lse[before], c.lse) {
					t.Errorf("log-sum-exp of %v = %v; it must be %v", c.row, lse[before], c.lse)
				}
				for j, w := range c.softmax {
					if !same(soft[before*n+j], w) {
						t.Errorf("softmax of %v = %v; it must be %v", c.row, soft[before*n:][:n], c.softmax)
						break
					}
				}
				if last := lse[before+1]; math.Abs(float64(last)-math.Log(float64(n))) > 1e-6 {
					t.Errorf("the row after %v has log-sum-exp %v", c.row, last)
				}
			}
		}
	})
}

// TestRowsAlone: a row has the same bits alone and among others, in place and not, and on both
// assembly paths.
func TestRowsAlone(t *testing.T) { eachType(t, testRowsAlone[float32], testRowsAlone[float64]) }

func testRowsAlone[T Float](t *testing.T) {
	for _, s := range rowShapes {
		rows, cols := s[0], s[1]
		src := random[T](rows * cols)
		Scale(src, 5, src)
		results := func() (soft, lse []T) {
			soft, lse = make([]T, rows*cols), make([]T, rows)
			RowSoftmax(rows, cols, soft, src)
			RowLogSumExp(rows, cols, lse, src)
			return soft, lse
		}
		what := fmt.Sprintf("%d×%d", rows, cols)
		pathsAgree(t, what, func() []T { return slices.Concat(results()) })
		eachPath(t, func(t *testing.T) {
			soft, lse := results()
			alone, aloneLSE := slices.Clone(src), make([]T, rows)
			for i := range rows {
				row := alone[i*cols : (i+1)*cols]
				RowLogSumExp(1, cols, aloneLSE[i:i+1], row)
				RowSoftmax(1, cols, row, row)
			}
			sameBits(t, what+" softmax", alone, soft)
			sameBits(t, what+" log-sum-exp", aloneLSE, lse)
		})
	}
}

// TestRowNumbers: results are rounded once, so every path must have the bits of the plain loop, in
// place too.
func TestRowNumbers(t *testing.T) {
	eachPathAndType(t, testRowNumbers[float32], testRowNumbers[float64])
}

func testRowNumbers[T Float](t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	for _, op := range []struct {
		name    string
		f, twin func(rows, cols int, dst, src, u []T)
	}{{"RowAdd", RowAdd[T], rowAddGo[T]}, {"RowMul", RowMul[T], rowMulGo[T]}} {
		for _, s := range rowShapes {
			rows, cols := s[0], s[1]
			what := fmt.Sprintf("%s %d×%d", op.name, rows, cols)
			a := &arena[T]{rng: rng}
			fill := func() T { return T(rng.NormFloat64()) }
			src, u, dst, want := a.slice(rows*cols, fill), a.slice(rows, fill), a.slice(rows*cols, fill),
				make([]T, rows*cols)
			op.twin(rows, cols, want, src, u)
			op.f(rows, cols, dst, src, u)
			sameBits(t, what, dst, want)
			op.f(rows, cols, src, src, u)
			sameBits(t, what+" in place", src, want)
			a.check(t, what)
		}
	}
}

// TestRowSums: the sum of a row has the bits of Sum, and the sum of a short row's products has the
// bits of Dot, whatever its length, with zeros of both signs.
func TestRowSums(t *testing.T) { eachPathAndType(t, testRowSums[float32], testRowSums[float64]) }

func testRowSums[T Float](t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	for cols := range 40 {
		const rows = 5
		x, y, products := make([]T, rows*cols), make([]T, rows*cols), make([]T, rows*cols)
		for i := range x {
			x[i], y[i] = T(rng.NormFloat64()), T(rng.NormFloat64())
			if i%3 == 0 {
				x[i] = T(math.Copysign(0, rng.NormFloat64()))
			}
		}
		MulTo(products, x, y)
		sums, of := make([]T, rows), make([]T, rows)
		RowSums(rows, cols, sums, x)
		RowSums(rows, cols, of, products)
		for i := range rows {
			row, other := x[i*cols:][:cols], y[i*cols:][:cols]
			if want := Sum(row); bits(sums[i]) != bits(want) {
				t.Errorf("%d columns: the sum of row %d is %v; it must be %v", cols, i, sums[i], want)
			}
			if want := Dot(row, other); cols <= 8 && bits(of[i]) != bits(want) {
				t.Errorf("%d columns: the product of row %d is %v; it must be %v", cols, i, of[i], want)
			}
		}
	}
}
