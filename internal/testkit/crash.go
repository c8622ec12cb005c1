package testkit

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"hash"
	"iter"
	"maps"
	"slices"
)

// Crash returns a file system as a crash of the machine may leave it: all that was synced, and some
// of the rest. Of a folder's unsynced renames any subset may be kept, in their order. Of a file's
// unsynced writes all may be kept, none, a prefix, or zeros in their place. choose picks one of n
// alternatives, 0 ... n-1.
func (m *Memory) Crash(choose func(n int) int) *Memory {
	m.mu.Lock()
	defer m.mu.Unlock()
	return &Memory{root: m.root.crashed(choose)}
}

// States returns all file systems that [Memory.Crash] may return. There are many while much is not
// synced: as many as the product over files and folders. Some may be the same ones.
func (m *Memory) States() iter.Seq[*Memory] {
	return func(yield func(*Memory) bool) {
		type choice struct{ at, of int }
		var path []choice // the choices of the state before, which the next one follows up to the last that can move on
		for {
			next := 0
			state := m.Crash(func(n int) int {
				if next == len(path) {
					path = append(path, choice{0, n})
				}
				next++
				return path[next-1].at
			})
			if !yield(state) {
				return
			}
			for len(path) > 0 && path[len(path)-1].at == path[len(path)-1].of-1 {
				path = path[:len(path)-1]
			}
			if len(path) == 0 {
				return
			}
			path[len(path)-1].at++
		}
	}
}

// crashed returns a file or a folder after a crash.
func (n *node) crashed(choose func(n int) int) *node {
	if !n.folder {
		data := n.saved
		if kept := n.contents(); len(kept) > 1 {
			data = kept[choose(len(kept))]
		}
		return &node{data: data, saved: data}
	}
	names := maps.Clone(n.savedNames)
	if kept := subsets(len(n.nameChanges)); len(kept) > 1 {
		for _, i := range kept[choose(len(kept))] {
			for name, of := range n.nameChanges[i] {
				if names[name] = of; of == nil {
					delete(names, name)
				}
			}
		}
	}
	left := newFolder()
	for _, name := range slices.Sorted(maps.Keys(names)) {
		child := names[name].crashed(choose)
		left.names[name], left.savedNames[name] = child, child
	}
	return left
}

// contents returns the possible contents of a file on the disk: the synced one, the one after each
// change since, and the last change with half of its bytes or zeros.
func (n *node) contents() (all [][]byte) {
	all = append(all, n.saved)
	for _, c := range n.changes {
		all = append(all, c.data)
	}
	if len(n.changes) > 0 {
		last := n.changes[len(n.changes)-1]
		half := last.from + (len(last.data)-last.from)/2
		all = append(all, last.data[:half],
			slices.Concat(last.data[:last.from], make([]byte, len(last.data)-last.from)))
	}
	slices.SortFunc(all, bytes.Compare)
	return slices.CompactFunc(all, bytes.Equal)
}

// mostSubsets bounds the renames whose every subset is tried as a state.
const mostSubsets = 4

// subsets returns sets of n changes of names that may be on the disk after a crash. Up to
// mostSubsets changes it returns every subset. Beyond that it returns each prefix, each set that
// lacks one, and the whole.
func subsets(n int) (all [][]int) {
	if n <= mostSubsets {
		for bits := range 1 << n {
			var list []int
			for i := range n {
				if bits>>i&1 == 1 {
					list = append(list, i)
				}
			}
			all = append(all, list)
		}
		return all
	}
	whole := make([]int, n)
	for i := range whole {
		whole[i] = i
	}
	for i := range whole {
		all = append(all, whole[:i], slices.Delete(slices.Clone(whole), i, i+1))
	}
	return append(all, whole)
}

// Digest hashes all names and contents. Processes cannot tell two file systems of equal digest
// apart.
func (m *Memory) Digest() string {
	m.mu.Lock()
	defer m.mu.Unlock()
	sum := sha256.New()
	m.root.digest(sum, "")
	return string(sum.Sum(nil))
}

func (n *node) digest(to hash.Hash, path string) {
	if !n.folder {
		fmt.Fprintf(to, "%q %d\n", path, len(n.data))
		to.Write(n.data)
		return
	}
	fmt.Fprintf(to, "%q\n", path+"/")
	for _, name := range slices.Sorted(maps.Keys(n.names)) {
		n.names[name].digest(to, path+"/"+name)
	}
}
