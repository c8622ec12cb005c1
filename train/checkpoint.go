package train

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"

	"dsbo"
	"dsbo/internal/files"
	"dsbo/internal/linalg"
	"dsbo/internal/wording"
	"dsbo/runs"
)

// A checkpoint file is
//
//	8 bytes    "DSBOCKPT"
//	8 bytes    length of the next part, little-endian
//	           JSON: checkpointHead
//	           the arrays that Arrays lists, in order, float64, little-endian
//	32 bytes   SHA-256 of all before
type checkpoint struct {
	checkpointHead
	path string // of the file that was read
}

type checkpointHead struct {
	Format int             `json:"format"`         // of the file
	Config json.RawMessage `json:"config"`         // all settings on which the results depend
	Epoch  int             `json:"epoch,omitzero"` // whose members it is of
	// the session that began that epoch or, in a handover, the one in which it is kept
	Session       uint64       `json:"session,omitzero"`
	Iteration     int          `json:"iteration"`      // iterations done
	Evaluated     int          `json:"evaluated"`      // the iteration of the last evaluation; -1: none
	Seconds       float64      `json:"seconds"`        // wall time in iterations
	MetricsBytes  int64        `json:"metrics_bytes"`  // length of metrics.jsonl up to this checkpoint
	MetricsSHA256 []byte       `json:"metrics_sha256"` // of these bytes
	Evaluation    dsbo.Traffic `json:"evaluation"`     // all agents' traffic of evaluations
	Agents        []int        `json:"agents"`         // the agents of the process, by their numbers in the roster
	Usage         []runs.Usage `json:"usage"`          // usage of each of them
	Alike         bool         `json:"alike"`          // all have the first one's state, which alone is here
	Start         Start        `json:"start"`          // how the run began
	// a handover to a joining agent
	Handover bool `json:"handover,omitzero"`
	// the epoch in which that agent joins, and at which the checkpoint then is
	EntryEpoch int     `json:"enters,omitzero"`
	Arrays     []array `json:"arrays"` // in the order of the file
}

// An array is a part of a state.
type array struct {
	Agent  int    `json:"agent"` // or evaluationArrays
	Name   string `json:"name"`
	Len    int    `json:"len"`
	values []float64
}

// The agents of arrays that are no agent's: of the evaluation's state, of the pairs of its exact
// solver, which are left out where the method's pairs will take their place, and of the checkpoint
// of a run that is over, and of the scales of averages, the method's and the evaluation's.
const (
	evaluationArrays = -1
	pairArrays       = -2
	scaleArrays      = -3
)

const (
	checkpointMagic  = "DSBOCKPT"
	checkpointFormat = 8
	checkpointPrefix = len(checkpointMagic) + 8
)

// errCorrupt is the kind of error of a file that is no checkpoint, or a damaged one.
var errCorrupt = errors.New("corrupt checkpoint")

// corruptError returns an error that matches errCorrupt.
func corruptError(format string, args ...any) error {
	return fmt.Errorf("%w: %s", errCorrupt, fmt.Sprintf(format, args...))
}

// add appends the state of one agent, as views that writeTo reads.
func (c *checkpoint) add(agent int, state []dsbo.Named) {
	for _, s := range state {
		c.Arrays = append(c.Arrays, array{agent, s.Name, len(s.Value), s.Value})
	}
}

// remove removes the arrays of an agent, and reports whether there were any.
func (c *checkpoint) remove(agent int) bool {
	before := len(c.Arrays)
	c.Arrays = slices.DeleteFunc(c.Arrays, func(a array) bool { return a.Agent == agent })
	return len(c.Arrays) < before
}

// restore copies the values of one agent into its state. Names and lengths must be the same as of
// the state.
func (c *checkpoint) restore(agent int, state []dsbo.Named) error {
	if agent >= 0 && c.Alike {
		agent = c.Agents[0]
	}
	saved := c.arraysAfter(agent, 0)
	for j, s := range state {
		if j >= len(saved) || saved[j].Name != s.Name || len(saved[j].Value) != len(s.Value) {
			return corruptError("the state of agent %d lacks %s of %d numbers", agent, s.Name, len(s.Value))
		}
	}
	for j, s := range state {
		copy(s.Value, saved[j].Value)
	}
	return nil
}

