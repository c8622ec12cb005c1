package membership_test

import (
	"bytes"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"dsbo"
	"dsbo/internal/testkit"
	"dsbo/network/membership"
)

// id is one of a session.
var id = strings.Repeat("5f", 32)

var first = `{"epoch":1,"iteration":5,"session":70,"id":"` + id + `","members":[0,1,3],"proposer":1}` + "\n"

func TestBadLogsAreRefused(t *testing.T) {
	const agents = "must be ascending numbers of agents"
	for text, want := range map[string]string{ // a line and what is wrong with it
		`[]`: `it must be a JSON object {...}`,
		`{"epoch":1,"member":[0]}`: `field "member" is not known; it must be one of epoch, iteration, session, ` +
			`id, members, lost, slow, edges, cut, proposer, time, why, removed, round, liars, proof`,
		`{"epoch":2,"members":[0]}`:    `epochs must be 1, 2, ... in order; 2 follows 0`,
		`{"epoch":1,"iteration":5}`:    `epoch 1 must have members`,
		`{"epoch":1,"members":[1,1]}`:  `the members of epoch 1 ` + agents + `, 0 to 1023; 1 is not`,
		`{"epoch":1,"members":[1024]}`: `the members of epoch 1 ` + agents + `, 0 to 1023; 1024 is not`,
		`{"epoch":1,"members":[0],"lost":[1]}`: `those that have lost their state must be ascending numbers of ` +
			`members of epoch 1; 1 is not`,
		`{"epoch":1,"members":[0,1],"slow":[1]}`: `those that are left out as slow ` + agents +
			` that are no members of epoch 1; 1 is not`,
		`{"epoch":1,"members":[0],"proposer":-1}`: `the proposer must be an agent, 0 to 1023; it is -1`,
		`{"epoch":1,"members":[0],"time":"noon"}`: `a time must have the form 2026-11-22T12:00:00Z; it is "noon"`,
		`{"epoch":1,"members":[0,1],"edges":[[1,0]]}`: `edges must be ascending pairs [i, j] of agents with i < j; ` +
			`[1, 0] is not`,
		`{"epoch":1,"members":[0,1,2],"cut":[[1,2],[0,1]]}`: `cut edges must be ascending pairs [i, j] of agents ` +
			`with i < j; [0, 1] is not`,
		`{"epoch":1,"members":[0,1],"cut":[[1,2]]}`: `cut edges must be between members of epoch 1; 1-2 is not`,
		`{"epoch":1,"members":[0],"edges":[[1,2,3]]}`: `field "edges" must be pairs of agents, [[0, 1], ...]; it ` +
			`is wrong: an edge must have 2 ends; [1 2 3] has 3`,
		`{"epoch":1,"why":["` + strings.Repeat("a", 1<<20) + `"]}`: `it must have at most 1048576 bytes`,
		first + first[:len(first)-1]:                               `epochs must be 1, 2, ... in order; 1 follows 1`,
		first + `{"epoch":2,"iteration":4,"members":[0]}`: `epoch 2 must not begin before epoch 1, at iteration ` +
			`5; it begins at 4`,
		first + `{"epoch":2,"iteration":5,"members":[0]}`: `epoch 2 must begin with a session after 70, with which ` +
			`epoch 1 begins; it begins with 0`,
		first + `{"epoch":2,"iteration":5,"session":71,"members":[0]}`: `the id of a session must have 64 ` +
			`hexadecimal digits, and none without a session; session 71 has ""`,
		`{"epoch":1,"session":1,"id":"` + strings.ToUpper(id) + `","members":[0]}`: `the id of a session must have ` +
			`64 hexadecimal digits, and none without a session; session 1 has "` + strings.ToUpper(id) + `"`,
		`{"epoch":1,"id":"` + id + `","members":[0]}`: `the id of a session must have 64 hexadecimal digits, and ` +
			`none without a session; session 0 has "` + id + `"`,
		`{"epoch":1,"members":[0,1],"removed":[1]}`: `those that are removed ` + agents +
			` that are no members of epoch 1; 1 is not`,
	} {
		want = fmt.Sprintf("log, line %d: %s", 1+strings.Count(text, "\n"), want)
		_, err := membership.Parse("log", strings.NewReader(text+"\n"))
		if err == nil || err.Error() != want || !errors.Is(err, dsbo.ErrConfig) {
			t.Errorf("%.80q: error %v; it must be %s", text, err, want)
		}
	}
}

