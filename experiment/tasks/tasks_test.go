package tasks_test

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"io"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"dsbo"
	"dsbo/algo"
	"dsbo/data"
	"dsbo/experiment"
	"dsbo/experiment/experimenttest"
	"dsbo/experiment/tasks"
	"dsbo/internal/cli"
	"dsbo/internal/testkit"
	"dsbo/runs"
)

func TestMain(m *testing.M) {
	testkit.SmallRuns()
	testkit.InMemory()
	m.Run()
}

// arguments returns a command line that runs in a folder without a page, with flags of which
// several may stand in one text.
func arguments(out runs.Folder, flags ...string) []string {
	return append(strings.Fields(strings.Join(flags, " ")), "-quiet", "-report=false", "-out="+string(out))
}

func all() []experiment.Task { return []experiment.Task{tasks.MNIST(), tasks.Synthetic()} }

func TestParse(t *testing.T) {
	for _, task := range all() {
		j := testkit.Get(experiment.Parse(task, []string{"-K=7", "-seed=3", "-train=20"}, io.Discard))
		if j.Settings.Iterations != 7 || j.Settings.Seed != 3 {
			t.Errorf("%s: K %d, seed %d", task.Name, j.Settings.Iterations, j.Settings.Seed)
		}
	}
}

func TestSyntheticLoadsItsFlags(t *testing.T) {
	task := tasks.Synthetic()
	testkit.Get(experiment.Parse(task, strings.Fields("-r=1.5 -p=3 -agents=2 -train=20 -val=10 -test=5"), io.Discard))
	loaded, model := testkit.Get2(task.Load(experiment.Agents{N: 2, Local: []int{0, 1}, Seed: 1}))
	_, line := task.Describe(loaded, model)
	if want :=
		"synthetic task with r = 1.5, p = q = 3, 2 agents with 20 training and 10 validation examples, losses " +
			"as a sum"; line != want {
		t.Errorf("%s, want %s", line, want)
	}
	_, line = task.Describe(testkit.Get(data.HoldOut(loaded, 0.3, 1)), model)
	if want := "20 training and 7 validation examples,"; !strings.Contains(line, want) { // 3 of 10 tune nothing
		t.Errorf("%s, want %s", line, want)
	}
}

// TestPaperPreset: each setting that the paper names is its own, no held-out rows and no search
// stand beside it, and what a command line gives counts more.
func TestPaperPreset(t *testing.T) {
	for _, c := range []struct{ task, args, want string }{
		{"mnist", "-preset=paper", "-holdout=0 -preset=paper -rivals=false -train=0 -val=0"},
		{"mnist", "-algorithm=madsbo -train=20 -val=10 -holdout=auto",
			"-algorithm=madsbo -holdout=auto -rivals=false -train=20 -val=10"},
		{"mnist", "-model=lenet", "-model=lenet -train=0"},
		{"mnist", "", ""},
		{"synthetic", "-preset=paper", "-holdout=0 -labels=real -preset=paper -reduce=sum -rivals=false"},
		{"synthetic", "-preset=paper -labels=sign -rivals",
			"-holdout=0 -labels=sign -preset=paper -reduce=sum -rivals=true"},
		{"synthetic", "", ""},
	} {
		task := all()[slices.IndexFunc(all(), func(t experiment.Task) bool { return t.Name == c.task })]
		j := testkit.Get(experiment.Parse(task, strings.Fields(c.args), io.Discard))
		if got := strings.Join(j.Settings.Flags, " "); got != c.want {
			t.Errorf("%s %s has the flags %s, want %s", c.task, c.args, got, c.want)
		}
	}
	for _, c := range []struct {
		task   experiment.Task
		batch  int
		method *algo.MADSBO
	}{
		{tasks.MNIST(), 1000, &algo.MADSBO{T: 10, N: 10, Alpha: "0.5", Beta: "0.5", Gamma: "auto"}},
		{tasks.Synthetic(), 0, &algo.MADSBO{T: 10, N: 10, Alpha: "1", Beta: "auto", Gamma: "auto"}},
	} {
		i := slices.IndexFunc(c.task.Presets, func(p experiment.Preset) bool { return p.Name == "paper" })
		p := c.task.Presets[i]
		if !reflect.DeepEqual(p.Method, algo.Method(c.method)) || p.Batch != c.batch || p.K != 100 || p.X0 != 0 ||
			p.Patience != 0 {
			t.Errorf("%s: %+v with %+v, want batches of %d, and %+v from x = 0 to K = 100",
				c.task.Name, p, p.Method, c.batch,
				c.method)
		}
	}
}

