package command

import (
	"bytes"
	"cmp"
	"fmt"
	"maps"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"dsbo/internal/testkit"
)

// A shell is what a document's blocks need to be run in one folder.
type shell struct {
	begin  string      // a script that makes what the document takes for granted
	always [][2]string // texts of its blocks, each with what runs in its place
	small  [][2]string // texts whose runs are long, with small ones
	end    string      // a script after all blocks
	long   bool        // run where tests are whole alone
}

// clinicsModel makes the tables of the clinics and a model, and goes to their folder.
const clinicsModel = "dsbo init clinics\ncd clinics\n" +
	"dsbo tune -data 'site{agent}.csv' -target diagnosis -drop patient -out model -quiet" + tinyTune + "\n"

// Flags that make a run of mnist small, one of tables, and one of the synthetic task.
const (
	tinyTune      = " -K 1 -folds 2"
	tinyMNIST     = " -agents 2 -train 10 -val 10 -K 2 -report=false"
	tinySynthetic = `"task": "synthetic", "flags": ["-p=2", "-train=4", "-val=6", "-test=20", "-K=4"]`
)

// shells are the documents that have blocks to run.
var shells = map[string]shell{
	"README.md": {small: [][2]string{{"go run ./cmd/mnist", "go run ./cmd/mnist" + tinyMNIST},
		{"-out model", "-out model" + tinyTune}}},
	"docs/tables.md": {always: [][2]string{
		{"dsbo tune -cluster cluster.json -agent 2 -certs certs -data ours.csv -target diagnosis",
			"dsbo pki -cluster cluster.json -out certs\n" +
				"agents 3 dsbo tune -cluster cluster.json -agent AGENT -certs certs -data siteAGENT.csv -out sites"},
		{"-model RUN", "-model model"},
		{"-from RUN ...", "-from model -data 'site{agent}.csv' -target diagnosis -drop patient"},
	}, long: true},
	"docs/result.md": {always: [][2]string{{"for model in dsbo.DsboClassifier()",
		"import dsbo\nfrom sklearn.datasets import load_breast_cancer\nfrom sklearn.linear_model import " +
			"LogisticRegression\nfrom sklearn.model_selection import cross_val_score\n" +
			"X, y = load_breast_cancer(return_X_y=True)\nfor model in dsbo.DsboClassifier()"}}},
	"docs/privacy.md": {begin: clinicsModel, always: [][2]string{{"-from PUBLIC", "-drop patient -from model"}},
		small: [][2]string{{"dsbo mnist", "dsbo mnist" + tinyMNIST}, {"-from model", "-from model -K 1"}}},
	"docs/network.md": {always: [][2]string{
		{"-agent 3 -certs certs -out results", "-agent AGENT -certs certs -out results"},
		{"dsbo agent -cluster cluster.json -agent AGENT", "agents 8 dsbo agent -cluster cluster.json -agent AGENT"},
		{"collect -out run", "collect -out all"},
		{"dsbo agent -cluster cluster.json -agent 8 -certs site -out results", "ls signed/agent-8.admission"},
		{"dsbo pki request -agent 8", `sed -i 's/"seed"/"quorum": 5, "absent_after": "10m", "seed"/' cluster.json` +
			"\ndsbo pki request -agent 8"},
	}, long: true},
	"deploy/README.md": {
		begin: `echo '{"run": "tune-4", "agents": 4, "address": "127.0.0.1:{7000+agent}", ` + tinySynthetic +
			"}' > cluster.json\n",
		always: [][2]string{
			{"dsbo pki request -agent 3", "for i in 0 1 2 3; do dsbo pki request -agent $i"},
			{"certs/agent-3.csr", "certs/agent-$i.csr"},
			{"echo subjectAltName=DNS:agent-3", "echo subjectAltName=DNS:agent-$i"},
			{"-extfile agent-3.names -out certs/agent-3.pem",
				"-extfile agent-3.names -out certs/agent-$i.pem; done; cp authority/ca.pem certs"},
			{"DSBO_FLAGS=", "dsbo tune -h "},
		},
		end: "agents 4 dsbo agent -cluster cluster.json -agent AGENT -certs certs -out results\n",
	},
}

