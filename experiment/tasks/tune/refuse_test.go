package tune_test

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"dsbo"
	"dsbo/experiment"
	"dsbo/experiment/site"
	"dsbo/experiment/tasks/tune"
	"dsbo/internal/testkit"
	"dsbo/network"
	"dsbo/runs"
)

// table is a file of rows lines with a class that a says, where %d stands for the row.
func table(head, line string, rows int) string {
	text := head + "\n"
	for row := range rows {
		text += strings.NewReplacer("%d", fmt.Sprint(row), "%c", []string{"yes", "no"}[row%2], "%w",
			[]string{"red", "blue"}[row/2%2]).Replace(line) + "\n"
	}
	return text
}

var good = table("a,w,y", "%d,%w,%c", 12)

// TestTuneRefused: what is wrong with a site's table is said in one line that names the site, its
// file and the column, before anything is written.
func TestTuneRefused(t *testing.T) {
	for _, c := range []struct {
		name  string
		third string // the file of site 2; the files of sites 0 and 1 are good
		flags string
		says  string // after the names of files are cut to their last part
	}{
		{"words here, numbers there", table("a,w,y", "x%d,%w,%c", 12), "",
			"column a holds numbers at site 0 (site0.csv) and words at site 2 (site2.csv)"},
		{"times here, numbers there", table("a,w,y", "2020-01-02,%w,%c", 12), "",
			"column a holds numbers at site 0 (site0.csv) and times in day at site 2 (site2.csv)"},
		{"another name", table("b,w,y", "%d,%w,%c", 12), "",
			`column 1 is "a" at site 0 (site0.csv) and "b" at site 2 (site2.csv): all sites must have the same col`},
		{"another order", table("w,a,y", "%w,%d,%c", 12), "",
			`column 1 is "a" at site 0 (site0.csv) and "w" at site 2 (site2.csv)`},
		{"a column more", table("a,w,y,z", "%d,%w,%c,1", 12), "",
			"site 0 (site0.csv) has 3 columns; column 4 of site 2 (site2.csv), z, is missing there"},
		{"a column less", table("a,w", "%d,%w", 12), "",
			"site 2 (site2.csv) has 2 columns; column 3 of site 0 (site0.csv), y, is missing there"},
		{"target of another kind", table("a,w,y", "%d,%w,%d", 12), "",
			"column y holds words at site 0 (site0.csv) and numbers at site 2 (site2.csv)"},
		{"a target is missing", good + "12,red,\n", "",
			"site 2: site2.csv, line 14, column y: each row must have a target; it is missing"},
		{"ragged", good + "12,red\n", "", "site 2: site2.csv, line 14"},
		{"no number", table("a,w,y", "%d,%w,%c", 30) + "old,red,yes\n", "",
			"site 2: site2.csv, line 32, column a: a value must be a number"},
		{"too large a number", good + "1e400,red,yes\n", "", "site 2: site2.csv, line 14, column a"},
		{"empty file", "", "", "site 2: site2.csv: the file is empty"},
		{"a header alone", "a,w,y\n", "", "site2.csv"},
		{"two columns of one name", table("a,a,y", "%d,%w,%c", 12), "",
			"site 2: site2.csv, line 1, column a: the header must give each name once"},
		{"too few rows", table("a,w,y", "%d,%w,%c", 2), "",
			"site 2 (site2.csv): a split in 3 sets needs as many rows at least; there are 2"},
		{"Latin-1", "a,w,y\n1,caf\xe9,yes\n", "", "site 2: site2.csv, line 2: the file must be text in UTF-8"},
		{"cut gzip", "\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\xff\x4a", "", "site 2: site2.csv"},
		{"no file", "-", "-agents=3", "site2.csv: no such file or directory"},
		{"no column of that name", good, "-target=z", `has no column "z"; its columns are a, w, y`},
		{"no feature of that name", good, "-features=z", `there is no column "z"; its columns are a, w, y`},
		{"no words of that name", good, "-words=z",
			"site0.csv, column z: -words names it, and there is no such column"},
		{"nothing left", good, "-drop=a,w", "no column is left that could be a feature"},
		{"a count that is none", table("a,w,y", "-1,%w,%c", 12), "-target=a -task=count",
			"site 2: site2.csv, line 2, column a: a count must be a whole number from 0 to 16777216; it is -1"},
		{"a regression of words", good, "-task=regression",
			"column y, the target, must hold numbers to be learned as a value; it holds words"},
		{"one value", good, "-drop=y,a -target=one", `has no column "one"`},
		{"weights of words", good, "-weight=w", "column w: a weight must be a number from 0"},
		{"a negative weight", table("a,w,y", "-%d,%w,%c", 12), "-weight=a",
			"site 2: site2.csv, line 3, column a: a weight must be a number from 0; it is -1"},
		{"a missing value refused", good + ",red,yes\n", "-missing=refuse",
			"site 2: site2.csv, line 14, column a: the value is missing, which -missing refuse does not allow"},
		{"a split of other words", good, "-split-column=w",
			"site 0: site0.csv, line 2, column w: the word must be train or validation or test; it is \"red\""},
		{"balance without classes", good, "-target=a -task=regression -balance",
			"-balance is for classes; the target a is a value"},
		{"an identifier as target", table("a,w,y", "%d,%w,id%d", 30), "",
			"column y, the target, must have each class in 5 rows of some site at least; it has not in 30 of 54 rows"},
		{"a real number as classes", table("a,w,y", "%d.5,%w,%c", 12), "-target=a -task=classification",
			"-task regression or count takes it as a number"},
		{"huber with classes", good, "-loss=huber", "-loss huber is for regressions; the target y is a class"},
		{"no row for a word", good, "-rare=0", "-rare must be at least 1; it is 0"},
		{"a target that is dropped", good, "-drop=y", "-drop must not name y, which is the column of -target"},
		{"shares of more than all", good, "-split=50:30:30", "shares must sum to 1, or to 100 as percentages"},
		{"another decimal", table("a,w,y", "%d.5,%w,%c", 60) + "\"1,5\",red,yes\n", "",
			"-words a all as words), with the decimal '.' of the file; it is \"1,5\""},
		{"a count of the file's digits", table("a,w,y", "0.095,%w,%c", 12), "-target=a -task=count", "it is 0.095"},
		{"out of proportion in any row", table("a,w,y", "%d,%w,%c", 30) + "1e30,red,yes\n", "",
			"site 2: site2.csv, line 32, column a: "},
		{"no target", good, "-target=", "-data and -target are required"},
		{"a pattern", good, "-data=site*.csv", "or be one file: it has no * and no ?; it is site*.csv"},
		{"fewer rows than agents", good, "-data={folder}/site0.csv -agents=16",
			"there must be a row for each of the 16 agents (-agents) at least; it has 12"},
		{"a sentinel", table("a,w,y", "%d,%w,%c", 200) + "9e30,red,yes\n9e30,red,no\n9e30,red,yes\n9e30,red,no\n", "",
			"column a must not have a few numbers that are out of all proportion"},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			for i, text := range []string{good, good, c.third} {
				if text != "-" {
					testkit.OK(os.WriteFile(filepath.Join(dir, fmt.Sprintf("site%d.csv", i)), []byte(text), 0o644))
				}
			}
			out := filepath.Join(dir, "run")
			err := runTask(t, runs.Folder(out), "-target=y -data="+filepath.Join(dir, "site{agent}.csv"),
				strings.ReplaceAll(c.flags, "{folder}", dir))
			if !errors.Is(err, dsbo.ErrConfig) {
				t.Fatalf("error %v; it must be one of the user's", err)
			}
			if line := strings.ReplaceAll(err.Error(), dir+"/", ""); !strings.Contains(line, c.says) ||
				strings.Contains(line, "\n") {
				t.Errorf("error %q; it must be one line with %q", line, c.says)
			}
			if _, err := os.Stat(out); !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("the run folder must not be there: %v", err)
			}
		})
	}
}

