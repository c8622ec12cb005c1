package grpc

// A window holds the frames of the vectors that an agent sent last, for neighbours that come back.
type window struct {
	start  int      // the exchange of the first frame
	frames [][]byte // one an exchange
	bytes  int64

	maxFrames int
	maxBytes  int64
}

// minKept frames are held whatever their size: a neighbour is at most one exchange behind an agent
// that mixes, so that each vector which is lost with a connection can be sent again.
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
func (w *window) get(exchange int) []byte { return w.frames[exchange-w.start] }

// rewind drops the frames from an exchange on. With none left, the next one is that of this exchange.
func (w *window) rewind(exchange int) {
	keep := min(max(exchange-w.start, 0), len(w.frames))
	for _, f := range w.frames[keep:] {
		w.bytes -= int64(len(f))
	}
	clear(w.frames[keep:])
	w.frames = w.frames[:keep]
	if keep == 0 {
		w.start = exchange
	}
}

// digests tell, of the exchanges whose vectors came last from a neighbour, what was in them: a neighbour that came back from
// a checkpoint must repeat itself to the bit.
type digests map[int]digest

type digest struct {
	purpose int
	data    uint64
}

// keptDigests is of how many exchanges digests are kept: all that a neighbour repeats after a checkpoint of the method, and
// the last of a refit or an exact solution, which take many more. What a neighbour repeats from before is taken unchecked.
const keptDigests = 4096

func (d digests) add(exchange int, vector digest) {
	d[exchange] = vector
	delete(d, exchange-keptDigests)
}

// contradict reports whether the vector of this exchange was another one.
func (d digests) contradict(exchange int, vector digest) bool {
	before, known := d[exchange]
	return known && before != vector
}