func TestErrors(t *testing.T) {
	for _, tt := range []struct{ name, args, want string }{
		{"mnist", "-nosuch", "-nosuch"},
		{"mnist", "-r=1", "-r"},
		{"mnist", "17", `unexpected argument "17"`},
		{"mnist", "-model=zz",
			"-model must be one of softmax, mlp, mlp-relu, lenet, hyperrep, distilled, temperature, hyperclean, " +
				"hyperclean-mlp; it is zz"},
		{"mnist", "-model=logistic",
			"-model must be one of softmax, mlp, mlp-relu, lenet, hyperrep, distilled, temperature, hyperclean, " +
				"hyperclean-mlp; it is logistic"},
		{"mnist", "-train=-1", "-train must be at least 1, or 0 for half of an agent's share; it is -1"},
		{"mnist", "-val=-1", "-val must be at least 1, or 0 for half of an agent's share; it is -1"},
		{"mnist", "-hidden=64",
			"-hidden must be left out, or -model be mlp or mlp-relu or hyperrep or hyperclean-mlp; -hidden is 64"},
		{"mnist", "-model=lenet -hidden=32", "-hidden must be left out, or -model be mlp or mlp-relu"},
		{"mnist", "-model=mlp -hidden=x", "-hidden must be numbers of units with commas between; it is x"},
		{"synthetic", "-r=1,1.5", `-r must be a number; it is "1,1.5"`},
		{"synthetic", "-r=-1", "-r must be a positive number; it is -1"},
		{"synthetic", "-r=nan", "-r must be a positive number; it is NaN"},
		{"synthetic", "-test=0", "-test must be at least 1; it is 0"},
		{"synthetic", "-reduce=max", "-reduce must be sum or mean; it is max"},
		{"synthetic", "-labels=zz", "-labels must be sign or real; it is zz"},
	} {
		task := all()[0]
		if tt.name != task.Name {
			task = all()[1]
		}
		_, err := experiment.Parse(task, strings.Fields(tt.args), io.Discard)
		if !errors.Is(err, dsbo.ErrConfig) || cli.Code(err) != cli.Usage || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s %s: %v, want %q", tt.name, tt.args, err, tt.want)
		}
	}
}

func TestHelp(t *testing.T) {
	for _, task := range all() {
		var help bytes.Buffer
		if _, err := experiment.Parse(task, []string{"-h", "all"}, &help); !errors.Is(err, flag.ErrHelp) {
			t.Errorf("%s -h all: %v", task.Name, err)
		}
		for _, want := range []string{task.About[1:], "\nTask\n", "\nMethod\n", "\nPresets\n", "-train examples"} {
			if !strings.Contains(help.String(), want) {
				t.Errorf("%s -h all: no %q", task.Name, want)
			}
		}
	}
}

func TestMNIST(t *testing.T) {
	testkit.Longest(t, "solves a problem of 800 numbers for every preset")
	// One unit has a tenth of the default's weights; records that solve the problem, and models
	// beside the tuned one, are proved by smaller tasks and by TestCleaning.
	folder := t.TempDir()
	testkit.OK(testkit.WriteMNIST(folder, 60, 20))
	experimenttest.TestTask(t, tasks.MNIST(), "-data="+folder, "-model=mlp", "-hidden=1", "-train=2", "-val=2",
		"-batch=0", "-evaluate=off", "-rivals=false")
}

func TestSynthetic(t *testing.T) {
	experimenttest.TestTask(t, tasks.Synthetic(), "-r=1", "-p=5", "-train=20", "-val=20", "-test=10")
}