// TestTuneUnlikeSites: what only one site has is allowed, and said.
func TestTuneUnlikeSites(t *testing.T) {
	dir := t.TempDir()
	for i, text := range []string{
		table("a,w,y,z", "%d,%w,%c,%d", 40),
		table("a,w,y,z", ",%w,maybe,%d", 40), // a class of its own, and no other; a is missing
		table("a,w,y,z", "7,green,%c,7", 40), // a word of its own
	} {
		testkit.OK(os.WriteFile(filepath.Join(dir, fmt.Sprintf("site%d.csv", i)), []byte(text), 0o644))
	}
	var log strings.Builder
	testkit.OK(experiment.Run(t.Context(), tune.Task(),
		[]string{"-target=y", "-K=2", "-folds=0", "-report=false", "-data=" + filepath.Join(dir, "site{agent}.csv"),
			"-out=" + filepath.Join(dir, "run")}, io.Discard, &log))
	said := strings.Join(strings.Fields(log.String()), " ")
	for _, want := range []string{
		fmt.Sprintf("class maybe is common at site 1 (%s/site1.csv) alone", dir),
		fmt.Sprintf("site 1 (%s/site1.csv) has one class alone, maybe", dir),
	} {
		if !strings.Contains(said, want) {
			t.Errorf("the log must have %q; it is %q", want, said)
		}
	}
}

