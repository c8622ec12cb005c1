package report

import (
	"slices"
	"strconv"
	"strings"

	"dsbo/internal/wording"
	"dsbo/network/membership"
)

// A mark is an upright line on the axis of iterations.
type mark struct {
	Iteration int    `json:"x"`
	Text      string `json:"text"`
}

// changeMarks returns a mark for each change of members.
func changeMarks(r *Run) (all []mark) {
	for _, c := range r.Changes {
		text := strings.Join(c.Why, "; ")
		if text == "" {
			text = "epoch " + strconv.Itoa(c.Epoch)
		}
		all = append(all, mark{c.Iteration, text})
	}
	return all
}

// membersTable says who took part in each epoch, and why that changed; nil where nothing did.
func membersTable(r *Run) *table {
	if len(r.Changes) == 0 {
		return nil
	}
	t := newTable("Who took part", "Epoch", "number of the epoch", "From iteration", "iterations done when it began",
		"Members", "", "Why", "", "When", "", "Proposed by", "number of the agent")
	before := membership.First(r.Config.Agents).Members
	t.add(numberCell(0, wholeNumber), numberCell(0, wholeNumber), wording.Ranges(before), "start", "",
		numberCell(0, func(float64) string { return "" }))
	for _, c := range r.Changes {
		why := strings.Join(c.Why, "; ")
		if why == "" {
			why = memberChanges(before, c.Members)
		}
		t.add(numberCell(c.Epoch, wholeNumber), numberCell(c.Iteration, wholeNumber), wording.Ranges(c.Members), why,
			c.Time, numberCell(c.Proposer, wholeNumber))
		before = c.Members
	}
	return t
}

// memberChanges says which agents left and which came, such as "agents 2, 3 left".
func memberChanges(before, after []int) string {
	not := func(all, of []int) (rest []int) {
		for _, i := range all {
			if !slices.Contains(of, i) {
				rest = append(rest, i)
			}
		}
		return rest
	}
	var parts []string
	if left := not(before, after); left != nil {
		parts = append(parts, wording.Ranges(left)+" left")
	}
	if came := not(after, before); came != nil {
		parts = append(parts, wording.Ranges(came)+" came in")
	}
	return strings.Join(parts, "; ")
}
