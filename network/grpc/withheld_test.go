package grpc

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"dsbo/internal/testkit"
	"dsbo/network/grpc/holdup"
)

// TestOldFailure: processes that were there when the run failed hear of it, also on another stream;
// one that has begun since begins the run anew. Old news goes round no more then.
func TestOldFailure(t *testing.T) {
	m, _ := pathAgent(nil)
	testkit.Get(opened(m, 0, 7))
	m.Fail(errors.New("disk full"))
	wantSent(t, testkit.Get(opened(m, 0, 7)), "fail 1/0")
	wantSent(t, testkit.Get(opened(m, 0, 8)), "")
	wantSent(t, testkit.Get(opened(m, 2, 9)), "fail 1/0")
}

// TestOwnFailureOfOthers: an agent that hears from another one that it has failed itself goes on,
// and does not refuse that one, which may have been told so.
func TestOwnFailureOfOthers(t *testing.T) {
	m, _ := pathAgent(nil)
	if deliver(attached(m, 0, 0, 0), fails(self, 0, "disk full")); m.err != nil {
		t.Errorf("error %v; the run must go on", m.err)
	}
}

// TestWithheldIsAskedForAgain: the stream of a neighbour that is there and does not send what is
// due is opened anew after SilentAfter, and so is the stream by which a key may come. Others stay.
func TestWithheldIsAskedForAgain(t *testing.T) {
	withholds := saying(holdup.Exchanging, 0, 0, holdup.ByComputing)
	computes := saying(holdup.Computing, 0, 0, holdup.ByComputing)
	for _, c := range []struct {
		name    string
		says    holdup.Report
		doing   holdup.Activity
		dropped [2]bool // of agents 0 and 2, the latter of which has sent
	}{
		{"withholds", withholds, holdup.Exchanging, [2]bool{true, false}},
		{"computes", computes, holdup.Exchanging, [2]bool{false, false}},
		{"keys", withholds, holdup.AwaitingKeys, [2]bool{true, true}},
	} {
		m, _ := pathAgent(inSeconds)
		publish(m, 0)
		streams := [2]*session{attached(m, 0, 0, 0), attached(m, 2, 0, 0)}
		deliver(streams[1], vectorOfOne(0, 1))
		m.watch.Begin(c.doing)
		for beat := 1; beat <= 5; beat++ {
			for k, s := range streams {
				deliver(s, reporting(c.says))
				select {
				case <-s.dropped:
					t.Errorf("%s: the stream to agent %d is dropped after %d s", c.name, 2*k, beat-1)
				default:
				}
			}
			m.heartbeat()
		}
		for k, s := range streams {
			got := false
			select {
			case <-s.dropped:
				got = errors.Is(s.reason, errWithheld)
			default:
			}
			if got != c.dropped[k] {
				t.Errorf("%s: after 5 s the stream to agent %d is opened anew: %v; it must be %v", c.name, 2*k, got,
					c.dropped[k])
			}
		}
	}
}

// TestTwoThatContradict: agent 0 says that it waits for agent 2, which has sent this agent what is
// due. One of the two is at fault, and both are named, also by those who hear it from this agent.
func TestTwoThatContradict(t *testing.T) {
	m, _ := pathAgent(func(c *Config) { c.Round, c.Matrix = 5, newGraph("complete", 4) })
	m.neighbours.edge(2).received, m.neighbours.edge(3).received = 6, 6
	s := attached(m, 0, 5, 5)
	publish(m, 5)
	deliver(s, reporting(saying(holdup.Exchanging, 4, 2, holdup.ByWithholding)))
	h := m.holdup()
	if h.Agent != 0 || h.Beyond != 3 || !strings.HasSuffix(h.String(), "it says that it waits for agent 2, "+
		"which has sent others what is due") {
		t.Errorf("held up by %v; agents 0 and 2 must be named", h)
	}
	own := m.watch.Report(m.flow.round, h)
	far, _ := pathAgent(func(c *Config) { c.Agent, c.Matrix = 2, newGraph("path", 4) })
	far.neighbours.edge(3).received = 7
	from := attached(far, self, 5, 5)
	far.flow.round = 6
	far.watch.Begin(holdup.Exchanging)
	far.flow.missing = 1
	deliver(from, reporting(own))
	if h := far.holdup(); h.Agent != 0 || h.Source != self || h.Beyond != 3 {
		t.Errorf("another agent is held up by %v; agents 0 and 2 must be named, as agent 1 says", h)
	}
}

// TestKeyThatIsNotPassedOn: a neighbour that does not pass on this agent's key holds it up, and is
// named.
func TestKeyThatIsNotPassedOn(t *testing.T) {
	c := keyConfig(self, nil)
	m, _ := pathAgent(func(own *Config) { c.Log = own.Log; *own = c })
	attached(m, 0, 0, 0)
	deliver(attached(m, 2, 0, 0), keyFrame(c))
	m.watch.Begin(holdup.AwaitingKeys)
	for _, agent := range []int{0, 2} {
		testkit.Get(m.keys.AddKey(agent, decoded(keyFrame(keyConfig(agent, nil))).text))
	}
	if h := m.holdup(); h == nil || h.Agent != 0 || h.Cause != holdup.ByWithholding {
		t.Errorf("held up by %v; it must be agent 0", h)
	}
}

