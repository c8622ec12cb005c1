package network

import (
	"context"
	"encoding/binary"

	"dsbo"
)

// bytesPerNumber is the number of bytes that [GatherBytes] puts in a float64: as a whole number it
// then travels exactly.
const bytesPerNumber = 4

// GatherCost returns what each of n agents sends where all gather rows of n numbers: its row, to
// each other agent.
func GatherCost(n, length int) dsbo.Traffic { return trafficTo(n-1, 1, length, 8*length) }

// GatherBytesCost returns what each of n agents sends in [GatherBytes], where the longest of the
// agents' has n bytes.
func GatherBytesCost(n, longest int) dsbo.Traffic {
	s := GatherCost(n, 1)
	s.Add(GatherCost(n, gatheredNumbers(longest)))
	return s
}

// gatheredNumbers returns in how many numbers n bytes travel.
func gatheredNumbers(bytes int) int { return (bytes + bytesPerNumber - 1) / bytesPerNumber }

// GatherBytes gives every process the bytes of all n agents of a team, as Gather does numbers:
// bytesOf returns the bytes of a local agent, and they may differ in length. It costs two Gathers.
func GatherBytes(ctx context.Context, t Team, n int, bytesOf func(i int) []byte) ([][]byte, error) {
	lengths := make([][]float64, n)
	for i := range lengths {
		lengths[i] = make([]float64, 1)
	}
	for _, i := range t.Local() {
		lengths[i][0] = float64(len(bytesOf(i)))
	}
	if err := t.Gather(ctx, lengths); err != nil {
		return nil, err
	}
	longest := 0
	for _, row := range lengths {
		longest = max(longest, int(row[0]))
	}
	rows := make([][]float64, n)
	for i := range rows {
		rows[i] = make([]float64, gatheredNumbers(longest))
	}
	for _, i := range t.Local() {
		padded := append(append([]byte{}, bytesOf(i)...), make([]byte, bytesPerNumber)...)
		for k := 0; k*bytesPerNumber < int(lengths[i][0]); k++ {
			rows[i][k] = float64(binary.LittleEndian.Uint32(padded[k*bytesPerNumber:]))
		}
	}
	if err := t.Gather(ctx, rows); err != nil {
		return nil, err
	}
	all := make([][]byte, n)
	for i, row := range rows {
		for _, v := range row {
			all[i] = binary.LittleEndian.AppendUint32(all[i], uint32(v))
		}
		all[i] = all[i][:int(lengths[i][0])]
	}
	return all, nil
}