// TestACutLineIsDropped: what a crash leaves of the last line does not count, whole lines before
// it do.
func TestACutLineIsDropped(t *testing.T) {
	whole := testkit.Get(membership.Parse("log", strings.NewReader(first)))
	for end := range len(first) {
		got := testkit.Get(membership.Parse("log", strings.NewReader(first+first[:end])))
		if !reflect.DeepEqual(got, whole) {
			t.Fatalf("after %d bytes of a second line: %v; it must be %v", end, got, whole)
		}
	}
}

func TestValidate(t *testing.T) {
	for _, c := range []struct {
		name           string
		log            membership.Log
		roster, quorum int
		want           string
	}{
		{name: "none", roster: 3, quorum: 2},
		{name: "one leaves", roster: 5, quorum: 3, log: membership.Log{{Epoch: 1, Members: []int{0, 1, 2, 4}}}},
		{name: "one stays with its state", roster: 5, quorum: 3,
			log: membership.Log{{Epoch: 1, Members: []int{0, 1, 2}}, {Epoch: 2, Members: []int{2, 3, 4}}}},
		{name: "too few", roster: 5, quorum: 3,
			log:  membership.Log{{Epoch: 1, Members: []int{0, 1}}},
			want: "membership log: epoch 1 must have the quorum, 3 members; it has 2"},
		{name: "nobody stays", roster: 4,
			log:  membership.Log{{Epoch: 1, Members: []int{0, 1}}, {Epoch: 2, Members: []int{2, 3}}},
			want: "membership log: epoch 2 must have a member of the epoch before"},
		{name: "all have lost their state", roster: 2,
			log:  membership.Log{{Epoch: 1, Members: []int{0, 1}, Lost: []int{0, 1}}},
			want: "membership log: epoch 1 must have a member of the epoch before"},
		{name: "nothing to lose", roster: 3,
			log:  membership.Log{{Epoch: 1, Members: []int{0, 1}}, {Epoch: 2, Members: []int{0, 1, 2}, Lost: []int{2}}},
			want: "membership log: agent 2, which has lost its state, must be a member of the epoch before epoch 2"},
		{name: "slow", roster: 4, quorum: 3, log: membership.Log{{Epoch: 1, Members: []int{0, 1, 2}, Slow: []int{3}}}},
		{name: "slow, and not there", roster: 4,
			log:  membership.Log{{Epoch: 1, Members: []int{0, 1, 2}}, {Epoch: 2, Members: []int{0, 1}, Slow: []int{3}}},
			want: "membership log: agent 3, which is left out as slow, must be a member of the epoch before epoch 2"},
		{name: "one that the quorum needs has lost its state", roster: 3, quorum: 2,
			log: membership.Log{{Epoch: 1, Members: []int{0, 1}, Lost: []int{1}}}},
		{name: "half is no quorum", roster: 5, quorum: 3,
			log: membership.Log{{Epoch: 1, Members: []int{0, 1, 2, 3, 4, 5}, Edges: [][2]int{{0, 5}}}},
			want: "membership log: the quorum must be more than half of the 6 agents of the roster at epoch 1; " +
				"it is 3"},
		{name: "admitted and back", roster: 2, log: membership.Log{
			{Epoch: 1, Members: []int{0, 1, 3}, Edges: [][2]int{{0, 3}}}, {Epoch: 2, Members: []int{0, 1}},
			{Epoch: 3, Members: []int{0, 1, 3}}}},
		{name: "admitted by one that is", roster: 2, log: membership.Log{
			{Epoch: 1, Members: []int{0, 1, 3, 4}, Edges: [][2]int{{0, 3}, {3, 4}}}}},
		{name: "admitted by one of another epoch", roster: 2, log: membership.Log{
			{Epoch: 1, Members: []int{0, 1, 3, 4}, Edges: [][2]int{{1, 4}, {3, 4}}}}},
		{name: "never admitted", roster: 2,
			log:  membership.Log{{Epoch: 1, Members: []int{0, 1, 2, 3}, Edges: [][2]int{{0, 3}}}},
			want: "membership log: agent 2 is not known: the roster is 0 to 1, and no edges admit it"},
		{name: "escapes of a terminal", roster: 3,
			log:  membership.Log{{Epoch: 1, Members: []int{0, 1}, Why: []string{"agent 2 left\x1b[2J"}}},
			want: `membership log: why epoch 1 begins must be printable; it is "agent 2 left\x1b[2J"`},
		{name: "text for a time", roster: 3, log: membership.Log{{Epoch: 1, Members: []int{0, 1}, Time: "<script>"}},
			want: `membership log: a time must have the form 2026-11-22T12:00:00Z; it is "<script>"`},
		{name: "another time zone", roster: 3,
			log:  membership.Log{{Epoch: 1, Members: []int{0, 1}, Time: "2026-11-22T13:00:00+01:00"}},
			want: `membership log: a time must have the form 2026-11-22T12:00:00Z; it is "2026-11-22T13:00:00+01:00"`},
		{name: "removed", roster: 5, quorum: 3, log: membership.Log{{Epoch: 1, Members: []int{0, 1, 2},
			Removed: []int{3}},
			{Epoch: 2, Members: []int{0, 1, 2, 4, 5}, Edges: [][2]int{{0, 5}}}}},
		{name: "removed and back", roster: 3,
			log: membership.Log{{Epoch: 1, Members: []int{0, 1}, Removed: []int{2}}, {Epoch: 2, Members: []int{0, 1,
				2}}},
			want: "membership log: the members of epoch 2 must not be removed before; 2 is not"},
		{name: "nobody to remove", roster: 3, log: membership.Log{{Epoch: 1, Members: []int{0, 1}, Removed: []int{3}}},
			want: "membership log: agent 3 is not known: the roster is 0 to 2, and no edges admit it"},
		{name: "out of order", roster: 3, log: membership.Log{{Epoch: 2, Members: []int{0}}},
			want: "membership log: epochs must be 1, 2, ... in order; 2 follows 0"},
	} {
		err := c.log.Validate(c.roster, c.quorum)
		if c.want == "" && err != nil || c.want != "" &&
			(err == nil || err.Error() != c.want || !errors.Is(err, dsbo.ErrConfig)) {
			t.Errorf("%s: error %v; it must be %q", c.name, err, c.want)
		}
	}
}

