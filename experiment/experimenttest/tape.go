package experimenttest

import (
	"context"
	"fmt"

	"dsbo/network"
	"dsbo/network/collective"
)

// A tape holds what the agents of one process found together as they loaded a task. Played to a
// process with one of the agents, it is what the others would send.
type tape struct {
	live  network.Collective // nil: the tape plays
	sums  [][]float64
	texts [][]string
}

// record returns the tape as it begins to record n agents, all in this process.
func (r *tape) record(ctx context.Context, n int) network.Collective {
	r.live = collective.New(collective.Config{N: n}).Bound(ctx)
	return recorder{r}
}

// A recorder finds what a tape records.
type recorder struct{ *tape }

func (r recorder) Sum(dst []float64, fill func(i int, part []float64) error) error {
	err := r.live.Sum(dst, fill)
	r.sums = append(r.sums, append([]float64{}, dst...))
	return err
}

func (r recorder) Texts(of func(i int) (string, error)) ([]string, error) {
	texts, err := r.live.Texts(of)
	r.texts = append(r.texts, texts)
	return texts, err
}

// Sum plays the next sum.
func (r *tape) Sum(dst []float64, _ func(i int, part []float64) error) error {
	if len(r.sums) == 0 || len(r.sums[0]) != len(dst) {
		return fmt.Errorf("a process with one agent asks for another sum, of %d numbers, than one with all agents",
			len(dst))
	}
	copy(dst, r.sums[0])
	r.sums = r.sums[1:]
	return nil
}

// Texts plays the next texts.
func (r *tape) Texts(func(i int) (string, error)) ([]string, error) {
	if len(r.texts) == 0 {
		return nil, fmt.Errorf("a process with one agent asks for more texts than one with all agents")
	}
	texts := r.texts[0]
	r.texts = r.texts[1:]
	return texts, nil
}
