package site

import (
	"encoding/json"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"dsbo"
	"dsbo/internal/testkit"
)

// edge is a policy that allows asked and nothing more.
var edge = Policy{LeastRows: 20, LeastSites: 4, Columns: []string{"age", "lab_*"}, Tasks: []string{"tune"},
	Methods: []string{"newtoncg"}, MostEpsilon: 8, MostDelta: 1e-5, Admit: []string{"9f"}}

var asked = Request{Task: "tune", Method: "newtoncg", Sites: 4, Rows: 20, Columns: []string{"age", "lab_k"},
	Epsilon: 8, Delta: 1e-5, Admits: []string{"9f"}}

// TestEachFieldIsDecided: what is allowed at the edge of each rule is refused one step beyond, by
// the rule's name, and a wider policy allows it; each field of requests and of policies has a rule.
func TestEachFieldIsDecided(t *testing.T) {
	testkit.OK(edge.Check(asked))
	decided, named := map[string]bool{}, map[string]bool{}
	for _, c := range []struct {
		field, rule string
		more        func(r *Request)
		wider       func(p *Policy)
		text        string
	}{
		{"Task", "tasks", func(r *Request) { r.Task = "mnist" }, func(p *Policy) { p.Tasks = nil },
			`"tasks": asked is mnist, allowed is [tune]`},
		{"Method", "methods", func(r *Request) { r.Method = "dsoba" },
			func(p *Policy) { p.Methods = append(p.Methods, "dsoba") }, "asked is dsoba, allowed is [newtoncg]"},
		{"Sites", "least_sites", func(r *Request) { r.Sites = 3 }, func(p *Policy) { p.LeastSites = 3 },
			"asked is 3, allowed is 4"},
		{"Rows", "least_rows", func(r *Request) { r.AskRows(0, 30, 19) }, func(p *Policy) { p.LeastRows = 19 },
			"asked is 19, allowed is 20"},
		{"Columns", "columns", func(r *Request) { r.Columns = []string{"age", "name"} },
			func(p *Policy) { p.Columns = append(p.Columns, "na?e") }, "asked is name, allowed is [age, lab_*]"},
		{"OwnResults", "own_results", func(r *Request) { r.OwnResults = true }, func(p *Policy) { p.OwnResults = true },
			"asked is true, allowed is false"},
		{"Words", "words", func(r *Request) { r.Words = true }, func(p *Policy) { p.Words = true },
			"asked is true, allowed is false"},
		{"Classes", "classes", func(r *Request) { r.Classes = true }, func(p *Policy) { p.Classes = true },
			"asked is true"},
		{"Models", "models", func(r *Request) { r.Models = true }, func(p *Policy) { p.Models = true },
			"asked is true"},
		{"Unmasked", "unmasked", func(r *Request) { r.Unmasked = true }, func(p *Policy) { p.Unmasked = true },
			"asked is true"},
		{"Epsilon", "most_epsilon", func(r *Request) { r.Epsilon = 8.5 }, func(p *Policy) { p.MostEpsilon = 9 },
			"asked is 8.5, allowed is 8"},
		{"Epsilon", "most_epsilon", func(r *Request) { r.Epsilon, r.Delta = 0, 0 },
			func(p *Policy) { p.MostEpsilon, p.MostDelta = 0, 0 }, "asked is no noise, allowed is 8"},
		{"Delta", "most_delta", func(r *Request) { r.Delta = 1e-4 }, func(p *Policy) { p.MostDelta = 0 },
			"asked is 0.0001, allowed is 1e-05"},
		{"Admits", "admit", func(r *Request) { r.Admits = []string{"9f", "03"} }, func(p *Policy) { p.Admit = nil },
			"asked is 03, allowed is [9f]"},
	} {
		decided[c.field], named[c.rule] = true, true
		r, p := asked, edge
		c.more(&r)
		testkit.WantError(t, c.field, p.Check(r), dsbo.ErrConfig, `by its rule "`+c.rule+`"`)
		testkit.WantError(t, c.field, p.Check(r), dsbo.ErrConfig, c.text)
		c.wider(&p)
		if err := p.Check(r); err != nil {
			t.Errorf("%s: the wider policy refuses it: %v", c.field, err)
		}
	}
	for _, f := range reflect.VisibleFields(reflect.TypeFor[Request]()) {
		if !decided[f.Name] {
			t.Errorf("no rule decides %s", f.Name)
		}
	}
	for _, f := range reflect.VisibleFields(reflect.TypeFor[Policy]()) {
		if !named[f.Tag.Get("json")] {
			t.Errorf("no rule has the name of the field %s", f.Tag.Get("json"))
		}
	}
}

