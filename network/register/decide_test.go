package register

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"dsbo/internal/testkit"
	"dsbo/network"
	"dsbo/network/membership"
)

// number is the proposal of agent 0 to which the answers of these tests are.
const number = 9 * membership.MaxAgents

var id = strings.Repeat("5f", 32)

// answers returns the answers of agents in a ring of five, which are connected and have begun
// session 1 with the first epoch's checkpoint at iteration 10; change changes each.
func answers(agents []int, change ...func(*Answer)) (all []Answer) {
	for _, i := range agents {
		a := Answer{Agent: i, Number: number, Last: 1, Points: []Point{{Iteration: 10}}, Data: "tag",
			Links: []int{(i + 1) % 5, (i + 4) % 5}, Key: fmt.Appendf(nil, "%032d", i), Instance: 7,
			Time: time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC), Tags: map[int]string{0: "tag", 1: "tag"}}
		slices.Sort(a.Links)
		for _, c := range change {
			c(&a)
		}
		all = append(all, a)
	}
	return all
}

// of has a change for some agents alone.
func of(change func(*Answer), agents ...int) func(*Answer) {
	return func(a *Answer) {
		if slices.Contains(agents, a.Agent) {
			change(a)
		}
	}
}

// nobody has an answer know nothing.
func nobody(a *Answer) { a.Last, a.Points, a.Log, a.Tags = 0, nil, nil, nil }

// at has an answer's points at iterations of an epoch.
func at(epoch uint64, iterations ...int) func(*Answer) {
	return func(a *Answer) {
		a.Points = nil
		for _, i := range iterations {
			a.Points = append(a.Points, Point{Epoch: epoch, Iteration: i})
		}
	}
}

// after has an answer's log be lines, with ids and numbers of sessions, the last of which it began.
func after(lines ...membership.Change) func(*Answer) {
	for k := range lines {
		lines[k].Epoch, lines[k].Session, lines[k].ID = k+1, uint64(k+2), id
	}
	return func(a *Answer) { a.Log, a.Last = lines, uint64(len(lines)+1) }
}

// ring is the rule of five agents of which three are a quorum.
func ring() Rule {
	return Rule{Run: "run", Hash: "hash", Matrix: testkit.Get(network.Ring(5, 0)).W, Quorum: 3, Masked: true,
		Authority: trusting{}}
}

// trusting takes each text for signed.
type trusting struct{}

func (trusting) Verify(int, []byte, []byte, []byte, time.Time) error { return nil }
func (trusting) Removal(string, string, string) (int, error)         { return 2, nil }
func (trusting) Admission(string, string, string) (membership.Admission, error) {
	return membership.Admission{Agent: 5, Neighbours: []int{0, 2}}, nil
}

var (
	five  = []int{0, 1, 2, 3, 4}
	four  = membership.Change{Iteration: 10, Members: []int{0, 1, 2, 4}}
	twice = membership.Change{Iteration: 10, Members: five}
)

