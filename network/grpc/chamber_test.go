package grpc

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"dsbo/internal/testkit"
	"dsbo/network/membership/paxos"
)

// TestReadOnce: of a message that was seen, and verified before, a text that comes again is not
// read again. One that was not is, as another text may have had its number.
func TestReadOnce(t *testing.T) {
	c := &chamber{seat: &paxos.Node{Settings: paxos.Settings{Quorum: 2}}}
	message := paxos.Message{Kind: paxos.Report, From: 1, To: paxos.All, ID: 77, Epoch: 1, Down: []int{0}}
	text := message.Encode()
	for range 2 {
		if diff := cmp.Diff(testkit.Get(c.read(text)), message); diff != "" {
			t.Errorf("the message must be read: %s", diff)
		}
	}
	c.seen.add(message.ID, 0)
	if diff := cmp.Diff(testkit.Get(c.read(text)), paxos.Message{ID: 77}); diff != "" {
		t.Errorf("its number must be known: %s", diff)
	}
	if _, err := c.read(text[1:]); err == nil {
		t.Error("a text that cannot be read must be refused")
	}
	for k := range uint64(mostRecent) { // the number is forgotten, and the text is not
		c.seen.add(1000+k, 0)
	}
	if diff := cmp.Diff(testkit.Get(c.read(text)), message); diff != "" {
		t.Errorf("a message that is no longer known to be seen must be read: %s", diff)
	}
}
