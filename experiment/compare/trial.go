package compare

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"dsbo/internal/cli"
	"dsbo/runs"
)

// The states of a run that did not begin: its settings cannot work, or its method is not for
// its task.
const (
	refused       runs.State = "refused"
	notApplicable runs.State = "not applicable"
)

// A trial is one run: a method on a task, at a point of its grid, with a seed.
type trial struct {
	Task, Method string        // as the specification names them
	Point        string        // of the grid, "" where there is none
	Seed         uint64        //
	Args         []string      // command line of the program, beginning with the task's verb
	Folder       runs.Folder   // of the run
	State        runs.State    // finished, diverged, failed, refused or not applicable; "" before
	Error        string        // of all but the first
	Records      []runs.Record // of the run
	Summary      runs.Summary  // how the run ended
	Config       runs.Config   // what was asked for
	kept         bool          // from an earlier call
}

// newTrial returns a trial with its folder below out. The folder's name has a hash of the whole
// command line, so that a changed one gets another folder. Only runs without -algorithm, the
// untuned and the default's, search for rivals, which are the same for all methods.
func newTrial(out string, s *Spec, t task, m method, point []int, seed uint64) *trial {
	args := slices.Concat([]string{t.Verb}, s.Flags, t.Flags, t.pinned, m.flagsAt(point),
		[]string{fmt.Sprintf("-rivals=%t", m.Algorithm == ""), fmt.Sprintf("-seed=%d", seed)})
	values := m.Grid.String(point)
	sum := sha256.Sum256([]byte(strings.Join(args, "\x00")))
	name := fmt.Sprintf("seed%d-%x", seed, sum[:4])
	if values != "" {
		name = fileName(values) + "-" + name
	}
	return &trial{
		Task: t.Name, Method: m.Name, Point: values, Seed: seed, Args: args,
		Folder: runs.Folder(filepath.Join(out, "runs", fileName(t.Name), fileName(m.Name), name)),
	}
}

var unsafeCharacters = regexp.MustCompile(`[^\pL\pN.=+-]+`)

// fileName makes a name of files of a text, of at most 80 bytes and without what shells or systems
// may not take.
func fileName(text string) string {
	name := strings.Trim(unsafeCharacters.ReplaceAllString(text, "_"), "_.")
	if len(name) > 80 {
		sum := sha256.Sum256([]byte(text))
		name = strings.ToValidUTF8(name[:70], "") + fmt.Sprintf("_%x", sum[:4])
	}
	return cmp.Or(name, "_")
}

// run makes the run. Unless again is set, a finished or diverged run in the folder is kept, and an
// interrupted one with a checkpoint is resumed. The failure of the run is a state; an error is of
// ctx or of files, for example if a process of a killed comparison still has the folder's lock.
func (t *trial) run(ctx context.Context, program []string, cores int, again bool) error {
	lock, err := t.Folder.Lock()
	if err != nil {
		return err
	}
	lock.Close() // only a test: the run's own process locks the folder
	state, err := t.Folder.State()
	if err != nil {
		return err
	}
	if t.kept = !again && (state == runs.Finished || state == runs.Diverged); t.kept {
		return t.read()
	}
	mode := "-force"
	if at, err := t.Folder.Checkpoints(nil); err != nil {
		return err
	} else if len(at) > 0 && !again && (state == runs.Interrupted || state == runs.Unfinished) {
		mode = "-resume"
	}
	code, text, err := t.start(ctx, program, cores, mode)
	if err != nil {
		return err
	}
	switch code {
	case cli.OK, cli.Diverged:
		return t.read()
	case cli.Usage:
		t.State, t.Error = refused, text
	case cli.Unsuited:
		t.State, t.Error = notApplicable, text
	default:
		t.State, t.Error = runs.Failed, text
	}
	return nil
}

// programName is what the text of an error begins with; the verb follows.
var programName = regexp.MustCompile(`^[^ :]+: `)

// start runs the program as a process on a number of processors. It returns the exit code and the
// text of the error: the last line of stderr without its prefix PROGRAM: VERB:, or, if stderr is
// empty, the process state. When ctx ends, the process has a minute to write its checkpoint.
func (t *trial) start(ctx context.Context, program []string, cores int,
	mode string) (code int, text string, err error) {
	line := slices.Concat(program, t.Args,
		[]string{"-out=" + string(t.Folder), "-report=false", "-quiet", "-attached", mode})
	c := exec.CommandContext(ctx, line[0], line[1:]...)
	var stderr bytes.Buffer
	c.Stderr = &stderr
	c.Env = append(os.Environ(), fmt.Sprintf("GOMAXPROCS=%d", cores), cli.AskUnsuited)
	err = cli.RunAttached(c, time.Minute)
	if ctx.Err() != nil {
		return 0, "", ctx.Err()
	}
	if c.ProcessState == nil { // it could not be started; else the exit code tells
		return 0, "", err
	}
	lines := strings.Split(strings.TrimSpace(stderr.String()), "\n")
	text = strings.TrimPrefix(programName.ReplaceAllString(lines[len(lines)-1], ""), t.Args[0]+": ")
	return c.ProcessState.ExitCode(), cmp.Or(text, c.ProcessState.String()), nil
}

