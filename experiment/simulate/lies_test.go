package simulate

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"slices"
	"sync"
	"time"

	"dsbo/network/grpc"
)

// A lie is a way in which a member misuses its streams. It computes as all do, and sends something
// else than it has to say: what is said shows, as numbers that nobody can tell from true ones are
// no lie that a run could find.
type lie struct {
	name string
	of   kind // the frames that it is about; 0: all
	// says returns what is sent in the place of a frame.
	says func(l *liar, frame []byte) [][]byte
}

// A kind is a frame's, of package grpc, whose documentation has the layout of frames.
type kind byte

const (
	vector kind = 2 + iota
	alive
	resend
	fail
	key
	control
	epoch
	ask
	piece
)

// Where a frame has what.
const (
	versionByte, kindByte                  = 4, 5
	exchangeBytes, detailBytes, headerSize = 8, 16, 24

	mixed  = 0       // the detail of a vector that is mixed
	absurd = 1 << 61 // a number that no exchange has
)

// allLies are all that liars of drawn runs do.
var allLies = []lie{
	{"sends no vectors", vector, nothing},
	{"sends vectors twice", vector, times(2)},
	{"sends each vector a hundred times", vector, times(100)},
	{"sends an earlier vector before each", vector, (*liar).andEarlier},
	{"sends earlier vectors instead", vector, (*liar).earlier},
	{"sends all earlier vectors again", vector, (*liar).all},
	{"sends NaN", vector, number(math.NaN())},
	{"sends infinite numbers", vector, number(math.Inf(-1))},
	{"sends vectors that are too short", vector, shorter(8)},
	{"sends vectors that are too long", vector, longer(8)},
	{"sends vectors of half a number", vector, longer(3)},
	{"sends vectors without numbers", vector, shorter(1 << 30)},
	{"sends vectors of the next exchange", vector, (*liar).ofNext},
	// The right one comes first: else nobody could tell its numbers from true ones.
	{"sends vectors of the exchange before", vector, then(moved(exchangeBytes, -1))},
	{"sends vectors of an absurd exchange", vector, moved(exchangeBytes, absurd)},
	{"sends vectors for another purpose", vector, moved(detailBytes, 3)},
	{"sends vectors and then other ones in their place", vector, then(flipped)},
	{"sends vectors in another order", vector, (*liar).swapped},
	{"sends vectors late", vector, (*liar).late},

	{"sends no heartbeats", alive, nothing},
	{"sends each heartbeat a hundred times", alive, times(100)},
	{"says that all have finished", alive, moved(detailBytes, absurd)},
	{"says that it is at an absurd exchange", alive, moved(exchangeBytes, absurd)},
	{"sends earlier heartbeats", alive, (*liar).earlier},
	{"sends heartbeats of noise", alive, flipped},

	{"has others go back to the start", alive, then(asKind(resend, 0))},
	{"has others go forward", alive, then(asKind(resend, absurd))},
	{"does not say that it goes back", resend, nothing},
	{"says again and again that it goes back", resend, times(100)},
	{"says that it has failed", alive, (*liar).failed},
	{"says that another has failed", alive, (*liar).slander},

	{"sends no keys", key, nothing},
	{"sends keys that are changed", key, flipped},
	{"sends keys a hundred times", key, times(100)},

	{"says nothing in the council", control, nothing},
	{"says all twice in the council", control, times(2)},
	{"says all a hundred times in the council", control, times(100)},
	{"says what it said earlier in the council", control, (*liar).earlier},
	{"changes what others say in the council", control, flipped},
	{"speaks late in the council", control, (*liar).late},
	{"says what is no message in the council", control, shorter(20)},

	{"says that it is in the next epoch", epoch, moved(exchangeBytes, 1)},
	{"does not say in which epoch it is", epoch, nothing},
	{"asks for a state again and again", ask, times(100)},
	{"hands no state over", piece, nothing},
	{"hands a part of a state over", piece, shorter(8)},

	{"sends frames of no kind", 0, asKind(77, 0)},
	{"sends frames of another version", 0, func(_ *liar, f []byte) [][]byte { f[versionByte] += 2; return one(f) }},
	{"sends what is no frame", 0, func(_ *liar, f []byte) [][]byte { copy(f, "GET /"); return one(f) }},
	{"sends frames that are too long", 0, longer(1 << 20)},
	{"is silent", 0, nothing},
	{"breaks its connections", 0, func(l *liar, f []byte) [][]byte { l.broken = true; return one(f) }},
}

func one(frame []byte) [][]byte { return [][]byte{frame} }

func nothing(*liar, []byte) [][]byte { return nil }

