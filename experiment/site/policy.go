package site

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"os"
	"path"
	"slices"
	"strings"
	"sync"

	"dsbo"
	"dsbo/internal/files"
)

// PolicyFile is the name of a site's policy.
const PolicyFile = "site.json"

// A Policy is what a run may need of a site at most. It comes before the cluster file, flags and
// peers, none of which widens it. A field that the file leaves out allows all.
//
//	{
//	  "least_rows": 20, "least_sites": 3,
//	  "columns": ["age", "lab_*", "diagnosis"],
//	  "tasks": ["tune"], "methods": ["newtoncg", "adamcg"],
//	  "own_results": false, "words": true, "classes": true, "models": false, "unmasked": false,
//	  "most_epsilon": 8, "most_delta": 1e-5,
//	  "admit": ["9f2c..."]
//	}
type Policy struct {
	// fewest rows of the site of which a term of a sum is made
	LeastRows int `json:"least_rows" must:"a number of rows"`
	// fewest sites whose terms are in a sum
	LeastSites int `json:"least_sites" must:"a number of sites"`
	// columns that are read, by patterns of package path; nil: any
	Columns []string `json:"columns" must:"names or patterns, [\"age\", \"lab_*\"]"`
	Tasks   []string `json:"tasks" must:"names of tasks, [\"tune\"]"`         // nil: any
	Methods []string `json:"methods" must:"names of methods, [\"newtoncg\"]"` // nil: any
	// whether all sites may see what this one can do alone
	OwnResults bool `json:"own_results" must:"true or false"`
	Words      bool `json:"words" must:"true or false"`   // whether words of columns may leave
	Classes    bool `json:"classes" must:"true or false"` // whether names of classes may leave
	Models     bool `json:"models" must:"true or false"`  // whether the site's own model may leave
	// whether terms and vectors may leave with neither mask nor noise
	Unmasked bool `json:"unmasked" must:"true or false"`
	// largest ε and δ of differential privacy, which a run must then have; 0: it need not
	MostEpsilon float64 `json:"most_epsilon" must:"a number"`
	MostDelta   float64 `json:"most_delta" must:"a number"` // likewise
	// SHA-256 of the public keys of the authorities that may let agents in; nil: any
	Admit []string `json:"admit" must:"SHA-256 of public keys, [\"9f2c...\"]"`
}

// ParsePolicy reads a policy. An unknown field, null, and a value that no run could meet are
// errors.
func ParsePolicy(data []byte) (Policy, error) {
	p := Policy{OwnResults: true, Words: true, Classes: true, Models: true, Unmasked: true}
	if err := files.StrictJSON(data, &p); err != nil {
		return p, err
	}
	for _, v := range []struct {
		name  string
		value float64
	}{{"least_rows", float64(p.LeastRows)}, {"least_sites", float64(p.LeastSites)}, {"most_epsilon", p.MostEpsilon},
		{"most_delta", p.MostDelta}} {
		if v.value < 0 {
			return p, fmt.Errorf("field %q must not be negative; it is %g", v.name, v.value)
		}
	}
	for _, pattern := range p.Columns {
		if _, err := path.Match(pattern, ""); err != nil {
			return p, fmt.Errorf("field %q must be names or patterns such as lab_*; it has %q", "columns", pattern)
		}
	}
	return p, nil
}

// A Request is what a run needs of a site, as far as it is known. The zero value needs nothing but
// sums over no site and without noise.
type Request struct {
	Task, Method string   // by name
	Sites        int      // fewest sites of a sum
	Rows         int      // fewest rows of the site of which a term is made; 0: no term is known
	Columns      []string // that are read
	OwnResults   bool     // what the site can do alone is shown to all
	Words        bool     // words of columns leave
	Classes      bool     // names of classes leave
	Models       bool     // the site's own model leaves
	Unmasked     bool     // terms or vectors leave with neither mask nor noise
	Epsilon      float64  // of differential privacy; 0: there is none
	Delta        float64  // of it
	Admits       []string // SHA-256 of the public keys of the authorities that can let agents in
}

// AskRows adds terms that are made of numbers of rows; of 0 rows there is none.
func (r *Request) AskRows(rows ...int) {
	for _, n := range rows {
		if n > 0 && (r.Rows == 0 || n < r.Rows) {
			r.Rows = n
		}
	}
}

// A decision is whether what is asked by one field of a policy is allowed.
type decision struct {
	field          string
	asked, allowed any
	ok             bool
}

