package compare

import (
	"slices"
	"strings"
	"testing"

	"dsbo/internal/testkit"
	"dsbo/runs"
)

// TestStates: methods start at one constant, whose cost counts; a run whose settings cannot work is
// refused, with the error, and a method that is not for the task is not applicable.
func TestStates(t *testing.T) {
	s := testkit.Get(Parse([]byte(`{"tasks": [{"task": "synthetic -p=2 -r=1 -train=20 -val=20 -test=10 -agents=2",
		"name": "small"}], "methods": ["newtoncg -K=2", "dsoba -K=2", "madsbo -batch=21", "dascgd"]}`)))
	r := testkit.Get(Run(t.Context(), s, Options{Out: t.TempDir(), Processes: 2, Tasks: all()}))
	k := r.Rankings[0]
	for i, want := range []struct {
		state runs.State
		text  string
	}{{runs.Finished, ""}, {runs.Finished, ""}, {refused, "-batch must be at most 20"},
		{notApplicable, "dascgd is for compositional problems alone"}} {
		trial := k.Entries[i].Best[0]
		if trial.State != want.state || !strings.Contains(trial.Error, want.text) {
			t.Errorf("%s is %s: %s; want %s: %s", trial.Method, trial.State, trial.Error, want.state, want.text)
		}
		if want.state != runs.Finished {
			reason := ": " + string(want.state) + ": " + want.text
			if text := strings.Join(k.refusals(), "\n"); !strings.Contains(text, reason) {
				t.Errorf("reasons %q must have %q", text, reason)
			}
			continue
		}
		c, spent := trial.Config, oracleCalls.of(trial.Records[0], 2)
		if !c.X0Best || c.X0 != k.Entries[0].Best[0].Config.X0 || spent == 0 {
			t.Errorf("%s starts at %g, after %g calls", trial.Method, c.X0, spent)
		}
	}
	if text := prose("start", k); !strings.Contains(text, "All methods start at the best constant") {
		t.Errorf("the page has %q", text)
	}
	k.Entries[1].Best[0].Config.X0++
	if err := r.rank(); err == nil || !strings.Contains(err.Error(), "other starts") {
		t.Errorf("%v, want that methods that start apart are not ranked", err)
	}
}

// TestStart: a spec's methods start alike, unless it sets otherwise.
func TestStart(t *testing.T) {
	args := func(more string) []string {
		s := testkit.Get(Parse([]byte(`{"tasks": ["synthetic -r=1"], "methods": ["dsoba"]` + more + `}`)))
		return newTrial("out", s, s.Tasks[0], s.Methods[0], nil, 1).Args
	}
	if !slices.Contains(args(""), "-best-start") || slices.Contains(args(`, "start": "given"`), "-best-start") {
		t.Errorf("%q and %q", args(""), args(`, "start": "given"`))
	}
	for start, refused := range map[string]bool{constantStart: true, "given": false} {
		spec := `{"tasks": ["synthetic"], "methods": ["dsoba -x0=3"], "start": "` + start + `"}`
		s := testkit.Get(Parse([]byte(spec)))
		if err := s.checkTasks(all()); (err != nil) != refused {
			t.Errorf("a method with -x0 among those whose start is %s: %v", start, err)
		}
	}
	r := handmade(t)
	r.Spec.Start = "given"
	if text := prose("start", r.Rankings[0]); !strings.Contains(text, "its own search") {
		t.Errorf("the page has %q", text)
	}
}

// TestReasons: an unknown value comes with the reason.
func TestReasons(t *testing.T) {
	k := handmade(t).Rankings[0]
	k.Entries[0].Best[0].Summary.Unknown = []string{"losses: no Score"}
	notes := map[string]string{}
	for _, row := range k.Table()[1:] {
		notes[row[0]] = row[len(row)-1]
	}
	if notes["dsoba"] != "losses: no Score; at the edge: alpha" || notes["newtoncg"] != "" ||
		notes["dascgd"] != "not applicable" {
		t.Errorf("notes %q", notes)
	}
}

// TestBegan: a method began where one of its runs did, however it ended; what was refused, or is
// not applicable, did not.
func TestBegan(t *testing.T) {
	for states, want := range map[[2]runs.State]bool{
		{refused, notApplicable}: false, {refused, refused}: false, {notApplicable, notApplicable}: false,
		{refused, runs.Failed}: true, {notApplicable, runs.Diverged}: true, {runs.Finished, runs.Finished}: true,
	} {
		e := newEntry(method{})
		e.search = &search{tried: [][]int{nil}}
		e.points[e.Method.Grid.String(nil)] = []*trial{{State: states[0]}, {State: states[1]}}
		if got := e.began(); got != want {
			t.Errorf("%v: it began: %t", states, got)
		}
	}
}