func TestEpochs(t *testing.T) {
	l := membership.Log{
		{Epoch: 1, Iteration: 4, Members: []int{0, 2, 5}, Edges: [][2]int{{2, 5}}},
		{Epoch: 2, Iteration: 6, Members: []int{0, 1, 2}, Edges: [][2]int{{0, 4}}},
	}
	testkit.OK(l.Validate(3, 0))
	if got := l.Roster(3); got != 6 {
		t.Errorf("the roster has %d agents; it must have 6", got)
	}
	if e := testkit.Get(l.At(1, 3)); len(e.Members) != 3 || len(e.Edges) != 1 {
		t.Errorf("epoch 1 is %+v; it has three members and one edge", e)
	}
	if e := l.Last(3); e.Number != 2 || len(e.Edges) != 2 {
		t.Errorf("the last epoch is %+v; it must be 2 and with the edges of both admissions", e)
	}
	l = append(l, membership.Change{Epoch: 3, Iteration: 6, Members: []int{0, 1, 2}, Lost: []int{1}})
	// the epoch from which an agent has kept its state; 4: it is no member
	for agent, from := range []int{0, 3, 0, 4, 4} {
		for epoch := range 4 {
			if got := l.StateKept(epoch, 3, agent, 3); got != (epoch >= from) {
				t.Errorf("agent %d keeps its state from epoch %d to 3: %v", agent, epoch, got)
			}
		}
	}
	if _, err := l.At(4, 3); err == nil {
		t.Errorf("epoch 4: error %v", err)
	}
}