func times(n int) func(*liar, []byte) [][]byte {
	return func(_ *liar, f []byte) [][]byte { return slices.Repeat(one(f), n) }
}

// then has a lie after the frame itself.
func then(says func(*liar, []byte) [][]byte) func(*liar, []byte) [][]byte {
	return func(l *liar, f []byte) [][]byte { return append(one(f), says(l, bytes.Clone(f))...) }
}

// number puts a number into a vector that is mixed with float64s.
func number(v float64) func(*liar, []byte) [][]byte {
	return func(l *liar, f []byte) [][]byte {
		if binary.LittleEndian.Uint64(f[detailBytes:]) == mixed && len(f) >= headerSize+8 && l.plainWire() {
			binary.LittleEndian.PutUint64(f[headerSize:], math.Float64bits(v))
		}
		return one(f)
	}
}

// shorter takes bytes from the end of a payload.
func shorter(n int) func(*liar, []byte) [][]byte {
	return func(_ *liar, f []byte) [][]byte { return one(f[:max(headerSize, len(f)-n)]) }
}

// longer adds bytes to a payload.
func longer(n int) func(*liar, []byte) [][]byte {
	return func(_ *liar, f []byte) [][]byte { return one(append(f, make([]byte, n)...)) }
}

// moved adds to a number of a frame's header.
func moved(at, by int) func(*liar, []byte) [][]byte {
	return func(_ *liar, f []byte) [][]byte {
		v := int(binary.LittleEndian.Uint64(f[at:])) + by
		binary.LittleEndian.PutUint64(f[at:], uint64(max(v, 0)))
		return one(f)
	}
}

// asKind returns a frame of another kind without a payload, whose numbers are both the same.
func asKind(k kind, number int) func(*liar, []byte) [][]byte {
	return func(_ *liar, f []byte) [][]byte {
		f[kindByte] = byte(k)
		binary.LittleEndian.PutUint64(f[exchangeBytes:], uint64(number))
		binary.LittleEndian.PutUint64(f[detailBytes:], uint64(number))
		return one(f[:headerSize])
	}
}

// flipped changes a bit of the payload's middle.
func flipped(_ *liar, f []byte) [][]byte {
	if len(f) > headerSize {
		f[(headerSize+len(f))/2] ^= 1
	}
	return one(f)
}

// A liar is an agent's stream to a neighbour.
type liar struct {
	grpc.Sender
	*process
	*lying
	to int

	broken bool
	held   []byte // a frame that is sent after the next one
}

// lying are the lies of an agent, and what it has sent.
type lying struct {
	mu    sync.Mutex
	told  map[lieTo]int // how many faults tell a lie
	sent  map[int][][]byte
	due   map[int]uint64 // the first exchange whose vector a neighbour was never sent
	heard map[kind]bool  // kinds of frames that the agent has sent
}

type lieTo struct {
	lie, to int
}

// mostPast is how many frames to a neighbour a liar keeps.
const mostPast = 64

// Send implements [grpc.Sender].
func (l *liar) Send(frame []byte) error {
	l.forget(l.to, frame)
	frames := one(frame)
	for _, k := range l.present(l.to) {
		if lie := allLies[k]; lie.of == 0 || lie.of == kind(frame[kindByte]) {
			frames = lie.says(l, bytes.Clone(frame))
			break
		}
	}
	l.noteSent(l.to, frame)
	for _, f := range frames {
		if radius(f) > radius(frame) {
			l.forgone.Store(true)
		}
		if bytes.Equal(f, frame) {
			l.noteTrue(l.to, frame)
		}
		if err := l.Sender.Send(f); err != nil {
			return err
		}
	}
	if l.broken {
		return io.ErrClosedPipe
	}
	return nil
}

// radius is how far an agent knows that others have finished, as its heartbeat says. An agent whose
// neighbours all say enough leaves.
func radius(frame []byte) uint64 {
	if kind(frame[kindByte]) != alive || len(frame) < headerSize {
		return 0
	}
	return binary.LittleEndian.Uint64(frame[detailBytes:])
}

// present returns the lies that a neighbour is told now, ascending.
func (l *lying) present(to int) (all []int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for k, faults := range l.told {
		if k.to == to && faults > 0 {
			all = append(all, k.lie)
		}
	}
	slices.Sort(all)
	return all
}

