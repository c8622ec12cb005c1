package grpc

// A window holds the data frames that an agent sent last, for neighbours that lost them.
type window struct {
	start  int      // the exchange of the first frame
	frames [][]byte // one an exchange
	bytes  int64

	maxFrames int
	maxBytes  int64
}

// minKept frames are held whatever their size: a neighbour is at most one exchange behind an agent
// that mixes, so that each frame which gets lost on its way can be sent again.
const minKept = 2

// end returns how many exchanges the agent has sent, which is that of the next frame.
func (w *window) end() int { return w.start + len(w.frames) }

func (w *window) add(frame []byte) {
	w.frames = append(w.frames, frame)
	w.bytes += int64(len(frame))
	for len(w.frames) > minKept && (len(w.frames) > w.maxFrames || w.bytes > w.maxBytes) {
		w.bytes -= int64(len(w.frames[0]))
		w.frames[0] = nil
		w.frames = w.frames[1:]
		w.start++
	}
}

// get returns the frame of an exchange from start to before end.
func (w *window) get(round int) []byte { return w.frames[round-w.start] }

// rewind drops the frames from round on. With none left, the next one is that of round.
func (w *window) rewind(round int) {
	keep := min(max(round-w.start, 0), len(w.frames))
	for _, f := range w.frames[keep:] {
		w.bytes -= int64(len(f))
	}
	clear(w.frames[keep:])
	w.frames = w.frames[:keep]
	if keep == 0 {
		w.start = round
	}
}

// sums remembers the checksums of the last frames that came from a neighbour.
type sums struct {
	ring []roundSum
}

type roundSum struct {
	round int
	sum   uint32
	known bool
}

// keptSums is of how many exchanges sums are kept: all that a neighbour repeats after a checkpoint of the method, and
// the last of a refit or an exact solution, which take many more. What a neighbour repeats from before is taken unchecked.
const keptSums = 4096

func (s *sums) put(round int, sum uint32) {
	if s.ring == nil {
		s.ring = make([]roundSum, keptSums)
	}
	s.ring[round%keptSums] = roundSum{round, sum, true}
}

// differs reports whether another frame of this exchange is known.
func (s *sums) differs(round int, sum uint32) bool {
	if s.ring == nil {
		return false
	}
	old := s.ring[round%keptSums]
	return old.known && old.round == round && old.sum != sum
}
