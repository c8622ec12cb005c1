package nn

import (
	"fmt"

	"dsbo"
	"dsbo/ad"
	"dsbo/data"
)

// A Mask is random numbers that a [Trainer] draws for each batch, such as [Dropout]'s: a matrix
// with a row for each example, of numbers that are 1/Keep with probability Keep, and else 0.
// Without Keep they are standard normal.
type Mask struct {
	Cols int
	Keep float64 // in (0, 1]; 0: the numbers are normal

	node *ad.Node // the mask in the batch of the loss under construction
}

// Node returns the mask where the loss of [NewTrainer] is built, and else nil: [Trainer.Mean] has
// no masks, and [Dropout] then nothing to do.
func (m *Mask) Node() *ad.Node { return m.node }

// maskName returns the name of the input that mask k is.
func maskName(k int) string { return fmt.Sprint("mask ", k) }

// maskInputs declares masks.
func maskInputs(masks []*Mask) (list []ad.Input) {
	for k, m := range masks {
		list = append(list, ad.Input{Name: maskName(k), Shape: []int{m.Cols}, Batch: true})
	}
	return list
}

// bindMasks draws masks of rows for the batch of p.
func (t *Trainer) bindMasks(p *ad.Program, draw dsbo.Sample, rows int) error {
	sampler := data.Sampler{Seed: t.seed}
	for k, m := range t.Masks {
		if m.Cols < 1 || !(m.Keep >= 0 && m.Keep <= 1) {
			return dsbo.ConfigErrorf("mask %d must have at least 1 column, and keep a share of "+
				"at most 1, or 0 for normal numbers; they are %d and %g", k, m.Cols, m.Keep)
		}
		table, err := sampler.Mask(rows, m.Cols, draw, k, m.Keep)
		if err == nil {
			table, err = table.Float32()
		}
		if err == nil {
			err = p.Bind(maskName(k), table, nil)
		}
		if err != nil {
			return err
		}
	}
	return nil
}
