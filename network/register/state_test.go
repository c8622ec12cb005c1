package register

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"dsbo/internal/testkit"
	"dsbo/network"
	"dsbo/network/membership"
	"dsbo/network/pki"
)

// TestNumbers: numbers ascend, no two agents propose one, and nobody can use them up.
func TestNumbers(t *testing.T) {
	s, seen := State{Promised: 7}, map[uint64]bool{}
	for _, heard := range []uint64{0, 7, 2000, 1 << 40, maxNumber} {
		for _, agent := range []int{0, 3, membership.MaxAgents - 1} {
			next := s.Next(heard, agent)
			plausible := heard < 1<<32
			if proposerOf(next) != agent || next <= s.Promised || plausible && next <= heard ||
				!plausible && next > 1<<20 || plausible && seen[next] && heard > 7 {
				t.Errorf("agent %d proposes %d after %d", agent, next, heard)
			}
			seen[next] = true
		}
	}
	for number, may := range map[uint64]bool{6: false, 7: false, 8: true, 7 + 1<<32: false, maxNumber: false} {
		if s := (State{Promised: 7}); s.Promise(number) != may || may != (s.Promised == number && number != 7) {
			t.Errorf("%d is promised after 7: %v", number, !may)
		}
	}
	if s := (State{}); !s.Promise(maxNumber) || (&State{}).Promise(maxNumber+1) {
		t.Error("an agent that knows nothing must promise each number up to the largest")
	}
}

// TestBegin: an agent begins the session that it has promised, once.
func TestBegin(t *testing.T) {
	x := Session{Number: 9, Tags: map[int]string{1: "t"}, Removals: map[int]string{2: "removal"},
		Log: membership.Log{{Epoch: 1}}}
	for promised, may := range map[uint64]bool{8: false, 9: true, 10: false} {
		s := State{Promised: promised}
		if s.Begin(x, 0) != may || (s.Last == 9) != may || (len(s.Log)+len(s.Tags)+len(s.Removals) == 3) != may ||
			s.Begin(x, 0) {
			t.Errorf("promised %d: %+v", promised, s)
		}
	}
}

// TestAttempts: from the fifth session at one point on an agent waits, 1 s at first and twice as
// long each time, and at the fiftieth it gives up. Another point begins anew, and so does an
// agent's own process that came back, or, fifty times at a point, another one.
func TestAttempts(t *testing.T) {
	var a attempts
	x := Session{Begin: Point{Iteration: 10}, Instances: map[int]uint64{0: 1, 1: 1}}
	for k := range 50 {
		if a.Err() != nil {
			t.Fatalf("after %d attempts: %v", k, a.Err())
		}
		a.addSession(x, 0)
		want := time.Duration(0)
		if k >= 4 {
			want = min(time.Second<<min(k-4, 6), time.Minute)
		}
		if got := a.Pause(time.Minute); got != want {
			t.Errorf("after %d attempts: %v; it must be %v", k+1, got, want)
		}
	}
	testkit.WantError(t, "50 attempts", a.Err(), nil, "50 sessions have begun at one point")
	for name, change := range map[string]func(*Session){
		"another point":   func(x *Session) { x.Begin.Iteration = 20 },
		"another process": func(x *Session) { x.Instances = map[int]uint64{0: 1, 1: 2} },
	} {
		b, y := a, x
		change(&y)
		b.addSession(y, 0)
		if b.Count != 1 {
			t.Errorf("%s: %d attempts", name, b.Count)
		}
	}
	a.addSession(Session{Begin: x.Begin, Instances: map[int]uint64{0: 1}}, 0)
	if a.Count != 51 {
		t.Errorf("%d attempts after one in which an agent is away", a.Count)
	}
	for own, want := range []int{100, 1} { // agent 1 names another process each time
		var b attempts
		for k := range uint64(150) {
			b.addSession(Session{Begin: x.Begin, Instances: map[int]uint64{0: 1, 1: k}}, own)
			if k <= mostRestarts && b.Count != 1 {
				t.Fatalf("to agent %d process %d is attempt %d; it must be none", own, k, b.Count)
			}
		}
		if b.Count != want {
			t.Errorf("to agent %d 150 processes are %d attempts; they must be %d", own, b.Count, want)
		}
		if b.addSession(Session{}, own); b.Count != 1 || len(b.Restarts) != 0 {
			t.Errorf("at another point there are %+v", b)
		}
	}
}

// signedRun returns the identities of two agents of one authority, and a rule that knows it.
func signedRun() (Rule, []*pki.Identity, *pki.Authority) {
	now := time.Now()
	a := testkit.Get(pki.NewAuthority("run", now.Add(-time.Hour), now.Add(time.Hour)))
	var ids []*pki.Identity
	for i := range 2 {
		ids = append(ids, testkit.Get(a.Issue(i, now.Add(-time.Hour), now.Add(time.Hour))))
	}
	rule := ring()
	rule.Authority = ids[0]
	return rule, ids, a
}

