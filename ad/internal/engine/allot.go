package engine

import (
	"cmp"
	"slices"
)

// A life is the time from the first write to the last read of the values that lie in one place, one
// after another.
type life struct {
	from, to int
	n        int // numbers
	off      int // of its place
}

// align divides the offsets and lengths of places: a line of the cache.
const align = 16

// allot gives each life its place, and returns the numbers that all take. Its time is about
// proportional to the lives if they have few different lengths.
func allot(lives []life) (size int) {
	order := make([]int, len(lives))
	ends := map[int][]int{} // by time: the lives that end then
	for i := range lives {
		order[i] = i
		lives[i].n = (lives[i].n + align - 1) / align * align
		ends[lives[i].to] = append(ends[lives[i].to], i)
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(lives[a].from, lives[b].from) })
	f := freeSpace{gaps: map[int][]int{}}
	now := 0
	for _, i := range order {
		for ; now < lives[i].from; now++ { // what ends when another begins is still read then
			for _, j := range ends[now] {
				f.release(lives[j].off, lives[j].n)
			}
		}
		lives[i].off = f.reserve(lives[i].n)
	}
	return f.size
}

// freeSpace is the gaps below the size so far.
type freeSpace struct {
	gaps map[int][]int // offsets by length
	size int
}

func (f *freeSpace) release(off, n int) { f.gaps[n] = append(f.gaps[n], off) }

// reserve returns the offset of n numbers: a gap of just this length, else the least that is long
// enough after neighbours were joined, else the end.
func (f *freeSpace) reserve(n int) int {
	if off := f.gaps[n]; len(off) > 0 {
		f.gaps[n] = off[:len(off)-1]
		return off[len(off)-1]
	}
	f.join()
	best := 0
	for length := range f.gaps {
		if length >= n && (best == 0 || length < best) {
			best = length
		}
	}
	if best > 0 {
		off := f.reserve(best) // there is a gap of just this length
		if best > n {
			f.release(off+n, best-n)
		}
		return off
	}
	// A gap at the end grows; after join there is at most one.
	for length, offs := range f.gaps {
		if k := slices.Index(offs, f.size-length); k >= 0 {
			f.gaps[length] = slices.Delete(offs, k, k+1)
			f.size += n - length
			return f.size - n
		}
	}
	f.size += n
	return f.size - n
}

// join joins gaps that touch.
func (f *freeSpace) join() {
	var all [][2]int // offset and length
	for n, offs := range f.gaps {
		for _, off := range offs {
			all = append(all, [2]int{off, n})
		}
	}
	slices.SortFunc(all, func(a, b [2]int) int { return cmp.Compare(a[0], b[0]) })
	clear(f.gaps)
	for i := 0; i < len(all); {
		j, n := i+1, all[i][1]
		for ; j < len(all) && all[j][0] == all[i][0]+n; j++ {
			n += all[j][1]
		}
		f.release(all[i][0], n)
		i = j
	}
}
