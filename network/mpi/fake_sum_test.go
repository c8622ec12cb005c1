package mpi

// A fakeSum is one rank's end of a sum, with the stages of library_mpi.c.
type fakeSum struct {
	rounds         *[]*fakeRound // of all ranks
	round          int           // number of the next
	stage          int
	wanted, closed bool
	own            sumKind // what this rank wants combined
	memory         []byte
}

const (
	fakeIdle = iota
	fakeHead
	fakeWords
	fakeEnded
)

// A fakeRound is what the ranks combine in one go.
type fakeRound struct {
	heads, parts int // ranks whose head and whose words are here
	left, unlike bool
	kind         *sumKind // what the first rank with words wants
	words        []uint64
}

func (l *fakeLibrary) openSum(t *transfer) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for len(l.sums) <= l.opened {
		l.sums = append(l.sums, new([]*fakeRound))
	}
	t.handle = &fakeSum{rounds: l.sums[l.opened]}
	l.opened++
}

func (l *fakeLibrary) sumWords(t *transfer, bytes int) []byte {
	s := t.handle.(*fakeSum)
	s.memory = make([]byte, bytes)
	return s.memory
}

func (l *fakeLibrary) closeSum(t *transfer) {
	l.mu.Lock()
	defer l.mu.Unlock()
	s, ok := t.handle.(*fakeSum)
	if !ok {
		return
	}
	s.closed = true
	s.wanted = s.wanted && s.stage != fakeIdle
	l.closedSums = append(l.closedSums, s)
	t.handle = nil
	l.reap()
}

// reap lets closed sums of this rank go on as far as they can; the lock is held.
func (l *fakeLibrary) reap() {
	for _, s := range l.closedSums {
		for before := -1; before != s.round*4+s.stage; {
			before = s.round*4 + s.stage
			_, _ = l.step(s)
		}
	}
}

// lookAtSum does what can be done now for t.
func (l *fakeLibrary) lookAtSum(t *transfer) (state, error) {
	s := t.handle.(*fakeSum)
	if !t.sum.started {
		t.sum.started, s.wanted, s.own = true, true, *t.sum
	}
	for before := -1; before != s.round*4+s.stage; {
		before = s.round*4 + s.stage
		if state, err := l.step(s); state != pending || err != nil {
			return state, err
		}
	}
	return pending, nil
}

// current returns the round that a rank is in.
func (s *fakeSum) current() *fakeRound {
	for len(*s.rounds) <= s.round {
		*s.rounds = append(*s.rounds, &fakeRound{})
	}
	return (*s.rounds)[s.round]
}

// step goes one step further if the other ranks have; the lock is held.
func (l *fakeLibrary) step(s *fakeSum) (state, error) {
	r, wanted := s.current(), s.wanted
	switch {
	case s.stage == fakeIdle && (s.wanted || s.closed):
		l.addHead(s, r)
	case s.stage == fakeHead && r.heads == l.size && r.left:
		s.stage = fakeEnded
	case s.stage == fakeHead && r.heads == l.size && r.unlike:
		s.stage, s.wanted = fakeIdle, false
		s.round++
		if wanted {
			return pending, errMismatch
		}
	case s.stage == fakeHead && r.heads == l.size:
		l.addWords(s, r)
	case s.stage == fakeWords && r.parts == l.size:
		s.stage, s.wanted = fakeIdle, false
		s.round++
		if wanted {
			putWords(s.memory, r.kind.width(), r.words)
			return done, nil
		}
	}
	return pending, nil
}

// addHead says what a rank wants.
func (l *fakeLibrary) addHead(s *fakeSum, r *fakeRound) {
	switch {
	case s.wanted && r.kind == nil:
		kind := s.own
		r.kind = &kind
	case s.wanted:
		r.unlike = r.unlike || r.kind.kind() != s.own.kind() || r.kind.words != s.own.words
	case s.closed:
		r.left = true
	}
	s.stage = fakeHead
	if r.heads++; r.heads == l.size {
		l.signalAll()
	}
}

// addWords adds a rank's words to those that are here.
func (l *fakeLibrary) addWords(s *fakeSum, r *fakeRound) {
	words := make([]uint64, r.kind.words)
	if s.wanted {
		getWords(words, r.kind.width(), s.memory)
	}
	if r.parts == 0 {
		r.words = words
	} else {
		r.kind.op.Combine(r.kind.bits, r.words, words)
	}
	s.stage = fakeWords
	if r.parts++; r.parts == l.size {
		l.signalAll()
	}
}
