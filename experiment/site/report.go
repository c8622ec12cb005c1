package site

import (
	"cmp"
	_ "embed"
	"fmt"
	"html/template"
	"io"
	"maps"
	"slices"
	"strconv"
	"time"

	"dsbo/internal/wording"
	"dsbo/network"
)

// A Report is what has left a site's agent in a run, by the counts of its own processes.
type Report struct {
	Format   int       `json:"format"`   // 1
	Run      string    `json:"run"`      // name
	Hash     string    `json:"hash"`     // of the cluster file
	Agent    int       `json:"agent"`    // number
	Program  string    `json:"program"`  // version
	State    string    `json:"state"`    // how the last process ended
	Ended    time.Time `json:"ended"`    // likewise
	Masked   bool      `json:"masked"`   // whether sums were
	Audit    string    `json:"audit"`    // SHA-256 of the last line of the agent's audit
	Policies []Policy  `json:"policies"` // of the site
	Asked    Request   `json:"asked"`    // what the run was found to need, where there is a policy
	Starts   int       `json:"starts"`   // processes
	Killed   int       `json:"killed"`   // processes of which the last part is not counted
	Sessions []session `json:"sessions"` // in which the agent took part
	Rows     []Sent    `json:"sent"`     // by phases
	All      count     `json:"all"`      // vectors to all neighbours
}

// Sent is a row of a report.
type Sent struct {
	Phase   string        `json:"phase"`
	Name    string        `json:"name"`    // as docs/privacy.md has it
	Numbers string        `json:"numbers"` // how many of what type
	Times   int64         `json:"times"`
	To      map[int]count `json:"to"` // by neighbour, with what travels together
	SeenBy  string        `json:"seen_by"`
	Text    string        `json:"text,omitempty"`
}

// Make completes a report with the policies of g and the counts of t, ordered by phases. Without
// masks, an agent's neighbours in the tree see its terms of sums, so SeenBy says so.
func (t *Tally) Make(r Report, g *Guard) Report {
	t.mu.Lock()
	defer t.mu.Unlock()
	r.Format, r.Policies, r.Asked = 1, g.policies, g.request
	r.Starts, r.Killed, r.Sessions = t.of.Starts, t.of.Killed, t.of.Sessions
	for _, row := range t.of.Rows {
		s := Sent{Phase: row.Phase, Name: cmp.Or(row.Name, Unnamed), Times: row.Times, To: row.To,
			SeenBy: Observers[row.Way], Text: row.Text}
		if row.Numbers > 0 {
			s.Numbers = Quantity{Way: row.Way, Length: float64(row.Numbers), Wire: row.Wire}.LengthText()
		}
		if row.Way == network.BySum && !r.Masked {
			s.SeenBy = "its neighbours in the tree"
		}
		for _, c := range row.To {
			r.All = r.All.plus(c)
		}
		r.Rows = append(r.Rows, s)
	}
	slices.SortStableFunc(r.Rows, func(a, b Sent) int {
		return slices.Index(Phases, a.Phase) - slices.Index(Phases, b.Phase)
	})
	return r
}

// Unnamed is what an earlier version counted, which kept no names.
const Unnamed = "counted by an earlier version"

func (c count) plus(d count) count { return count{c.Vectors + d.Vectors, c.Bytes + d.Bytes} }

//go:embed page.html
var pageText string

// page is the template of a report on A4.
var page = template.Must(template.New("page").Funcs(template.FuncMap{
	"short": func(text string) string { // quoted: others have written it
		if len(text) > 120 {
			text = text[:120] + "..."
		}
		return strconv.Quote(text)
	},
	"count": wording.Count,
	"to":    func(to map[int]count) []int { return slices.Sorted(maps.Keys(to)) },
	"sum": func(to map[int]count) (all count) {
		for _, c := range to {
			all = all.plus(c)
		}
		return all
	},
	"members": func(s session) string { return wording.List(s.Members) },
}).Parse(pageText))

// WritePage writes a report for people. The same report has the same page.
func (r Report) WritePage(w io.Writer) error { return page.Execute(w, r) }

// Line returns the report as one line.
func (r Report) Line() string {
	return fmt.Sprintf("agent %d of run %s sent %s in %s: %s, in %s", r.Agent, r.Run,
		wording.Count(int(r.All.Bytes), "byte"), wording.Count(int(r.All.Vectors), "vector"),
		wording.Count(len(r.Rows), "kind"), wording.Count(len(r.Sessions), "session"))
}

// Finish notes that the process ends in order, and keeps the counts.
func (t *Tally) Finish() error {
	t.mu.Lock()
	t.of.Running = false
	t.mu.Unlock()
	return t.SaveCounts()
}

// IsOpen reports whether the process before this one ended before it reported what it had sent.
func (t *Tally) IsOpen() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.of.Running
}

// HasSent reports whether anything was sent.
func (t *Tally) HasSent() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return len(t.of.Sessions) > 0
}