// forget drops the vectors that come after the one to be sent, or are of its exchange: in another
// epoch they had other numbers, which nobody could tell from those that are due.
func (l *lying) forget(to int, frame []byte) {
	if kind(frame[kindByte]) != vector {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.sent[to] = slices.DeleteFunc(l.sent[to], func(f []byte) bool {
		return kind(f[kindByte]) == vector && exchangeOf(f) >= exchangeOf(frame)
	})
}

func exchangeOf(frame []byte) uint64 { return binary.LittleEndian.Uint64(frame[exchangeBytes:]) }

// noteTrue notes that a neighbour was sent a vector as it is.
func (l *lying) noteTrue(to int, frame []byte) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if kind(frame[kindByte]) == vector {
		l.due[to] = max(l.due[to], exchangeOf(frame)+1)
	}
}

// noteSent keeps a frame that was to be sent.
func (l *lying) noteSent(to int, frame []byte) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.heard[kind(frame[kindByte])] = true
	l.sent[to] = append(l.sent[to], bytes.Clone(frame))
	l.sent[to] = l.sent[to][max(0, len(l.sent[to])-mostPast):]
}

// past returns the frames of a kind that were to be sent before, up to mostPast of all.
func (l *liar) past(of byte) (all [][]byte) {
	l.lying.mu.Lock()
	defer l.lying.mu.Unlock()
	for _, f := range l.sent[l.to] {
		if f[kindByte] == of {
			all = append(all, bytes.Clone(f))
		}
	}
	return all
}

// all returns what was sent of a frame's kind, and the frame.
func (l *liar) all(f []byte) [][]byte { return append(l.past(f[kindByte]), f) }

// earlier returns an earlier frame of a frame's kind.
func (l *liar) earlier(f []byte) [][]byte {
	past := l.past(f[kindByte])
	if len(past) == 0 {
		return one(f)
	}
	d := l.of("earlier", l.agent, l.to).of("moment", int64(time.Since(begin)))
	return one(past[d.below(len(past))])
}

// ofNext returns a vector as one of the next exchange, unless the neighbour has had it: an agent
// that is behind repeats vectors, and the next is what the neighbour waits for: numbers like any
// other.
func (l *liar) ofNext(f []byte) [][]byte {
	l.lying.mu.Lock()
	defer l.lying.mu.Unlock()
	if exchangeOf(f) < l.due[l.to] {
		return one(f)
	}
	return moved(exchangeBytes, 1)(l, f)
}

// andEarlier returns an earlier frame of a frame's kind, and the frame.
func (l *liar) andEarlier(f []byte) [][]byte { return append(l.earlier(bytes.Clone(f)), f) }

// swapped returns frames in pairs, each the other way round.
func (l *liar) swapped(f []byte) [][]byte {
	if l.held == nil {
		l.held = f
		return nil
	}
	frames := [][]byte{f, l.held}
	l.held = nil
	return frames
}

// late returns a frame after a time.
func (l *liar) late(f []byte) [][]byte {
	l.spend(l.of("late", l.agent, l.to).of("moment", int64(time.Since(begin))).between(l.Latency, l.SilentAfter))
	return one(f)
}

// failed says that this agent has failed.
func (l *liar) failed(f []byte) [][]byte { return l.fails(f, l.agent) }

// slander says that another agent has failed.
func (l *liar) slander(f []byte) [][]byte { return l.fails(f, (l.to+1)%len(l.machines)) }

// fails says that an agent has failed, by a text that is not for terminals.
func (l *liar) fails(f []byte, agent int) [][]byte {
	f = append(f[:headerSize], "disk full\x1b[2J<script>"...)
	f[kindByte] = byte(fail)
	binary.LittleEndian.PutUint64(f[exchangeBytes:], uint64(agent))
	binary.LittleEndian.PutUint64(f[detailBytes:], 0)
	return one(f)
}

// plainWire reports whether vectors that are mixed travel as they are.
func (c Case) plainWire() bool { return slices.Contains(c.Flags, "-wire=float64") }

// falsehood draws a fault that has a liar tell some of its neighbours a lie.
func (w *world) falsehood(d draw, liar int) fault {
	which, told, share := d.of("which").below(len(allLies)), d.of("told"), among(d.of("share"), 0.4, 1)
	tell := func(by int) {
		l := w.lies.(*liars).of(w.machines[liar])
		l.mu.Lock()
		defer l.mu.Unlock()
		for to := range w.machines {
			if told.of("to", int64(to)).chance(share) {
				l.told[lieTo{which, to}] += by
			}
		}
	}
	return fault{fmt.Sprintf("agent %d %s", liar, allLies[which].name), func() { tell(1) }, func() {
		tell(-1)
		if w.Quorum > 0 { // a process that was named for what it sent does not come in again; another one does
			w.machines[liar].crash(false, 0)
		}
	}}
}
