package cli_test

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"dsbo"
	"dsbo/internal/cli"
	"dsbo/internal/testkit"
)

func TestCode(t *testing.T) {
	for _, c := range []struct {
		err  error
		want int
	}{
		{nil, cli.OK},
		{flag.ErrHelp, cli.OK},
		{errors.New("no space left on device"), cli.Failure},
		{fmt.Errorf("%w: -agents 0", dsbo.ErrConfig), cli.Usage},
		{fmt.Errorf("%w: x", dsbo.ErrShape), cli.Usage},
		{fmt.Errorf("%w: x", dsbo.ErrCapability), cli.Usage},
		{fmt.Errorf("run: %w", &dsbo.DivergedError{}), cli.Diverged},
		{dsbo.Errorf(dsbo.ErrPeer, "agent 3: %w", dsbo.ErrShape), cli.Failure},
		{dsbo.Errorf(dsbo.ErrPeer, "agent 3: %w", dsbo.ErrDiverged), cli.Failure},
		{fmt.Errorf("run: %w", context.Canceled), cli.Interrupted},
	} {
		if got := cli.Code(c.err); got != c.want {
			t.Errorf("%v: exit code %d, want %d", c.err, got, c.want)
		}
	}
	name, value, _ := strings.Cut(cli.AskUnsuited, "=")
	t.Setenv(name, value)
	if got := cli.Code(dsbo.ErrCapability); got != cli.Unsuited {
		t.Errorf("exit code %d of a program that was asked, want %d", got, cli.Unsuited)
	}
}

