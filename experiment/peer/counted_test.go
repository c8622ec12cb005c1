package peer

import (
	"sync"
	"testing"

	"dsbo/experiment/site"
	"dsbo/internal/testkit"
	"dsbo/network/session"
	"dsbo/runs"
)

// A meter counts the vectors that agents send, and the bytes of these.
type meter struct {
	mu             sync.Mutex
	vectors, bytes map[int]int64
}

// A metered sender counts what an agent sends.
type metered struct {
	session.Sender
	*meter
	agent int
}

// Send implements [session.Sender].
func (m metered) Send(frame []byte) error {
	const vector, headerSize = 4, 24 // as package session has them
	if frame[0] == vector && len(frame) > headerSize {
		m.mu.Lock()
		m.vectors[m.agent]++
		m.bytes[m.agent] += int64(len(frame) - headerSize)
		m.mu.Unlock()
	}
	return m.Sender.Send(frame)
}

// TestCountedIsSent: where no connection breaks, an agent's report counts the vectors and the bytes
// that its wires have carried, of a method that averages and of one that mixes, and each row that
// counts has a name.
func TestCountedIsSent(t *testing.T) {
	for _, method := range []string{"newtoncg", "madsbo"} {
		c := changing("-algorithm="+method, "-K=6").few(3, 0, "ring")
		if c.AbsentAfter = 0; method == "madsbo" {
			c.Flags = append(c.Flags, "-alpha=0.1", "-beta=0.1", "-gamma=0.1")
		}
		wires := &meter{vectors: map[int]int64{}, bytes: map[int]int64{}}
		c.script(t, func(w *world) {
			w.wrap = func(from, _ int, s session.Sender) session.Sender { return metered{s, wires, from} }
		}, func(*world) {}, func(w *world, err error) {
			if err != nil {
				t.Fatalf("%s: %v\n%s", method, err, &w.text)
			}
			for i, m := range w.machines {
				sent := testkit.Get(site.OpenTally(runs.Folder(m.dir).Path(runs.SentFile)))
				r := sent.Make(site.Report{}, new(site.Guard))
				if r.All.Vectors != wires.vectors[i] || r.All.Bytes != wires.bytes[i] || r.All.Vectors == 0 {
					t.Errorf("%s: agent %d has counted %+v; its wires carried %d vectors of %d bytes", method, i, r.All,
						wires.vectors[i], wires.bytes[i])
				}
				for _, row := range r.Rows {
					if row.Name == "" || row.Name == site.Unnamed {
						t.Errorf("%s: agent %d has a row without a name: %+v", method, i, row)
					}
				}
			}
		})
	}
}
