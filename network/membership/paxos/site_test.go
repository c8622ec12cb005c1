package paxos_test

import (
	"slices"
	"time"

	"dsbo/internal/testkit"
	"dsbo/network/membership"
	"dsbo/network/membership/paxos"
)

// A site is an agent of a simulated run. What is on its disk survives a crash.
type site struct {
	w         *world
	agent     int
	seat      *paxos.Node // nil while it is down
	log       membership.Log
	vote      paxos.Vote
	points    []checkpoint  // by their iterations
	held      []paxos.Point // of them, those that stay; not on the disk
	iteration int
	lost      bool              // it has no checkpoint to go on with
	forgot    int               // it has lost its disk, on which was what epochs up to this one begin with
	heard     map[int]time.Time // when a neighbour was last heard
	// lies is what it sends in place of a message; nil: it keeps to the protocol
	lies func(paxos.Message) []paxos.Message
}

// A checkpoint is one on the disk of a site, of an epoch.
type checkpoint struct {
	paxos.Point
	epoch int
}

// good returns the checkpoints with which the site can go on in its epoch, the newest first.
func (s *site) good() (points []paxos.Point) {
	e := s.log.Last(founders)
	for _, p := range slices.Backward(s.points) {
		if p.epoch == e.Number || p.Iteration == e.Iteration && s.log.StateKept(p.epoch, e.Number, s.agent, founders) {
			points = append(points, p.Point)
		}
	}
	return points
}

// saved returns the exchange of the newest checkpoint.
func (s *site) saved() (round int) {
	for _, p := range s.good() {
		round = max(round, p.Round)
	}
	return round
}

func (s *site) Points() ([]paxos.Point, error) {
	points := s.good()
	s.held = append(slices.Clone(s.held), points...)
	return points, nil
}

func (s *site) SaveVote(v paxos.Vote) error {
	return s.w.crashing(s, func() {
		s.vote = testkit.Get(paxos.ParseVote(paxos.MarshalVote(v)))
		s.held = s.vote.Points
	})
}

func (s *site) SaveChange(c membership.Change) error {
	return s.w.crashing(s, func() { s.log = append(s.log[:len(s.log):len(s.log)], c) })
}

// save writes the checkpoint of the present iteration, and removes those that nothing keeps: the
// newest three stay, the newest three up to there, that with which the epoch begins, and those that
// the vote names.
func (s *site) save() {
	s.points = slices.DeleteFunc(s.points, func(p checkpoint) bool { return p.Iteration == s.iteration })
	behind, _ := slices.BinarySearchFunc(s.points, s.iteration, func(p checkpoint, k int) int {
		return p.Iteration - k
	})
	s.points = slices.Insert(s.points, behind,
		checkpoint{paxos.Point{Iteration: s.iteration, Round: 10 * s.iteration}, s.seat.Epoch().Number})
	behind++
	var left []checkpoint
	for i, p := range s.points {
		newest := i >= len(s.points)-3 || i < behind && i >= behind-3
		if newest || p.Iteration == s.seat.Epoch().Iteration || slices.Contains(s.held, p.Point) {
			left = append(left, p)
		}
	}
	s.points = left
}

// start starts the site from what is on its disk.
func (s *site) start() {
	w := s.w
	s.heard = map[int]time.Time{}
	for j := range w.sites {
		s.heard[j] = w.now
	}
	s.held = s.vote.Points
	s.resume()
	s.seat = testkit.Get(paxos.New(paxos.Settings{
		Agent: s.agent, Founders: founders, Edges: w.edges, Quorum: w.quorum, Absent: absent, Patience: patience,
		Draw: w.draw.Uint64, Records: s, Notary: seal(s.agent),
	}, s.log, s.vote))
}

// resume has the site go on in the epoch of its log, from the newest checkpoint that is good or, if
// it comes in, with what a neighbour hands over. One that hasState its state must have one, unless
// it has lost its disk.
func (s *site) resume() {
	e := s.log.Last(founders)
	s.lost = false
	if _, member := e.Position(s.agent); !member {
		return
	}
	points := s.good()
	if len(points) == 0 && s.log.StateKept(e.Number-1, e.Number, s.agent, founders) {
		if s.forgot < e.Number {
			s.w.t.Fatalf("agent %d has no checkpoint %d.%d, with which epoch %d begins; it has %+v", s.agent,
				e.Iteration, e.Round, e.Number, s.points)
		}
		s.lost = true
		return
	}
	if len(points) == 0 {
		points = []paxos.Point{{Iteration: e.Iteration, Round: e.Round}}
		s.points = []checkpoint{{points[0], e.Number}}
	}
	s.iteration = points[0].Iteration
	s.points = slices.DeleteFunc(s.points,
		func(p checkpoint) bool { return p.epoch < e.Number && p.Iteration > e.Iteration })
}

// goBack has the site go back to one of its checkpoints, as for a neighbour that needs what it no
// longer keeps.
func (s *site) goBack() {
	if points := s.good(); s.seat != nil && len(points) > 0 {
		s.iteration = points[s.w.draw.IntN(len(points))].Iteration
	}
}

// erase has the site lose its disk, and start again.
func (s *site) erase() {
	s.log, s.vote, s.forgot = nil, paxos.Vote{}, len(s.w.decided)+1
	s.points = []checkpoint{{}}
	s.start()
}
