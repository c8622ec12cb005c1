package tasks_test

import (
	"bytes"
	"errors"
	"flag"
	"io"
	"strings"
	"testing"

	"dsbo"
	"dsbo/experiment"
	"dsbo/experiment/tasks"
	"dsbo/internal/cli"
	"dsbo/internal/testkit"
)

func TestMain(m *testing.M) {
	testkit.SmallRuns()
	testkit.InMemory()
	m.Run()
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
	data, model := testkit.Get2(task.Load(experiment.Agents{N: 2, Local: []int{0, 1}, Seed: 1}))
	_, line := task.Describe(data, model)
	if want :=
		"synthetic task with r = 1.5, p = q = 3, 2 agents with 20 training and 10 validation examples, losses " +
			"as a sum"; line != want {
		t.Errorf("%s, want %s", line, want)
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