// decide returns the decision on every field of the policy. What a request does not know yet, such
// as 0 rows, is allowed. A bound of ε or δ requires differential privacy.
func (p Policy) decide(r Request) []decision {
	permit := func(field string, asked, allowed bool) decision {
		return decision{field, asked, allowed, allowed || !asked}
	}
	noise := func(field string, asked, most float64) decision { // most is 0 where there is no bound
		if r.Epsilon == 0 {
			return decision{field, "no noise", most, most == 0}
		}
		return decision{field, asked, most, most == 0 || asked <= most}
	}
	return []decision{
		listed("tasks", p.Tasks, is, r.Task),
		listed("methods", p.Methods, is, r.Method),
		{"least_sites", r.Sites, p.LeastSites, r.Sites >= p.LeastSites},
		{"least_rows", r.Rows, p.LeastRows, r.Rows == 0 || r.Rows >= p.LeastRows},
		listed("columns", p.Columns, matches, r.Columns...),
		permit("own_results", r.OwnResults, p.OwnResults),
		permit("words", r.Words, p.Words),
		permit("classes", r.Classes, p.Classes),
		permit("models", r.Models, p.Models),
		permit("unmasked", r.Unmasked, p.Unmasked),
		noise("most_epsilon", r.Epsilon, p.MostEpsilon),
		noise("most_delta", r.Delta, p.MostDelta),
		listed("admit", p.Admit, is, r.Admits...),
	}
}

// listed refuses the first asked name with which nothing agrees that a field allows; nil
// allows all.
func listed(field string, allowed []string, agrees func(allowed, asked string) bool, asked ...string) decision {
	for _, name := range asked {
		if allowed != nil && !slices.ContainsFunc(allowed, func(one string) bool { return agrees(one, name) }) {
			return decision{field, name, allowed, false}
		}
	}
	return decision{ok: true}
}

func is(allowed, asked string) bool { return allowed == asked }

func matches(pattern, name string) bool {
	is, _ := path.Match(pattern, name) // which ParsePolicy has checked
	return is
}

// Check returns an error that names the first rule by which a policy refuses a request, what is
// asked and what is allowed. It matches dsbo.ErrConfig.
func (p Policy) Check(r Request) error {
	for _, d := range p.decide(r) {
		if !d.ok {
			return dsbo.ConfigErrorf("the site's policy refuses the run by its rule %q: asked is %s, allowed is %s",
				d.field, shown(d.asked), shown(d.allowed))
		}
	}
	return nil
}

// shown writes a value of a rule.
func shown(v any) string {
	if list, is := v.([]string); is {
		return "[" + strings.Join(list, ", ") + "]"
	}
	return fmt.Sprint(v)
}

// A Guard is a site's policies in a run, and what the run is known to need. The zero value allows
// all. It may be used by several goroutines.
type Guard struct {
	mu       sync.Mutex
	paths    []string // of the policies
	digests  []string // SHA-256 of them, in hexadecimal
	policies []Policy
	request  Request
}

// A Need adds to what a run is known to need. Its error is a policy's.
type Need func(more func(r *Request)) error

// Load adds the policy in a file, if the file exists. Errors name the file and match
// dsbo.ErrConfig. A dangling symbolic link is an error too, hence Lstat: a site that lost its
// policy must not allow all.
func (g *Guard) Load(path string) error {
	data, err := files.ReadFile(path)
	if _, e := os.Lstat(path); errors.Is(e, fs.ErrNotExist) {
		return nil
	}
	var p Policy
	if err == nil {
		p, err = ParsePolicy(data)
	}
	if err != nil {
		return dsbo.ConfigErrorf("policy %s: %w", path, err)
	}
	g.paths, g.policies = append(g.paths, path), append(g.policies, p)
	g.digests = append(g.digests, fmt.Sprintf("%x", sha256.Sum256(data)))
	return nil
}

// Policies returns the path and the SHA-256, in hexadecimal, of each policy.
func (g *Guard) Policies() iter.Seq2[string, string] {
	return func(yield func(path, digest string) bool) {
		for k, path := range g.paths {
			if !yield(path, g.digests[k]) {
				return
			}
		}
	}
}

// IsSet reports whether there is a policy.
func (g *Guard) IsSet() bool { return len(g.policies) > 0 }

// LeastSites returns the fewest sites that all policies allow.
func (g *Guard) LeastSites() (n int) {
	for _, p := range g.policies {
		n = max(n, p.LeastSites)
	}
	return n
}

// AddNeed is the [Need] of the run.
func (g *Guard) AddNeed(more func(r *Request)) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	more(&g.request)
	for k, p := range g.policies {
		if err := p.Check(g.request); err != nil {
			return fmt.Errorf("%s: %w", g.paths[k], err)
		}
	}
	return nil
}
