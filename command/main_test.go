package command

import (
	"errors"
	"strings"
	"testing"

	"dsbo"
	"dsbo/internal/cli"
)

// The flags of a cluster file are those of its task's command line, without those of a run in one process.
func TestCheckTask(t *testing.T) {
	if err := testProgram.checkTask("mnist", []string{"-K=20", "--T=3"}); err != nil {
		t.Error(err)
	}
	for _, tt := range []struct{ task, flag, want string }{
		{"cifar", "", `"task" must be mnist or synthetic; it is "cifar"`},
		{"mnits", "", `did you mean mnist?`},
		{"mnist", "-out=x", `"-out=x" is not allowed: it is for a run in one process`},
		{"mnist", "--resume", `"--resume" is not allowed`},
		{"mnist", "-force", `"-force" is not allowed`},
		{"mnist", "-transport=mpi", `"-transport=mpi" is not allowed`},
		{"mnist", "-K=x", `"flags": invalid value "x" for flag -K`},
		{"mnist", "-r=1", "unknown flag -r"},
		{"mnist", "-K=0", `"flags": -K`},
		{"mnist", "-algorithm=zz", `"zz"`},
		{"mnist", "-model=zz", "-model"},
		{"mnist", "-beta=-1", "beta"},
		{"mnist", "-h", `"flags": -h is not allowed`},
	} {
		var flags []string
		if tt.flag != "" {
			flags = []string{tt.flag}
		}
		if err := testProgram.checkTask(tt.task, flags); !errors.Is(err, dsbo.ErrConfig) || !strings.Contains(cli.OneLine(err), tt.want) {
			t.Errorf("%s %s: %v, want %q", tt.task, tt.flag, err, tt.want)
		}
	}
}
