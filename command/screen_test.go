package command

import (
	"bytes"
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"log/slog"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"dsbo/experiment"
	"dsbo/experiment/site"
	"dsbo/internal/testkit"
	"dsbo/internal/wording"
	"dsbo/network/pki"
	"dsbo/runs"
)

// Progress is a line when a phase begins and then one now and then; the monitor knows more.
func TestScreen(t *testing.T) {
	var out bytes.Buffer
	m := newMonitor("r", 3)
	file := filepath.Join(t.TempDir(), "log")
	s := testkit.Get(newScreen(
		agentOptions{options: options{log: "text"}, agent: 3, logFile: file, progress: 10 * time.Second}, m, &out))
	clock := time.UnixMilli(1_700_000_000_000)
	s.now = func() time.Time { return clock }
	for k := range 61 {
		s.Show(experiment.Progress{Phase: "iteration", Done: k, Total: 60, Share: float64(k) / 60,
			Remaining: time.Duration(60-k) * time.Second})
		clock = clock.Add(time.Second)
	}
	s.Saved(60)
	s.Log("iteration %d", 60)
	s.Log("warning: beta is %g", 2.5)
	s.Stop()
	text := out.String()
	if n := strings.Count(text, "msg=progress agent=3 phase=iteration done="); n != 7 ||
		!strings.Contains(text, "done=30 of=60 percent=50 left=30s\n") {
		t.Errorf("%d lines of progress in\n%s", n, text)
	}
	for _, want := range []string{`level=INFO msg="iteration 60" agent=3`, `level=WARN msg="beta is 2.5" agent=3`} {
		if !strings.Contains(text, want+"\n") {
			t.Errorf("no %s in\n%s", want, text)
		}
	}
	testkit.OK(s.close(errors.New("disk\nfull")))
	data := testkit.Get(os.ReadFile(file))
	for _, want := range []string{`"level":"INFO","msg":"iteration 60","agent":3}`,
		`"level":"ERROR","msg":"disk full","agent":3}`} {
		if !bytes.Contains(data, []byte(want+"\n")) {
			t.Errorf("the log file has no %s:\n%s", want, data)
		}
	}
	if m.Done != 60 || m.Total != 60 || m.saved != 60 || !m.savedAt.Equal(clock) {
		t.Errorf("the monitor knows %d of %d, checkpoint %d at %v", m.Done, m.Total, m.saved, m.savedAt)
	}
}

// TestOthersTextOnTheScreen: what others have sent moves no terminal: the exchange's log gives
// people a line without it, and the error with which an agent ends too.
func TestOthersTextOnTheScreen(t *testing.T) {
	const sent = "disk full\x1b[2J\u202e"
	for _, form := range []string{"plain", "text", "json"} {
		var out bytes.Buffer
		s := testkit.Get(newScreen(agentOptions{options: options{log: form}}, newMonitor("r", 0), &out))
		pki.LimitLog(s.log).Warn("a member has failed", "reason", errors.New(sent))
		testkit.OK(s.close(nil))
		if text := strings.ReplaceAll(out.String(), "\n", " "); !wording.Printable(text) ||
			!strings.Contains(text, "disk full") {
			t.Errorf("-log %s: %q", form, text)
		}
	}
}

func TestQuietScreen(t *testing.T) {
	var out bytes.Buffer
	s := testkit.Get(newScreen(
		agentOptions{options: options{log: "json", quiet: true}, agent: 3, progress: time.Nanosecond},
		newMonitor("r", 3), &out))
	s.Show(experiment.Progress{Phase: "iteration", Done: 1, Total: 2})
	s.Log("iteration 1")
	s.Log("warning: beta")
	s.Stop()
	if text := out.String(); strings.Count(text, "\n") != 1 ||
		!strings.Contains(text, `"level":"WARN","msg":"beta","agent":3}`) {
		t.Errorf("%s", text)
	}
}

// Numbers are fields for programs, and in a sentence for people; those that are not known
// are neither.
func TestNumbers(t *testing.T) {
	record := runs.Record{Iteration: 4, Phi: 0.25, TrainLoss: 0.5}
	for _, n := range []*runs.Number{&record.GradNorm, &record.ValLoss, &record.HoldoutLoss, &record.TestLoss,
		&record.TestAccuracy, &record.MsPerIteration} {
		*n = runs.Unknown()
	}
	note := experiment.Note{Text: "model of λ = 0: Φ 0.5", Name: "model",
		Facts: []any{"model", "λ = 0", "phi", runs.Number(0.5), "test_loss", runs.Unknown()}}
	const fields = `"msg":"record","agent":0,"iteration":4,"phi":0.25,"train_loss":0.5,"seconds":0}`
	const model = `"msg":"model","agent":0,"model":"λ = 0","phi":0.5}`
	for form, want := range map[string][]string{
		"plain": {"agent 0: head\nagent 0: iteration 4  0.25\nagent 0: model of λ = 0: Φ 0.5\n"},
		"text": {"msg=record agent=0 iteration=4 phi=0.25 train_loss=0.5 seconds=0\n",
			"msg=model agent=0 model=\"λ = 0\" phi=0.5\n"},
		"json": {fields + "\n", model + "\n"},
	} {
		var out bytes.Buffer
		m, file := newMonitor("r", 0), filepath.Join(t.TempDir(), "log")
		s := testkit.Get(newScreen(agentOptions{options: options{log: form}, logFile: file}, m, &out))
		s.Record(record, []string{"head", "iteration 4  0.25"})
		s.Note(note)
		testkit.OK(s.close(nil))
		for _, w := range want {
			if !strings.Contains(out.String(), w) {
				t.Errorf("%s: no %q in\n%s", form, w, out.String())
			}
		}
		if text := string(testkit.Get(os.ReadFile(file))); !strings.Contains(text, fields) ||
			!strings.Contains(text, model) {
			t.Errorf("%s: the log file has\n%s", form, text)
		}
		if m.record == nil || m.record.Phi != 0.25 {
			t.Errorf("%s: the monitor has %v", form, m.record)
		}
	}
}