func TestOneLine(t *testing.T) {
	for _, c := range []struct {
		err  error
		want string
	}{
		{dsbo.ConfigErrorf("-agents must be\npositive"), "-agents must be positive"},
		{errors.New("agent 3 says \x1b[2J\u202e"), `agent 3 says \x1b[2J\u202e`},
		{fmt.Errorf("refit: %w", context.Canceled), "refit: interrupted"},
		{errors.Join(errors.New("first"), errors.New("second\n")), "first second"},
	} {
		if got := cli.OneLine(c.err); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}

func flags() (*cli.Flags, *int) {
	f := cli.NewFlags("tool", "tool does things", "The end.")
	n := f.Int("n", 3,
		"n of the paper, a `number` of agents that is explained in words that do not fit on one line of the help")
	f.Bool("loud", false, "say more")
	f.Uint64("seed", 1, "of all draws")
	f.String("name", "", "`name` of the run (default: a new one)")
	f.Example = "tool -n 8"
	f.Group("Numbers", "n")
	f.Group("Words", "name", "loud")
	return f, n
}

func TestHelp(t *testing.T) {
	f, _ := flags()
	var out bytes.Buffer
	if err := f.Parse([]string{"-h"}, &out); !errors.Is(err, flag.ErrHelp) {
		t.Fatal(err)
	}
	want := `usage: tool [flags]

tool does things

Numbers
  -n number
        n of the paper, a number of agents that is explained in words that do
        not fit on one line of the help (default 3)

Words
  -name name
        name of the run (default: a new one)
  -loud
        say more

The end.

Example
  tool -n 8
`
	if diff := cmp.Diff(want, out.String()); diff != "" {
		t.Error(diff)
	}
}

// TestFirstPage: -h shows the flags that are named, and -h all what a set without these shows.
func TestFirstPage(t *testing.T) {
	help := func(f *cli.Flags, args ...string) string {
		var out bytes.Buffer
		if err := f.Parse(args, &out); !errors.Is(err, flag.ErrHelp) {
			t.Fatal(err)
		}
		return out.String()
	}
	f, _ := flags()
	want := help(f, "-h")
	f, _ = flags()
	f.First = []string{"loud"}
	if diff := cmp.Diff(want, help(f, "-n", "4", "--help", "all")); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(`usage: tool [flags]

tool does things

First flags
  -loud
        say more

tool -h all explains all flags, by group.

Example
  tool -n 8
`, help(f, "-h")); diff != "" {
		t.Error(diff)
	}
}

func TestParse(t *testing.T) {
	f, n := flags()
	if err := f.Parse([]string{"-n", "7", "-loud"}, nil); err != nil || *n != 7 {
		t.Errorf("n = %d, %v", *n, err)
	}
	if diff := cmp.Diff(map[string]bool{"n": true, "loud": true}, f.Given()); diff != "" {
		t.Error(diff)
	}
	for _, args := range [][]string{{"-n", "x"}, {"-m"}, {"-n"}, {"file"}} {
		f, _ := flags()
		if err := f.Parse(args, nil); !errors.Is(err, dsbo.ErrConfig) || strings.Contains(err.Error(), "\n") ||
			!strings.Contains(strings.ReplaceAll(err.Error(), "-h all", "-h"), "-h lists") {
			t.Errorf("%v: %v, want one line that says where help is", args, err)
		}
	}
}

// TestFlagsAndOperands: flags may stand anywhere, and what looks like one is one, but after --.
func TestFlagsAndOperands(t *testing.T) {
	for _, tt := range []struct{ args, operands, err string }{
		{"-loud a b -n 7", "[a b]", ""},
		{"a -loud b -n=7 c", "[a b c]", ""},
		{"-n 7 - a", "[- a]", ""},
		{"a -n 7 -- -loud -- -x", "[a -loud -- -x]", ""},
		{"-n 7 --", "[]", ""},
		{"a -keep-mib=4", "", "flag -keep-mib is gone: a session that ends begins again with a checkpoint"},
		{"a -quiet", "", "unknown flag -quiet"},
		{"a -7", "", "unknown flag -7"},
		{"a -n", "", "flag needs an argument: -n"},
		{"a -n x", "", `-n must be a whole number; it is "x" (-h lists the flags)`},
		{"a -seed -1", "", `-seed must be a whole number from 0; it is "-1" (-h lists the flags)`},
		{"a -n 1.5", "", `-n must be a whole number; it is "1.5"`},
		{"a -n --", "", "flag needs an argument: -n"},
	} {
		f, n := flags()
		err := f.ParseOperands(strings.Fields(tt.args), nil)
		testkit.WantError(t, tt.args, err, dsbo.ErrConfig, tt.err)
		if err == nil && (*n != 7 || fmt.Sprint(f.Args()) != tt.operands || f.NArg() != len(f.Args())) {
			t.Errorf("%s: operands %v, n = %d; want operands %s, n = 7", tt.args, f.Args(), *n, tt.operands)
		}
	}
}

func TestSuggest(t *testing.T) {
	known := []string{"mnist", "run", "report", "K", "agents"}
	for word, want := range map[string]string{
		"mnits": ": did you mean -mnist?", "rnu": ": did you mean -run?", "agent": ": did you mean -agents?",
		"x": "", "start": "", "": "", "reprot": ": did you mean -report?",
	} {
		if got := cli.Suggest("-", word, known); got != want {
			t.Errorf("%q: %q, want %q", word, got, want)
		}
	}
}

func TestRequired(t *testing.T) {
	f, _ := flags()
	testkit.WantError(t, "no name", f.Parse(nil, nil, "n", "name"), dsbo.ErrConfig, "-name name is required")
}

func TestTable(t *testing.T) {
	rows := [][]string{{"model", "Φ", "loss"}, {"λ = 0", "0.3010", "1"}, {"last"}}
	for _, c := range []struct {
		write func(io.Writer, [][]string) error
		want  string
	}{
		{cli.Table, "model       Φ  loss\n-------------------\nλ = 0  0.3010     1\nlast\n"},
		{cli.Markdown, "| model |      Φ | loss |\n|-------|--------|------|\n| λ = 0 | 0.3010 |    1 |\n| last  |\n"},
	} {
		var out bytes.Buffer
		testkit.OK(c.write(&out, rows))
		if diff := cmp.Diff(c.want, out.String()); diff != "" {
			t.Error(diff)
		}
	}
}

// TestProgressElsewhere: where there is no terminal, lines come and bars do not.
func TestProgressElsewhere(t *testing.T) {
	for quiet, want := range map[bool]string{false: "half\n", true: ""} {
		var out bytes.Buffer
		p := cli.NewProgress(&out, quiet)
		p.Show(0.5, "run")
		p.Log("half")
		p.Stop()
		if out.String() != want {
			t.Errorf("quiet %t: %q, want %q", quiet, out.String(), want)
		}
	}
}

// TestUnknownKernels: a command whose environment asks for kernels that do not exist reports it and
// does nothing else.
func TestUnknownKernels(t *testing.T) {
	const marker = "DSBO_TEST_CLI_MAIN"
	if os.Getenv(marker) != "" {
		os.Exit(cli.Main("tool", func(context.Context, []string, io.Writer, io.Writer) error {
			return errors.New("the command ran")
		}))
	}
	c := exec.Command(os.Args[0], "-test.run=^TestUnknownKernels$")
	c.Env = append(os.Environ(), marker+"=1", "DSBO_KERNEL=neon")
	out, err := c.CombinedOutput()
	want := "tool: DSBO_KERNEL must be generic, avx2 or avx512; it is \"neon\"\n"
	if e, ok := errors.AsType[*exec.ExitError](err); !ok || e.ExitCode() != cli.Usage || string(out) != want {
		t.Errorf("the command ended with %v and said %q; it must end with exit code %d and say %q", err, out,
			cli.Usage, want)
	}
}

func TestChoose(t *testing.T) {
	known := []string{"a", "b", "c"}
	for list, want := range map[string][]string{"": known, "b": {"b"}, "c,a": {"a", "c"}} {
		if got, err := cli.Choose("only", list, known); err != nil || !slices.Equal(got, want) {
			t.Errorf("%q: %v, %v; want %v", list, got, err, want)
		}
	}
	const want = `-only must name some of a, b, c; "d" is none of them`
	if _, err := cli.Choose("only", "a,d", known); err == nil || err.Error() != want || cli.Code(err) != cli.Usage {
		t.Errorf("error %v, want %s", err, want)
	}
}
