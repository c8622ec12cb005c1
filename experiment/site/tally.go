package site

import (
	"encoding/json"
	"errors"
	"io/fs"
	"slices"
	"sync"

	"dsbo"
	"dsbo/internal/files"
	"dsbo/network"
)

// A Tally counts what leaves an agent, in all of its processes. Its methods may be called of nil,
// which counts nothing, and by several goroutines.
type Tally struct {
	mu    sync.Mutex
	path  string
	phase string
	open  key // of what travels now
	of    counts
}

// counts are what a tally keeps in the run folder.
type counts struct {
	Starts   int       `json:"starts"`   // processes
	Killed   int       `json:"killed"`   // of which what they sent after their last save is not counted
	Running  bool      `json:"running"`  // whether one is there, or was killed
	Sessions []session `json:"sessions"` // in which the agent took part
	Rows     []row     `json:"rows"`
}

// A session is one in which an agent took part.
type session struct {
	Number  uint64 `json:"number"`
	Members []int  `json:"members"`
}

// A key identifies a row.
type key struct {
	Phase           string `json:"phase"`
	network.Carried        // Numbers is 0 of progress and of a checkpoint, Group false
}

// progress is the key of what has no label.
func progress(phase string) key {
	return key{phase, network.Carried{Name: "oracle calls, messages, progress, times", Way: network.ByRow}}
}

// A row counts one kind of quantity.
type row struct {
	key
	Times int64         `json:"times"`
	To    map[int]count `json:"to"` // by neighbour
}

// A count is what goes to one neighbour.
type count struct {
	Vectors int64 `json:"vectors"`
	Bytes   int64 `json:"bytes"` // of the vectors
}

// OpenTally returns the counts of an agent, with those that its former processes have kept at path.
// If the file notes a running process, that process was killed.
func OpenTally(path string) (*Tally, error) {
	t := &Tally{path: path, phase: Loading}
	data, err := files.ReadFile(path)
	if err == nil {
		err = json.Unmarshal(data, &t.of)
	} else if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	if err != nil {
		return nil, dsbo.ConfigErrorf("%s: %w", path, err)
	}
	if t.of.Starts++; t.of.Running {
		t.of.Killed++
	}
	return t, nil
}

// Begin begins a phase of the run, as a [Plan] names it.
func (t *Tally) Begin(phase string) {
	if t != nil {
		t.mu.Lock()
		defer t.mu.Unlock()
		t.phase, t.open = phase, progress(phase)
	}
}

// Join counts a session, and keeps that this process is there.
func (t *Tally) Join(number uint64, members []int) error {
	if t == nil {
		return nil
	}
	t.mu.Lock()
	t.of.Sessions, t.of.Running = append(t.of.Sessions, session{number, members}), true
	t.mu.Unlock()
	return t.SaveCounts()
}

// Label sets the quantities that travel from now on, and counts each once; without any it is
// progress. Several quantities share messages, whose vectors count as the first one's. What a group
// of agents averages during the iterations belongs to evaluations.
func (t *Tally) Label(what ...network.Carried) {
	if t == nil {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.open = progress(t.phase)
	for i, w := range what {
		k := key{t.phase, w}
		if k.Group = false; w.Group && t.phase == Iterations {
			k.Phase = Evaluation
		}
		t.row(k).Times++
		if i == 0 {
			t.open = k
		}
	}
}

// row returns the row of a key. The caller has the lock.
func (t *Tally) row(k key) *row {
	i := slices.IndexFunc(t.of.Rows, func(r row) bool { return r.key == k })
	if i < 0 {
		i = len(t.of.Rows)
		t.of.Rows = append(t.of.Rows, row{key: k, To: map[int]count{}})
	}
	return &t.of.Rows[i]
}

// Count counts a vector to a neighbour.
func (t *Tally) Count(to, bytes int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	r := t.row(t.open)
	c := r.To[to]
	c.Vectors++
	c.Bytes += int64(bytes)
	r.To[to] = c
}

// SaveCounts writes the counts to the disk.
func (t *Tally) SaveCounts() error {
	if t == nil {
		return nil
	}
	t.mu.Lock()
	data, err := json.Marshal(t.of)
	t.mu.Unlock()
	if err != nil {
		return err
	}
	return files.WriteBytes(t.path, data)
}