// aDraw draws requests and policies, which are often at the edge of each other.
type aDraw struct{ *rand.Rand }

func (d aDraw) yes() bool { return d.IntN(8) > 0 }

func (d aDraw) some(of ...string) (list []string) {
	for _, s := range of {
		if d.yes() {
			list = append(list, s)
		}
	}
	return list
}

func (d aDraw) request() Request {
	return Request{Task: []string{"tune", "mnist"}[d.IntN(8)/7], Method: []string{"newtoncg", "dsoba"}[d.IntN(8)/7],
		Sites: 2 + d.IntN(8), Rows: d.IntN(40), Columns: d.some("age", "lab_k", "ill"), OwnResults: !d.yes(),
		Words: !d.yes(), Classes: !d.yes(), Models: !d.yes(), Unmasked: !d.yes(), Epsilon: float64(d.IntN(3)),
		Delta: float64(d.IntN(3)) / 1e5, Admits: d.some("9f", "03")}
}

func (d aDraw) policy() Policy {
	return Policy{LeastRows: d.IntN(10), LeastSites: d.IntN(4), Columns: d.some("age", "lab_*", "ill", "?ge"),
		Tasks: d.some("tune", "mnist"), Methods: d.some("newtoncg", "dsoba"), OwnResults: d.yes(), Words: d.yes(),
		Classes: d.yes(), Models: d.yes(), Unmasked: d.yes(), MostEpsilon: float64(d.IntN(4)),
		MostDelta: float64(d.IntN(4)) / 1e5, Admit: d.some("9f", "03")}
}

// less returns a request that needs less than r in one field, or the same.
func (d aDraw) less(r Request) Request {
	switch d.IntN(11) {
	case 0:
		r.Sites++
	case 1:
		if r.Rows++; r.Rows == 1 {
			r.Rows = 0
		}
	case 2:
		r.Rows = 0
	case 3:
		r.Columns = r.Columns[:len(r.Columns)/2]
	case 4:
		r.OwnResults = false
	case 5:
		r.Words, r.Classes = false, false
	case 6:
		r.Models = false
	case 7:
		r.Unmasked = false
	case 8:
		r.Epsilon /= 2
	case 9:
		r.Delta /= 2
	case 10:
		r.Admits = nil
	}
	return r
}

// wider returns a policy that allows more than p by one rule, or the same.
func (d aDraw) wider(p Policy) Policy {
	switch d.IntN(11) {
	case 0:
		p.LeastRows /= 2
	case 1:
		p.LeastSites /= 2
	case 2:
		if p.Columns != nil {
			p.Columns = append(p.Columns[:len(p.Columns):len(p.Columns)], "l*")
		}
	case 3:
		p.Tasks = nil
	case 4:
		p.Methods = nil
	case 5:
		p.OwnResults, p.Words = true, true
	case 6:
		p.Classes, p.Models = true, true
	case 7:
		p.Unmasked = true
	case 8:
		p.MostEpsilon *= 2
	case 9:
		p.MostDelta = 0
	case 10:
		p.Admit = nil
	}
	return p
}

// TestMonotone: on 10,000 drawn pairs a wider policy refuses nothing that a narrower one allows,
// nor is a request refused that needs less than one that is allowed; many are decided either way.
func TestMonotone(t *testing.T) {
	d, allowed := aDraw{rand.New(rand.NewPCG(1, 2))}, 0
	for range 10_000 {
		p, r := d.policy(), d.request()
		if p.Check(r) != nil {
			continue
		}
		allowed++
		for range 4 {
			if q := d.wider(p); q.Check(r) != nil {
				t.Fatalf("%+v allows %+v, and %+v does not", p, r, q)
			}
			if s := d.less(r); p.Check(s) != nil {
				t.Fatalf("%+v allows %+v, and not %+v", p, r, s)
			}
		}
	}
	if allowed < 300 || allowed > 9700 {
		t.Errorf("%d of 10,000 are allowed; the draws must be nearer to the edge", allowed)
	}
}