// TestEndIsNotHeldUp: where all have finished, a neighbour that is there and never says that it
// knows so is waited for as long as one that is silent.
func TestEndIsNotHeldUp(t *testing.T) {
	m, _ := pathAgent(inSeconds)
	a, b := attached(m, 0, 0, 0), attached(m, 2, 0, 0)
	m.finish.beginDrain()
	for beat := range 20 {
		if m.finish.drained() || m.err != nil {
			t.Fatalf("the run has ended after %d s, with error %v", beat, m.err)
		}
		deliver(a, alive(2))
		deliver(b, alive(m.finish.lastRadius()))
		m.heartbeat()
	}
	m.heartbeat()
	if !m.finish.drained() || m.err != nil {
		t.Errorf("after PeerTimeout the run has not ended, with error %v", m.err)
	}
}

// TestOffendersDoNotHoldUpTheEnd: where all have finished, a member whose process is at fault again
// and again is not waited for, as the council would leave it out; one that is at fault twice is.
func TestOffendersDoNotHoldUpTheEnd(t *testing.T) {
	m, _ := pathAgent(inSeconds)
	a, b := withCouncil(m, 2)
	m.finish.beginDrain()
	deliver(a, alive(2))
	deliver(b, alive(m.finish.lastRadius()))
	for offences := range 4 {
		m.heartbeat()
		if drained := m.finish.drained(); drained != (offences == 3) || m.err != nil {
			t.Errorf("after %d offences the run has ended: %v, with error %v", offences, drained, m.err)
		}
		a.e.conduct.punish(&offence{errors.New("it floods")})
	}
}

// TestTwoThatContradictInTheEnd: agents 0 and 2 say that they wait for each other. Agent 1, to
// which either has told as much as the other one, leaves it to them to have their edge cut, for
// eight times as long as it waits for one that waits for agent 1 itself, or for nobody.
func TestTwoThatContradictInTheEnd(t *testing.T) {
	waitsFor := func(agent int) []byte {
		r := holdup.Report{Doing: holdup.Ending, Holder: agent, Cause: holdup.ByWithholding}
		return encode(header{kindAlive, 0, 1}, r.Encode())
	}
	for _, c := range []struct {
		name     string
		says     [2]int // for whom agents 0 and 2 wait
		beats    int    // until one of them counts as absent
		agent    int    // which one
		contends int    // for whom it says that it waits, where that one is contradicted; -1: it is not
	}{
		{"each other", [2]int{2, 0}, 8 * 60, 0, 2},
		{"this agent", [2]int{self, 0}, 60, 0, -1},
		{"one for nobody else", [2]int{2, 2}, 60, 2, -1},
	} {
		m, _ := pathAgent(func(c *Config) {
			inSeconds(c)
			c.Matrix = newGraph("complete", 3)
		})
		a, b := withCouncil(m, 3)
		m.finish.beginDrain()
		for beat := range c.beats + 1 {
			var want []int
			if beat == c.beats {
				want = []int{c.agent}
			}
			if down := m.chamber.observe().Down; !slices.Equal(down, want) {
				t.Errorf("%s: after %d s agents %v count as absent; it must be %v", c.name, beat, down, want)
				break
			}
			deliver(a, waitsFor(c.says[0]))
			deliver(b, waitsFor(c.says[1]))
			m.heartbeat()
		}
		if h := m.holdup(); h.Agent != c.agent || h.Beyond != c.contends+1 {
			t.Errorf("%s: held up by %v; it must be agent %d", c.name, h, c.agent)
		}
	}
}

// TestComesAgainAndAgain: a neighbour whose streams end before anything that is due has come counts
// as absent after AbsentAfter, though it is never silent for so long. One of which others say that
// it is silent does not.
func TestComesAgainAndAgain(t *testing.T) {
	m, _ := pathAgent(func(c *Config) {
		inSeconds(c)
		c.Matrix = newGraph("complete", 4)
	})
	a, b := withCouncil(m, 3)
	deliver(b, vectorOfOne(0, 1))
	c := attached(m, 3, 0, 0)
	deliver(c, vectorOfOne(0, 1))
	publish(m, 0)
	for beat := range 61 {
		want := []int(nil)
		if beat == 60 {
			want = []int{0}
		}
		if down := m.chamber.observe().Down; !slices.Equal(down, want) {
			t.Errorf("after %d s agents %v count as absent; it must be %v", beat, down, want)
		}
		a.e.detach(a, errors.New("connection reset"))
		for _, s := range []*session{b, c} {
			deliver(s, reporting(saying(holdup.Exchanging, 0, 0, holdup.BySilence)))
		}
		m.heartbeat()
		a = attached(m, 0, 0, 0)
	}
	m, _ = pathAgent(func(c *Config) {
		inSeconds(c)
		c.Matrix, c.Round = newGraph("complete", 4), 1
	})
	a, b = withCouncil(m, 3)
	c = attached(m, 3, 1, 1)
	c.announced = 0
	publish(m, 1)
	for range 100 {
		for _, s := range []*session{a, b} {
			deliver(s, reporting(saying(holdup.Exchanging, 0, 3, holdup.BySilence)))
		}
		deliver(c, reporting(saying(holdup.Computing, 1, 3, holdup.ByComputing)))
		m.heartbeat()
	}
	if down, h := m.chamber.observe().Down, m.holdup(); len(down) > 0 || h.Agent != 3 || h.Cause != holdup.BySilence {
		t.Errorf("held up by %v, agents %v count as absent; agent 3 is silent by the word of others alone", h, down)
	}
}
