package compare

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"dsbo"
	"dsbo/experiment"
	"dsbo/experiment/tasks"
	"dsbo/internal/testkit"
)

func TestParse(t *testing.T) {
	s := testkit.Get(Parse([]byte(`{
		"tasks": ["synthetic -r=1", {"task": "mnist", "name": "digits", "target": 0.3}],
		"methods": ["newtoncg", {"method": "dsoba -beta={c}/L -gamma={c}/L", "name": "D", "grid": {"c": [0.1, 1],
			"alpha": ["1*(1-k/K)"], "theta": [0.5]}}],
		"seeds": [3, 1]}`)))
	if one := s.Tasks[1]; one.Name != "digits" || one.Verb != "mnist" || *one.Target != 0.3 ||
		s.Tasks[0].Name != "synthetic -r=1" {
		t.Errorf("tasks %+v", s.Tasks)
	}
	d := s.Methods[1]
	want := []string{"-algorithm=dsoba", "-beta=1/L", "-gamma=1/L", "-alpha=1*(1-k/K)", "-set=theta=0.5"}
	if got := d.flagsAt([]int{1, 0, 0}); !slices.Equal(got, want) {
		t.Errorf("flags %q; they must be %q", got, want)
	}
	if d.Grid.points() != 2 || d.Grid.String([]int{1, 0, 0}) != "c=1 alpha=1*(1-k/K) theta=0.5" {
		t.Errorf("grid %+v", d.Grid)
	}
	if s.Choose != phi || s.Start != constantStart {
		t.Errorf("defaults %v %v", s.Choose, s.Start)
	}
}

// bad returns a spec with a field in place of another, or added.
func bad(field string) string {
	fields := map[string]string{"tasks": `["synthetic -r=1"]`, "methods": `["newtoncg"]`}
	name, value, _ := strings.Cut(field, ":")
	fields[strings.Trim(name, `"`)] = value
	var all []string
	for name, value := range fields {
		all = append(all, `"`+name+`":`+value)
	}
	return "{" + strings.Join(all, ",") + "}"
}

func TestParseRefuses(t *testing.T) {
	for _, tt := range []struct{ spec, want string }{
		{``, "must be a JSON object"},
		{`{"methods": ["newtoncg"]}`, `"tasks" must have from 1`},
		{bad(`"methods":[]`), `"methods" must have from 1`},
		{bad(`"seed":[1]`), `field "seed" is not known`},
		{bad(`"seeds":[]`), `"seeds" must have from 1`},
		{bad(`"seeds":[1,2,1]`), `1 is there twice`},
		{bad(`"seeds":[` + strings.Repeat("1,", 1e6) + `1]`), `must have from 1 to 100000 entries; it has 1000001`},
		{bad(`"seeds":[-1]`), `"seeds" must be a list of whole numbers`},
		{bad(`"tasks":["a","a"]`), `"tasks": names must differ`},
		{bad(`"tasks":["synthetic -r=1","synthetic  _-r=1"]`), `two are the folder "synthetic_-r=1"`},
		{bad(`"tasks":[""]`), `"task" must name a task`},
		{bad(`"tasks":["synthetic r=1"]`), `"tasks": flags must be of the form -name=value; "r=1" is not`},
		{bad(`"methods":["newton"]`), `"newton" is unknown`},
		{bad(`"methods":[{"method":"dsoba","gird":{}}]`), `field "gird" is not known`},
		{bad(`"methods":[{"method":"dsoba","grid":{"alpha":[]}}]`), `"alpha" must be a list of values`},
		{bad(`"methods":[{"method":"dsoba","grid":{"alpha":[1,1]}}]`), `the values of "alpha" must differ`},
		{bad(`"methods":[{"method":"dsoba","grid":{"alpha":[1],"alpha":[2]}}]`), `"alpha" must be given once`},
		{bad(`"methods":[{"method":"dsoba","trials":-1}]`), `"trials" must be at least 1`},
		{bad(`"methods":[{"method":"dsoba","tasks":["mnist"]}]`), `"mnist" is none`},
		{bad(`"methods":["dsoba -out=x"]`), `-out=x is not allowed`},
		{bad(`"flags":["-seed=3"]`), `-seed=3 is not allowed`}, {bad(`"flags":["-h"]`), `-h is not allowed`},
		{bad(`"flags":["-help"]`), `-help is not allowed`}, {bad(`"flags":["-=3"]`), `"-=3" is not`},
		{bad(`"methods":["newtoncg -algorithm=dsoba"]`), `-algorithm=dsoba is not allowed`},
		{bad(`"methods":["dsoba -set=aplha=1"]`),
			`"dsoba -set=aplha=1": dsoba has no parameter "aplha"; it has alpha, beta`},
		{bad(`"methods":[{"method":"dsoba","grid":{"alpha":[0.1],"aplha":[1]}}]`), `dsoba has no parameter "aplha"`},
		{bad(`"choose":"test_loss"`), `field "choose" must be one of phi`},
		{bad(`"show":["loss"]`), `field "show" is gone: the page of a comparison has figures of all quantities`},
		{bad(`"against":["time"]`), `field "against" is gone: figures of a comparison are against iterations`},
	} {
		if _, err := Parse([]byte(tt.spec)); !errors.Is(err, dsbo.ErrConfig) ||
			!strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: error %v; it must say %s", tt.spec, err, tt.want)
		}
	}
	if _, err := Read("absent.json"); !errors.Is(err, dsbo.ErrConfig) {
		t.Errorf("no file: %v", err)
	}
}

