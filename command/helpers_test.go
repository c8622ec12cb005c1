package command

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"dsbo/experiment"
	"dsbo/experiment/experimenttest"
	"dsbo/experiment/site"
	"dsbo/experiment/tasks"
	"dsbo/internal/cli"
	"dsbo/internal/testkit"
	"dsbo/runs"
)

// small are flags of a run of the synthetic task that takes a moment: so few examples want a
// penalty, the best constant is near 0, and two numbers take few exchanges.
var small = strings.Fields("-p=2 -train=4 -val=6 -test=20 -K=4")

// skipShort skips a test that takes long where tests are to be short, or runs it beside others.
func skipShort(t *testing.T, why string) {
	t.Helper()
	testkit.Long(t, why)
	t.Parallel()
}

// wantError checks that an error has the exit code, and shows the text to the user.
func wantError(t *testing.T, err error, code int, text string) {
	t.Helper()
	if cli.Code(err) != code || err == nil || !strings.Contains(cli.OneLine(err), text) {
		t.Errorf("error %v with exit code %d, want %q with %d", err, cli.Code(err), text, code)
	}
}

// command runs a command line and returns what it wrote to stdout.
func command(t *testing.T, args ...string) (string, error) {
	t.Helper()
	var stdout bytes.Buffer
	err := run(t.Context(), args, &stdout, io.Discard)
	return stdout.String(), err
}

// runCommand is command for one that has no error.
func runCommand(t *testing.T, args ...string) string {
	t.Helper()
	return testkit.Get(command(t, args...))
}

// stoppedAt runs a command line, interrupts it at the first line of its stderr with a text, and
// returns its error.
func stoppedAt(t *testing.T, text string, args ...string) error {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	return run(ctx, args, io.Discard, lineWriter(func(line string) {
		if strings.Contains(line, text) {
			stop()
		}
	}))
}

// A lineWriter is called with what is written.
type lineWriter func(line string)

func (w lineWriter) Write(p []byte) (int, error) {
	w(string(p))
	return len(p), nil
}

func wantState(t *testing.T, out string, want runs.State) {
	t.Helper()
	if state, err := runs.Folder(out).State(); state != want || err != nil {
		t.Errorf("state %q, %v, want %q", state, err, want)
	}
}

var ports atomic.Int64

// addresses returns loopback addresses for n agents. On Linux, where all of 127.0.0.0/8 is
// loopback, only this process uses their host, so that nobody takes the port of an agent that
// is down.
func addresses(n int) (all []string) {
	host, pid := "127.0.0.1", os.Getpid()
	if runtime.GOOS == "linux" {
		host = fmt.Sprintf("127.%d.%d.%d", 64+pid>>16&63, pid>>8&255, pid&255)
	}
	for range n {
		all = append(all, fmt.Sprintf("%s:%d", host, 17000+ports.Add(1)))
	}
	return all
}

// writeCluster writes a cluster file of n agents on this machine.
func writeCluster(t *testing.T, dir string, n int, more map[string]any) string {
	t.Helper()
	file := map[string]any{"run": "small", "agents": addresses(n), "task": "synthetic", "flags": small}
	for k, v := range more {
		file[k] = v
	}
	path := filepath.Join(dir, "c.json")
	testkit.OK(os.WriteFile(path, testkit.Get(json.Marshal(file)), 0o644))
	return path
}

// writeCertified writes a cluster file and the certificates of its agents, and returns their paths
// and the folder for the run.
func writeCertified(t *testing.T, dir string, n int, more map[string]any) (file, certs, out string) {
	t.Helper()
	file, certs = writeCluster(t, dir, n, more), filepath.Join(dir, "certs")
	runCommand(t, "pki", "-cluster="+file, "-out="+certs)
	return file, certs, filepath.Join(dir, "out")
}

// alone runs the same task in this process alone and returns its folder.
func alone(t *testing.T, dir string, flags ...string) string {
	t.Helper()
	return aloneOf(t, tasks.Synthetic(), dir, append(append([]string{"-r=1"}, small...), flags...)...)
}

