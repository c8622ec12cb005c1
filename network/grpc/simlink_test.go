package grpc

import (
	"io"
	"math"
	"time"

	"dsbo/internal/testkit"
)

// connect has the neighbour with the lower number say hello. Both go on meanwhile, until the hellos
// are delivered.
func (s *sim) connect(i, j int) {
	if s.agents[i].over || s.agents[j].over {
		return
	}
	s.disconnect(i, j)
	ends := [2]int{min(i, j), max(i, j)}
	s.links[ends].frames = [][]byte{s.agents[ends[0]].m.neighbours.edge(ends[1]).hello()}
}

// open takes in a hello that came over a link, as the two ends of a stream do: the one that did not
// connect answers.
func (s *sim) open(ends [2]int, f *frame) {
	e := s.agents[ends[1]].m.neighbours.edge(ends[0])
	back := s.links[[2]int{ends[1], ends[0]}]
	back.session = newSession(e, nil, time.Time{})
	testkit.OK(back.session.open(testkit.Get(readHello(f))))
	if ends[0] < ends[1] {
		back.frames = append(back.frames, e.hello())
	}
}

// disconnect breaks the stream between two neighbours. What was on its way is lost.
func (s *sim) disconnect(i, j int) {
	for _, ends := range [][2]int{{i, j}, {j, i}} {
		l := s.links[ends]
		if l.session != nil {
			l.session.e.detach(l.session, errReplaced)
		}
		*l = simLink{}
	}
}

// endStreams is the orderly end of an agent: it says what it has to say and ends its streams.
func (s *sim) endStreams(i int) {
	a := s.agents[i]
	a.over = true
	a.m.neighbours.announce()
	for _, j := range s.w.Neighbours(i) {
		ends := [2]int{i, j}
		l := s.links[ends]
		for s.transmit(l) {
		}
		for len(l.frames) > 0 {
			s.deliver(ends, l)
		}
		if back := s.links[[2]int{j, i}]; back.session != nil {
			back.session.e.detach(back.session, io.EOF)
		}
		s.disconnect(i, j)
	}
}

// crash loses an agent with all but its checkpoints, of which it may lose some too.
func (s *sim) crash(i int) {
	a := s.agents[i]
	if a.over {
		return
	}
	for _, j := range s.w.Neighbours(i) {
		s.disconnect(i, j)
	}
	for len(a.saved) > 0 && !a.draining && s.rand.IntN(4) == 0 {
		a.saved = a.saved[:len(a.saved)-1]
	}
	a.m = s.mixer(i, s.restore(a, i, math.MaxInt))
}

// transmit puts the next frame of an agent onto a link, if there is one.
func (s *sim) transmit(l *simLink) bool {
	if l.session == nil {
		return false
	}
	frame, _ := l.session.e.nextFrame(l.session)
	if frame == nil {
		return false
	}
	l.frames = append(l.frames, frame)
	return true
}

// deliver takes the next frame off a link.
func (s *sim) deliver(ends [2]int, l *simLink) {
	if len(l.frames) == 0 {
		return
	}
	f := decoded(l.frames[0])
	l.frames = l.frames[1:]
	if f.kind == kindHello {
		s.open(ends, f)
		return
	}
	if err := s.agents[ends[1]].m.neighbours.edge(ends[0]).handle(f); err != nil {
		s.t.Fatalf("agent %d from agent %d: %v", ends[1], ends[0], err)
	}
}
