package command

import (
	"bytes"
	"context"
	"encoding/csv"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sync/errgroup"

	"dsbo/experiment/tasks/tune"
	"dsbo/internal/testkit"
)

// TestTutorial runs the commands of the example's README, in their order; the commands of several
// agents at the same time.
func TestTutorial(t *testing.T) {
	testkit.Long(t, "runs three agents over gRPC")
	t.Chdir(t.TempDir())
	iterations := fmt.Sprintf("-K=%d", testkit.Sized(1, 1, 5))
	run := func(ctx context.Context, line string) (string, error) {
		var out, log bytes.Buffer
		args := strings.Fields(strings.ReplaceAll(line, "'", ""))[1:]
		// the page takes half of the time, and has tests of its own
		if args[0] == "tune" && !strings.Contains(line, "-agent ") {
			args = append(args, "-report=false", iterations)
		}
		err := newProgram("dsbo", tune.Task()).run(ctx, args, &out, &log)
		return out.String(), err
	}
	testkit.Get(run(t.Context(), "dsbo init clinics"))
	t.Chdir("clinics")
	for _, path := range testkit.Get(filepath.Glob("*.csv")) {
		shrink(path)
	}
	edit(t, "cluster.json", `"-drop=patient"`, `"-drop=patient", "`+iterations+`"`)
	outputs := map[string]string{}
	agents, ctx := errgroup.WithContext(t.Context())
	for line := range strings.Lines(string(testkit.Get(os.ReadFile("README.md")))) {
		line, isCommand := strings.CutPrefix(strings.TrimSpace(line), "dsbo ")
		switch line = "dsbo " + line; {
		case !isCommand:
		case strings.Contains(line, "-agent "):
			agents.Go(func() error { _, err := run(ctx, line+" -quiet"); return err })
		default:
			outputs[strings.Fields(line)[1]] = testkit.Get(run(t.Context(), line))
		}
	}
	testkit.OK(agents.Wait())
	if rows := strings.Count(outputs["predict"], "\n"); rows != 9 ||
		!strings.HasPrefix(outputs["predict"], "prediction,p_healthy,p_ill\n") {
		t.Errorf("predictions are %q", outputs["predict"])
	}
	for _, file := range []string{"lambda.csv", "model.json", "model.onnx", "model.safetensors"} {
		alone, together := testkit.Get(os.ReadFile("model/"+file)), testkit.Get(os.ReadFile("sites/agent-1/"+file))
		// these say when they were made
		if file != "model.json" && file != "model.onnx" && !bytes.Equal(alone, together) {
			t.Errorf("%s of three processes is not that of one", file)
		}
	}
	if !strings.Contains(outputs["tune"], "masked") {
		t.Errorf("-explain-privacy says %q", outputs["tune"])
	}
}

// shrink leaves 80 patients in a table, with their first markers.
func shrink(path string) {
	in := testkit.Get(os.Open(path))
	rows := testkit.Get(csv.NewReader(in).ReadAll())
	in.Close()
	first, last := slices.Index(rows[0], "marker7"), slices.Index(rows[0], "marker60")
	out := testkit.Get(os.Create(path))
	defer out.Close()
	w := csv.NewWriter(out)
	for _, row := range rows[:min(81, len(rows))] {
		testkit.OK(w.Write(slices.Delete(row, first, last+1)))
	}
	w.Flush()
	testkit.OK(w.Error())
}
