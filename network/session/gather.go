package session

import (
	"context"

	"dsbo/network"
)

// Gather implements [network.Team] by reductions to the largest, which are not masked: see
// [network.GatherWords].
func (s *Session) Gather(ctx context.Context, rows [][]float64) error {
	err := network.CheckRows(rows, s.matrix.N())
	if err != nil {
		err = s.failed(err)
	} else {
		err = network.GatherWords(rows, s.Local(), func(words []uint64) error {
			for lo, most := 0, s.config.mostWords(); lo == 0 || lo < len(words); lo += most {
				part := network.Reduction{Op: network.Max, Bits: 64, Words: words[lo:min(lo+most, len(words))]}
				if err := s.reduce(ctx, []network.Reduction{part}); err != nil {
					return err
				}
			}
			return nil
		})
	}
	return s.wrap(", gathering", err)
}
