package command

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"dsbo"
	"dsbo/experiment/site"
	"dsbo/experiment/tasks/tune"
	"dsbo/internal/cli"
	"dsbo/internal/testkit"
	"dsbo/runs"
)

// writeTable writes the table of site i: a number, a word, and a class that both tell of.
func writeTable(path string, i int) {
	r := rand.New(rand.NewPCG(2, uint64(i)))
	var b strings.Builder
	b.WriteString("age,colour,ill\n")
	for range 40 + 10*i {
		age, colour := r.NormFloat64()+float64(i), []string{"red", "blue"}[r.IntN(2)]
		ill := "no"
		if age+r.NormFloat64() > 1 || colour == "red" && r.IntN(3) == 0 {
			ill = "yes"
		}
		fmt.Fprintf(&b, "%.3f,%s,%s\n", age, colour, ill)
	}
	testkit.OK(os.WriteFile(path, []byte(b.String()), 0o644))
}

// writeTables writes the tables of sites in a new folder.
func writeTables(t *testing.T, name string, sites int) (dir string) {
	dir = t.TempDir()
	for i := range sites {
		writeTable(filepath.Join(dir, fmt.Sprintf(name, i)), i)
	}
	return dir
}

// tuneFlags are flags of a run of tune that takes a moment.
var tuneFlags = []string{"-target=ill", "-K=3", "-folds=2"}

// TestSite: sites that have their own file each, in a folder with no other, find over TLS what one
// process with all files finds, the intervals of coefficients too.
func TestSite(t *testing.T) {
	t.Parallel()
	const n = 3
	dir := t.TempDir()
	for i := range n {
		own := filepath.Join(dir, fmt.Sprint("home", i))
		testkit.OK(os.Mkdir(own, 0o755))
		writeTable(filepath.Join(own, "ours.csv"), i)
		writeTable(filepath.Join(dir, fmt.Sprintf("site%d.csv", i+1)), i) // counted from 1
	}
	// 20 test rows and more: of fewer a site shows nothing
	flags := append(slices.Clone(tuneFlags), "-exchange-alone", "-split=0.25:0.25:0.5")
	cluster, certs, out := writeCertified(t, dir, n, map[string]any{"task": "tune", "flags": flags})
	policyOf(certs, map[string]any{"least_rows": 10, "least_sites": n, "columns": []string{"age", "c*", "ill"}, // edges
		"tasks": []string{"tune"}, "methods": []string{"newtoncg"}, "unmasked": false, "admit": []string{}})
	runSites(t, n, cluster, certs, out, dir+"/home%d/ours.csv")
	of := append(slices.Clone(flags), "-data="+filepath.Join(dir, "site{agent}.csv"))
	wantExplained(t, disclosed(t, out, certs, n), append([]string{"tune", "-explain-privacy"}, of...)...)
	together := aloneOf(t, tune.Task(), dir, of...)
	same(t, out, together, n)
	want, got := testkit.Get(runs.Folder(together).ReadSummary()),
		testkit.Get(runs.Folder(filepath.Join(out, "agent-1")).ReadSummary())
	if !reflect.DeepEqual(got.Sites, want.Sites) || len(got.Sites) != n || len(got.Sites[0].OthersAlone) != n {
		t.Errorf("the table of sites is %+v, in one process %+v", got.Sites, want.Sites)
	}
	if got.Traffic != want.Traffic {
		t.Errorf("%+v was sent, in one process %+v", got.Traffic, want.Traffic)
	}
	one := testkit.Get(runs.Folder(together).ReadFile(runs.AssessmentFile))
	for i := range n {
		folder := runs.Folder(filepath.Join(out, fmt.Sprintf("agent-%d", i)))
		a := testkit.Get(folder.ReadAssessment())
		if of := testkit.Get(folder.ReadFile(runs.AssessmentFile)); !bytes.Equal(of, one) ||
			len(a.Coefficients) == 0 || !(a.Coefficients[0].Low < a.Coefficients[0].High) {
			t.Errorf("agent %d has the assessment %s; one process has %s, with intervals", i, of, one)
		}
	}
}

