package experiment

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"dsbo"
)

// agentsFlag is the flag -agents: a number of agents, or the numbers of the files that they have,
// with commas between.
type agentsFlag struct{ *Settings }

// String implements flag.Value. Package flag asks the zero value too.
func (f agentsFlag) String() string {
	if f.Settings == nil {
		return ""
	}
	if f.Numbers != nil {
		return strings.Trim(strings.ReplaceAll(fmt.Sprint(f.Numbers), " ", ","), "[]")
	}
	return strconv.Itoa(f.Agents)
}

// Set implements flag.Value. A single number is the number of agents; it is checked with the other
// settings, since a graph file may override it. Several are the numbers of files.
func (f agentsFlag) Set(text string) error {
	var numbers []int
	parts := strings.Split(text, ",")
	for _, part := range parts {
		n, err := strconv.Atoi(strings.TrimSpace(part))
		if err != nil || len(parts) > 1 && (n < 0 || slices.Contains(numbers, n)) {
			return fmt.Errorf("it must be a whole number, or different ones from 0 with commas between; it is %q", text)
		}
		numbers = append(numbers, n)
	}
	if f.Agents, f.Numbers = len(numbers), numbers; len(numbers) == 1 {
		f.Agents, f.Numbers = numbers[0], nil
	}
	return nil
}

// check returns an error where numbers are given for a task whose agents have no files.
func (f agentsFlag) check(t Task) error {
	if f.Numbers != nil && t.Agents == nil {
		return dsbo.ConfigErrorf("-agents must be a number for %s, which has no files of agents; it is %s",
			t.Name, f)
	}
	return nil
}