func TestDecide(t *testing.T) {
	everybody := func(r *Rule) { r.Quorum = 0 }
	for _, c := range []struct {
		name     string
		rule     func(*Rule)
		answers  []Answer
		begin    int // iteration
		members  []int
		entering []int
		why      string // of the line; "": there is none
	}{
		{name: "the first session", answers: answers(five, nobody), begin: Start, members: five},
		{name: "all go on", answers: answers(five), begin: 10, members: five},
		{name: "one leaves", answers: answers([]int{0, 1, 2, 4}), begin: 10, members: []int{0, 1, 2, 4},
			why: "agent 3 left: no answer"},
		{name: "one returns", answers: answers(five, after(four), at(2, 20), of(at(2, 10), 3)), begin: 20,
			members:  five,
			entering: []int{3}, why: "agent 3 returned"},
		{name: "a lost disk", answers: answers(five, of(nobody, 1)), begin: 10, members: five, entering: []int{1},
			why: "agent 1 has no checkpoint any more"},
		{name: "the point that most have", answers: answers(five, at(0, 10, 20), of(at(0, 10), 1, 2, 3)), begin: 10,
			members: five},
		{name: "the newest of them", answers: answers(five, at(0, 10, 20), of(at(0, 10, 20, 30), 1)), begin: 20,
			members: five},
		{name: "a point that not all have", answers: answers(five, at(0, 20), of(at(0, 10), 3)), begin: 20,
			members: five, entering: []int{3}, why: "agent 3 has no checkpoint any more"},
		{name: "one was lost as it wrote the first checkpoint", answers: answers(five, at(0, 0), of(at(0), 3)),
			begin: Start, members: five},
		{name: "one was, and is away", answers: answers([]int{0, 1, 2, 4}, at(0, 0), of(at(0), 2)), begin: 0,
			members: []int{0, 1, 2, 4}, entering: []int{2}, why: "agent 3 left: no answer"},
		{name: "the result counts", answers: answers(five, of(at(0, Result), 3)), begin: Result, members: five,
			entering: []int{0, 1, 2, 4}},
		{name: "the result of an epoch that is over does not", begin: 10, members: five, entering: []int{3},
			answers: answers(five, after(four), at(2, 10), of(at(0, Result), 3)), why: "agent 3 returned"},
		{name: "the result, and one is away", answers: answers([]int{0, 1, 2, 4}, of(at(0, Result), 4)), begin: Result,
			members: []int{0, 1, 2, 4}, entering: []int{0, 1, 2}},
		{name: "a point of the epoch before", answers: answers([]int{0, 1, 2, 4}, after(four), at(2, 10), of(at(0, 10),
			1)),
			begin: 10, members: []int{0, 1, 2, 4}},
		{name: "a point of the epoch before that is older", entering: []int{1},
			why:     "agent 1 has no checkpoint any more",
			answers: answers([]int{0, 1, 2, 4}, after(four), at(2, 10), of(at(0, 5), 1)), begin: 10,
			members: []int{0, 1, 2, 4}},
		{name: "an edge is cut", answers: answers(five, of(func(a *Answer) { a.Links = []int{2} }, 1)), begin: 10,
			members: five, why: "edge 0-1 cut: it is not up at both ends"},
		{name: "an edge is cut at its other end", answers: answers(five, of(func(a *Answer) { a.Links = []int{4} }, 0)),
			begin: 10, members: five, why: "edge 0-1 cut: it is not up at both ends"},
		{name: "told different things", begin: 10, members: five,
			answers: answers(five, at(0, 10, 20),
				func(a *Answer) { a.Points[1].Digest = string(rune('a' + a.Agent/4)) })},
		{name: "told the same", begin: 20, members: five,
			answers: answers(five, at(0, 10, 20), func(a *Answer) { a.Points[1].Digest = "a" })},
		{name: "slow", answers: answers(five, of(func(a *Answer) { a.Slow = []int{2} }, 1, 3)), begin: 10,
			members: []int{0, 1, 3, 4}, why: "agent 2 left: slow, as it computes and all its neighbours have waited " +
				"too long for it (time 1)"},
		{name: "slow to one neighbour", answers: answers(five, of(func(a *Answer) { a.Slow = []int{2} }, 1)), begin: 10,
			members: five},
		{name: "slow, and all are needed", rule: everybody, begin: 10, members: five,
			answers: answers(five, of(func(a *Answer) { a.Slow = []int{2} }, 1, 3))},
		{name: "lost three times at one point", answers: answers(five, at(6, 10), after(four, twice, four, twice,
			four)),
			begin: 10, members: []int{0, 1, 2, 4}},
		{name: "lost three times, before", members: five, why: "agent 3 returned", entering: []int{3}, begin: 20,
			answers: answers(five, at(6, 20), after(four, twice, four, twice, four))},
		{name: "lost twice at one point", members: five, why: "agent 3 returned", entering: []int{3}, begin: 10,
			answers: answers(five, at(4, 10), after(four, twice, four))},
		{name: "lost three times, and needed", rule: everybody, members: five, why: "agent 3 returned",
			answers: answers(five, at(6, 10), after(four, twice, four, twice, four)), entering: []int{3}, begin: 10},
		{name: "removed", answers: answers(five, of(func(a *Answer) { a.Removals = map[int]string{2: "removal"} }, 0)),
			begin: 10, members: []int{0, 1, 3, 4}, why: "agent 2 is removed by the operators"},
		{name: "removed, and all the others are needed", rule: everybody, begin: 10, members: []int{0, 1, 3, 4},
			answers: answers([]int{0, 1, 3, 4}, of(func(a *Answer) { a.Removals = map[int]string{2: "removal"} }, 0)),
			why:     "agent 2 is removed by the operators"},
		{name: "other data", answers: answers(five, of(func(a *Answer) { a.Data = "other" }, 1)), begin: 10,
			members: []int{0, 2, 3, 4}, why: "agent 1 left: its data, or its certificate"},
		{name: "admitted", answers: slices.Concat(answers([]int{0, 1, 2}, func(a *Answer) {
			a.Links = []int{0, 1, 2,
				5}
		}),
			answers([]int{5}, nobody, func(a *Answer) { a.Links = []int{0, 2} })),
			rule: func(r *Rule) {
				r.Matrix = testkit.Get(network.New("complete", 3,
					network.Options{})).W
				r.Quorum = 3
			},
			begin: 10, members: []int{0, 1, 2, 5}, entering: []int{5}, why: "agent 5 joined"},
	} {
		rule := ring()
		if c.rule != nil {
			c.rule(&rule)
		}
		s, err := Decide(rule, c.answers)
		if err != nil {
			t.Errorf("%s: error %v", c.name, err)
			continue
		}
		before := newestLog(c.answers)
		line := len(s.Log) - len(before)
		if s.Begin.Iteration != c.begin || !slices.Equal(s.Epoch.Members, c.members) || !slices.Equal(s.Entering,
			c.entering) ||
			line != map[bool]int{true: 1}[c.why != ""] || line == 1 && !strings.HasPrefix(s.Log[len(before)].Why[0],
			c.why) {
			t.Errorf("%s: it begins at %d with %v, of whom %v enter; lines: %s", c.name, s.Begin.Iteration,
				s.Epoch.Members,
				s.Entering, s.Log[len(before):].Bytes())
		}
		if err := s.Log.Validate(rule.Matrix.N(), rule.Quorum); err != nil {
			t.Errorf("%s: %v", c.name, err)
		}
		backwards := slices.Clone(c.answers)
		slices.Reverse(backwards)
		if again := testkit.Get(Decide(rule, backwards)); again.ID != s.ID {
			t.Errorf("%s: another order of the answers has another id", c.name)
		}
	}
}