// arraysAfter returns the arrays of an agent, in order, without the first ones; first is the number
// of arrays of its method's state, which the caller restores separately. If only the first agent's
// state is saved, because all are alike, other agents have no such arrays, and nothing is skipped.
func (c *checkpoint) arraysAfter(agent, first int) (rest []dsbo.Named) {
	if agent >= 0 && c.Alike && agent != c.Agents[0] {
		first = 0
	}
	for _, a := range c.Arrays {
		if a.Agent != agent {
			continue
		}
		if first--; first < 0 {
			rest = append(rest, dsbo.Named{Name: a.Name, Value: a.values})
		}
	}
	return rest
}

// writeTo writes the file.
func (c *checkpoint) writeTo(w io.Writer) error {
	c.Format = checkpointFormat
	head, err := json.Marshal(c.checkpointHead)
	if err != nil {
		return err
	}
	sum := sha256.New()
	out := io.MultiWriter(w, sum)
	start := binary.LittleEndian.AppendUint64([]byte(checkpointMagic), uint64(len(head)))
	for _, part := range [][]byte{start, head} {
		if _, err := out.Write(part); err != nil {
			return err
		}
	}
	for _, a := range c.Arrays {
		if err := linalg.Write(out, a.values); err != nil {
			return err
		}
	}
	_, err = w.Write(sum.Sum(nil))
	return err
}

// parseCheckpoint parses a file. Errors match errCorrupt, or, for another version's format,
// dsbo.ErrConfig. The SHA-256 is checked first; lengths are checked nevertheless, before memory is
// taken.
func parseCheckpoint(data []byte) (*checkpoint, error) {
	if len(data) < checkpointPrefix+sha256.Size || string(data[:len(checkpointMagic)]) != checkpointMagic {
		return nil, corruptError("it does not begin as one, or is cut off")
	}
	body, want := data[:len(data)-sha256.Size], data[len(data)-sha256.Size:]
	if sum := sha256.Sum256(body); !bytes.Equal(sum[:], want) {
		return nil, corruptError("its SHA-256 is not the one it ends with")
	}
	n := binary.LittleEndian.Uint64(body[len(checkpointMagic):])
	rest := body[checkpointPrefix:]
	if n > uint64(len(rest)) {
		return nil, corruptError("a head of %d bytes in %d", n, len(rest))
	}
	var c checkpoint
	if err := json.Unmarshal(rest[:n], &c.checkpointHead); err != nil {
		return nil, corruptError("its head: %v", err)
	}
	if c.Format != checkpointFormat {
		return nil, dsbo.ConfigErrorf(
			"the checkpoint must have format %d; it has %d, that of another version of the program: "+
				"that version can resume the run, or -force begins it anew", checkpointFormat, c.Format)
	}
	if c.Iteration < 0 || c.MetricsBytes < 0 || c.Alike && len(c.Agents) == 0 {
		return nil, corruptError("iteration %d, %d bytes of metrics, %s", c.Iteration, c.MetricsBytes,
			wording.Count(len(c.Agents), "agent"))
	}
	return &c, c.parseValues(rest[n:])
}

// parseValues reads the arrays that c.Arrays lists from the rest of a file. A length is checked
// against what is left before memory is taken for it.
func (c *checkpoint) parseValues(data []byte) error {
	for i, a := range c.Arrays {
		if a.Len < 0 || a.Len > len(data)/8 {
			return corruptError("%s of agent %d has %d numbers, %d bytes are left", a.Name, a.Agent, a.Len, len(data))
		}
		v := make([]float64, a.Len)
		n, _ := binary.Decode(data, binary.LittleEndian, v) // which there is enough of
		c.Arrays[i].values, data = v, data[n:]
	}
	if len(data) != 0 {
		return corruptError("%d bytes too many", len(data))
	}
	return nil
}

// readCheckpoint reads a checkpoint. Its errors name the file.
func readCheckpoint(path string) (*checkpoint, error) {
	data, err := files.ReadFile(path)
	if err != nil {
		return nil, err
	}
	c, err := parseCheckpoint(data)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	c.path = path
	return c, nil
}
