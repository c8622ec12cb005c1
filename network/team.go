package network

import (
	"context"
	"math"

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
