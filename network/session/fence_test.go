package session

import (
	"errors"
	"testing"

	"dsbo"
)

// TestLaterProcess: of two processes of one agent the later one is connected, and the earlier one
// learns that it must end, however often it tries again.
func TestLaterProcess(t *testing.T) {
	cs := configs(newGraph("path", 2), identities(2))
	cs[0].Instance, cs[1].Instance = 7, 1
	earlier, neighbour := openHost(t, cs[0]), openHost(t, cs[1])
	earlier.conn(t, 1)
	neighbour.conn(t, 0)
	cs[0].Instance, cs[0].Listener = 8, listen()
	later := openHost(t, cs[0])
	c := later.conn(t, 1)
	const text = "agent 0 runs in another process too, which began later and is connected to agent 1"
	earlier.await(t, "detach 1: *session.fencedError: "+text)
	earlier.await(t, "refused 1: settings false: "+text)
	earlier.await(t, "refused 1: settings false: "+text) // it has tried again
	c.send(numbered(3, 1))
	neighbour.await(t, "frame of 0", "exchange 3 ")
	if err := error(&fencedError{}); !errors.Is(err, dsbo.ErrConfig) {
		t.Error("it must match dsbo.ErrConfig, at which no supervisor starts the process again")
	}
}