// script returns the script of a document, which leaves the output of block i in OUT/i, and the
// numbers of blocks that are run as they are.
func (s shell) script(t *testing.T, document string, blocks map[int]testkit.Block) (script string, asIs []int) {
	t.Helper()
	unused := slices.Clone(s.always)
	if !testkit.Whole() {
		unused = append(unused, s.small...)
	}
	replace := func(all [][2]string, text string) string {
		for _, r := range all {
			if strings.Contains(text, r[0]) {
				text = strings.ReplaceAll(text, r[0], r[1])
				unused = slices.DeleteFunc(unused, func(u [2]string) bool { return u == r })
			}
		}
		return text
	}
	script = "set -e\n" + s.begin
	for _, i := range slices.Sorted(maps.Keys(blocks)) {
		b := blocks[i]
		text := strings.Join(b.Shell(), "\n")
		if file, rest, _ := strings.Cut(b.Text, "\n\n"); strings.HasPrefix(file, "{") {
			text = "cat > cluster.json <<'END'\n" + file + "\nEND\n" +
				strings.Join(testkit.Block{Text: rest}.Shell(), "\n")
		} else if b.Language == "python" {
			text = "PYTHONDONTWRITEBYTECODE=1 PYTHONPATH=$REPOSITORY/examples/python $PYTHON - <<'END'\n" +
				b.Text + "END"
		}
		text = replace(s.always, text)
		if all := text; !testkit.Whole() {
			text = replace(s.small, text)
			if text == all {
				asIs = append(asIs, i)
			}
		} else {
			asIs = append(asIs, i)
		}
		script += fmt.Sprintf("{\n%s\n} > $OUT/%d\n", text, i)
	}
	for _, r := range unused {
		t.Errorf("%s has no %q in its blocks, which the test replaces", document, r[0])
	}
	// a host that no other test has at the same time
	place := slices.Index(slices.Sorted(maps.Keys(shells)), document)
	own := fmt.Sprintf("127.%d.%d.%d:{", 10+place, os.Getpid()>>8&255, os.Getpid()&255)
	return strings.ReplaceAll(script+s.end, "127.0.0.1:{", own), asIs
}

// TestBlocks runs the code blocks of documents, and compares what they print with what documents
// show.
func TestBlocks(t *testing.T) {
	skipShort(t, "runs agents over gRPC")
	python := testkit.Whole() && exec.Command(pythonProgram(), "-c", "import numpy, sklearn").Run() == nil
	lines, left := testkit.BlockTests(".."), 0
	for i, l := range lines {
		leave := func(reason string) {
			left++
			t.Logf("%s: not run, %s: %s", l.Document, reason, l.First)
		}
		switch word, rest, _ := strings.Cut(l.How, " "); {
		case word == "left":
			leave(rest)
		case word == "python" && !python:
			leave("needs -dsbo.whole, and python3 with NumPy and scikit-learn")
		case strings.HasPrefix(l.How, "output of ") && !testkit.Whole():
			leave("needs -dsbo.whole")
		case strings.HasPrefix(l.How, "output of "):
			alone := shell{}
			alone.run(t, l.Document, map[int]testkit.Block{i - 1: {Text: strings.TrimPrefix(l.How, "output of ")}})
		}
	}
	for document, s := range shells {
		blocks := map[int]testkit.Block{}
		for i, l := range lines {
			if l.Document == document && (l.How == "run" || l.How == "python" && python) {
				blocks[i] = blockOf(t, l)
			}
		}
		if len(blocks) > 0 && (!s.long || testkit.Whole()) {
			t.Run(document, func(t *testing.T) {
				t.Parallel()
				s.run(t, document, blocks)
			})
		}
	}
	t.Logf("%d blocks of %d are not run", left, len(lines))
}

// pythonProgram is the Python of blocks.
func pythonProgram() string { return cmp.Or(os.Getenv("PYTHON"), "python3") }