// all are the tasks of the program.
func all() []experiment.Task {
	return []experiment.Task{tasks.Synthetic(), tasks.MNIST(), tasks.Policy()}
}

// TestKnownSpecs: the program runs the specs of the help, of the paper's figures and of the
// lab book.
func TestKnownSpecs(t *testing.T) {
	known := map[string]*Spec{"example": testkit.Get(Parse([]byte(Example))), "paper": Paper(false),
		"paper, quick": Paper(true)}
	files := testkit.Get(filepath.Glob("../../benchmarks/specs/*.json"))
	if len(files) == 0 {
		t.Error("benchmarks must have specs")
	}
	for _, f := range files {
		known[filepath.Base(f)] = testkit.Get(Parse(testkit.Get(os.ReadFile(f))))
	}
	for name, s := range known {
		if err := s.checkTasks(all()); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestCheckTasks: what the program does not understand is an error before any run, and methods do
// not change the problem.
func TestCheckTasks(t *testing.T) {
	for _, tt := range []struct{ spec, want string }{
		{bad(`"tasks":["syntetic"]`),
			`"syntetic" is no task of this program (synthetic, mnist, policy): did you mean synthetic?`},
		{bad(`"tasks":["synthetic -r=1 -depth=3"]`), "unknown flag -depth"},
		{bad(`"methods":["newtoncg -K=many"]`), `method "newtoncg -K=many"`},
		{bad(`"methods":["newtoncg -p=3"]`), "results of unlike problems are not ranked"},
		{bad(`"methods":[{"method":"newtoncg -agents={n}","grid":{"n":[2,3]}}]`),
			"results of unlike problems are not ranked"},
	} {
		s := testkit.Get(Parse([]byte(tt.spec)))
		if err := s.checkTasks(all()); !errors.Is(err, dsbo.ErrConfig) || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: error %v; it must say %s", tt.spec, err, tt.want)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(Example))
	f.Add(paper)
	f.Add([]byte(bad(`"methods":[{"method":"dsoba -beta={c}/L","grid":{"c":[1,"2/L"]},"trials":1}]`)))
	f.Fuzz(func(t *testing.T, data []byte) {
		s, err := Parse(data)
		if err != nil {
			if !errors.Is(err, dsbo.ErrConfig) {
				t.Errorf("error %v must match ErrConfig", err)
			}
			return
		}
		for _, m := range s.Methods {
			if m.Grid.points() < 1 || len(m.flagsAt(m.Grid.search(0).start)) < 1 || fileName(m.Name) == "" {
				t.Errorf("method %+v has no middle", m)
			}
		}
	})
}