// TestVerify: an answer is its agent's, of this run, as it was signed, and within bounds.
func TestVerify(t *testing.T) {
	rule, ids, authority := signedRun()
	for name, c := range map[string]struct {
		before, after func(*Answer)
		run           string
		by            int
		want          string
	}{
		"good":          {},
		"another agent": {by: 1, want: "it must be the certificate of agent 0"},
		"another run":   {run: "walk", want: "the answer of agent 0"},
		"another key": {after: func(a *Answer) { a.Key = bytes.Repeat([]byte("x"), 32) },
			want: "the answer of agent 0"},
		"no signature":      {after: func(a *Answer) { a.Signature = nil }, want: "the answer of agent 0"},
		"a short key":       {before: func(a *Answer) { a.Key = nil }, want: "must have 32 bytes"},
		"no agent":          {before: func(a *Answer) { a.Agent = 1024 }, want: "0 to 1023"},
		"a number too low":  {before: func(a *Answer) { a.Last = a.Number }, want: "above the last one"},
		"a number too high": {before: func(a *Answer) { a.Number = maxNumber + 1 }, want: "at most 2⁶²"},
		"a later epoch":     {before: func(a *Answer) { a.Points[0].Epoch = 2 }, want: "up to the last session"},
		"the start":         {before: func(a *Answer) { a.Points[0].Iteration = Start }, want: "points must be"},
		"many points":       {before: func(a *Answer) { a.Points = make([]Point, 65) }, want: "at most 64"},
		"unordered":         {before: func(a *Answer) { a.Links = []int{2, 1} }, want: "ascending"},
		"a strange name":    {before: func(a *Answer) { a.Kept = map[string]string{"\x1b": ""} }, want: "short names"},
		"a long tag":        {before: func(a *Answer) { a.Data = strings.Repeat("a", 257) }, want: "short texts"},
		"local time":        {before: func(a *Answer) { a.Time = a.Time.In(time.FixedZone("x", 60)) }, want: "UTC"},
		"a removal": {before: func(a *Answer) {
			a.Removals = map[int]string{3: testkit.Get(authority.Remove(3, "run", "hash"))}
		}},
		"the removal of another": {before: func(a *Answer) {
			a.Removals = map[int]string{4: testkit.Get(authority.Remove(3, "run", "hash"))}
		}, want: "the removal of agent 4: it is of agent 3"},
		"no removal": {before: func(a *Answer) { a.Removals = map[int]string{3: "x"} }, want: "the removal must be"},
		"a log of later sessions": {before: func(a *Answer) {
			after(four, twice)(a)
			a.Last = 2
		}, want: "up to the last one"},
		"a log without a quorum": {before: after(membership.Change{Members: []int{0, 1}}),
			want: "must have the quorum"},
	} {
		a := answers([]int{0})[0]
		if c.before != nil {
			c.before(&a)
		}
		testkit.OK(a.Sign(max(c.run, "run"), "hash", ids[c.by]))
		if c.after != nil {
			c.after(&a)
		}
		testkit.WantError(t, name, rule.Verify(a, time.Now()), nil, c.want)
	}
	open := ring()
	open.Authority = nil
	a := answers([]int{0})[0]
	testkit.OK(open.Verify(a, time.Now()))
	testkit.OK(a.Sign("run", "hash", ids[0]))
	testkit.WantError(t, "without certificates", open.Verify(a, time.Now()), nil, "no signatures")
}

// TestAdmission: an admission is of the agent that shows it, to agents of the cluster file.
func TestAdmission(t *testing.T) {
	rule, _, authority := signedRun()
	for _, c := range []struct {
		agent int // who shows it
		of    membership.Admission
		want  string
	}{
		{5, membership.Admission{Agent: 5, Neighbours: []int{0, 4}}, ""},
		{5, membership.Admission{Agent: 6, Neighbours: []int{0, 4}}, "the admission of agent 5: it is of agent 6"},
		{8, membership.Admission{Agent: 8, Neighbours: []int{0, 5}}, "agents of the cluster file, 0 to 4; one is 5"},
	} {
		text := testkit.Get(authority.Admit(c.of, "run", "hash"))
		neighbours, err := rule.admission(Answer{Agent: c.agent, Admission: text})
		testkit.WantError(t, text[:40], err, nil, c.want)
		if err == nil && !slices.Equal(neighbours, c.of.Neighbours) {
			t.Errorf("%.40s: neighbours %v", text, neighbours)
		}
	}
}

// TestDataTag: the tag is another one for other data, runs and certificates.
func TestDataTag(t *testing.T) {
	_, ids, _ := signedRun()
	seen := map[string]bool{}
	for _, key := range [][]byte{nil, testkit.Get(ids[0].Derive("tag")), testkit.Get(ids[1].Derive("tag"))} {
		for _, run := range []string{"run", "walk"} {
			for _, data := range []string{"", "a"} {
				tag := DataTag(key, run, []byte(data))
				if len(tag) != 32 || seen[tag] || tag != DataTag(key, run, []byte(data)) {
					t.Errorf("tag %q", tag)
				}
				seen[tag] = true
			}
		}
	}
}

// FuzzDecide: answers that are within bounds are decided, or refused with an error; what is decided
// has a valid log, a quorum of members, and a point that a member has.
func FuzzDecide(f *testing.F) {
	rule := Rule{Run: "run", Matrix: testkit.Get(network.Ring(5, 0)).W, Quorum: 3}
	for _, seed := range [][]Answer{answers(five), answers(five, nobody), answers(five, after(four), of(at(2, 20), 1)),
		answers([]int{0, 1, 2}, of(at(0, Result), 1)), answers(five, of(func(a *Answer) { a.Slow = []int{2} }, 1, 3))} {
		f.Add(testkit.Get(json.Marshal(seed)))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		var all []Answer
		if json.Unmarshal(text, &all) != nil {
			return
		}
		for _, a := range all {
			if rule.Verify(a, time.Time{}) != nil {
				return
			}
		}
		s, err := Decide(rule, all)
		if err != nil {
			return
		}
		if err := s.Log.Validate(5, 3); err != nil || len(s.Epoch.Members) < 3 || s.Number == 0 ||
			s.Begin.Iteration != Start && len(s.Entering) >= len(s.Epoch.Members) {
			t.Errorf("%s: %+v, %v", text, s, err)
		}
		for _, i := range s.Entering {
			e := s.Epoch
			e.Lost = s.Entering
			testkit.Get2(rule.Matrix.Giver(membership.Epoch{Members: e.Members}, e, i))
		}
	})
}