// run runs blocks of a document, by their numbers among all, and compares what they print with the
// blocks behind them.
func (s shell) run(t *testing.T, document string, blocks map[int]testkit.Block) {
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Skip(err)
	}
	dir, out := t.TempDir(), t.TempDir()
	env := append(os.Environ(), "OUT="+out, "PATH="+filepath.Join(out, "bin")+":"+os.Getenv("PATH"),
		"DSBO="+filepath.Join(out, "bin", "dsbo"), "REPOSITORY="+testkit.Get(filepath.Abs("..")),
		"PYTHON="+pythonProgram())
	if !testkit.Whole() {
		testkit.OK(testkit.WriteMNIST(filepath.Join(out, "mnist"), 200, 30))
		env = append(env, "DSBO_DATA="+filepath.Join(out, "mnist"), undrawn+"=1")
	}
	testkit.OK(os.Mkdir(filepath.Join(out, "bin"), 0o755))
	for _, name := range []string{"go", "agents"} {
		testkit.OK(os.Symlink(testkit.Get(os.Executable()), filepath.Join(out, "bin", name)))
	}
	// dsbo.py follows links to the program, whose name is another one then
	dsbo := fmt.Sprintf("#!/bin/bash\nexec -a dsbo %q \"$@\"\n", testkit.Get(os.Executable()))
	testkit.OK(os.WriteFile(filepath.Join(out, "bin", "dsbo"), []byte(dsbo), 0o755))
	script, asIs := s.script(t, document, blocks)
	c := exec.CommandContext(t.Context(), bash, "-c", script)
	var log bytes.Buffer
	c.Dir, c.Env, c.Stdout, c.Stderr, c.WaitDelay = dir, env, &log, &log, time.Second
	if err := c.Run(); err != nil {
		t.Fatalf("%v\n%s\nof the script\n%s", err, log.String(), script)
	}
	for i, l := range testkit.BlockTests("..") {
		if l.Document == document && strings.HasPrefix(l.How, "output") && slices.Contains(asIs, i-1) {
			printed := testkit.Get(os.ReadFile(filepath.Join(out, strconv.Itoa(i-1))))
			wantShown(t, l.Document, blockOf(t, l).Text, string(printed))
		}
	}
}

// wantShown checks that a document shows what a command has printed: each paragraph, word by word
// and in this order, and numbers up to one of their last digit.
func wantShown(t *testing.T, document, shown, printed string) {
	t.Helper()
	rest := strings.Fields(printed)
	for paragraph := range strings.SplitSeq(strings.TrimSpace(shown), "\n\n") {
		words, found := strings.Fields(paragraph), false
		for i := 0; i+len(words) <= len(rest) && !found; i++ {
			if found = slices.EqualFunc(words, rest[i:i+len(words)], isShown); found {
				rest = rest[i+len(words):]
			}
		}
		if !found {
			t.Errorf("%s shows\n%s\nwhere the command prints\n%s", document, paragraph, printed)
		}
	}
}

// number is a number within a word.
var number = regexp.MustCompile(`\d[\d,]*(\.\d+)?`)

// isShown reports whether a word of a document shows a word that was printed: numbers differ by at
// most one of the last digit that is shown.
func isShown(shown, printed string) bool {
	if number.ReplaceAllString(shown, "#") != number.ReplaceAllString(printed, "#") {
		return strings.Trim(shown, "-") == "" && strings.Trim(printed, "-") == "" // rules of tables
	}
	actual := number.FindAllString(printed, -1)
	for i, n := range number.FindAllString(shown, -1) {
		_, decimals, _ := strings.Cut(n, ".")
		unit := math.Pow10(-len(decimals))
		a, b := parsed(n), parsed(actual[i])
		if !(math.Abs(a-math.Round(b/unit)*unit) < 1.5*unit) {
			return false
		}
	}
	return true
}

// parsed returns the number of a text with commas between thousands.
func parsed(number string) float64 {
	return testkit.Get(strconv.ParseFloat(strings.ReplaceAll(number, ",", ""), 64))
}

// TestIsShown: numbers may differ by one of the last digit that is shown, not by two.
func TestIsShown(t *testing.T) {
	for _, c := range []struct {
		shown, printed string
		want           bool
	}{
		{"0.2743", "0.2743", true}, {"0.2743", "0.2744", true}, {"0.2743", "0.2745", false},
		{"0.27", "0.2743", true}, {"0.27", "0.2871", false}, {"(0.745)", "(0.746)", true},
		{"(0.745)", "0.745", false}, {"6", "7", true}, {"6", "8", false}, {"−7.3", "7.3", false},
		{"6,000", "6,001", true}, {"-----", "--------", true}, {"loss", "losses", false},
	} {
		if isShown(c.shown, c.printed) != c.want {
			t.Errorf("%q shows %q: %v; it must be %v", c.shown, c.printed, !c.want, c.want)
		}
	}
}
