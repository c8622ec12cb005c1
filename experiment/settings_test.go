package experiment

import (
	"context"
	"errors"
	"flag"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"dsbo"
	"dsbo/ad"
	"dsbo/algo"
	"dsbo/data"
	"dsbo/internal/cli"
	"dsbo/internal/testkit"
	"dsbo/models"
	"dsbo/network"
	"dsbo/runs"
	"dsbo/train"
)

// tiny is a task of a moment.
type tiny struct{ features int }

func newTiny() Task {
	t := new(tiny)
	return Task{Name: "tiny", About: "takes a moment", Flags: t.Flags, Load: t.Load, Presets: []Preset{
		{Name: "fast", DType: "float64", K: 6, X0: 0.5, Method: &algo.MADSBO{T: 2, N: 2, Gamma: "0.01"}},
		{Name: "slow", K: 60, Batch: 5, Method: &algo.Tuned{}},
	}}
}

func (t *tiny) Flags(f *flag.FlagSet) { f.IntVar(&t.features, "p", 3, "`number` of features") }
func (t *tiny) Load(a Agents) (data.Task, models.Model, error) {
	task, err := data.Synthetic{Agents: a.N, Features: t.features, Train: 20, Val: 10, Test: 5, Rate: 1,
		Seed: a.Seed}.Task()
	return task, models.Logistic{Features: t.features}, err
}

func parseTiny(t *testing.T, args string) *Job {
	t.Helper()
	return testkit.Get(Parse(newTiny(), strings.Fields(args), io.Discard))
}

// ofJob returns a run of a job, whose settings may be left out.
func ofJob(j *Job, r run) *run {
	if j.Settings == nil {
		j.Settings = new(Settings)
	}
	r.job, r.settings = j, j.Settings
	return &r
}

// runIn runs a command line of a task in a folder, without a page.
func runIn(t *testing.T, task Task, folder, args string) error {
	return Run(t.Context(), task, append(strings.Fields(args), "-report=false", "-quiet", "-out="+folder), io.Discard,
		io.Discard)
}

func TestMain(m *testing.M) {
	testkit.SmallRuns()
	testkit.InMemory()
	m.Run()
}

// TestPresetsFillIn: flags omitted from the command line are the preset's, and given flags count.
func TestPresetsFillIn(t *testing.T) {
	for _, tt := range []struct {
		args      string
		algorithm string
		K, batch  int
		x0        float64
		dtype     string
	}{
		{"", "newtoncg", 20, 0, 0, "float32"},
		{"-preset=fast", "madsbo", 6, 0, 0.5, "float64"},
		{"-algorithm=madsbo_tuned", "madsbo_tuned", 60, 5, 0, "float32"},
		{"-algorithm=dsoba", "dsoba", 6, 0, 0.5, "float64"},
		{"-algorithm=newtoncg", "newtoncg", 20, 0, 0, "float32"},
		{"-preset=slow", "madsbo_tuned", 60, 5, 0, "float32"},
		{"-preset=slow -K=7 -batch=0 -x0=-1 -algorithm=dsoba -dtype=float32", "dsoba", 7, 0, -1, "float32"},
	} {
		j := parseTiny(t, tt.args)
		if _, _, err := j.resolve(nil); err != nil {
			t.Fatal(err)
		}
		if s := j.Settings; s.Algorithm != tt.algorithm || s.Iterations != tt.K || s.Batch != tt.batch ||
			s.X0 != tt.x0 || s.DType != tt.dtype {
			t.Errorf("%q: %s, K %d, batch %d, x0 %g, %s", tt.args, s.Algorithm, s.Iterations, s.Batch, s.X0, s.DType)
		}
	}
}

