package grpc

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"dsbo"
	"dsbo/network"
)

// TestFailureKeepsItsKind on its way through agents that have nothing to do with it.
func TestFailureKeepsItsKind(t *testing.T) {
	diverged := &dsbo.DivergedError{Agent: 1, Quantity: "y", Value: 1e300}
	for _, c := range []struct{ err, kind error }{
		{diverged, dsbo.ErrDiverged},
		{fmt.Errorf("agent 1: %w", context.Canceled), context.Canceled},
		{&network.SilentError{Last: context.DeadlineExceeded}, network.ErrSilent},
		{errors.New("disk\nfull"), nil},
	} {
		m, _ := pathAgent(nil)
		s := attached(m, 2, 0, 0)
		m.Fail(c.err)
		news, _ := s.e.nextFrame(s)
		for range 2 { // the second hears it from the first
			far, _ := pathAgent(nil)
			from, to := attached(far, 0, 0, 0), attached(far, 2, 0, 0)
			deliver(from, news)
			e, ok := errors.AsType[*network.EndedError](far.err)
			if !ok || e.Number != self || e.Reason != oneLine([]byte(c.err.Error())) || !errors.Is(e, network.ErrEnded) || e.Unwrap() != c.kind {
				t.Errorf("%v arrives as %v of kind %v, but it is of agent %d and of kind %v", c.err, far.err, errors.Unwrap(far.err), self, c.kind)
			}
			news, _ = to.e.nextFrame(to)
		}
	}
	m, _ := pathAgent(nil)
	s := attached(m, 0, 0, 0)
	deliver(s, encode(header{kindFail, 0, maxNumber}, []byte("disk full")))
	if e, ok := errors.AsType[*network.EndedError](m.err); !ok || e.Unwrap() != nil {
		t.Errorf("error %v; it must be the end of agent 0 for a reason of no kind", m.err)
	}
}

// confidential is an error that others may see only a part of.
type confidential struct{}

func (confidential) Error() string { return "line 7: Kowalski is no number" }

func (confidential) Shared() string { return "line 7" }

// TestFailureKeepsValues: what is confidential of an error does not travel.
func TestFailureKeepsValues(t *testing.T) {
	m, _ := pathAgent(nil)
	s := attached(m, 2, 0, 0)
	m.Fail(fmt.Errorf("site 1: %w", confidential{}))
	news, _ := s.e.nextFrame(s)
	if f := decoded(news); string(f.text) != "site 1: line 7" {
		t.Errorf("the neighbour is sent %q; it must be the place alone", f.text)
	}
}