// newestLog returns the log of the newest session that answers know.
func newestLog(answers []Answer) membership.Log {
	return slices.MaxFunc(answers, func(a, b Answer) int { return int(a.Last) - int(b.Last) }).Log
}

// TestNoSession: what cannot begin is waited for, refused by name, or lost, and the error is the
// reason.
func TestNoSession(t *testing.T) {
	const wait, refused, lost = "*register.WaitError", "*register.RefusedError", "ErrLost"
	for _, c := range []struct {
		name    string
		rule    func(*Rule)
		answers []Answer
		kind    string // "": any, but for ErrLost
		want    string
	}{
		{"few", nil, answers([]int{0, 1}), wait,
			"must have 3 agents, and 2 are there: waiting for agent 2, 3, 4"},
		{"no quorum is set", func(r *Rule) { r.Quorum = 0 }, answers([]int{0, 1, 2, 3}), wait,
			"5 agents, and 4"},
		{"fresh ones do not count", nil, answers([]int{0, 1, 2, 3}, of(nobody, 2, 3)), wait,
			"3 agents that know what the run has done, and 2 do"},
		{"no checkpoint, and not all", nil, answers([]int{0, 1, 2, 3}, nobody), wait,
			"all agents are needed, as those that are there have no checkpoint: waiting for agent 4"},
		{"no checkpoint, and an edge is down", nil, answers(five, nobody, of(func(a *Answer) { a.Links = []int{2} },
			1)),
			wait, "all edges are needed until there is a checkpoint: waiting for 0-1"},
		{"no checkpoint after a change", nil, answers(five, after(four), at(0)), lost, "begin the run anew"},
		{"removed before a checkpoint", nil, answers([]int{0, 1, 3, 4}, nobody, func(a *Answer) {
			a.Removals = map[int]string{2: "removal"}
		}), lost, "agent 2 is removed before there is a checkpoint"},
		{"parts", nil, answers([]int{0, 1, 3}), wait, "falls apart into agents 0, 1 | 3"},
		{"two members", func(r *Rule) { r.Quorum = 2; r.Matrix = testkit.Get(network.Ring(3, 0)).W },
			answers([]int{0, 1}, func(a *Answer) { a.Links = []int{0, 1, 2} }), wait, "fewer than 3 members"},
		{"fewer than this agent allows", func(r *Rule) { r.FewMembers, r.LeastMembers = true, 4 },
			answers([]int{0, 1, 2}), wait, "fewer than 4 members"},
		{"other data", nil, answers([]int{0, 1, 2}, of(func(a *Answer) { a.Data = "other" }, 1)), refused,
			"agent 1 is refused: its data"},
		{"two proposals", nil, answers(five, of(func(a *Answer) { a.Number++ }, 3)), "", "to one proposal"},
		{"twice", nil, answers([]int{0, 1, 2, 2}), "", "agent 2 has answered twice"},
		{"without who proposes", nil, answers([]int{1, 2, 3}), "", "that proposes a session must answer"},
		{"two logs", nil, answers(five, after(four), of(after(twice), 3)), "", "must have one log of session 2"},
	} {
		rule := ring()
		if c.rule != nil {
			c.rule(&rule)
		}
		_, err := Decide(rule, c.answers)
		testkit.WantError(t, c.name, err, nil, c.want)
		kind := fmt.Sprintf("%T", err)
		if c.kind != "" && kind != c.kind && !(c.kind == lost && errors.Is(err, ErrLost)) {
			t.Errorf("%s: %s", c.name, kind)
		}
	}
	rule := ring()
	rule.Quorum, rule.FewMembers, rule.Matrix = 2, true, testkit.Get(network.Ring(3, 0)).W
	testkit.Get(Decide(rule, answers([]int{0, 1}, func(a *Answer) { a.Links = []int{0, 1, 2} })))
}