// aloneOf runs a task in this process alone and returns its folder.
func aloneOf(t *testing.T, task experiment.Task, dir string, flags ...string) string {
	t.Helper()
	out := filepath.Join(dir, "alone")
	testkit.OK(experiment.Run(t.Context(), task, append([]string{"-quiet", "-report=false", "-out=" + out}, flags...),
		io.Discard, io.Discard))
	return out
}

// agents runs n agents, each as the command would but without its page, which takes most of
// the time.
func agents(t *testing.T, n int, args ...string) {
	t.Helper()
	atOnce(t, n, withoutPage, func(i int) []string {
		return append([]string{"agent", fmt.Sprintf("-agent=%d", i)}, args...)
	})
}

// callOf returns a call of a verb, whose output is dropped.
func callOf(p *program, verb string, args []string) *call {
	return (&call{stdout: io.Discard}).under(p, verb, args)
}

// agentLine reads the command line of an agent, by its verb or as a site by the verb of its task.
func agentLine(args []string) (p *program, o agentOptions, c *site.Cluster, err error) {
	p = testProgram()
	task := verbAgent
	if args[0] != task.Name {
		task = testkit.Get(p.findTask("TASK", args[0]))
	}
	o, c, err = p.parseAgent(task, callOf(p, task.Name, args[1:]))
	return p, o, c, err
}

// changedAgent returns the command of an agent whose options are changed.
func changedAgent(change func(*agentOptions)) experimenttest.Command {
	return func(ctx context.Context, args []string, stdout, stderr io.Writer) error {
		p, o, c, err := agentLine(args)
		if err != nil {
			return err
		}
		change(&o)
		return p.startAgent(ctx, o, c, stdout, stderr)
	}
}

// withoutPage is the command of an agent that writes no page, which takes most of the time.
var withoutPage = changedAgent(omitPage)

func omitPage(o *agentOptions) { o.own = append(o.own, "-report=false") }

// atOnce runs n command lines, each of an agent, at the same time, and returns what they wrote to
// stdout and stderr.
func atOnce(t *testing.T, n int, command experimenttest.Command, args func(i int) []string) (stdout, stderr []string) {
	t.Helper()
	outs, errs, failed := make([]bytes.Buffer, n), make([]bytes.Buffer, n), make([]error, n)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() {
			if failed[i] = command(ctx, args(i), &outs[i], &errs[i]); failed[i] != nil {
				cancel() // the others would wait for it
			}
		})
	}
	wg.Wait()
	for i := range n {
		if failed[i] != nil && !errors.Is(failed[i], context.Canceled) {
			t.Fatalf("agent %d: %v\n%s", i, failed[i], errs[i].String())
		}
		stdout, stderr = append(stdout, outs[i].String()), append(stderr, errs[i].String())
	}
	return stdout, stderr
}

// runSites runs the agents of a cluster file of tune, each with the table of its number.
func runSites(t *testing.T, n int, file, certs, out, table string) {
	t.Helper()
	atOnce(t, n, withoutPage, func(i int) []string {
		return []string{"tune", "-certs=" + certs, "-cluster=" + file, "-out=" + out, fmt.Sprintf("-agent=%d", i),
			"-data=" + fmt.Sprintf(table, i)}
	})
}

// same checks that each agent's metrics, λ and model are the same as of a run in one process.
func same(t *testing.T, out, want string, n int) {
	t.Helper()
	for i := range n {
		experimenttest.SameRun(t, filepath.Join(out, fmt.Sprintf("agent-%d", i)), want)
	}
}

// edit replaces the first occurrence of a text in a file.
func edit(t *testing.T, path, old, new string) {
	t.Helper()
	data := testkit.Get(os.ReadFile(path))
	if !bytes.Contains(data, []byte(old)) {
		t.Fatalf("%s has no %q", path, old)
	}
	data = bytes.Replace(data, []byte(old), []byte(new), 1)
	folder := runs.Folder(filepath.Dir(path))
	if testkit.Get(folder.Has(runs.SumsFile)) { // else the file would be taken for a damaged one
		testkit.OK(folder.WriteFile(filepath.Base(path), data))
		return
	}
	testkit.OK(os.WriteFile(path, data, 0o644))
}
