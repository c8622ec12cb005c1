package grpc

import (
	"bytes"
	"slices"
)

// An entry is what an agent sends in one exchange: a payload to some neighbours, and to the others
// that it has none for them; in a reduction some get another payload, later in the exchange.
type entry struct {
	frame []byte // with the payload
	to    []int  // positions of the neighbours that get the payload; nil: all
	below []int  // positions of those that get result
	// result is a frame with the payload for those below; nil: there is none yet
	result []byte
	sends  int // payloads of frame that count in Status
}

// frameFor returns the frame that the neighbour at a position gets; nil if there is none yet.
func (e entry) frameFor(position int) []byte {
	switch {
	case slices.Contains(e.below, position):
		return e.result
	case e.to == nil || slices.Contains(e.to, position):
		return e.frame
	}
	return e.frame[:headerSize]
}

// equal reports whether both send the same to all neighbours, whatever the result.
func (e entry) equal(other entry) bool {
	return bytes.Equal(e.frame, other.frame) && slices.Equal(e.to, other.to) && slices.Equal(e.below, other.below)
}

// size returns the bytes of the frames.
func (e entry) size() int64 { return int64(len(e.frame) + len(e.result)) }

// A window holds what an agent sent last, for neighbours that come back.
type window struct {
	start   int     // the exchange of the first entry
	entries []entry // one an exchange
	bytes   int64

	maxFrames int
	maxBytes  int64
}

// minKept frames are held whatever their size: a neighbour is at most one exchange behind an agent
// that mixes, so that each vector which is lost with a connection can be sent again.
const minKept = 2

// end returns how many exchanges the agent has sent, which is the number of the next entry.
func (w *window) end() int { return w.start + len(w.entries) }

func (w *window) add(e entry) {
	w.entries = append(w.entries, e)
	w.bytes += int64(len(e.frame))
	w.shrink()
}

// complete gives the newest entry its result.
func (w *window) complete(result []byte) {
	w.entries[len(w.entries)-1].result = result
	w.bytes += int64(len(result))
	w.shrink()
}

// shrink drops the first entries until there are as few as there must be.
func (w *window) shrink() {
	for len(w.entries) > minKept && (len(w.entries) > w.maxFrames || w.bytes > w.maxBytes) {
		w.bytes -= w.entries[0].size()
		w.entries[0] = entry{}
		w.entries = w.entries[1:]
		w.start++
	}
}

// at returns the entry of an exchange from start to before end.
func (w *window) at(exchange int) entry { return w.entries[exchange-w.start] }

// rewind drops the entries from an exchange on. With none left, the next one is of this exchange.
func (w *window) rewind(exchange int) {
	keep := min(max(exchange-w.start, 0), len(w.entries))
	for _, e := range w.entries[keep:] {
		w.bytes -= e.size()
	}
	clear(w.entries[keep:])
	w.entries = w.entries[:keep]
	if keep == 0 {
		w.start = exchange
	}
}

// digests tell, of the exchanges whose vectors of a neighbour were used last, what was in them: a
// neighbour that came back from a checkpoint must repeat itself to the bit. A vector that came and
// was not used before this agent went back binds nobody: a process that lied may have sent it, and
// the next one sends the right one.
type digests map[int]digest

type digest struct {
	purpose int
	data    uint64
}

// keptDigests is of how many exchanges digests are kept: all that a neighbour repeats after a
// checkpoint of the method, and the last of an exact solution, which takes many more. What a
// neighbour repeats from before is taken unchecked.
const keptDigests = 4096

func (d digests) add(exchange int, vector digest) {
	d[exchange] = vector
	delete(d, exchange-keptDigests)
}
