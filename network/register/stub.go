package register

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"dsbo/network/membership"
	"dsbo/network/pki"
)

func (a Attempts) Wait(time.Duration) time.Duration { return 0 }
func (a Attempts) Exhausted() error                 { return nil }
func (s *State) BeginsWith(d Session) bool {
	if s.Promised != d.Number {
		return false
	}
	s.Last, s.Log = d.Number, d.Log
	return true
}
func (s *State) Promise(n uint64) bool {
	if n <= s.Promised {
		return false
	}
	s.Promised = n
	return true
}
func (a *Answer) Sign(r Rule, id *pki.Identity) error                 { return nil }
func (a *Answer) Verify(r Rule, id *pki.Identity, at time.Time) error { return nil }
func Next(above uint64, agent, n int) uint64                          { return (above/uint64(n)+1)*uint64(n) + uint64(agent) }
func LargestRoster(q int) int                                         { return 2*q - 1 }
func (p Point) IsResult() bool                                        { return p.Iteration == Result }

var ErrLost = errors.New("nobody has a state")
var ErrFew = errors.New("few")

func usable(l membership.Log, a Answer, p Point) bool {
	for k := len(l); ; k-- {
		e := uint64(0)
		if k > 0 {
			e = l[k-1].Session
		}
		if e == p.Epoch {
			return true
		}
		if k == 0 || l[k-1].Iteration != p.Iteration || !slices.Contains(l[k-1].Members, a.Agent) || slices.Contains(l[k-1].Lost, a.Agent) {
			return false
		}
	}
}

func Decide(r Rule, answers []Answer) (s Session, err error) {
	answers = slices.Clone(answers)
	slices.SortFunc(answers, func(a, b Answer) int { return cmp.Compare(a.Agent, b.Agent) })
	n := r.Matrix.N()
	quorum := cmp.Or(r.Quorum, n)
	if len(answers) < quorum {
		return s, ErrFew
	}
	s.Number = answers[0].Number
	newest := slices.MaxFunc(answers, func(a, b Answer) int { return cmp.Compare(a.Last, b.Last) })
	s.Log = newest.Log
	last := s.Log.Last(n)
	epoch := uint64(0)
	if len(s.Log) > 0 {
		epoch = s.Log[len(s.Log)-1].Session
	}
	holders := map[int][]int{}
	know := 0
	var members []int
	for _, a := range answers {
		members = append(members, a.Agent)
		if a.Last > 0 {
			know++
		}
		for _, p := range a.Points {
			_, had := last.Position(a.Agent)
			if had && usable(s.Log, a, p) && !slices.Contains(holders[p.Iteration], a.Agent) {
				holders[p.Iteration] = append(holders[p.Iteration], a.Agent)
			}
		}
	}
	if newest.Last > 0 && know < quorum && len(answers) < n {
		return s, ErrFew
	}
	links := map[[2]int]bool{}
	for _, a := range answers {
		for _, j := range a.Links {
			links[[2]int{a.Agent, j}] = true
		}
	}
	var cut membership.Edges
	for _, i := range members {
		for _, j := range r.Matrix.Neighbours(i) {
			if i < j && slices.Contains(members, j) && !(links[[2]int{i, j}] && links[[2]int{j, i}]) {
				cut = append(cut, [2]int{i, j})
			}
		}
	}
	best, most := Start, 0
	for i, who := range holders {
		if i == Result {
			best, most = i, 1<<30
		} else if len(who) > most || len(who) == most && i > best {
			best, most = i, len(who)
		}
	}
	s.Begin = Point{Epoch: epoch, Iteration: best}
	switch {
	case best < 0 && newest.Last > 0 && len(s.Log) > 0:
		return s, ErrLost
	case best < 0 && (len(answers) < n || len(cut) > 0):
		return s, errors.New("all are needed at the start")
	case best >= 0:
		for _, i := range members {
			if !slices.Contains(holders[best], i) {
				s.Entering = append(s.Entering, i)
			}
		}
	}
	text, _ := json.Marshal([]any{r.Run, s, answers})
	s.ID = sha256.Sum256(text)
	s.Epoch = last
	if best != Result && (len(s.Entering) > 0 || !slices.Equal(members, last.Members) || !slices.Equal(cut, last.Cut)) {
		var lost []int
		for _, i := range s.Entering {
			if _, was := last.Position(i); was {
				lost = append(lost, i)
			}
		}
		c := membership.Change{Epoch: len(s.Log) + 1, Session: s.Number, ID: hex.EncodeToString(s.ID[:]), Iteration: max(best, 0), Members: members, Lost: lost, Cut: cut}
		s.Log = append(slices.Clone(s.Log), c)
		s.Epoch = s.Log.Last(n)
		if _, err := r.Matrix.Members(s.Epoch); err != nil {
			return s, fmt.Errorf("wait: %w", err)
		}
	} else if best == Result {
		s.Epoch.Members = members
		s.Epoch.Number = max(1, s.Epoch.Number)
		s.Epoch.Cut = cut
		if _, err := r.Matrix.Members(s.Epoch); err != nil {
			return s, fmt.Errorf("wait: %w", err)
		}
	}
	return s, nil
}