// TestAdmissionNeeds: an agent is admitted with certificates and a quorum of more than half of all
// with it.
func TestAdmissionNeeds(t *testing.T) {
	none := "it is not of the roster, and a run without certificates or a quorum admits nobody"
	for _, c := range []struct {
		rule func(*Rule)
		want string
	}{
		{func(r *Rule) { r.Authority = nil }, none}, {func(r *Rule) { r.Quorum = 0 }, none},
		{func(*Rule) {}, "the quorum, 3, must be more than half of the roster, which has 5 agents without it"},
	} {
		rule := ring()
		c.rule(&rule)
		all := slices.Concat(answers(five), answers([]int{5}, nobody))
		if got := testkit.Get(Decide(rule, all)).Refused[5]; got != c.want {
			t.Errorf("refused as %q, want %q", got, c.want)
		}
	}
}

// TestWhatMembersHave: what a session has of its members' answers.
func TestWhatMembersHave(t *testing.T) {
	s := testkit.Get(Decide(ring(), answers(five, func(a *Answer) {
		a.Kept = map[string]string{"setup": "same", "folds": fmt.Sprint(a.Agent / 4), "own": "x"}
		if a.Agent == 2 {
			delete(a.Kept, "own")
		}
	}, of(func(a *Answer) { a.Kept = map[string]string{"setup": "same"} }, 3))))
	if !maps.Equal(s.Kept, map[string]string{"setup": "same"}) || len(s.Keys) != 5 ||
		s.Instances[3] != 7 || len(s.Tags) != 5 || string(s.Keys[4]) != fmt.Sprintf("%032d", 4) {
		t.Errorf("%+v", s)
	}
}

// TestIDs: the id is another one where anything of an answer, or the run, is.
func TestIDs(t *testing.T) {
	seen := map[[32]byte]string{}
	for name, change := range map[string]func(*Answer){
		"nothing": func(*Answer) {}, "key": func(a *Answer) { a.Key = []byte("other") },
		"last":           func(a *Answer) { a.Last = 2 },
		"data of points": func(a *Answer) { a.Points[0].Digest = "x" }, "instance": func(a *Answer) { a.Instance++ },
		"kept": func(a *Answer) { a.Kept = map[string]string{"a": "b"} },
	} {
		s := testkit.Get(Decide(ring(), answers(five, of(change, 3))))
		if before, twice := seen[s.ID]; twice {
			t.Errorf("another %s has the id of another %s", name, before)
		}
		seen[s.ID] = name
	}
	for _, change := range []func(*Rule){func(r *Rule) { r.Run = "walk" }, func(r *Rule) { r.Hash = "mash" }} {
		rule := ring()
		change(&rule)
		if s := testkit.Get(Decide(rule, answers(five))); seen[s.ID] != "" {
			t.Error("another run has the same id")
		}
	}
	signed := testkit.Get(Decide(ring(), answers(five, func(a *Answer) { a.Signature = []byte("again") })))
	if seen[signed.ID] != "nothing" {
		t.Error("another signature of the same text has another id")
	}
}