// TestCurvatureOfSites: products with other matrices than the Hessian have the bits of one process
// too, also where the least eigenvalue, by which a Hessian is damped, is an average.
func TestCurvatureOfSites(t *testing.T) {
	skipShort(t, "as TestSite, with other matrices")
	const n = 3
	dir := writeTables(t, "site%d.csv", n)
	for _, matrix := range []dsbo.CurvatureMatrix{dsbo.DampedHessian, dsbo.GaussNewton} {
		t.Run(matrix.String(), func(t *testing.T) {
			here := t.TempDir()
			flags := []string{"-target=ill", "-K=1", "-model=mlp", "-hidden=2", "-evaluate=off", "-rivals=false",
				"-curvature=" + matrix.String()}
			cluster, certs, out := writeCertified(t, here, n, map[string]any{"task": "tune", "flags": flags})
			runSites(t, n, cluster, certs, out, dir+"/site%d.csv")
			same(t, out, aloneOf(t, tune.Task(), here,
				append(flags, "-data="+filepath.Join(dir, "site{agent}.csv"))...), n)
		})
	}
}

// TestSurvivalOfSites: of times too each site finds what one process finds, and what it sends is
// listed before.
func TestSurvivalOfSites(t *testing.T) {
	skipShort(t, "as TestSite, of times")
	const n = 3
	dir := t.TempDir()
	for i := range n {
		writeTimes(filepath.Join(dir, fmt.Sprintf("site%d.csv", i)), i)
	}
	flags := []string{"-task=survival", "-target=time", "-event=ill=yes", "-K=2", "-folds=2", "-split=0.25:0.25:0.5"}
	cluster, certs, out := writeCertified(t, dir, n, map[string]any{"task": "tune", "flags": flags})
	runSites(t, n, cluster, certs, out, dir+"/site%d.csv")
	report, data := disclosed(t, out, certs, n), "-data="+filepath.Join(dir, "site{agent}.csv")
	together := aloneOf(t, tune.Task(), dir, append(flags, data)...)
	same(t, out, together, n)
	one := testkit.Get(runs.Folder(together).ReadFile(runs.AssessmentFile))
	of := testkit.Get(runs.Folder(filepath.Join(out, "agent-1")).ReadFile(runs.AssessmentFile))
	if !bytes.Equal(of, one) || !bytes.Contains(one, []byte("Brier score")) {
		t.Errorf("the assessment of agent 1 is %s; one process has %s", of, one)
	}
	wantExplained(t, report, append([]string{"tune", "-explain-privacy", data}, flags...)...)
	if !slices.ContainsFunc(report.Rows, func(s site.Sent) bool {
		return s.Name == "squared errors at edges of bins"
	}) {
		t.Errorf("no squared errors: %+v", report.Rows)
	}
}

// TestSiteSurvives: agents that are killed before they have a checkpoint find sums together anew,
// those that come back later know them; structures of penalties are among what is in setup.json.
func TestSiteSurvives(t *testing.T) {
	testkit.Longest(t, "like TestFaultKilled, with tables")
	dir := writeTables(t, "site%d.csv", 3)
	newTaskRun(t, tune.Task(), addresses(3), append(slices.Clone(tuneFlags), "-penalty=feature",
		"-data="+filepath.Join(dir, "site{agent}.csv"))).survive(map[int][]fault{
		0: {{Vectors: 5}, {File: "setup.json"}, {Line: "λ starts at "}},
		1: {{Line: "structures of penalties, at whose λ"}, {Line: `"iteration":2,`}, {Line: "each site alone"}},
	}, nil)
}

// TestTwoSites: a site refuses to be one of two, whose sums hide nothing, unless it is asked to.
func TestTwoSites(t *testing.T) {
	skipShort(t, "as TestSite")
	dir := writeTables(t, "ours%d.csv", 2)
	cluster := writeCluster(t, dir, 2, map[string]any{"task": "tune", "flags": tuneFlags})
	args := func(i int, more ...string) []string {
		return append(more, "tune", "-insecure", "-cluster="+cluster, "-out="+filepath.Join(dir, "out"),
			fmt.Sprintf("-agent=%d", i), fmt.Sprintf("-data=%s/ours%d.csv", dir, i))
	}
	_, err := command(t, args(0)...)
	wantError(t, err, cli.Usage, "a run must have at least 3 agents")
	atOnce(t, 2, withoutPage, func(i int) []string { return append(args(i), "-few-sites") })
}
