package holdup

import (
	"log/slog"
	"time"
)

// Limits are how long an exchange waits.
type Limits struct {
	Heartbeat   time.Duration
	SilentAfter time.Duration // from when on a neighbour counts as silent, and a wait is logged
	Stalled     time.Duration // the longest wait for an agent that does not compute
	Computing   time.Duration // the longest wait for an agent that says that it computes
	Agents      int           // of the run, so that news which has come by as many goes in a circle
}

// MaxSetbacks is how often neighbours may have this agent go back before it is further than it was.
// Agents whose checkpoints differ meet after a few; an agent that goes on with that keeps all
// others from going on.
const MaxSetbacks = 16

// A Watch follows the exchange under way of one agent. Neither a new connection nor a sign of life
// begins the wait anew: what counts is the exchange.
type Watch struct {
	agent  int          // its number
	limits Limits       // after which somebody holds up the run
	log    *slog.Logger // for who does

	doing   Activity  // of this agent
	since   time.Time // when it began
	stalled int       // heartbeats for which an agent that does not compute has held up the exchange
	waited  int       // heartbeats for which any agent has
	logged  bool      // that it is held up
	reached int       // the largest round so far

	setbacks  int       // how often neighbours had this agent go back since
	setbackBy int       // the last of these
	back      time.Time // when the agent went back last, or began the epoch
}

// NewWatch returns the watch of an agent that computes.
func NewWatch(agent int, l Limits, log *slog.Logger) Watch {
	return Watch{agent: agent, limits: l, log: log, since: time.Now(), back: time.Now()}
}

// Begin notes what the agent does from now on.
func (w *Watch) Begin(a Activity) { w.doing, w.since = a, time.Now() }

// Doing returns what the agent does.
func (w *Watch) Doing() Activity { return w.doing }

// Waiting returns for how long the agent has done that.
func (w *Watch) Waiting() time.Duration { return time.Since(w.since) }

// Logged reports whether the log says that the exchange is held up.
func (w *Watch) Logged() bool { return w.logged }

// Beats returns the time of a number of heartbeats.
func (w *Watch) Beats(n int) time.Duration { return time.Duration(n) * w.limits.Heartbeat }

// Stalled returns for how long an agent that does not compute has held up the exchange.
func (w *Watch) Stalled() time.Duration { return w.Beats(w.stalled) }

// Report returns what the agent says of itself at a round, held up by h if that is not nil.
func (w *Watch) Report(round int, h *Holdup) Report {
	r := Report{Doing: w.doing, Round: round, Holder: w.agent, Cause: ByComputing}
	if w.doing == Saving {
		r.Cause = BySaving
	}
	if h != nil {
		r.Holder, r.Cause, r.Beyond, r.Hops = h.Agent, h.Cause, h.Beyond, h.Hops
	}
	return r
}

// A Neighbour is what is known of a neighbour that the agent waits for.
type Neighbour struct {
	Agent        int
	Silent       bool // there is no connection, or nothing was received for SilentAfter
	Reported     bool // there is a report
	Report       Report
	EarlierEpoch bool // it has yet to begin this agent's epoch
	Staged       bool // in this exchange it waits for others before it sends
}

