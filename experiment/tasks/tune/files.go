package tune

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"strings"

	"dsbo"
	"dsbo/experiment"
	"dsbo/experiment/site"
	"dsbo/internal/files"
	"dsbo/internal/num"
	"dsbo/runs"
	"dsbo/tables"
	"dsbo/tables/features"
)

// namesFiles reports whether -data names a file for each agent.
func (t *tune) namesFiles() bool { return strings.Contains(t.data, "{") }

// fileExists reports whether a file exists, without opening it.
func fileExists(path string) bool {
	_, err := os.Stat(path)
	return !errors.Is(err, fs.ErrNotExist)
}

// mostFiles is the number below which files of agents are looked for.
const mostFiles = 1000

// fileNumbers returns the numbers of the files that are there.
func (t *tune) fileNumbers() (list []int) {
	for number := range mostFiles {
		path := t.filePath(number)
		if path == "" || number > 0 && path == t.filePath(number-1) { // no rule, or one without the number
			break
		}
		if fileExists(path) {
			list = append(list, number)
		}
	}
	return list
}

// firstNumber returns the number that the file of agent 0 has: 1 if files are counted from there.
func (t *tune) firstNumber() int {
	if !fileExists(t.filePath(0)) && fileExists(t.filePath(1)) {
		return 1
	}
	return 0
}

// agents is the task's Agents: there is one file for each agent. Where a number is left out, a site
// may have been forgotten.
func (t *tune) agents() (int, error) {
	if !t.namesFiles() {
		return 0, nil
	}
	there := t.fileNumbers()
	for k, number := range there {
		if next := t.firstNumber() + k; number != next {
			var names, numbers []string
			for _, n := range there {
				names, numbers = append(names, t.filePath(n)), append(numbers, fmt.Sprint(n))
			}
			return 0, dsbo.ConfigErrorf(
				"-data %s must name a file for each number from %d on; there are %s, and %s is missing (-agents %s "+
					"takes those that are there)", t.data, t.firstNumber(), strings.Join(names, ", "), t.filePath(next),
				strings.Join(numbers, ","))
		}
	}
	return len(there), nil
}

// filePath returns the file with a number, "" where -data is no rule.
func (t *tune) filePath(number int) string {
	path, err := site.ExpandAddress(t.data, number)
	if err != nil {
		return ""
	}
	return path
}

// files returns the file of each agent of this process; dealt is true if it is one file, whose rows
// are dealt to all agents.
func (t *tune) files(a experiment.Agents) (paths map[int]string, dealt bool, err error) {
	if t.data == "" || t.target == "" {
		return nil, false, dsbo.ConfigErrorf(
			"-data and -target are required: the files and the column to predict, label in LIBSVM files (-h " +
				"lists the flags)")
	}
	if strings.ContainsAny(t.data, "*?") {
		return nil, false, dsbo.ConfigErrorf(
			"-data must name files by {agent}, the number of an agent, as 'site{agent}.csv', or be one file: it has "+
				"no * and no ?; it is %s",
			t.data)
	}
	paths = map[int]string{}
	for _, i := range a.Local {
		if paths[i] = t.data; t.namesFiles() {
			number := t.firstNumber() + i
			if i < len(a.Numbers) {
				number = a.Numbers[i]
			}
			if paths[i], err = site.ExpandAddress(t.data, number); err != nil {
				return nil, false, dsbo.ConfigErrorf("-data %s: %w", t.data, err)
			}
		}
	}
	return paths, !t.namesFiles() && !a.Own, nil
}

// fingerprint is the task's Fingerprint.
func (t *tune) fingerprint(a experiment.Agents) ([]byte, error) {
	paths, _, err := t.files(a)
	if err != nil {
		return nil, err
	}
	e, err := t.readEarlier(a.Local[0])
	if err != nil {
		return nil, err
	}
	var all []string
	if e != nil {
		all = append(all, e.folder.Path(runs.ModelFile), e.folder.Path(runs.LambdaTableFile))
	}
	for _, i := range a.Local {
		all = append(all, paths[i])
	}
	h := sha256.New()
	for _, path := range all {
		f, err := os.Open(path)
		if err != nil {
			return nil, dsbo.ConfigErrorf("the data of site %d: %w", a.Local[0], err)
		}
		_, err = io.Copy(h, f)
		if err = errors.Join(err, f.Close()); err != nil {
			return nil, err
		}
	}
	return h.Sum(nil), nil
}

