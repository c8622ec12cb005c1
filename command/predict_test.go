package command

import (
	"bytes"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"dsbo/internal/cli"
	"dsbo/internal/testkit"
)

// golden is a model with a table that it can predict from, without the target's column.
const golden = "../tables/modelfile/testdata/golden"

// TestPredict: the rows are in order, with the numbers that PyTorch has for the golden model.
func TestPredict(t *testing.T) {
	for _, model := range []string{"", "model.json"} {
		var stdout, stderr bytes.Buffer
		testkit.OK(run(t.Context(),
			[]string{"predict", "-model", filepath.Join(golden, model), "-data", golden + "/people.csv"},
			&stdout, &stderr))
		want := strings.Join([]string{
			"prediction,p_benign,p_malignant,p_?",
			"malignant,2.58272433e-06,0.999997079,3.38074328e-07",
			"benign,0.948068221,0.00581881681,0.0461129621",
			"benign,0.993819294,0.000930737552,0.00524996841",
			"benign,0.975516516,0.0142434966,0.0102399878",
			"benign,0.998561821,0.00143282698,5.35164868e-06", ""}, "\n")
		if got := stdout.String(); got != want {
			t.Errorf("model %q: predictions are\n%swant\n%s", model, got, want)
		}
		if lines := strings.Join(strings.Fields(stderr.String()), " "); !strings.Contains(lines,
			"people.csv, column colour has a word that the model does not know in 1 of 5 rows (pink); it counts "+
				"as a rare one") {
			t.Errorf("model %q: warnings are %s", model, lines)
		}
	}
}

// TestPredictBad: a row with a value that cannot be read has a reason in the place of its
// prediction, other rows have the predictions that they have without it, and the exit code is 2. A
// number far from training rows is a warning.
func TestPredictBad(t *testing.T) {
	people := string(testkit.Get(os.ReadFile(golden + "/people.csv")))
	good := strings.Split(runCommand(t, "predict", "-model", golden, "-data", golden+"/people.csv"), "\n")
	lines := strings.Split(people, "\n")
	for k, old := range map[int][2]string{1: {"2021-03-04", "soon"}, 3: {"38", "1e400"}, 4: {",", ",,"}} {
		if !strings.Contains(lines[k], old[0]) {
			t.Fatalf("line %d of people.csv is %s", k+1, lines[k])
		}
		lines[k] = strings.Replace(lines[k], old[0], old[1], 1)
	}
	path := filepath.Join(t.TempDir(), "new.csv")
	testkit.OK(os.WriteFile(path, []byte(strings.Join(lines, "\n")), 0o666))
	text, err := command(t, "predict", "-model", golden, "-data", path)
	wantError(t, err, cli.Usage, "predict: 3 of 5 rows have no prediction, for the reasons in the last column; the "+
		"first one is "+path+", line 2: column since: a value must be a time")
	want := []string{good[0] + ",reason",
		`,,,,"column since: a value must be a time such as 2006-01-02 or 2006-01-02 15:04:05; it is ""soon"""`,
		good[2] + ",", `,,,,"column age: a number must be finite and at most 3.4e38; it is ""1e400"""`,
		`,,,,"a record must have 7 values separated by ',', as the header has; it has 8"`, good[5] + ",", ""}
	if d := cmp.Diff(want, strings.Split(text, "\n")); d != "" {
		t.Error(d)
	}
	var stderr bytes.Buffer
	testkit.OK(os.WriteFile(path, []byte(strings.Replace(people, "38", "1e6", 1)), 0o666))
	testkit.OK(run(t.Context(), []string{"predict", "-model", golden, "-data", path}, io.Discard, &stderr))
	if said := strings.Join(strings.Fields(stderr.String()), " "); !strings.Contains(said, "column age is more than "+
		"10 deviations from the mean of training rows (50 ± 12) in 1 of 5 rows (line 4: 1e+06)") {
		t.Errorf("warnings are %s", said)
	}
}

