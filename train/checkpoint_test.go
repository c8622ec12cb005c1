package train

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"math"
	"os"
	"strconv"
	"strings"
	"testing"

	"dsbo"
	"dsbo/algo"
	"dsbo/internal/files"
	"dsbo/internal/linalg"
	"dsbo/internal/testkit"
	"dsbo/network"
	"dsbo/runs"
)

func sample() *checkpoint {
	c := &checkpoint{checkpointHead: checkpointHead{Config: []byte(`{"a":1}`), Iteration: 7,
		Usage: make([]runs.Usage, 2)}}
	c.add(0, []dsbo.Named{{Name: "x", Value: []float64{1, math.Copysign(0, -1), math.SmallestNonzeroFloat64}},
		{Name: "y", Value: nil}})
	c.add(1, []dsbo.Named{{Name: "x", Value: make([]float64, 5000)}})
	return c
}

func TestCheckpointRoundTrip(t *testing.T) {
	c := sample()
	c.Arrays[2].values[4999] = math.Pi
	var b bytes.Buffer
	testkit.OK(c.writeTo(&b))
	got := testkit.Get(parseCheckpoint(b.Bytes()))
	x, y := make([]float64, 3), []float64{}
	testkit.OK(got.restore(0, []dsbo.Named{{Name: "x", Value: x}, {Name: "y", Value: y}}))
	for i, v := range c.Arrays[0].values {
		if math.Float64bits(x[i]) != math.Float64bits(v) {
			t.Errorf("x[%d] = %v, want %v", i, x[i], v)
		}
	}
	if got.Iteration != 7 || got.Arrays[2].values[4999] != math.Pi {
		t.Errorf("got iteration %d and %v", got.Iteration, got.Arrays[2].values[4999])
	}
	for name, s := range map[string][]dsbo.Named{
		"another name":   {{Name: "z", Value: make([]float64, 3)}},
		"another length": {{Name: "x", Value: make([]float64, 4)}},
		"one too many":   {{Name: "x", Value: x}, {Name: "y", Value: y}, {Name: "x", Value: x}},
	} {
		if err := got.restore(0, s); !errors.Is(err, errCorrupt) {
			t.Errorf("%s: %v, want that it is refused", name, err)
		}
	}
	last := []dsbo.Named{{Name: "x", Value: make([]float64, 5000)}, {Name: "y", Value: x}}
	if err := got.restore(1, last); !errors.Is(err, errCorrupt) || !strings.Contains(err.Error(), "agent 1 lacks y") {
		t.Errorf("an array after the last one: %v, want that it is refused", err)
	}
	if err := got.restore(2, []dsbo.Named{{Name: "x", Value: x}}); !errors.Is(err, errCorrupt) {
		t.Errorf("an agent too many: %v", err)
	}
}

// TestCheckpointsGone: a checkpoint that an active run removes as old, after it was listed, is left
// out; and the digest of a point is of all scales, "" without.
func TestCheckpointsGone(t *testing.T) {
	f, seen := runs.Folder(t.TempDir()), 0
	for k := range 2 {
		testkit.OK(files.Write(f.CheckpointPath(nil, k), sample().writeTo))
	}
	for _, err := range checkpoints(f, nil) {
		testkit.OK(errors.Join(err, os.Remove(f.CheckpointPath(nil, 0))))
		seen++
	}
	digests := map[string]bool{sample().point().Digest: true}
	for _, scales := range [][2]float64{{1, 2}, {1, 3}, {2, 2}} {
		c := sample()
		c.add(scaleArrays, []dsbo.Named{{Name: "method", Value: scales[:1]}, {Name: "evaluation", Value: scales[1:]}})
		digests[c.point().Digest] = true
	}
	if seen != 1 || len(digests) != 4 || !digests[""] {
		t.Errorf("%d checkpoints; digests %v", seen, digests)
	}
}

