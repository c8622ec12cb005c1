package network

import (
	"context"
	"encoding/binary"
	"fmt"
	"math"
	"slices"

	"dsbo"
)

// A Team is the agents of a run that are in this process, and the way to all others. A
// program that is written for a team runs over every transport.
//
// A team is all or nothing: when one agent fails, so do the others. Where agents are to survive
// that, each session of theirs has a team of its own ([Saver]).
type Team interface {
	// Local returns this process's agents in ascending order. The slice is a view and must not
	// be changed.
	Local() []int
	// Mixer returns the end of local agent i. It belongs to one goroutine at a time.
	Mixer(i int) Reducer
	// Gather gives every process the vectors of all agents: rows has one row for each agent, all of
	// one length. The rows of local agents are sent, the others overwritten. All processes call it
	// at the same point between exchanges, from one goroutine, while none of their agents mixes.
	// Rows of another shape are an error that matches dsbo.ErrShape. After an error the rows are
	// undefined.
	Gather(ctx context.Context, rows [][]float64) error
	// Fail ends the exchange for all agents, because of err. Only the first call counts.
	Fail(err error)
}

// A TogetherReducer is a [Team] whose local agents can reduce in one call, in the place of the
// Reduce of each ([Reducer]): words are the words of all of them combined.
type TogetherReducer interface {
	Team
	ReduceTogether(ctx context.Context, all ...Reduction) error
}

// FailBy ends a team's exchange because of an error, which it returns after who did what: a format
// of some numbers. nil does nothing, and takes no memory.
func FailBy(t Team, err error, doing string, numbers ...int) error {
	if err == nil {
		return nil
	}
	var args []any
	for _, n := range numbers {
		args = append(args, n)
	}
	err = fmt.Errorf(doing+": %w", append(args, err)...)
	t.Fail(err)
	return err
}

// CheckRows checks the rows of a Gather: it returns an error that matches dsbo.ErrShape unless
// there is one row for each of n agents, all of one length.
func CheckRows(rows [][]float64, n int) error {
	if len(rows) != n {
		return dsbo.ShapeErrorf("there must be one row for each of the %d agents; there are %d", n, len(rows))
	}
	for i, row := range rows {
		if len(row) != len(rows[0]) {
			return dsbo.ShapeErrorf("rows must have one length; row 0 has %d and row %d has %d",
				len(rows[0]), i, len(row))
		}
	}
	return nil
}

// GatherWords gathers rows by a reduction: reduce replaces words by the largest of all processes,
// or by their sum. Each has the bits of its agents' rows, and zeros for all others.
func GatherWords(rows [][]float64, local []int, reduce func(words []uint64) error) error {
	length := len(rows[0])
	words := make([]uint64, len(rows)*length)
	for _, i := range local {
		for k, v := range rows[i] {
			words[i*length+k] = math.Float64bits(v)
		}
	}
	if err := reduce(words); err != nil {
		return err
	}
	for i, row := range rows {
		for k := range row {
			row[k] = math.Float64frombits(words[i*length+k])
		}
	}
	return nil
}

// A Saver is a [Team] whose processes each have files, and may be lost and come back while the
// other ones wait. An error ends the exchange for all, and they resume from the newest file that
// they have in common.
type Saver interface {
	Team
	// Save has write make a file on which the run depends, and then waits until all agents have
	// theirs. All call it at the same point between exchanges.
	Save(ctx context.Context, write func() error) error
}

// A Waiter is a [Team] that knows for whom it has waited.
type Waiter interface {
	// Waited returns for how many seconds this process's exchanges have waited for the vectors of
	// each agent of the run.
	Waited() []float64
}

// Collective computes common results of all agents before a run begins, from each agent's data:
// sums, which reveal of one agent's part no more than the sum itself does, and short texts that may
// be public.
//
// All processes of a run call it in the same order with the same lengths, each for the agents that
// it has. The results are the same in all of them, bit by bit, wherever the agents are. It belongs
// to one goroutine at a time.
type Collective interface {
	// Sum sets dst to the sum of all agents' parts: fill writes the part of agent i to part, which
	// has the length of dst and is 0. It is called for the agents of this process, several at the
	// same time. The name is for people, see [Carried]. Numbers travel in float64: a sum is right
	// to about 2^-50 of the largest of the 1024 numbers around it, and the sum of whole numbers
	// below 2^50 is whole. A sum that is not finite is an error.
	Sum(name string, dst []float64, fill func(i int, part []float64) error) error
	// Texts returns a text of each agent: of returns the text of agent i, and is called for the
	// agents that are here. Every agent sees every text.
	Texts(name string, of func(i int) (string, error)) ([]string, error)
}

