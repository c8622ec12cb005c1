package network

import (
	"context"
	"encoding/binary"
	"slices"

	"dsbo"
)

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