// TestPredictSurvival: rows have the probability of no event up to the times of -at, which falls
// with the time and with the hazard; a time beyond the baseline is refused, and so are
// other models.
func TestPredictSurvival(t *testing.T) {
	folder, r := t.TempDir(), rand.New(rand.NewPCG(6, 7))
	for site := range 3 {
		text := "age,months,dead\n"
		for range 60 {
			age := r.NormFloat64()
			text += fmt.Sprintf("%.2f,%.1f,%d\n", age, 1+10*r.ExpFloat64()*math.Exp(-age), r.IntN(2))
		}
		testkit.OK(os.WriteFile(filepath.Join(folder, fmt.Sprintf("site%d.csv", site)), []byte(text), 0o666))
	}
	model, data := filepath.Join(folder, "model"), filepath.Join(folder, "new.csv")
	runCommand(t, "tune", "-task=survival", "-target=months", "-event=dead", "-folds=2", "-report=false",
		"-data="+filepath.Join(folder, "site{agent}.csv"), "-out="+model)
	testkit.OK(os.WriteFile(data, []byte("age\n-1\n0\n1\n"), 0o666))
	lines := strings.Fields(runCommand(t, "predict", "-model", model, "-data", data, "-at", "0,2,5"))
	if len(lines) != 4 || lines[0] != "prediction,survival_0,survival_2,survival_5" {
		t.Fatalf("predictions are %q", lines)
	}
	before := 1.0
	for _, line := range lines[1:] {
		var hazard, start, two, five float64
		testkit.Get(fmt.Sscanf(line, "%g,%g,%g,%g", &hazard, &start, &two, &five))
		if !(start == 1 && start > two && two > five && five > 0 && five < before) {
			t.Errorf("%s", line)
		}
		before = five
	}
	_, err := command(t, "predict", "-model", model, "-data", data, "-at", "1e6")
	wantError(t, err, cli.Usage, "-at must be at most ")
	_, err = command(t, "predict", "-model", golden, "-data", golden+"/people.csv", "-at", "1")
	wantError(t, err, cli.Usage, "-at must be given with a model of survival times that has a baseline hazard")
}

// TestPredictDigits: predictions that are alike in eight digits differ as the model's do.
func TestPredictDigits(t *testing.T) {
	folder, text := t.TempDir(), "x,y\n"
	for k := range 60 {
		text += fmt.Sprintf("%d,%.2f\n", k, 1e8+float64(k)/100)
	}
	model, data := filepath.Join(folder, "model"), filepath.Join(folder, "all.csv")
	testkit.OK(os.WriteFile(data, []byte(text), 0o666))
	runCommand(t, "tune", "-target=y", "-model=linear", "-agents=1", "-folds=2", "-report=false",
		"-data="+data, "-out="+model)
	testkit.OK(os.WriteFile(data, []byte("x\n10\n20\n"), 0o666))
	var low, high float64
	lines := strings.Fields(runCommand(t, "predict", "-model", model, "-data", data))
	testkit.Get(fmt.Sscan(strings.Join(lines[1:], " "), &low, &high))
	if !(math.Abs(high-low-.1) < .01) {
		t.Errorf("predictions are %q", lines)
	}
}

func TestPredictRefused(t *testing.T) {
	people := string(testkit.Get(os.ReadFile(golden + "/people.csv")))
	file := func(text string) string {
		path := filepath.Join(t.TempDir(), "new.csv")
		testkit.OK(os.WriteFile(path, []byte(text), 0o666))
		return path
	}
	strict := func() string { // the model of a run with -missing refuse
		path := filepath.Join(t.TempDir(), "run")
		testkit.OK(os.CopyFS(path, os.DirFS(golden)))
		text := string(testkit.Get(os.ReadFile(filepath.Join(path, "model.json"))))
		testkit.OK(os.WriteFile(filepath.Join(path, "model.json"),
			[]byte(strings.Replace(text, `"recipe": {`, `"recipe": {"missing": "refuse",`, 1)), 0o666))
		return path
	}
	for _, c := range []struct{ model, data, says string }{ // with -strict
		{"", golden + "/people.csv", "-model folder is required"},
		{golden, "", "-data file is required"},
		{golden, "none.csv", "none.csv"},
		{"none", golden + "/people.csv", "model: stat none"},
		{"testdata", golden + "/people.csv",
			"testdata has no model.json: it must be the folder of a run of tables that has finished"},
		{golden + "/people.csv", golden + "/people.csv", "people.csv: a model must be the model.json"},
		{golden + "/model.safetensors", golden + "/people.csv", "model.safetensors: a model must be the model.json"},
		{golden, file(strings.Replace(people, ",age,", ",years,", 1)),
			`new.csv: there is no column "age"; its columns are`},
		{golden, file(strings.Replace(people, "38", "old", 1)),
			`new.csv, line 4, column age: a value must be a number`},
		{golden, file(strings.Replace(people, "2021-03-04", "soon", 1)),
			`new.csv, line 2, column since: a value must be a time`},
		{strict(), file(strings.Replace(people, "38", "", 1)),
			`new.csv, line 3, column age: the value is missing, which the model was trained to refuse`},
	} {
		_, err := command(t, "predict", "-strict", "-model", c.model, "-data", c.data)
		wantError(t, err, cli.Usage, c.says)
	}
}