// Judge returns who holds up the agent, at a round, as far as a neighbour goes. A neighbour that
// waits itself does so in an earlier exchange, before it sends in one with stages, or nearer to
// an agent that has not finished: what it says of another agent is passed on only then, so that
// in a chain of agents which wait nobody is blamed but its end. Where a liar closes a chain to a
// circle, news would go round in it for ever: what has come by as many agents as there are does not
// count. sent reports whether another
// agent is known not to hold up this exchange; a neighbour that says that it waits for that one is
// named with it.
func (w *Watch) Judge(n Neighbour, round int, sent func(agent int) bool) *Holdup {
	r := n.Report
	h := &Holdup{Agent: n.Agent, Source: -1, Cause: ByWithholding}
	behind := r.Round < round || n.Staged && r.Round == round || w.doing == Ending
	works := behind || r.Round == round || n.EarlierEpoch // if it does, on what is due
	switch {
	case n.Silent:
		h.Cause = BySilence
	case !n.Reported:
	case r.Doing == Computing && works:
		h.Cause, h.Source = ByComputing, n.Agent
	case r.Doing == Saving && works:
		h.Cause, h.Source = BySaving, n.Agent
	case r.Doing == Ending && w.doing != Ending, !behind && r.Doing != AwaitingKeys:
	case r.Holder == n.Agent, r.Hops >= w.limits.Agents:
	case !sent(r.Holder):
		h.Agent, h.Cause, h.Source, h.Beyond, h.Hops = r.Holder, r.Cause, n.Agent, r.Beyond, r.Hops+1
	case r.Holder != w.agent: // which one is at fault cannot be told
		h.Beyond = r.Holder + 1
	}
	return h
}

// Complete fills in what all holdups of a round have. It returns h.
func (w *Watch) Complete(h *Holdup, round int) *Holdup {
	if h != nil {
		h.Exchange, h.Waiting = round, w.Waiting()
		h.Computing, h.Reason = h.Cause == ByComputing, h.Cause.String()
	}
	return h
}

// SetBack notes that a neighbour has the agent go back. It returns the time since it began, or went
// back before: all that is done again may have taken as long.
func (w *Watch) SetBack(neighbour int) (lost time.Duration) {
	lost, w.back = time.Since(w.back), time.Now()
	w.setbacks, w.setbackBy = w.setbacks+1, neighbour
	return lost
}

// Setbacks returns the neighbour that has the agent go back again and again; nil if none does.
func (w *Watch) Setbacks() *Holdup {
	if w.setbacks <= MaxSetbacks {
		return nil
	}
	return &Holdup{Agent: w.setbackBy, Source: -1, Exchange: w.reached, Waiting: w.Beats(w.waited),
		Reason: BySetbacks.String(), Cause: BySetbacks}
}

// Advance begins the wait anew, as the exchange before a round has ended.
func (w *Watch) Advance(round int) {
	if round > w.reached {
		w.reached, w.setbacks = round, 0
	}
	if w.setbacks > MaxSetbacks {
		return // whatever comes, it comes to nothing
	}
	if w.logged {
		w.log.Info("the exchange goes on", "exchange", round, "after", w.Waiting().Round(w.limits.Heartbeat))
	}
	w.stalled, w.waited, w.logged = 0, 0, false
}

// BeginEpoch begins an epoch at a round. Where the agent goes back to the beginning of its epoch,
// again, it is no further than it was.
func (w *Watch) BeginEpoch(round int, again bool) {
	if !again {
		w.reached, w.setbacks, w.stalled, w.waited, w.back = round, 0, 0, 0, time.Now()
	}
	w.Begin(Computing)
}

// Beat counts a heartbeat for which h held up the exchange, and says so in the log. It reports
// whether what is due should be asked for again, which is so each time that an agent which does not
// compute has held up the exchange for SilentAfter.
func (w *Watch) Beat(h *Holdup) (again bool) {
	w.waited++
	if !h.Computing {
		w.stalled++
		again = w.Stalled()%w.limits.SilentAfter < w.limits.Heartbeat
	}
	if !h.Computing && w.Stalled() >= w.limits.SilentAfter && !w.logged {
		w.logged = true
		w.log.Warn("an exchange is held up", "exchange", h.Exchange, "by agent", h.Agent,
			"since", h.Waiting.Round(w.limits.Heartbeat), "reason", h.Reason, "says", h.Source)
	}
	return again
}

// Exceeds reports whether the exchange has waited too long for h.
func (w *Watch) Exceeds(h *Holdup) bool {
	longest := w.limits.Stalled
	if h.Source >= 0 && h.Source != h.Agent {
		longest += w.limits.SilentAfter // who says so knows more, and ends the run before with what it knows
	}
	return w.Stalled() >= longest || w.Beats(w.waited) >= w.limits.Computing
}