func TestParametersFollowCurvature(t *testing.T) {
	for _, tt := range []struct {
		args        string
		beta, gamma algo.Schedule
	}{
		{"-preset=fast", "0.25", "0.01"}, // 1/L where the preset leaves it open
		{"-preset=fast -beta=2/L -gamma=3*L", "0.5", "12"},
		{"-preset=fast -beta=0.1", "0.1", "0.01"},
		{"-preset=fast -set=beta=auto -gamma=auto", "0.25", "0.1"}, // half and four fifths of the bounds
	} {
		j := parseTiny(t, tt.args)
		p, _ := testkit.Get2(j.resolve(nil))
		testkit.Get(algo.Bind(p.method, algo.Curvature{L: 4, Z: 0.125, Y: 0.5}))
		if m := p.method.(*algo.MADSBO); m.Beta != tt.beta || m.Gamma != tt.gamma || m.T != 2 {
			t.Errorf("%q: beta %s, gamma %s, T %d", tt.args, m.Beta, m.Gamma, m.T)
		}
	}
}

func TestSettingsThatCannotWork(t *testing.T) {
	for args, want := range map[string]string{
		"-preset=best":   "-preset must be tuned or fast or slow or paper or madsbo_tuned or private; it is best",
		"-algorithm=sgd": `algorithm "sgd" is unknown`,
		"-K=0":           "-K must be at least 1; it is 0",
		"-T=0":           "-T must be at least 1; it is 0",
		"-memory=0":      "-memory must be a positive number of GiB; it is 0",
		"-memory=1e6":    "-memory must be a positive number of GiB; it is 1e+06",
		"-w=1":           "w must be at least 0 (Metropolis weights) and below 1; it is 1",
		"-prob=1.5":      "edge probability must be at least 0",
		"-agents=0":      "-agents must be at least 1; it is 0",
		"-batch=-1":      "-batch must be at least 0; it is -1",
		"-holdout=1":     "-holdout must be at least 0 and below 1; it is 1",
		"-wire=int4":     "-wire must be float64, float32, bf16 or int8; it is int4",
		"-mix=median":    "-mix: mixing must be plain, matchings, or failing:p",
		"-mix=clipped:2": "-mix: mixing clipped is gone: operators remove a member that sends what cannot be; it is " +
			`"clipped:2"`,
		"-mix=matchings -graph=server":  "-mix: weights cannot change on graph server",
		"-evaluate=on":                  "-evaluate must be exact or off; it is on",
		"-memory=-1":                    "-memory must be a positive number of GiB; it is -1",
		"-transport=pigeon":             "-transport must be local or mpi; it is pigeon",
		"-engine=torch":                 "-engine must be ad or gorgonia; it is torch",
		"-dtype=int":                    "-dtype must be float32 or float64; it is int",
		"-x0=inf":                       "-x0 must be finite; it is +Inf",
		"-preset=fast -beta=-1/L":       "beta must have a positive number before /L",
		"-alpha=1/L":                    "-alpha",
		"-set=rho=1":                    `no parameter "rho"`,
		"-w=2":                          "w must be at least 0 (Metropolis weights) and below 1; it is 2",
		"-graph=circle":                 "circle",
		"-algorithm=madsbo -set=T=1.5":  "-set T=1.5",
		"-dp-epsilon=-1":                "ε must be positive; it is -1",
		"-dp-epsilon=1 -dp-delta=0":     "δ must be above 0 and below 1; it is 0",
		"-dp-epsilon=1 -dp-clip=4e38":   "-dp-clip must be positive; with -dp-epsilon it is 4e+38",
		"-dp-epsilon=1 -dp-clip=0":      "-dp-clip must be positive; with -dp-epsilon it is 0",
		"-dp-clip=2":                    "-dp-delta and -dp-clip are for runs with -dp-epsilon",
		"-dp-epsilon=1 -batch=3":        "-batch must be 0: answers are about all examples; with -dp-epsilon it is 3",
		"-dp-epsilon=1 -dtype=float32":  "-dtype must be float64",
		"-dp-epsilon=1 -holdout=0.1":    "-holdout must be 0",
		"-dp-epsilon=1 -evaluate=exact": "-evaluate must be off",
	} {
		err := parseTiny(t, args).CheckOverMachines(nil)
		if !errors.Is(err, dsbo.ErrConfig) || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", args, err, want)
		}
	}
	if _, err := Parse(newTiny(), []string{"-resume", "-force"}, io.Discard); !errors.Is(err, dsbo.ErrConfig) ||
		!strings.Contains(err.Error(), "mutually exclusive") {
		t.Errorf("-resume -force: %v", err)
	}
}