// seal makes the file of a head and what follows it.
func seal(head string, rest []byte) []byte {
	b := append([]byte(checkpointMagic), byte(len(head)), byte(len(head)>>8), 0, 0, 0, 0, 0, 0)
	b = append(append(b, head...), rest...)
	sum := sha256.Sum256(b)
	return append(b, sum[:]...)
}

// TestCheckpointErrors: files that a program, not the disk, has spoilt.
func TestCheckpointErrors(t *testing.T) {
	for _, c := range []struct{ want, head, rest string }{
		{"its head", `{`, ""},
		{"0 agents", `{"format":8,"alike":true}`, ""},
		{"iteration -1", `{"format":8,"iteration":-1}`, ""},
		{"bytes are left", `{"format":8,"arrays":[{"name":"x","len":2}]}`, "12345678"},
		{"bytes are left", `{"format":8,"arrays":[{"name":"x","len":-2}]}`, "12345678"},
		{"bytes are left", `{"format":8,"arrays":[{"name":"x","len":4611686018427387904}]}`, "12345678"},
		{"8 bytes too many", `{"format":8,"arrays":[]}`, "12345678"},
	} {
		_, err := parseCheckpoint(seal(c.head, []byte(c.rest)))
		if !errors.Is(err, errCorrupt) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.head, err, c.want)
		}
	}
	_, err := parseCheckpoint(seal(`{"format":1}`, nil))
	if !errors.Is(err, dsbo.ErrConfig) || !strings.Contains(err.Error(), "format 8; it has 1") ||
		!strings.Contains(err.Error(), "-force") {
		t.Errorf("a checkpoint of another version: %v, want what the user can do", err)
	}
	long := seal(`{"format":8}`, nil)
	long[len(checkpointMagic)] = 200
	sum := sha256.Sum256(long[:len(long)-32])
	copy(long[len(long)-32:], sum[:])
	if err := new(runner).restore(sample()); !errors.Is(err, errCorrupt) {
		t.Errorf("without scales: %v", err)
	}
	if _, err := parseCheckpoint(long); err == nil || !strings.Contains(err.Error(), "a head of 200 bytes") {
		t.Errorf("%v, want that the head is too long", err)
	}
}

// FuzzParseCheckpoint wants -fuzzminimizetime=10x: a new input is made shorter for a minute
// otherwise, in which no other one is tried.
func FuzzParseCheckpoint(f *testing.F) {
	var b bytes.Buffer
	testkit.OK(sample().writeTo(&b))
	f.Add(b.Bytes())
	f.Add(seal(`{"format":8,"arrays":[{"name":"x","len":2}]}`, make([]byte, 16)))
	f.Add(seal(`{"format":8,"arrays":[{"name":"x","len":-1}]}`, nil))
	f.Add([]byte(checkpointMagic))
	f.Fuzz(func(t *testing.T, data []byte) {
		// The hash would keep all but whole files from what comes after it: it is made right here.
		if n := len(data) - sha256.Size; n > 0 {
			sum := sha256.Sum256(data[:n])
			copy(data[n:], sum[:])
		}
		c, err := parseCheckpoint(data)
		if err != nil {
			return
		}
		var again bytes.Buffer
		if err := c.writeTo(&again); err != nil {
			t.Fatalf("what was read cannot be written: %v", err)
		}
		if _, err := parseCheckpoint(again.Bytes()); err != nil {
			t.Fatalf("what was written cannot be read: %v", err)
		}
	})
}

// TestIdentityOfArithmetic: a checkpoint belongs to the kernels and the machine that computed it,
// by the digest of what they compute.
func TestIdentityOfArithmetic(t *testing.T) {
	c := Config{Method: testkit.Get(algo.New("dsoba"))}
	c.W = testkit.Get(network.Ring(3, 0.5)).W
	identity := string(testkit.Get(c.identity(0)))
	if digest := strconv.Quote(linalg.ArithmeticDigest()); !strings.Contains(identity, `"arithmetic":`+digest) {
		t.Errorf("the identity is %s; it must have the digest %s", identity, digest)
	}
}