// read reads what the run left in its folder.
func (t *trial) read() (err error) {
	if t.Config, err = t.Folder.ReadConfig(); err != nil {
		return err
	}
	if t.Summary, err = t.Folder.ReadSummary(); err != nil {
		return err
	}
	t.State, t.Error = t.Summary.State, t.Summary.Error
	t.Records, err = t.Folder.Records()
	return err
}

// end returns a number of the last record of a run that has finished, NaN of others.
func (t *trial) end(of func(runs.Record) float64) float64 { return t.at(len(t.Records)-1, of) }

// found returns a quantity of a finished run's result, which may be an earlier iterate than the
// last if held-out examples chose it. The value is from the record of that iterate; if the record
// has no Φ, from the kept model. It is NaN for other runs.
func (t *trial) found(q quantity) float64 {
	of := slices.IndexFunc(t.Records, func(r runs.Record) bool { return r.Iteration == t.Summary.Best })
	if of < 0 { // a baseline, which has one record
		of = len(t.Records) - 1
	}
	v := t.at(of, q.of)
	kept := slices.IndexFunc(t.Summary.Models, func(m runs.Model) bool { return m.Kept })
	if math.IsNaN(v) && q == phi && kept >= 0 && !math.IsNaN(t.end(phi.of)) {
		v = float64(t.Summary.Models[kept].PhiSolved())
	}
	return v
}

// at returns a number of a record of a run that has finished, NaN of others.
func (t *trial) at(i int, of func(runs.Record) float64) float64 {
	if t.State != runs.Finished || len(t.Records) == 0 {
		return math.NaN()
	}
	return of(t.Records[i])
}

// spent returns what a run has spent when it has ended; NaN of what is untuned.
func (t *trial) spent(c cost) float64 {
	return t.end(func(r runs.Record) float64 { return t.cost(c, r) })
}

func (t *trial) cost(c cost, r runs.Record) float64 {
	if t.Method == untuned.Name {
		return math.NaN()
	}
	return c.of(r, t.Config.Agents)
}

// costUntil returns what a run had spent at its first record that is at most a target, NaN where
// none is.
func (t *trial) costUntil(target float64, by quantity, c cost) float64 {
	for _, r := range t.Records {
		if t.State == runs.Finished && by.of(r) <= target {
			return t.cost(c, r)
		}
	}
	return math.NaN()
}

// testLoss returns the loss of the tuned model, with the lower problem solved if it was; else of
// the unsolved model.
func (t *trial) testLoss() float64 { return t.testScore(t.Summary.TestLossTuned, testLoss) }

// testAccuracy returns the accuracy of the same model.
func (t *trial) testAccuracy() float64 { return t.testScore(t.Summary.TestAccuracyTuned, testAccuracy) }

func (t *trial) testScore(tuned runs.Number, q quantity) float64 {
	if t.Summary.TestLossTuned.Known() && t.State == runs.Finished {
		return float64(tuned)
	}
	return t.end(q.of)
}

// baseline returns the model that the run's tuned one was compared with, nil if there was none.
func (t *trial) baseline() *runs.Model {
	i := slices.IndexFunc(t.Summary.Models, func(m runs.Model) bool { return m.Name == t.Summary.Verdict.Against })
	if i < 0 {
		return nil
	}
	return &t.Summary.Models[i]
}

// showBaseline puts the baseline in the place of what an untuned run ended with, as its only record
// and its tuned model. A run without a baseline has no values then.
func (t *trial) showBaseline() {
	t.Records = nil
	if m := t.baseline(); m != nil {
		t.Records = []runs.Record{{Phi: m.Phi, ValLoss: m.ValLoss, HoldoutLoss: m.HoldoutLoss, TestLoss: m.TestLoss,
			TestAccuracy: m.TestAccuracy}}
		t.Summary.TestLossTuned, t.Summary.TestAccuracyTuned = m.TestLoss, m.TestAccuracy
	}
}