// TestFlagsThatResume: a resumed run takes over the settings, not where one process was and what
// it said.
func TestFlagsThatResume(t *testing.T) {
	j := parseTiny(t, "-seed=3 -p=4 -set=lg=2 -set=T=3 -out=x -quiet -force -report=false -transport=local")
	if want := []string{"-p=4", "-seed=3", "-set=T=3", "-set=lg=2"}; !slices.Equal(j.Settings.Flags, want) {
		t.Errorf("flags %q, want %q", j.Settings.Flags, want)
	}
}

// TestRefusalAlone: a run that cannot be gives the reason, without warnings of its steps.
func TestRefusalAlone(t *testing.T) {
	var log strings.Builder
	args := []string{"-agents=3", "-rows=50", "-algorithm=jhip", "-beta=1000", "-gamma=1000", "-memory=1e-9",
		"-out=" + filepath.Join(t.TempDir(), "run")}
	if err := Run(t.Context(), newMean(), args, io.Discard, &log); !errors.Is(err, dsbo.ErrConfig) {
		t.Errorf("the error is %v", err)
	}
	if strings.Contains(log.String(), "warning") {
		t.Errorf("the log is %s", log.String())
	}
}

// TestPresetsOfAll: a task without presets has paper and madsbo_tuned, by either name, and they
// lower Φ.
func TestPresetsOfAll(t *testing.T) {
	for _, c := range []struct{ flag, preset, method string }{
		{"-preset=paper", "paper", "madsbo"}, {"-algorithm=madsbo", "paper", "madsbo"},
		{"-preset=madsbo_tuned", "madsbo_tuned", "madsbo_tuned"},
		{"-algorithm=madsbo_tuned", "madsbo_tuned", "madsbo_tuned"},
		{"-algorithm=dsoba", "tuned", "dsoba"}, // nothing is made for it
	} {
		j := testkit.Get(Parse(newMean(), []string{c.flag}, io.Discard))
		p := testkit.Get(j.resolveParameters())
		if s := j.Settings; s.Preset != c.preset || s.Algorithm != c.method {
			t.Errorf("%s: preset %s, method %s; want %s, %s", c.flag, s.Preset, s.Algorithm, c.preset, c.method)
		}
		if m, ok := p.method.(*algo.Tuned); ok && m.XStep != "adam" {
			t.Errorf("%s: %+v has none of its preset's settings", c.flag, m)
		}
	}
	for _, preset := range []string{"paper", "madsbo_tuned"} {
		folder := filepath.Join(t.TempDir(), "run")
		s := testkit.Get(runMean(t.Context(), folder, "-rows=60", "-preset="+preset, "-K=30"))
		if !(s.PhiEnd < s.PhiStart) {
			t.Errorf("%s: Φ went from %g to %g", preset, s.PhiStart, s.PhiEnd)
		}
	}
}