func TestPolicy(t *testing.T) {
	experimenttest.TestTask(t, tasks.Policy(), "-states=12", "-features=3", "-transitions=3")
}

// TestDefaultsLowerPhi: on the synthetic task, whose summed losses are stiff, every method lowers Φ
// with nothing chosen. Methods for one agent that draw batches of their own need means. Methods for
// another problem are left out.
func TestDefaultsLowerPhi(t *testing.T) {
	solves := algo.NamesWhere(func(m algo.Traits) bool { return !m.Personalized && !m.Compositional })
	for _, name := range solves {
		t.Run(name, func(t *testing.T) {
			flags := "-p=5 -agents=4 -train=50 -val=50 -test=10 -K=60 -holdout=0 -eval-every=60 " +
				"-rivals=false -labels=sign -algorithm=" + name
			m := algo.TraitsOf(testkit.Get(algo.New(name)))
			if m.ExactAverage {
				flags += " -graph=server"
			}
			if m.OneAgent {
				flags += " -agents=1"
			}
			if m.OneAgent && m.FullBatch != "" {
				flags += " -reduce=mean"
			}
			for seed := range testkit.Sized(1, 1, 2) {
				out := runs.Folder(filepath.Join(t.TempDir(), "run"))
				args := arguments(out, flags, fmt.Sprint("-seed=", seed+1))
				if err := experiment.Run(t.Context(), tasks.Synthetic(), args, io.Discard, io.Discard); err != nil {
					t.Errorf("seed %d: %v", seed+1, err)
				} else if s := testkit.Get(out.ReadSummary()); !(s.PhiEnd < 0.9*s.PhiStart) {
					t.Errorf("seed %d: Φ goes from %g to %g", seed+1, s.PhiStart, s.PhiEnd)
				}
			}
		})
	}
}

// TestStepsFollowX: where x grows until the penalties are all of the curvature, steps that follow
// it still train y. By the start's Φ ends at 4.1, where y is thrown about.
func TestStepsFollowX(t *testing.T) {
	out := runs.Folder(filepath.Join(t.TempDir(), "run"))
	args := arguments(out, "-preset=madsbo_tuned -agents=3 -graph=complete -r=1 -p=10 -train=60 -val=60 -test=10 "+
		"-holdout=0 -K=40 -eval-every=40 -rivals=false -set=lr=2")
	testkit.OK(experiment.Run(t.Context(), tasks.Synthetic(), args, io.Discard, io.Discard))
	if s := testkit.Get(out.ReadSummary()); !(s.PhiEnd < 3) {
		t.Errorf("Φ goes from %g to %g; it must end below 3", s.PhiStart, s.PhiEnd)
	}
}

// TestCleaning: with wrong labels a run reports the number found, and the quality of the model of
// all examples.
func TestCleaning(t *testing.T) {
	folder := t.TempDir()
	testkit.OK(testkit.WriteMNIST(folder, 90, 30))
	for model, flags := range map[string]string{"hyperclean": "",
		"hyperclean-mlp": "-hidden=4 -batch=10 -set=T=2 -set=N=2"} {
		if model == "hyperclean" && testing.Short() {
			continue // its solves are the longer ones
		}
		out := runs.Folder(filepath.Join(t.TempDir(), "run"))
		args := arguments(out, flags, "-data="+folder, "-model="+model,
			"-mislabel=0.5 -agents=3 -train=10 -val=10 -K=4")
		testkit.OK(experiment.Run(t.Context(), tasks.MNIST(), args, io.Discard, io.Discard))
		s := testkit.Get(out.ReadSummary())
		notes := strings.Join(s.Verdict.Notes, " ")
		for _, want := range []string{"Of 15 wrong training labels ", "and of 15 right ones ",
			"Trained on the validation examples too, beside these weights, the model has test accuracy "} {
			if !strings.Contains(notes, want) {
				t.Errorf("%s: notes %q must say %q", model, notes, want)
			}
		}
	}
}
