package command

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"dsbo/internal/cli"
	"dsbo/runs"
)

// edit replaces the first occurrence of a text in a file.
func edit(t *testing.T, path, old, new string) {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Contains(data, []byte(old)) {
		t.Fatalf("%s has no %q", path, old)
	}
	if err := os.WriteFile(path, bytes.Replace(data, []byte(old), []byte(new), 1), 0o644); err != nil {
		t.Fatal(err)
	}
}

func TestCollect(t *testing.T) {
	dir := t.TempDir()
	file, out := writeCluster(t, dir, 2, nil), filepath.Join(dir, "out")
	agents(t.Context(), t, 2, "-cluster="+file, "-out="+out, "-quiet")
	zero, one := filepath.Join(out, "agent-0"), filepath.Join(out, "agent-1")
	all := filepath.Join(dir, "all")

	var stdout bytes.Buffer
	if err := run(t.Context(), []string{"collect", "-out", all, "-report=false", one, zero}, &stdout, io.Discard); err != nil {
		t.Fatal(err)
	}
	same(t, out, all, 2)
	if !strings.Contains(stdout.String(), "small: 2 agents, which agree to the last bit; ") {
		t.Errorf("stdout:\n%s", stdout.String())
	}
	records := func(folder string) runs.Record {
		r, err := runs.Folder(folder).Records()
		if err != nil {
			t.Fatal(err)
		}
		return r[len(r)-1]
	}
	summary := func(folder string) runs.Summary {
		s, err := runs.Folder(folder).ReadSummary()
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	a, b, got := records(zero), records(one), records(all)
	if got.MixSeconds != a.MixSeconds+b.MixSeconds || got.OracleSeconds != a.OracleSeconds+b.OracleSeconds || got.Seconds != max(a.Seconds, b.Seconds) {
		t.Errorf("times %+v of %+v and %+v", got, a, b)
	}
	s, s0, s1 := summary(all), summary(zero), summary(one)
	if s.MixSeconds != s0.MixSeconds+s1.MixSeconds || s.PerAgent[0] != s0.PerAgent[0] || s.PerAgent[1] != s1.PerAgent[1] || s.PerAgent[1].MixSeconds == 0 {
		t.Errorf("summary %+v of %+v and %+v", s, s0, s1)
	}

	for args, want := range map[string]string{
		"-force -out " + zero + " " + zero + " " + one:               "-out must not be one of the run folders; it is " + zero,
		"-force -out " + out + "/../out/agent-1 " + zero + " " + one: "-out must not be one of the run folders",
		zero + " " + one + " -out " + all:                            "-out must stand before the run folders",
	} {
		if err := run(t.Context(), append([]string{"collect"}, strings.Fields(args)...), io.Discard, io.Discard); cli.Code(err) != cli.Usage || !strings.Contains(err.Error(), want) {
			t.Errorf("collect %s: %v, want %s", args, err, want)
		}
	}
	err := run(t.Context(), []string{"collect", "-out", all, zero, one}, io.Discard, io.Discard)
	if cli.Code(err) != cli.Usage || !strings.Contains(err.Error(), "-force replaces it") {
		t.Errorf("again: %v", err)
	}
	log := zero + ".log" // beside them, where dsbo run has made the folders
	if err := os.WriteFile(log, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := run(t.Context(), []string{"collect", "-out", all, "-force", zero, log, one}, io.Discard, io.Discard); err != nil {
		t.Errorf("-force: %v", err)
	}
	if _, err := os.Stat(filepath.Join(all, "report.html")); err != nil {
		t.Error(err)
	}
}

// Whatever is not the whole of one run is refused, and named.
func TestCollectRefuses(t *testing.T) {
	dir := t.TempDir()
	file, made := writeCluster(t, dir, 2, nil), filepath.Join(dir, "made")
	agents(t.Context(), t, 2, "-cluster="+file, "-out="+made, "-quiet")
	for _, tt := range []struct {
		name   string
		change func(t *testing.T, out string)
		runs   string
		code   int
		want   string
	}{
		{"one is missing", nil, "agent-1", cli.Usage, "the run folders of all 2 agents are required; agent 0 is missing"},
		{"one is there twice", nil, "agent-0 agent-1 agent-1", cli.Usage, "are both of agent 1"},
		{"no folder", nil, "agent-0 agent-2", cli.Usage, "agent-2 must be the run folder of an agent; it holds no run"},
		{"none", nil, "", cli.Usage, "the run folders of all agents are required"},
		{"unfinished", func(t *testing.T, out string) {
			edit(t, filepath.Join(out, "agent-1", "summary.json"), `"finished"`, `"interrupted"`)
		}, "agent-0 agent-1", cli.Usage, "must be a finished run; it is interrupted"},
		{"not an agent's", func(t *testing.T, out string) {
			if err := os.Remove(filepath.Join(out, "agent-1", runs.MembershipFile)); err != nil {
				t.Fatal(err)
			}
		}, "agent-0 agent-1", cli.Usage, "must be the run folder of an agent"},
		{"another run", func(t *testing.T, out string) {
			edit(t, filepath.Join(out, "agent-1", runs.MembershipFile), `"small"`, `"other"`)
		}, "agent-0 agent-1", cli.Usage, "the agents must be of one run"},
		{"an agent that cannot be", func(t *testing.T, out string) {
			edit(t, filepath.Join(out, "agent-1", runs.MembershipFile), `"agent": 1`, `"agent": 2`)
		}, "agent-0 agent-1", cli.Usage, "the folder was changed"},
		{"another setting", func(t *testing.T, out string) {
			edit(t, filepath.Join(out, "agent-1", "config.json"), `"seed": 1`, `"seed": 2`)
		}, "agent-0 agent-1", cli.Failure, "agents 0 and 1 do not agree: config.json: -seed is 1 there, 2 here"},
		{"another number", func(t *testing.T, out string) {
			edit(t, filepath.Join(out, "agent-1", runs.MetricsFile), `"phi":6.`, `"phi":5.`)
		}, "agent-0 agent-1", cli.Failure, "do not agree: metrics.jsonl, iteration 1: phi is 6."},
		{"a model of its own", func(t *testing.T, out string) {
			edit(t, filepath.Join(out, "agent-1", "summary.json"), `"refit_converged": false`, `"refit_converged": true`)
		}, "agent-0 agent-1", cli.Failure, "do not agree: summary.json: models is"},
		{"another λ", func(t *testing.T, out string) {
			path := filepath.Join(out, "agent-1", runs.LambdaFile)
			data, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			data[len(data)-1] ^= 1
			if err := os.WriteFile(path, data, 0o644); err != nil {
				t.Fatal(err)
			}
		}, "agent-0 agent-1", cli.Failure, "do not agree: lambda.npy: other numbers"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			out := filepath.Join(t.TempDir(), "out")
			if err := os.CopyFS(out, os.DirFS(made)); err != nil {
				t.Fatal(err)
			}
			if tt.change != nil {
				tt.change(t, out)
			}
			args := []string{"collect", "-out", filepath.Join(out, "all")}
			for _, name := range strings.Fields(tt.runs) {
				args = append(args, filepath.Join(out, name))
			}
			err := run(t.Context(), args, io.Discard, io.Discard)
			if cli.Code(err) != tt.code || err == nil || !strings.Contains(cli.OneLine(err), tt.want) {
				t.Errorf("%v, code %d, want %q, %d", err, cli.Code(err), tt.want, tt.code)
			}
			if _, err := os.Stat(filepath.Join(out, "all")); err == nil {
				t.Error("a folder was made")
			}
		})
	}
}