// Few validation examples for many hyperparameters are fitted alone, unless some of them are held
// out, or a prior holds the hyperparameters together.
func TestDefaultHoldout(t *testing.T) {
	pixels := models.Softmax{Features: 784, Classes: 10}
	held := models.MLP{Features: 784, Outputs: 10, Prior: models.Prior{Deviation: 0.5, Rows: 2000}}
	for _, c := range []struct {
		name                        string
		validation, training, least float64
		model                       models.Model
		want                        float64
	}{
		{"many", 30000, 30000, 3750, pixels, 0.1},
		{"just many", 4000, 30000, 500, pixels, 0.1},
		{"not yet many, and five for each hyperparameter", 3999, 30000, 500, pixels, 0},
		{"many of one agent, enough of another", 30000, 30000, 20, pixels, 0.1},
		{"many of one agent, few of another", 30000, 30000, 19, pixels, 0},
		{"twice as many as training examples", 4000, 2000, 500, pixels, 0.1},
		{"more than twice as many as training examples", 4001, 2000, 500, pixels, 0},
		{"far more than training examples", 30000, 2000, 3750, pixels, 0},
		{"fewer than five for each hyperparameter", 2000, 2000, 250, pixels, 0.2},
		{"one fewer than five for each", 3919, 2000, 250, pixels, 0.2},
		{"five for each", 3920, 2000, 250, pixels, 0},
		{"fewer than five for each, just not many", 3999, 200, 250, models.Softmax{Features: 1000, Classes: 2}, 0.2},
		{"fewer than five for each, many", 4000, 200, 250, models.Softmax{Features: 1000, Classes: 2}, 0},
		{"the same with few training examples", 2000, 200, 250, pixels, 0.2},
		{"just enough to judge by", 200, 2000, 20, pixels, 0.2},
		{"too few to judge by", 199, 2000, 20, pixels, 0},
		{"enough for each hyperparameter", 2000, 2000, 250, models.Softmax{Features: 200, Classes: 10}, 0},
		{"a prior", 2000, 2000, 250, held, 0},
		{"a network without prior", 2000, 2000, 250, models.MLP{Features: 784, Outputs: 10}, 0.2},
	} {
		if got := defaultHoldoutOf(c.validation, c.training, c.least, c.model); got != c.want {
			t.Errorf("%s: %g is held out, want %g", c.name, got, c.want)
		}
	}
}

// TestChooseHoldout: the share follows from the validation and training examples of all agents, and
// from the agent with the fewest validation examples; a resumed run has the share of its folder,
// whatever examples there are now. A share that is given stays. Examples do not judge a problem
// that is no mean over them.
func TestChooseHoldout(t *testing.T) {
	of := func(n int) data.Examples {
		return data.Examples{X: testkit.Get(ad.FloatTable(n, 1, make([]float64, n)))}
	}
	folder := runs.Folder(t.TempDir())
	testkit.OK(folder.WriteConfig(runs.Config{Holdout: 0.3}))
	for name, c := range map[string]struct {
		train, val [2]int
		given      bool
		at         beginning
		want       float64
	}{
		"enough":            {[2]int{1990, 10}, [2]int{20, 3980}, false, beginning{}, 0.1},
		"few of one":        {[2]int{2000, 20}, [2]int{19, 3981}, false, beginning{}, 0},
		"few training ones": {[2]int{1999, 1}, [2]int{2000, 2001}, false, beginning{}, 0},
		"compositional":     {[2]int{1990, 10}, [2]int{20, 3980}, false, beginning{}, 0},
		"goes on":           {[2]int{2000, 10}, [2]int{20, 3980}, false, beginning{point: &train.Point{}}, 0.3},
		"given":             {[2]int{2000, 10}, [2]int{20, 3980}, true, beginning{point: &train.Point{}}, 0.7},
	} {
		r := ofJob(new(Job), run{folder: folder})
		r.settings.Agents, r.settings.Holdout, r.settings.holdoutNamed = 2, 0.7, c.given
		l := &loaded{model: models.Linear{Features: 1, Outputs: 1}}
		if name == "compositional" {
			l.model = models.PolicyEvaluation{}
		}
		for i := range c.val {
			l.data.Shards = append(l.data.Shards, data.Shard{Train: of(c.train[i]), Val: of(c.val[i])})
		}
		if err := r.chooseHoldout(t.Context(), c.at, l); err != nil || r.settings.Holdout != c.want {
			t.Errorf("%s: %g is held out, want %g; error %v", name, r.settings.Holdout, c.want, err)
		}
	}
}

// TestNames: the transport is found in command lines that are wrong elsewhere.
func TestNames(t *testing.T) {
	for line, want := range map[string]bool{
		"-colour=3 -transport mpi":   true,
		"--transport=mpi -K x":       true,
		"mnist -K 3 -transport=mpi":  true,
		"-transport":                 false,
		"-transport local mpi":       false,
		"-transport=local -wire=mpi": false,
		"transport mpi":              false,
		"":                           false,
	} {
		if got := namesTransport(strings.Fields(line), "mpi"); got != want {
			t.Errorf("%q: %t, want %t", line, got, want)
		}
	}
}

