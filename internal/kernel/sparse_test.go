package kernel

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
)

func TestSparse(t *testing.T) { eachType(t, testSparse[float32], testSparse[float64]) }

// testSparse compares with plain loops over the whole row in the same order: zeros change no sum,
// so the bits are the same.
func testSparse[T Float](t *testing.T) {
	const cols = 37
	rng := rand.New(rand.NewPCG(2, 3))
	for n := range 6 {
		for _, fill := range []int{0, 1, 9, cols} {
			idx, row := []int32(nil), make([]T, cols)
			for _, j := range rng.Perm(cols)[:fill] {
				idx, row[j] = append(idx, int32(j)), T(rng.NormFloat64())
			}
			slices.Sort(idx)
			val := make([]T, fill)
			for e, j := range idx {
				val[e] = row[j]
			}
			byRow, byColumn, u := random[T](n*cols), make([]T, n*cols), random[T](n)
			want, outer := make([]T, n), slices.Clone(byRow)
			for k := range n {
				for j, v := range row {
					byColumn[j*n+k] = byRow[k*cols+j]
					want[k] += T(v * byRow[k*cols+j])
					outer[k*cols+j] += T(u[k] * v)
				}
			}
			what := fmt.Sprintf("%d values, %d vectors", fill, n)
			got, again := random[T](n), random[T](n)
			SparseRowNT(got, idx, val, byRow, cols)
			SparseRowNN(again, idx, val, byColumn, n)
			if !slices.Equal(got, want) || !slices.Equal(again, want) {
				t.Errorf("%s: products %v and %v, want %v", what, got, again, want)
			}
			SparseOuter(byRow, cols, u, idx, val)
			SparseOuterT(byColumn, n, u, idx, val)
			for k := range n {
				for j := range row {
					if byRow[k*cols+j] != outer[k*cols+j] || byColumn[j*n+k] != outer[k*cols+j] {
						t.Fatalf("%s: outer products differ at (%d, %d)", what, k, j)
					}
				}
			}
		}
	}
}
