package command

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/sync/errgroup"

	"dsbo"
	"dsbo/experiment"
	"dsbo/experiment/site"
	"dsbo/experiment/tasks"
	"dsbo/experiment/tasks/tune"
	"dsbo/internal/cli"
	"dsbo/internal/testkit"
	"dsbo/network"
	"dsbo/runs/report"
)

// testProgram returns a program like cmd/dsbo. Tasks hold the values of their flags, so that agents
// of one process each need their own.
func testProgram() *program {
	return newProgram("dsbo", tasks.MNIST(), tasks.Synthetic(), tasks.Policy(), tune.Task())
}

// run runs a command line of a testProgram.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	return testProgram().run(ctx, args, stdout, stderr)
}

// undrawn is set where pages have no drawings for print, which take most of their time.
const undrawn = "DSBO_TEST_UNDRAWN"

// TestMain has this program be the commands of scripts too, under their names.
func TestMain(m *testing.M) {
	testkit.SmallRuns()
	testkit.InMemory()
	commands := map[string]func(){
		"dsbo":   func() { os.Exit(cli.Main("dsbo", run)) },
		"wine":   func() { Main(tasks.Synthetic()) }, // a program for one task
		"mnist":  func() { experiment.Main(tasks.MNIST()) },
		"go":     goCommand,     // of documents
		"agents": agentsCommand, // of documents
		"bridge": bridge,        // of a platform's connections
	}
	if os.Getenv(undrawn) != "" {
		report.Draw = nil
	}
	if command, is := commands[filepath.Base(os.Args[0])]; is {
		command()
	}
	dir := testkit.Get(os.MkdirTemp("", ""))
	for name := range commands {
		if name == "go" || name == "agents" {
			continue
		}
		testkit.OK(os.Symlink(testkit.Get(os.Executable()), filepath.Join(dir, name)))
	}
	testkit.OK(os.Setenv("PATH", dir+string(filepath.ListSeparator)+os.Getenv("PATH")))
	code := m.Run()
	testkit.OK(os.RemoveAll(dir))
	os.Exit(code)
}

// goCommand is the go command of documents: it runs and builds programs of this module by this one,
// and does nothing else.
func goCommand() {
	args := os.Args[1:]
	if args[0] == "build" {
		testkit.OK(os.Symlink(testkit.Get(os.Executable()), filepath.Base(args[1])))
	}
	if args[0] == "run" {
		verb := strings.Replace(args[1], "./cmd/", "", 1)
		if args = args[2:]; verb != "dsbo" {
			args = append([]string{verb}, args...)
		}
		os.Args = append([]string{"dsbo"}, args...)
		os.Exit(cli.Main("dsbo", run))
	}
	os.Exit(0)
}

// agentsCommand is agents N dsbo ARGUMENTS...: N command lines at once, where AGENT is a number
// from 0. They run in this process, as processes take most of their time to begin.
func agentsCommand() {
	os.Exit(cli.Main("dsbo", func(ctx context.Context, args []string, stdout, stderr io.Writer) error {
		group, ctx := errgroup.WithContext(ctx)
		for i := range testkit.Get(strconv.Atoi(args[0])) {
			line := strings.ReplaceAll(strings.Join(args[2:], "\n")+"\n-quiet", "AGENT", strconv.Itoa(i))
			group.Go(func() error { return run(ctx, strings.Split(line, "\n"), stdout, stderr) })
		}
		return group.Wait()
	}))
}

func TestScripts(t *testing.T) { runScripts(t, "testdata/script", nil) }

// TestOwnName: an error of a program for one task of the program's name has that name once.
func TestOwnName(t *testing.T) {
	err := newProgram("synthetic", tasks.Synthetic()).run(t.Context(), []string{"-r=-1"}, io.Discard, io.Discard)
	if !errors.Is(err, dsbo.ErrConfig) || strings.Contains(err.Error(), "synthetic: ") {
		t.Errorf("error %v must not begin with the name, which Main writes", err)
	}
	err = testProgram().run(t.Context(), []string{"synthetic", "-r=-1"}, io.Discard, io.Discard)
	if err == nil || !strings.HasPrefix(err.Error(), "synthetic: ") {
		t.Errorf("error %v must begin with the verb", err)
	}
	// The verb agent names the verb that takes a site's own flags.
	wantError(t, testProgram().run(t.Context(), []string{"agent", "-data=ours.csv"}, io.Discard, io.Discard), cli.Usage,
		"flag -data is given to the verb of its task: ")
}

// The flags of a cluster file are the flags of its task's command line, without the flags of a run
// in one process.
func TestCheckTask(t *testing.T) {
	testkit.OK(testProgram().checkTask(&site.Cluster{Task: "mnist", Flags: []string{"-K=20", "--T=3"}}))
	for _, tt := range []struct{ task, flag, want string }{
		{"cifar", "-K=3", `"task" must be mnist or synthetic or policy or tune; it is "cifar"`},
		{"mnits", "-K=3", `did you mean mnist?`},
		{"mnist", "-out=x", `"-out=x" is not allowed: it is for a run in one process`},
		{"mnist", "--resume", `"--resume" is not allowed`},
		{"mnist", "-force", `"-force" is not allowed`},
		{"mnist", "-transport=mpi", `"-transport=mpi" is not allowed`},
		{"mnist", "-K=x", `"flags": -K must be a whole number; it is "x"`},
		{"mnist", "-r=1", "unknown flag -r"},
		{"mnist", "-K=0", `"flags": -K`},
		{"mnist", "-algorithm=zz", `"zz"`},
		{"mnist", "-model=zz", "-model"},
		{"mnist", "-holdout=-1", "-holdout must be at least 0"},
		{"mnist", "-h", `"flags": -h is not allowed`},
	} {
		wantError(t, testProgram().checkTask(&site.Cluster{Task: tt.task, Flags: []string{tt.flag}}),
			cli.Usage, tt.want)
	}
	noisy := &site.Cluster{Task: "mnist", Flags: []string{"-dp-epsilon=1"}}
	testkit.OK(testProgram().checkTask(noisy))
	noisy.Quorum = 2
	wantError(t, testProgram().checkTask(noisy), cli.Usage, `"quorum" and -dp-epsilon are mutually exclusive`)
}

// TestCheckTaskOnTheGraph: -mix is checked on the cluster's graph, not on the default of the
// command line.
func TestCheckTaskOnTheGraph(t *testing.T) {
	flags := []string{"-algorithm=madsbo", "-mix=matchings"}
	for graph, want := range map[string]string{"complete": "", "server": "weights cannot change on graph server"} {
		g := testkit.Get(network.New(graph, 5, network.Options{}))
		err := testProgram().checkTask(&site.Cluster{Task: "synthetic", Flags: flags, Graph: g})
		if want == "" {
			testkit.OK(err)
		} else {
			wantError(t, err, cli.Usage, want)
		}
		if g.W.Mixing() != (network.Plain{}) {
			t.Errorf("the check changed the graph")
		}
	}
}