// TestTuneForgottenFile: a number that is left out among the files of sites is refused, with a list
// of what is there; -agents with their numbers takes these.
func TestTuneForgottenFile(t *testing.T) {
	dir := t.TempDir()
	for _, i := range []int{0, 2, 5} {
		testkit.OK(os.WriteFile(filepath.Join(dir, fmt.Sprintf("site%d.csv", i)),
			[]byte(table("a,w,y", "%d,%w,%c", 40)), 0o644))
	}
	run := func(flags string) error {
		return runTask(t, runs.Folder(filepath.Join(dir, "run")), flags, "-target=y -K=1 -alone=false",
			"-data="+filepath.Join(dir, "site{agent}.csv"))
	}
	err := run("")
	if says := "site5.csv, and "; !errors.Is(err, dsbo.ErrConfig) || !strings.Contains(err.Error(), says) ||
		!strings.Contains(err.Error(), "-agents 0,2,5 takes") {
		t.Fatalf("error %v, want %q", err, says)
	}
	testkit.OK(run("-agents=0,2,5"))
	c := testkit.Get(runs.Folder(filepath.Join(dir, "run")).ReadConfig())
	if c.Agents != 3 {
		t.Errorf("%d agents, want 3", c.Agents)
	}
}

// TestTuneRareClasses: no name of a rare class leaves its site; its rows are one class, or
// left out.
func TestTuneRareClasses(t *testing.T) {
	dir := t.TempDir()
	for i := range 3 {
		text := table("a,w,y", "%d,%w,%c", 40) + fmt.Sprintf("3,red,secret%d\n4,blue,other%d\n", i, i)
		testkit.OK(os.WriteFile(filepath.Join(dir, fmt.Sprintf("site%d.csv", i)), []byte(text), 0o644))
	}
	for rule, want := range map[string]string{"merge": `["no","yes","(rare)"]`, "drop": `["no","yes"]`} {
		out := runs.Folder(filepath.Join(dir, rule))
		testkit.OK(runTask(t, out, "-target=y -K=1 -alone=false -rare-classes="+rule,
			"-data="+filepath.Join(dir, "site{agent}.csv")))
		model := string(testkit.Get(os.ReadFile(out.Path("model.json"))))
		flat := strings.Join(strings.Fields(model), "")
		if !strings.Contains(flat, `"classes":`+want) || strings.Contains(model, "secret") {
			t.Errorf("-rare-classes %s: the model must have the classes %s; it is %.600s", rule, want, flat)
		}
	}
}

// TestSiteIsAskedForNames: a site is asked for the names of its words and classes, where it has
// some, and with differential privacy for neither. Its table, which is read for that, is not read
// once more.
func TestSiteIsAskedForNames(t *testing.T) {
	for _, c := range []struct {
		text, flags    string
		words, classes bool
	}{
		{good, "", true, true}, {good, "-dp-epsilon=1 -model=linear", false, false},
		{table("a,b,y", "%d,%d,%c", 12), "", false, true}, {table("a,w,y", "%d,%w,%d.5", 12), "", true, false},
	} {
		path := filepath.Join(t.TempDir(), "site0.csv")
		testkit.OK(os.WriteFile(path, []byte(c.text), 0o644))
		args := append(strings.Fields(c.flags), "-target=y", "-data="+path)
		j := testkit.Get(experiment.Parse(tune.Task(), args, io.Discard))
		var r site.Request
		testkit.OK(j.AskSite(0, 1, site.Request{}, func(ask func(*site.Request)) error { ask(&r); return nil }))
		if r.Words != c.words || r.Classes != c.classes || len(r.Columns) != 3 || r.Rows != 12 {
			t.Errorf("%q, %s: words %t, classes %t, columns %v, %d rows", c.text[:5], c.flags, r.Words, r.Classes,
				r.Columns, r.Rows)
		}
		testkit.OK(os.Remove(path))
		alone := network.NewGroup(network.GroupConfig{N: 1}).Bound(t.Context())
		_, _, err := j.Task.Load(experiment.Agents{N: 1, Local: []int{0}, Own: true, Collective: alone,
			Private: c.flags != ""})
		if errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%q is read twice", c.text[:5])
		}
	}
}