// Under the verb run, agent 0 alone shows what all agents log alike; each shows what is
// about itself.
func TestCommonLines(t *testing.T) {
	for agent, want := range []string{
		"agent 0: iteration 4\nagent 0: warning: beta is large\nagent 0: warning: a neighbour is silent, neighbour " +
			"2, silent 6s\n",
		"agent 1: warning: a neighbour is silent, neighbour 2, silent 6s\n",
	} {
		var out bytes.Buffer
		s := testkit.Get(newScreen(agentOptions{options: options{log: "plain", quiet: agent > 0}, agent: agent,
			attached: true}, newMonitor("r", agent), &out))
		s.Log("iteration %d", 4)
		s.Log("warning: beta is large")
		s.log.Warn("a neighbour is silent", "neighbour", 2, "silent", 6*time.Second)
		if out.String() != want {
			t.Errorf("%s\nwant\n%s", out.String(), want)
		}
	}
}

// TestLogKeys: the names of the fields of log lines are plain, none is one of slog's own, and JSON
// has durations in seconds.
func TestLogKeys(t *testing.T) {
	plain, calls := regexp.MustCompile(`^"[a-z][a-z0-9_]*"$`), 0
	for _, dir := range []string{".", "../network/session", "../network/relay", "../experiment", "../network/pki"} {
		for _, path := range testkit.Get(filepath.Glob(filepath.Join(dir, "*.go"))) {
			file := testkit.Get(parser.ParseFile(token.NewFileSet(), path, nil, 0))
			ast.Inspect(file, func(n ast.Node) bool {
				call, ok := n.(*ast.CallExpr)
				if !ok || strings.HasSuffix(path, "_test.go") {
					return true
				}
				f, ok := call.Fun.(*ast.SelectorExpr)
				if !ok || !slices.Contains([]string{"Info", "Warn", "Error", "Debug"}, f.Sel.Name) {
					return true
				}
				if of, ok := f.X.(*ast.Ident); ok && (of.Name == "http" || of.Name == "status") {
					return true // no log
				}
				for i := 1; i < len(call.Args); i += 2 {
					key, ok := call.Args[i].(*ast.BasicLit)
					calls++
					if ok && (!plain.MatchString(key.Value) ||
						slices.Contains([]string{`"time"`, `"level"`, `"msg"`, `"event"`}, key.Value)) {
						t.Errorf("%s: a field has the name %s", path, key.Value)
					}
				}
				return true
			})
		}
	}
	if calls < 20 {
		t.Errorf("%d fields are found", calls)
	}
	var out bytes.Buffer
	slog.New(logHandler("json", &out, slog.LevelInfo)).Info("a neighbour is silent", "silent", 1500*time.Millisecond)
	if !strings.Contains(out.String(), `"silent_seconds":1.5}`) {
		t.Error(out.String())
	}
}

// TestTimesFit: silence ends before an agent is absent and before its peers give it up, and what
// they allow it to compute is twice the time after which it is absent.
func TestTimesFit(t *testing.T) {
	const s, m = time.Second, time.Minute
	for _, c := range []struct {
		silent, peer, compute, straggler, absent time.Duration
		quorum                                   int
		want                                     string
	}{
		{10 * s, m, 20 * m, 0, 10 * m, 3, ""},
		{10 * s, m, 20*m - 1, 0, 10 * m, 3, `-compute-timeout must be at least twice "absent_after", 10m0s; it is`},
		{10 * s, m, m, 0, 0, 0, ""},
		{10 * s, m, m - 1, 0, 0, 0, "-compute-timeout must be at least -peer-timeout, 1m0s"},
		{10 * s, 10 * s, m, 0, 0, 0, ""},
		{10 * s, 10*s - 1, m, 0, 0, 0, "-peer-timeout must be at least -silent-after, 10s"},
		{s / 10, m, m, 0, 0, 0, ""},
		{s/10 - 1, m, m, 0, 0, 0, "-silent-after must be at least 100ms"},
		{10 * s, m, m, 0, 10*s + 1, 3, ""},
		{10 * s, m, m, 0, 10 * s, 3, `"absent_after" must be longer than -silent-after, 10s`},
		{10 * s, m, m, m, 0, 0, `-straggler-deadline needs a "quorum"`},
		{10 * s, m, m, m, 20 * s, 3, ""},
		{10 * s, m, m, m + 1, 20 * s, 3, "-straggler-deadline must be longer than -silent-after, 10s, and at most"},
		{10 * s, m, m, 10 * s, 20 * s, 3, "-straggler-deadline must be longer than -silent-after"},
	} {
		o := &options{silentAfter: c.silent, peerTimeout: c.peer, computeTimeout: c.compute, straggler: c.straggler,
			log: "text"}
		err := o.validate(&site.Cluster{Quorum: c.quorum, AbsentAfter: c.absent})
		testkit.WantError(t, c, err, nil, c.want)
	}
}