// TestGuard: what a run needs adds up, all policies decide, and errors name the file.
func TestGuard(t *testing.T) {
	dir := t.TempDir()
	a, b := filepath.Join(dir, "a.json"), filepath.Join(dir, "b.json")
	testkit.OK(os.WriteFile(a, []byte(`{"least_sites": 4}`), 0o600))
	testkit.OK(os.WriteFile(b, []byte(`{"least_sites": 3, "least_rows": 10}`), 0o600))
	var g Guard
	testkit.OK(g.Load(filepath.Join(dir, "none.json")))
	if g.IsSet() {
		t.Error("a policy is set that is not there")
	}
	testkit.OK(g.Load(a))
	testkit.OK(g.Load(b))
	if n := g.LeastSites(); n != 4 {
		t.Errorf("least sites %d", n)
	}
	testkit.OK(g.AddNeed(func(r *Request) { r.Sites = 4 }))
	testkit.WantError(t, "rows", g.AddNeed(func(r *Request) { r.AskRows(9) }), dsbo.ErrConfig, b)
	testkit.WantError(t, "rows, again", g.AddNeed(func(*Request) {}), dsbo.ErrConfig, "least_rows")
	testkit.OK(os.Symlink(filepath.Join(dir, "nowhere"), filepath.Join(dir, "link.json")))
	testkit.WantError(t, "a link to nowhere", g.Load(filepath.Join(dir, "link.json")), dsbo.ErrConfig, "link.json")
}

func FuzzParsePolicy(f *testing.F) {
	for _, text := range []string{string(testkit.Get(json.Marshal(edge))), `{}`, `{"least_rows": -1}`,
		`{"columns": ["a["]}`, `{"columns": null}`, `{"least_sites": 1e9, "words": 0}`,
		`{"words": true, "words": false}`,
		`{"admit": [], "tasks": ["tune", 3]}`, `{"most_epsilon": 1e999}`, `{"rows": 3}`} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		p, err := ParsePolicy(data)
		if err != nil {
			if text := err.Error(); text == "" || strings.Contains(text, "\n") {
				t.Fatalf("%q", text)
			}
			return
		}
		testkit.OK(Policy{}.Check(Request{OwnResults: false}))
		if err := p.Check(asked); err != nil && !errors.Is(err, dsbo.ErrConfig) {
			t.Fatal(err)
		}
		again, err := ParsePolicy(append([]byte(" "), data...))
		if err != nil || !reflect.DeepEqual(p, again) {
			t.Fatalf("read again: %v", err)
		}
	})
}

// TestPolicyNumbers: numbers of a policy are not below 0, and one that is empty allows all.
func TestPolicyNumbers(t *testing.T) {
	for _, name := range []string{"least_rows", "least_sites", "most_epsilon", "most_delta"} {
		for value, good := range map[string]bool{"-1": false, "0": true, "1": true} {
			if _, err := ParsePolicy([]byte(`{"` + name + `": ` + value + `}`)); (err == nil) != good {
				t.Errorf("%s %s: error %v", name, value, err)
			}
		}
	}
	p := testkit.Get(ParsePolicy([]byte(`{}`)))
	if err := p.Check(Request{OwnResults: true, Words: true, Classes: true, Models: true, Unmasked: true}); err != nil {
		t.Error(err)
	}
	var r Request
	for _, rows := range [][2]int{{5, 5}, {0, 5}, {7, 5}, {-1, 5}, {3, 3}, {1, 1}} {
		if r.AskRows(rows[0]); r.Rows != rows[1] {
			t.Errorf("after a term of %d rows the fewest are %d, want %d", rows[0], r.Rows, rows[1])
		}
	}
	path := filepath.Join(t.TempDir(), "policy.json")
	testkit.OK(os.WriteFile(path, []byte(`{"least_sites": 3}`), 0o600))
	g := new(Guard)
	if g.IsSet() {
		t.Error("there is a policy before one is loaded")
	}
	testkit.OK(g.Load(path))
	if err := g.AddNeed(func(r *Request) { r.Sites = 2 }); !g.IsSet() || g.LeastSites() != 3 ||
		!errors.Is(err, dsbo.ErrConfig) {
		t.Errorf("one policy: %t, of %d sites at least, error %v", g.IsSet(), g.LeastSites(), err)
	}
	for at, digest := range g.Policies() {
		if at != path || len(digest) != 64 {
			t.Errorf("the policy is %s of SHA-256 %q", at, digest)
		}
		testkit.OK(g.Load(path))
		break // with another one left
	}
}