// A Way is how a quantity leaves an agent.
type Way int

// The ways of quantities.
const (
	BySum   Way = iota // a term of a sum over all agents; over gRPC it is masked
	ByMix              // as it is, to each neighbour
	ByMax              // the largest of all agents; its parent in the tree sees the largest of the agents below
	ByText             // text as it is, to all agents
	ByRow              // numbers as they are, to all agents
	ByState            // a checkpoint, to agents that enter
)

// Names of what is sent by all methods.
const (
	Mixed        = "copies of x, y, z, trackers"
	Matrices     = "copies, matrices of second derivatives" // of methods with such matrices
	Fingerprints = "fingerprints of x, y, z, u, best iterate"
)

// Carried is a quantity of an agent's data that an exchange carries.
type Carried struct {
	Name string // for people, as docs/privacy.md has it
	Way
	Numbers int  // of the agent, or bytes of a text
	Wire    Wire // type of the numbers
	Text    string
	Group   bool // found by a [Group], in no iteration
}

// A labeler is a [Team] that is informed of the content of its next exchanges; none means counts of
// computations, and progress.
type labeler interface {
	Label(what ...Carried)
}

// Label informs a team, if it has the method Label, of the content of its next exchanges.
func Label(t Team, what ...Carried) {
	if l, ok := t.(labeler); ok {
		l.Label(what...)
	}
}

// label informs the team, if it has Label, that vectors are next; none: that they are over. The
// list is made for teams that have it alone, so that others allocate nothing.
func (a *Averages) label(way Way, vectors ...Vector) {
	l, ok := a.team.(labeler)
	if !ok {
		return
	}
	var all []Carried
	for _, v := range vectors {
		all = append(all, Carried{Name: v.Name + a.of, Way: way, Numbers: len(v.Dst), Wire: v.Wire, Group: a.ofGroup})
	}
	l.Label(all...)
}

// bytesPerNumber is the number of bytes of a text in a float64: as a whole number it then travels
// exactly.
const bytesPerNumber = 4

// GatherCost returns what each of n agents sends where all gather rows of n numbers: its row, to
// each other agent.
func GatherCost(n, length int) dsbo.Traffic { return trafficTo(n-1, 1, length, 8*length) }

// GatherTextsCost returns what each of n agents sends in [GatherTexts], where the longest of
// the agents' has a number of bytes.
func GatherTextsCost(n, longest int) dsbo.Traffic {
	s := GatherCost(n, 1)
	s.Add(GatherCost(n, gatheredNumbers(longest)))
	return s
}

func gatheredNumbers(bytes int) int { return (bytes + bytesPerNumber - 1) / bytesPerNumber }

func zeroRows(n, length int) [][]float64 {
	rows := make([][]float64, n)
	for i := range rows {
		rows[i] = make([]float64, length)
	}
	return rows
}

// GatherTexts fills in the texts of the agents of other processes: texts has one for each agent, in
// which this process's agents have theirs. It returns the bytes of the longest one. It costs two
// Gathers, of lengths and of texts that are filled up to the longest, since rows have one length.
func GatherTexts(ctx context.Context, t Team, texts []string) (longest int, err error) {
	lengths := zeroRows(len(texts), 1)
	for _, i := range t.Local() {
		lengths[i][0] = float64(len(texts[i]))
	}
	if err := t.Gather(ctx, lengths); err != nil {
		return 0, err
	}
	for _, row := range lengths {
		longest = max(longest, int(row[0]))
	}
	rows := zeroRows(len(texts), gatheredNumbers(longest))
	for _, i := range t.Local() {
		k := 0
		for part := range slices.Chunk([]byte(texts[i]), bytesPerNumber) {
			var padded [bytesPerNumber]byte
			copy(padded[:], part)
			rows[i][k] = float64(binary.LittleEndian.Uint32(padded[:]))
			k++
		}
	}
	if err := t.Gather(ctx, rows); err != nil {
		return 0, err
	}
	for i, row := range rows {
		var text []byte
		for _, v := range row {
			text = binary.LittleEndian.AppendUint32(text, uint32(v))
		}
		texts[i] = string(text[:int(lengths[i][0])])
	}
	return longest, nil
}
