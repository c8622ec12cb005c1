package data

import (
	"math/bits"
	"math/rand/v2"
	"slices"

	"dsbo"
	"dsbo/ad"
	"dsbo/internal/num"
)

// A Sampler gives one agent's minibatches: Batch different rows, every subset equally likely. A
// draw is a pure function of (Seed, Agent, Set, K, T) and of the number of rows; draws with
// different names are independent.
//
// The zero Sampler draws all rows. A Sampler belongs to one goroutine at a time.
type Sampler struct {
	Seed  uint64
	Agent int
	Batch int // 0: all rows

	pcg       rand.PCG
	marks     []uint64
	drawn     []int
	partition []int // rows of all batches of the last partition, batch by batch
	batches   int   // how many these are
}

// Draw returns the named minibatch of rows 0 to rows-1, ascending, so that they are read in
// the order of memory. nil means all rows: for [dsbo.Whole], for Batch 0, and where Batch is not
// less than rows. The slice is valid until the next Draw. The batches of [dsbo.LowerBatch] and
// [dsbo.UpperBatch] are pieces of one permutation of the rows, of sizes that differ by 1 at most.
//
// Time is O(Batch + rows/64), and O(rows log rows) for the first batch of a partition; no
// allocation once the largest draw has been made.
func (s *Sampler) Draw(name dsbo.Sample, rows int) []int {
	if name.Set == dsbo.LowerBatch || name.Set == dsbo.UpperBatch {
		return s.batch(name.K, name.T, rows)
	}
	if name.Set == dsbo.Whole || s.Batch <= 0 || s.Batch >= rows {
		return nil
	}
	s.pcg.Seed(hashKeys(s.Seed, streamSample, uint64(s.Agent), uint64(name.Set), uint64(name.K), uint64(name.T)))
	words := (rows + 63) / 64
	s.marks = slices.Grow(s.marks[:0], words)[:words]
	clear(s.marks)

	// Rows are drawn until enough are different, which is fast while at most half of all are drawn.
	// Beyond that, draw the rows to leave out.
	if s.Batch <= rows/2 {
		s.markRows(s.Batch, uint64(rows))
		return s.batchRows(0)
	}
	s.markRows(rows-s.Batch, uint64(rows))
	return s.batchRows(^uint64(0))
}

// batch returns the rows of batch b of a partition into n batches, nil for all rows. A partition is
// a permutation of the rows, kept until another n or number of rows is asked for. Each batch is
// sorted once, when the partition is made.
func (s *Sampler) batch(b, n, rows int) []int {
	if n == 1 {
		return nil
	}
	if s.batches != n || len(s.partition) != rows {
		s.pcg.Seed(hashKeys(s.Seed, streamPartition, uint64(s.Agent), uint64(n)))
		s.partition, s.batches = rand.New(&s.pcg).Perm(rows), n
		for b := range n {
			slices.Sort(s.batch(b, n, rows))
		}
	}
	from := b * rows / n
	return s.partition[from : from+BatchSize(b, n, rows)]
}

// BatchSize returns how many rows batch b of a partition in n has.
func BatchSize(b, n, rows int) int { return (b+1)*rows/n - b*rows/n }

// BatchOf returns the batch that a named draw takes of a partition in n: a pure function of (Seed,
// Agent, Set, K, T, n), 0 to n-1, all equally likely up to 2^-53.
func (s *Sampler) BatchOf(name dsbo.Sample, n int) int {
	s.pcg.Seed(hashKeys(s.Seed, streamBatch, uint64(s.Agent), uint64(name.Set), uint64(name.K), uint64(name.T),
		uint64(n)))
	b, _ := bits.Mul64(s.pcg.Uint64(), uint64(n))
	return int(b)
}

// Signs fills dst with the agent's vector of random signs of that number, +1 and -1 with equal
// probability: a pure function of (Seed, Agent, number).
func (s *Sampler) Signs(dst []float64, number int) {
	s.pcg.Seed(hashKeys(s.Seed, streamSigns, uint64(s.Agent), uint64(number)))
	var bits uint64
	for j := range dst {
		if j%64 == 0 {
			bits = s.pcg.Uint64()
		}
		dst[j] = 1 - 2*float64(bits>>(j%64)&1)
	}
}

// Mask returns random numbers for dropout or noise in the named draw, a row for each of its
// examples. They are 1/keep with probability keep, else 0, so that their mean is 1; with a keep of
// 0 they are standard normal. They are a pure function of (Seed, Agent, Set, K, T, number).
// [dsbo.Whole] and batches of a partition are no random draws: all numbers are their mean then, 1,
// or 0 if normal.
func (s *Sampler) Mask(rows, cols int, name dsbo.Sample, number int, keep float64) (*ad.Table, error) {
	from, draws := streamMask, name.Set.IsDraw()
	switch {
	case keep == 0:
		from = streamNoise
	case !draws:
		keep = 1
	}
	r := newRand(s.Seed, from, uint64(s.Agent), uint64(name.Set), uint64(name.K), uint64(name.T), uint64(number))
	numbers := make([]float64, rows*cols)
	for j := range numbers {
		switch {
		case keep == 0 && draws:
			numbers[j] = num.Normal(r)
		case r.Float64() < keep:
			numbers[j] = 1 / keep
		}
	}
	return ad.FloatTable(rows, cols, numbers)
}

// markRows marks count different random rows below n, without bias (Lemire 2019). Rows that are
// marked already are drawn again.
func (s *Sampler) markRows(count int, n uint64) {
	reject := -n % n // 2^64 mod n: drawing again below it leaves every row equally likely
	for count > 0 {
		row, low := bits.Mul64(s.pcg.Uint64(), n)
		if low < reject {
			continue
		}
		word, bit := &s.marks[row/64], uint64(1)<<(row%64)
		// Branch-free, because the processor cannot guess whether the row is taken.
		count -= int(^*word >> (row % 64) & 1)
		*word |= bit
	}
}

// batchRows lists the rows of the batch in ascending order: the marked rows, or, with left all
// ones, the unmarked rows.
func (s *Sampler) batchRows(left uint64) []int {
	s.drawn = slices.Grow(s.drawn[:0], s.Batch)
	drawn := s.drawn[:s.Batch]
	n := 0
	for i, w := range s.marks {
		for w ^= left; w != 0 && n < s.Batch; w &= w - 1 { // n excludes bits beyond the last row
			drawn[n] = 64*i + bits.TrailingZeros64(w)
			n++
		}
	}
	return drawn
}