// read returns the tables of the agents that are here, nil for the others.
func (t *tune) read(a experiment.Agents) ([]*tables.Table, error) {
	paths, dealt, err := t.files(a)
	if err != nil {
		return nil, err
	}
	sites := make([]*tables.Table, a.N)
	if t.asked != nil { // the table of this process's one agent, which its site's policy has asked for
		sites[a.Local[0]], t.asked = t.asked, nil
		return sites, nil
	}
	if dealt {
		whole, err := t.open(t.data)
		if err == nil && whole.Rows() < a.N {
			err = dsbo.ConfigErrorf(
				"-data %s: there must be a row for each of the %d agents (-agents) at least; it has %d", t.data,
				a.N, whole.Rows())
		}
		if err != nil {
			return nil, err
		}
		order := rand.New(rand.NewPCG(num.SplitMix(a.Seed), streamDeal)).Perm(whole.Rows())
		for _, i := range a.Local {
			rows := slices.Clone(order[i*whole.Rows()/a.N : (i+1)*whole.Rows()/a.N])
			slices.Sort(rows) // as in the file
			sites[i] = whole.Pick(rows)
		}
		return sites, nil
	}
	for _, i := range a.Local {
		if sites[i], err = t.open(paths[i]); err != nil {
			return nil, fmt.Errorf("site %d: %w", i, err)
		}
	}
	return sites, nil
}

// open reads the columns of a file that the flags ask for.
func (t *tune) open(path string) (*tables.Table, error) {
	o := tables.Options{Drop: t.drop, Kinds: map[string]tables.Kind{}, Dates: t.dates, Missing: t.missing.words,
		MissingOf: t.missing.of}
	for _, name := range t.words {
		o.Kinds[name] = tables.Word
	}
	if t.splitColumn != "" {
		o.Kinds[t.splitColumn] = tables.Word
	}
	if len(t.features) > 0 {
		o.Keep = slices.Clone(t.features)
		event, _ := eventOf(t.event)
		for _, name := range []string{t.target, event, t.weight, t.splitColumn} {
			if name != "" && !slices.Contains(o.Keep, name) {
				o.Keep = append(o.Keep, name)
			}
		}
	}
	read, err := tables.Open(path, o)
	if err != nil {
		return nil, err
	}
	for flag, names := range map[string][]string{"words": t.words, "missing": slices.Sorted(maps.Keys(t.missing.of))} {
		for _, name := range names {
			if !slices.ContainsFunc(read.Columns, func(c *tables.Column) bool { return c.Name == name }) {
				return nil, &files.Error{File: path, Column: name,
					Reason: "-" + flag + " names it, and there is no such column"}
			}
		}
	}
	return read, nil
}

// missing is the value of -missing: what becomes of missing values, and the words for them.
type missing struct {
	rule  features.MissingRule
	words []string            // nil: the usual ones
	of    map[string][]string // of columns with words of their own
}

func (m *missing) String() string {
	list := m.words
	if m.rule != "" {
		list = slices.Concat([]string{string(m.rule)}, m.words)
	}
	for _, column := range slices.Sorted(maps.Keys(m.of)) {
		for _, word := range append([]string{""}, m.of[column]...) {
			list = append(list, column+"="+word)
		}
	}
	return strings.Join(list, ",")
}

// Set implements [flag.Value]: a list of the rule, words for all columns, and column=word for one
// column.
func (m *missing) Set(text string) error {
	*m = missing{rule: features.MeanOfOthers}
	for word := range strings.SplitSeq(text, ",") {
		word = strings.TrimSpace(word)
		column, own, of := strings.Cut(word, "=")
		switch {
		case word == string(features.MeanOfOthers) || word == string(features.NoneMissing):
			m.rule = features.MissingRule(word)
		case of:
			if m.of == nil {
				m.of = map[string][]string{}
			}
			list := append([]string{}, m.of[column]...) // not nil: column= alone means that it has no such word
			if own != "" {
				list = append(list, own)
			}
			m.of[column] = list
		default:
			m.words = append(m.words, word)
		}
	}
	return nil
}

// streamDeal separates the draws of rows for agents from all other draws.
const streamDeal = 0x6465616c

// optionsOf returns how tables are prepared, by the flags.
func optionsOf(t *tune) features.Options {
	event, word := eventOf(t.event)
	return features.Options{
		Target: t.target, Kind: kinds[t.kind], Event: event, EventWord: word,
		Weight: t.weight, SplitColumn: t.splitColumn, Split: t.split, Rare: t.rare,
		RareClasses: features.RareRule(t.rareClasses),
		Missing:     t.missing.rule, MissingWords: t.missing.words, MissingOf: t.missing.of,
		Balance: t.balance,
	}
}