// TestSlow: the log knows who is left out as slow at present, and how often each agent was.
func TestSlow(t *testing.T) {
	l := membership.Log{
		{Epoch: 1, Members: []int{0, 1, 2}, Slow: []int{3, 4}}, {Epoch: 2, Members: []int{0, 1, 2, 3}},
		{Epoch: 3, Members: []int{0, 2}, Slow: []int{1, 3}},
	}
	testkit.OK(l.Validate(5, 0))
	if got := l.LeftAsSlow(); !slices.Equal(got, []int{1, 3, 4}) {
		t.Errorf("%v are left out as slow; it must be 1, 3 and 4", got)
	}
	for agent, want := range []int{0, 1, 0, 2, 1} {
		if got := l.SlowDepartures(agent); got != want {
			t.Errorf("agent %d was left out as slow %d times; it must be %d", agent, got, want)
		}
	}
}

// TestOldLogs: what older runs wrote beside a change is read over.
func TestOldLogs(t *testing.T) {
	const old = `{"epoch":1,"iteration":5,"round":70,"members":[0,1,3],"proposer":1,"liars":[{"agent":2}],` +
		`"proof":{"votes":[]}}`
	l := testkit.Get(membership.Parse("log", strings.NewReader(old+"\n")))
	want := membership.Log{{Epoch: 1, Iteration: 5, Members: []int{0, 1, 3}, Proposer: 1}}
	if !reflect.DeepEqual(l, want) {
		t.Errorf("%+v; it must be %+v", l, want)
	}
}

// FuzzParse: no input breaks the parser, and what it accepts is written as lines that read back
// the same.
func FuzzParse(f *testing.F) {
	f.Add([]byte(first))
	f.Add(
		[]byte(first +
			`{"epoch":2,"iteration":9,"session":71,"id":"` + id + `",` +
			`"members":[0,1,3,9],"slow":[2],"removed":[4],"edges":[[1,9]],"cut":[[0,1]],` +
			`"proposer":0,"time":"2026-11-22T12:00:00Z","why":["x"]}` + "\n"))
	f.Add([]byte("{}\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		l, err := membership.Parse("log", bytes.NewReader(data))
		if err != nil {
			return
		}
		lines := l.Bytes()
		again, err := membership.Parse("log", bytes.NewReader(lines))
		if err != nil || !bytes.Equal(again.Bytes(), lines) {
			t.Fatalf("%q is written as %q, which is read with error %v as %q", data, lines, err, again.Bytes())
		}
	})
}

// A run of 4 agents that agent 2 leaves after 10 iterations, and in which it is back after 30,
// together with a new agent.
func Example() {
	l := testkit.Get(membership.Parse("log.jsonl", strings.NewReader(
		`{"epoch":1,"iteration":10,"members":[0,1,3],"proposer":0,"why":["agent 2 left"]}
{"epoch":2,"iteration":30,"members":[0,1,2,3,4],"edges":[[0,4],[2,4]],"proposer":0,`+
			`"why":["agent 2 returned","agent 4 joined"]}
`)))
	testkit.OK(l.Validate(4, 0))
	for number := range len(l) + 1 {
		e := testkit.Get(l.At(number, 4))
		position, is := e.Position(3)
		fmt.Println(number, e.Iteration, e.Members, position, is)
	}
	fmt.Println(l.Validate(3, 0))
	fmt.Println(l.Validate(4, 4))
	// Output:
	// 0 0 [0 1 2 3] 3 true
	// 1 10 [0 1 3] 2 true
	// 2 30 [0 1 2 3 4] 3 true
	// membership log: agent 3 is not known: the roster is 0 to 2, and no edges admit it
	// membership log: epoch 1 must have the quorum, 4 members; it has 3
}