// TestWires: transports send what agents round to, and what is rounded off comes later where that
// is known to help; matrices of second derivatives are called so.
func TestWires(t *testing.T) {
	for _, tt := range []struct {
		args     string
		wire     network.Wire
		feedback bool
	}{
		{"", network.Float32, false},
		{"-wire=float64", network.Float64, false},
		{"-wire=float32 -algorithm=sparkle", network.Float32, false},
		{"-wire=bf16", network.BF16, true},
		{"-wire=int8 -preset=fast", network.Int8, false},
		{"-wire=int8 -algorithm=sparkle", network.Int8, true},
		{"-wire=float32 -algorithm=jhip", network.Float32, false},
	} {
		j := parseTiny(t, tt.args)
		if _, _, err := j.resolve(nil); err != nil {
			t.Fatal(err)
		}
		o := testkit.Get(j.Settings.averaging())
		if o.Wire != tt.wire || j.Settings.ExchangeWire() != tt.wire || o.ErrorFeedback != tt.feedback {
			t.Errorf("%q: agents round to %v, transports send %v, feedback %t; they must be %v, %v and %t",
				tt.args, o.Wire, j.Settings.ExchangeWire(), o.ErrorFeedback, tt.wire, tt.wire, tt.feedback)
		}
		if dense := j.Settings.Algorithm == "jhip"; o.Mixed == network.Matrices != dense {
			t.Errorf("%q: mixed are %s", tt.args, o.Mixed)
		}
	}
}

// An interrupter is a view that ends the job after a checkpoint.
type interrupter struct {
	Viewer
	after  int
	cancel func()
}

func interruptAfter(iteration int, cancel func()) interrupter {
	return interrupter{onScreen{Progress: cli.NewProgress(io.Discard, true)}, iteration, cancel}
}

func (i interrupter) Saved(iteration int) {
	if iteration == i.after {
		i.cancel()
	}
}

// TestFeedbackResumes: what has been rounded off outlives an interrupt, so that the run ends with
// the same bits.
func TestFeedbackResumes(t *testing.T) {
	dir := t.TempDir()
	job := func(out, more string) *Job {
		return parseTiny(t,
			"-algorithm=sparkle -wire=int8 -agents=3 -K=8 -checkpoint-every=2 -evaluate=off -report=false -quiet -out="+
				filepath.Join(dir, out)+more)
	}
	straight, first := job("straight", ""), job("resumed", "")
	testkit.OK(straight.Run(t.Context(), nil, io.Discard))
	ctx, cancel := context.WithCancel(t.Context())
	first.View = interruptAfter(4, cancel)
	if err := first.Run(ctx, nil, io.Discard); !errors.Is(err, train.ErrInterrupted) {
		t.Fatalf("error %v; it must be an interrupt", err)
	}
	testkit.OK(job("resumed", " -resume").Run(t.Context(), nil, io.Discard))
	last := func(out string) [3]runs.Number {
		s := testkit.Get(runs.Folder(filepath.Join(dir, out)).ReadSummary())
		return [...]runs.Number{s.ValLoss, s.ConsensusX, s.ConsensusY}
	}
	if want, got := last("straight"), last("resumed"); got != want || !(want[1] > 0) {
		t.Errorf("loss and consensus errors of the resumed run are %v; they must be %v", got, want)
	}
}

// TestPinnedFlags: flags of the task that a preset changes, and -holdout, are pinned to what a
// command line leaves them at; those that it gives, and that no preset changes, are not.
func TestPinnedFlags(t *testing.T) {
	task := newTiny()
	task.Presets[0].Flags = map[string]string{"p": "7", "seed": "4"}
	for args, want := range map[string]string{
		"": "-holdout=auto -p=3", "-p=5": "-holdout=auto", "-holdout=0.1": "-p=3", "-p=3 -holdout=auto": "",
	} {
		got, err := PinnedFlags(task, strings.Fields(args))
		if text := strings.Join(got, " "); err != nil || text != want {
			t.Errorf("%q: %q, want %q, error %v", args, text, want, err)
		}
	}
}
