package tasks_test

import (
	"bytes"
	"errors"
	"flag"
	"io"
	"strings"
	"testing"

	"dsbo"
	"dsbo/internal/cli"
	"dsbo/tasks"
)

func TestParse(t *testing.T) {
	for _, name := range tasks.Names() {
		j, err := tasks.Parse(name, []string{"-K=7", "-seed=3", "-train=20"}, io.Discard)
		if err != nil {
			t.Fatal(err)
		}
		if j.Task != name || j.Settings.K != 7 || j.Settings.Seed != 3 || j.Load == nil {
			t.Errorf("%s: task %s, K %d, seed %d", name, j.Task, j.Settings.K, j.Settings.Seed)
		}
	}
}

func TestSyntheticLoadsItsFlags(t *testing.T) {
	j, err := tasks.Synthetic(strings.Fields("-r=1.5 -p=3 -agents=2 -train=20 -val=10 -test=5"), io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	p, err := j.Load(nil)
	if err != nil {
		t.Fatal(err)
	}
	if want := "synthetic task with r = 1.5, p = q = 3, 2 agents with 20 training and 10 validation examples, losses as a sum"; p.Describe != want {
		t.Errorf("%s, want %s", p.Describe, want)
	}
}

func TestErrors(t *testing.T) {
	for _, tt := range []struct{ name, args, want string }{
		{"cifar", "", `no task "cifar": want mnist or synthetic`},
		{"mnist", "-nosuch", "-nosuch"},
		{"mnist", "-r=1", "-r"},
		{"mnist", "17", `unexpected argument "17"`},
		{"mnist", "-model=zz", "-model zz: want one of softmax, mlp, mlp-relu, hyperclean"},
		{"mnist", "-model=logistic", "-model logistic: want one of softmax"},
		{"mnist", "-train=-1", "-train -1: want at least 1"},
		{"mnist", "-val=-1", "-val -1: want at least 1"},
		{"synthetic", "-r=1,2", "-r"},
		{"synthetic", "-r=-1", "-r -1: want a positive number"},
		{"synthetic", "-r=nan", "-r NaN: want a positive number"},
		{"synthetic", "-test=0", "-test 0: want at least 1"},
		{"synthetic", "-reduce=max", "-reduce max: want sum or mean"},
	} {
		_, err := tasks.Parse(tt.name, strings.Fields(tt.args), io.Discard)
		if !errors.Is(err, dsbo.ErrConfig) || cli.Code(err) != cli.Usage || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s %s: %v, want %q", tt.name, tt.args, err, tt.want)
		}
	}
}

func TestHelp(t *testing.T) {
	for _, name := range tasks.Names() {
		var help bytes.Buffer
		if _, err := tasks.Parse(name, []string{"-h"}, &help); !errors.Is(err, flag.ErrHelp) {
			t.Errorf("%s -h: %v", name, err)
		}
		if !strings.Contains(help.String(), "\nTask\n") || !strings.Contains(help.String(), "\nPresets\n") {
			t.Errorf("%s -h: %s", name, help.String())
		}
	}
}
