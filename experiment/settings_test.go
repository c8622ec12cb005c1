package experiment

import (
	"errors"
	"flag"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"dsbo"
	"dsbo/algo"
	"dsbo/data"
	"dsbo/internal/testkit"
	"dsbo/models"
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

func TestMain(m *testing.M) {
	testkit.SmallRuns()
	testkit.InMemory()
	m.Run()
}

// TestPresetsFillIn: what the command line leaves out is the preset's, and what it says counts.
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
		if _, _, err := j.resolve(); err != nil {
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
		p, _ := testkit.Get2(j.resolve())
		testkit.OK(algo.Bind(p.method, algo.Curvature{L: 4, Z: 0.125, Y: 0.5}))
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
		"-T=-1":          "-T must be at least 1; it is -1",
		"-agents=0":      "-agents must be at least 1; it is 0",
		"-batch=-1":      "-batch must be at least 0; it is -1",
		"-holdout=1":     "-holdout must be at least 0 and below 1; it is 1",
		"-wire=int4":     "-wire must be float64, float32, bf16 or int8; it is int4",
		"-average=max":   "-average must be tree or mix; it is max",
		"-mix=median":    "-mix: mixing must be plain, clipped:b or trimmed:b",
		"-mix=trimmed -preset=fast": "needs at least 3 neighbours at every agent, more honest ones than liars; " +
			"agent 0 has 2",
		"-mix=clipped -graph=complete": "newtoncg cannot do with mixing clipped:1, which does not keep sums " +
			"over the agents",
		"-evaluate=on":                  "-evaluate must be exact or off; it is on",
		"-memory=-1":                    "-memory must be a positive number of GiB; it is -1",
		"-transport=pigeon":             "-transport must be local or mpi; it is pigeon",
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

// TestRefusalAlone: a run that cannot be says why, without warnings of its steps.
func TestRefusalAlone(t *testing.T) {
	var log strings.Builder
	args := []string{"-agents=3", "-rows=50", "-algorithm=jhip", "-beta=1000", "-gamma=1000", "-memory=1e-9",
		"-out=" + filepath.Join(t.TempDir(), "run")}
	if err := Run(t.Context(), newMean(), args, io.Discard, &log); !errors.Is(err, dsbo.ErrCapability) {
		t.Errorf("the error is %v", err)
	}
	if strings.Contains(log.String(), "warning") {
		t.Errorf("the log is %s", log.String())
	}
}
