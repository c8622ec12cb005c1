// Command endurance runs the agents of a task as processes of this machine whose messages are late, kills one of them again and again and
// starts it anew, and compares what they find with a run in one process, bit by bit.
//
//	go run ./benchmarks/endurance -agents 64 -graph star -time 10m
//
// It builds the program that it runs. Each message of a connection takes a time of its own, uniform from 0 to -latency, in either
// direction, and keeps its place in the order (delay.go); no bandwidth is taken. After -time nobody is killed any more. The exit code is 1
// if the run has other bits than that of one process, or does not end.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"dsbo"
	"dsbo/command/cluster"
	"dsbo/internal/cli"
	"dsbo/internal/testkit"
)

func main() { os.Exit(cli.Main("endurance", command)) }

// usual are flags of mnist with few exchanges from one checkpoint to the next: an agent that comes back repeats them one after the other,
// each for about half of the latency, while all others wait.
const usual = "-preset=madsbo_tuned -T=5 -N=5 -batch=0 -train=100 -val=100 -K=130 -patience=0 -evaluate=off -eval-every=2 -checkpoint-every=2"

// A trial is one run, and what is done to it.
type trial struct {
	agents, port int
	graph, task  string
	flags        string        // of the task
	last         time.Duration // for which agents are killed
	every        time.Duration // from one kill to the next
	latency      time.Duration // the most that a message takes
	limit        time.Duration // after the kills, for the rest of the run
	seed         uint64        // of what is killed, and of delays
	dir          string

	log   *cli.Progress
	start time.Time
}

func command(ctx context.Context, args []string, stdout, stderr io.Writer) (err error) {
	t := &trial{log: cli.NewProgress(stderr, false)}
	f := cli.NewFlags("endurance", "endurance kills agents of a run whose messages are late, and compares the bits of what is found.", "")
	f.IntVar(&t.agents, "agents", 8, "`number` of agents")
	f.IntVar(&t.port, "port", 24000, "first of the `ports` on this machine that are taken, two for each agent")
	f.StringVar(&t.graph, "graph", "star", "`name` of the graph: a sum takes twice its depth in messages, one after the other")
	f.StringVar(&t.task, "task", "mnist", "`name` of the task")
	f.StringVar(&t.flags, "flags", usual, "`flags` of the task, with blanks between")
	f.DurationVar(&t.last, "time", time.Minute, "`time` for which agents are killed")
	f.DurationVar(&t.every, "every", 10*time.Second, "`time` from one kill to the next")
	f.DurationVar(&t.latency, "latency", 200*time.Millisecond, "the most `time` that a message takes")
	f.DurationVar(&t.limit, "limit", 30*time.Minute, "`time` after the kills within which the run must end")
	f.Uint64Var(&t.seed, "seed", 1, "`seed` of what is killed, and of delays")
	f.StringVar(&t.dir, "out", "", "`folder` for all that the runs leave (default: one that is removed)")
	f.Group("Run", "agents", "graph", "task", "flags", "port", "out")
	f.Group("Faults", "time", "every", "latency", "limit", "seed")
	if err := f.Parse(args, stdout); err != nil {
		return err
	}
	if t.agents < 2 || t.port < 1 || t.port+2*t.agents > 1<<16 || t.every <= 0 || t.latency < 0 {
		return dsbo.Errorf(dsbo.ErrConfig, "-agents must be at least 2, -port leave room for two ports each below 65536, -every be above 0 and -latency not below; they are %d, %d, %v and %v",
			t.agents, t.port, t.every, t.latency)
	}
	return testkit.Try(func() { t.run(ctx, stdout) })
}

// run makes both runs and compares them.
func (t *trial) run(ctx context.Context, stdout io.Writer) {
	if t.dir == "" {
		t.dir = testkit.Get(os.MkdirTemp("", "endurance"))
		defer os.RemoveAll(t.dir)
	}
	testkit.OK(os.MkdirAll(t.dir, 0o755))
	testkit.OK(cli.RunProgram(ctx, exec.CommandContext(ctx, "go", "build", "-o", t.path("dsbo"), "dsbo/cmd/dsbo")))
	args := t.writeCluster()
	t.log.Log("one process")
	testkit.OK(t.dsbo(ctx, append([]string{t.task, "-report=false", "-quiet", "-out=" + t.path("one")}, args...)...))
	testkit.OK(t.dsbo(ctx, "pki", "-cluster="+t.path("cluster.json"), "-out="+t.path("certs")))

	ctx, stop := context.WithCancel(ctx)
	defer stop()
	for i := range t.agents {
		testkit.OK(t.delay(ctx, i))
	}
	found := t.endure(ctx)
	testkit.OK(cli.Table(stdout, t.table(found)))
	testkit.OK(found.wrong)
}

// writeCluster writes the cluster file, whose addresses are those that delay, and returns the flags of the run in one process.
func (t *trial) writeCluster() []string {
	text := testkit.Get(json.MarshalIndent(map[string]any{
		"run": "endurance", "agents": t.agents, "address": fmt.Sprintf("127.0.0.1:{%d+agent}", t.port), "graph": t.graph, "seed": 1,
		"task": t.task, "flags": strings.Fields(t.flags),
	}, "", "  "))
	testkit.OK(os.WriteFile(t.path("cluster.json"), text, 0o644))
	return testkit.Get(cluster.Load(t.path("cluster.json"), nil)).Args("")
}

// address returns where agent i listens.
func (t *trial) address(i int) string { return fmt.Sprintf("127.0.0.1:%d", t.port+t.agents+i) }

// path returns a file or folder of the trial.
func (t *trial) path(name string) string { return filepath.Join(t.dir, name) }

// dsbo runs the program to its end.
func (t *trial) dsbo(ctx context.Context, args ...string) error {
	return cli.RunProgram(ctx, exec.CommandContext(ctx, t.path("dsbo"), args...))
}
