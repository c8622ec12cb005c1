package command

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"dsbo/internal/cli"
	"dsbo/internal/testkit"
	"dsbo/runs"
)

func TestCollect(t *testing.T) {
	dir := t.TempDir()
	file, out, made := writeCluster(t, dir, 2, nil), filepath.Join(dir, "out"), filepath.Join(dir, "made")
	agents(t, 2, "-cluster="+file, "-out="+out, "-few-sites", "-quiet")
	testkit.OK(os.CopyFS(made, os.DirFS(out)))
	zero, one, all := filepath.Join(out, "agent-0"), filepath.Join(out, "agent-1"), filepath.Join(dir, "all")

	stdout := runCommand(t, "collect", "-out", all, "-report=false", one, zero)
	same(t, out, all, 2)
	if !strings.Contains(stdout, "small: 2 agents, which agree to the last bit; ") {
		t.Errorf("stdout:\n%s", stdout)
	}
	last := func(folder string) runs.Record {
		r := testkit.Get(runs.Folder(folder).Records())
		return r[len(r)-1]
	}
	a, b, got := last(zero), last(one), last(all)
	if got.MixSeconds != a.MixSeconds+b.MixSeconds || got.OracleSeconds != a.OracleSeconds+b.OracleSeconds ||
		got.Seconds != max(a.Seconds, b.Seconds) {
		t.Errorf("times %+v of %+v and %+v", got, a, b)
	}
	summary := func(folder string) runs.Summary { return testkit.Get(runs.Folder(folder).ReadSummary()) }
	s, s0, s1 := summary(all), summary(zero), summary(one)
	if len(s.Waited) != 2 || s.Waited[0] != s0.Waited[0]+s1.Waited[0] || s0.Waited[0] != 0 || s0.Waited[1] == 0 {
		t.Errorf(
			"agents were waited for %v s, by agent 0 %v, by agent 1 %v; it must be the sum, and agent 0 waits "+
				"for agent 1", s.Waited, s0.Waited, s1.Waited)
	}
	if s.MixSeconds != s0.MixSeconds+s1.MixSeconds || s.PerAgent[0] != s0.PerAgent[0] ||
		s.PerAgent[1] != s1.PerAgent[1] || s.PerAgent[1].MixSeconds == 0 {
		t.Errorf("summary %+v of %+v and %+v", s, s0, s1)
	}

	for args, want := range map[string]string{
		"-force -out " + zero + " " + zero + " " +
			one: "-out must not be one of the run folders; it is " + zero,
		"-force -out " + out + "/../out/agent-1 " + zero + " " + one: "-out must not be one of the run folders",
		zero + " " + one + " -quite -out " + all:                     "unknown flag -quite",
		zero + " " + one + " -out " + all + " -report=false":         "-force replaces it",
		"-out " + all + " " + zero + " " + one:                       "-force replaces it",
	} {
		_, err := command(t, append([]string{"collect"}, strings.Fields(args)...)...)
		wantError(t, err, cli.Usage, want)
	}
	log := zero + ".log" // beside them, where the verb run has made the folders
	testkit.OK(os.WriteFile(log, nil, 0o644))
	runCommand(t, "collect", "-out", all, "-force", "-report=false", zero, log, one)
	collectRefuses(t, made)
}

// collectRefuses checks that folders that are not of all agents of one run, as those made are, are
// refused, with the reason.
func collectRefuses(t *testing.T, made string) {
	const both = "agent-0 agent-1"
	for _, tt := range []struct {
		name           string
		file, old, new string // a change in the folder of agent 1; without old and new the file is removed
		folders        string
		code           int
		want           string
	}{
		{"one is missing", "", "", "", "agent-1", cli.Usage,
			"the run folders of all 2 agents are required; missing: agent 0"},
		{"one is there twice", "", "", "", both + " agent-1", cli.Usage, "are both of agent 1"},
		{"no folder", "", "", "", "agent-0 agent-2", cli.Usage,
			"agent-2 must be the run folder of an agent; it holds no run"},
		{"none", "", "", "", "", cli.Usage, "the run folders of all agents are required"},
		{"unfinished", runs.SummaryFile, `"finished"`, `"interrupted"`, both, cli.Usage,
			"must be a finished run; it is interrupted"},
		{"not an agent's", runs.MembershipFile, "", "", both, cli.Usage, "must be the run folder of an agent"},
		{"another run", runs.MembershipFile, `"small"`, `"other"`, both, cli.Usage, "the agents must be of one run"},
		{"an agent that cannot be", runs.MembershipFile, `"agent": 1`, `"agent": 2`, both, cli.Usage,
			"the folder was changed"},
		{"another setting", runs.ConfigFile, `"seed": 1`, `"seed": 2`, both, cli.Failure,
			"agents 0 and 1 do not agree: config.json: -seed is 1 there, 2 here"},
		{"another number", runs.MetricsFile, `"val_loss":0.`, `"val_loss":1.`, both, cli.Failure,
			"do not agree: metrics.jsonl, iteration 0: val_loss is 0."},
		{"a model of its own", runs.SummaryFile, `"refit_converged": true`, `"refit_converged": false`,
			both, cli.Failure,
			"do not agree: summary.json: models is"},
		{"another λ", runs.LambdaFile, "NUMPY", "OTHER", both, cli.Failure, "do not agree: lambda.npy: other contents"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			out := filepath.Join(t.TempDir(), "out")
			testkit.OK(os.CopyFS(out, os.DirFS(made)))
			switch path := filepath.Join(out, "agent-1", tt.file); {
			case tt.old != "":
				edit(t, path, tt.old, tt.new)
			case tt.file != "":
				testkit.OK(os.Remove(path))
			}
			args := []string{"collect", "-out", filepath.Join(out, "all")}
			for _, name := range strings.Fields(tt.folders) {
				args = append(args, filepath.Join(out, name))
			}
			_, err := command(t, args...)
			wantError(t, err, tt.code, tt.want)
			if _, err := os.Stat(filepath.Join(out, "all")); err == nil {
				t.Error("a folder was made")
			}
		})
	}
}
