package command

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"

	"dsbo/internal/atomicfile"
	"dsbo/internal/cli"
	dsbogrpc "dsbo/network/grpc"
	"dsbo/network/grpc/grpctest"
)

// mischiefVariable holds the mischief of a process that is an agent of a fault test, as JSON.
const mischiefVariable = "DSBO_TEST_MISCHIEF"

// A mischief is what goes wrong with an agent that is a process of its own. It does this to itself, so that the moment
// is the one that is meant.
type mischief struct {
	Heartbeat time.Duration
	Rates     grpctest.Rates // of the frames that it sends
	Seed      uint64

	// When a signal strikes it, once it has sent so many Vectors: at the next line of its log with a text, before the next
	// temporary file gets a name that begins like this, or at once; with none of them never.
	Vectors int64
	Line    string
	File    string
	Signal  unix.Signal // 0: SIGKILL
}

// init makes such a process the command, before it would become a test.
func init() {
	text := os.Getenv(mischiefVariable)
	if text == "" {
		return
	}
	os.Exit(cli.Main("dsbo", func(ctx context.Context, args []string, stdout, stderr io.Writer) error {
		v := victim{log: stderr}
		if err := json.Unmarshal([]byte(text), &v.mischief); err != nil {
			return err
		}
		return v.run(ctx, args, stdout)
	}))
}

// A victim is the process that is struck.
type victim struct {
	mischief
	log  io.Writer
	sent atomic.Int64
	once sync.Once
}

func (v *victim) run(ctx context.Context, args []string, stdout io.Writer) error {
	o, c, err := testProgram.parseAgent(args[1:], stdout) // after the subcommand
	if err != nil {
		return err
	}
	faults := grpctest.New(v.Seed, v.Rates)
	o.adjust = func(c *dsbogrpc.Config) {
		c.Heartbeat = v.Heartbeat
		c.Wrap = func(neighbour int, to dsbogrpc.Sender) dsbogrpc.Sender {
			return faults.Wrap(neighbour, counted{to, v})
		}
	}
	if v.File != "" {
		atomicfile.BeforeRename = func(path string) {
			if v.armed() && strings.HasPrefix(filepath.Base(path), v.File) {
				v.strike()
			}
		}
	}
	return testProgram.runAgent(ctx, o, c, stdout, v)
}

func (v *victim) strike() {
	v.once.Do(func() {
		_ = unix.Kill(unix.Getpid(), cmp.Or(v.Signal, unix.SIGKILL)) // to oneself it cannot fail
	})
}

// armed reports whether it has sent what it is to send before it is struck.
func (v *victim) armed() bool { return v.sent.Load() >= v.Vectors }

// Write writes a line of the log.
func (v *victim) Write(line []byte) (int, error) {
	n, err := v.log.Write(line)
	if v.Line != "" && v.armed() && bytes.Contains(line, []byte(v.Line)) {
		v.strike()
	}
	return n, err
}

// A counted counts the vectors that are sent.
type counted struct {
	dsbogrpc.Sender
	v *victim
}

func (c counted) Send(frame []byte) error {
	const header = 48 // of all frames; those with vectors are longer
	if len(frame) > header && c.v.sent.Add(1) == c.v.Vectors && c.v.Line == "" && c.v.File == "" {
		c.v.strike()
	}
	return c.Sender.Send(frame)
}
