package command

import (
	"bytes"
	"context"
	"encoding/binary"
	"flag"
	"fmt"
	"io"
	"maps"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"dsbo/experiment/site"
	"dsbo/internal/cli"
	"dsbo/internal/testkit"
	"dsbo/network/session"
	"dsbo/runs"
)

var pairs = flag.Int("pairs", 12, "pairs of a cluster file and policies that TestNoForbiddenFrame runs")

// A frameRecord is what a site has sent, as its connections have it.
type frameRecord struct {
	mu      sync.Mutex
	vectors int64
	texts   bytes.Buffer // as network.GatherTexts has them in numbers
}

// A recordingSender keeps frames on their way.
type recordingSender struct {
	session.Sender
	*frameRecord
}

func (s recordingSender) Send(frame []byte) error {
	s.mu.Lock()
	if frame[0] == 4 && len(frame) > 24 { // a vector that is not empty
		s.vectors++
		for word := range slices.Chunk(frame[24:], 8) {
			v := 0.
			if len(word) == 8 {
				v = math.Float64frombits(binary.LittleEndian.Uint64(word))
			}
			if v != math.Trunc(v) || v < 0 || v > math.MaxUint32 {
				v = 0
			}
			_ = binary.Write(&s.texts, binary.LittleEndian, uint32(v)) // to memory
		}
	}
	s.mu.Unlock()
	return s.Sender.Send(frame)
}

// A drawnRun is a run of three sites with what each must not send, by the fields alone.
type drawnRun struct {
	task, method            string
	drop, alone, give, mask bool // no words, compared with a site alone, and its model given, masked
	epsilon                 float64
	folds                   string
}

func drawRun(r *rand.Rand) drawnRun {
	often := func() bool { return r.IntN(3) > 0 }
	d := drawnRun{task: "tune", method: "newtoncg", drop: often(), alone: often(), mask: r.IntN(5) > 0,
		folds: []string{"-folds=2", "-split=0.25:0.25:0.5"}[r.IntN(2)]}
	d.give = d.alone && !often()
	if r.IntN(5) == 0 {
		d.method = "dsoba"
	}
	if r.IntN(6) == 0 {
		d.task, d.drop, d.alone, d.give, d.method, d.epsilon = "synthetic", true, false, false, "madsbo_tuned", 8
	}
	return d
}

// flags are the flags of the cluster file.
func (d drawnRun) flags() []string {
	if d.task == "synthetic" {
		return append(slices.Clone(small), "-dp-epsilon=8", "-dp-delta=1e-5", "-K=1", "-reduce=mean")
	}
	all := []string{"-target=ill", "-K=1", "-model=linear", "-algorithm=" + d.method, d.folds,
		fmt.Sprint("-alone=", d.alone)}
	if d.drop {
		all = append(all, "-drop=mineral")
	}
	if d.give {
		all = append(all, "-exchange-alone")
	}
	return all
}

// drawPolicy draws the policy of a site, as fields of its file.
func drawPolicy(r *rand.Rand) map[string]any {
	all := map[string]any{"least_rows": 3 + r.IntN(30), "least_sites": 2 + r.IntN(3), "tasks": []string{"tune"},
		"methods": []string{"newtoncg"}, "own_results": false, "words": false, "classes": r.IntN(2) == 0,
		"models": false, "unmasked": false, "columns": []string{"age", "ill"}, "most_epsilon": 4 + r.IntN(8)}
	for _, field := range slices.Sorted(maps.Keys(all)) {
		if r.IntN(7) > 0 {
			delete(all, field)
		}
	}
	return all
}

// forbids returns the fields by which a policy forbids that anything is sent, as far as the fields
// of both tell it, and what words must not be in what is sent.
func (d drawnRun) forbids(p map[string]any) (fields, words []string) {
	deny := func(field string, is bool) {
		if _, set := p[field]; set && is {
			fields = append(fields, field)
		}
	}
	number := func(field string) int { n, _ := p[field].(int); return n }
	deny("least_sites", number("least_sites") > 3)
	deny("tasks", d.task != "tune")
	deny("methods", d.method != "newtoncg")
	deny("own_results", d.alone)
	deny("models", d.give)
	deny("unmasked", (d.method == "dsoba" || !d.mask) && d.epsilon == 0)
	deny("columns", d.task == "tune" && !d.drop)
	deny("most_epsilon", d.epsilon == 0 || d.epsilon > float64(number("most_epsilon")))
	if allowed, set := p["words"]; set && allowed == false {
		words = append(words, "zircon", "quartz")
	}
	if allowed, set := p["classes"]; set && allowed == false {
		words = append(words, "ailing", "hearty")
	}
	return fields, words
}

// writeMinerals writes the table of a site, whose words are in no program.
func writeMinerals(path string, r *rand.Rand) {
	text := "age,mineral,ill\n"
	for i := range 60 {
		age := r.NormFloat64()
		text += fmt.Sprintf("%.3f,%s,%s\n", age, []string{"zircon", "quartz"}[i%2],
			[]string{"ailing", "hearty"}[(i+r.IntN(2))/2%2])
	}
	testkit.OK(os.WriteFile(path, []byte(text), 0o600))
}

// TestNoForbiddenFrame: of drawn pairs of a run and its sites' policies, run by agents whose frames
// are recorded as they leave, none has a frame that a policy of its site forbids; what leaves is
// what the site's report counts.
func TestNoForbiddenFrame(t *testing.T) {
	t.Parallel()
	const n = 3
	dir, certs := t.TempDir(), t.TempDir()
	r := rand.New(rand.NewPCG(3, 4))
	runCommand(t, "pki", "-cluster="+writeCluster(t, dir, n, nil), "-out="+certs)
	for i := range n {
		writeMinerals(filepath.Join(dir, fmt.Sprintf("ours%d.csv", i)), r)
	}
	finished, refused, seen := 0, map[string]int{}, false
	for k := range *pairs {
		d := drawRun(r)
		home := t.TempDir()
		file := writeCluster(t, home, n, map[string]any{"task": d.task, "flags": d.flags()})
		policies, records, errs := make([]map[string]any, n), make([]frameRecord, n), make([]error, n)
		var own []string
		for i := range n {
			own = append(own, filepath.Join(home, fmt.Sprint("certs", i)))
			testkit.OK(os.CopyFS(own[i], os.DirFS(certs)))
			testkit.OK(os.Chmod(filepath.Join(own[i], fmt.Sprintf("agent-%d-key.pem", i)), 0o600))
			policies[i] = drawPolicy(r)
			policyOf(own[i], policies[i])
		}
		atOnce(t, n, func(ctx context.Context, args []string, stdout, stderr io.Writer) error {
			i := int(args[1][len(args[1])-1] - '0')
			errs[i] = changedAgent(func(o *agentOptions) {
				omitPage(o)
				o.adjust = func(c *session.Config) {
					c.Wrap = func(_ int, s session.Sender) session.Sender { return recordingSender{s, &records[i]} }
				}
			})(ctx, args, stdout, stderr)
			if errs[i] != nil {
				return context.Canceled // the others need not wait
			}
			return nil
		}, func(i int) []string {
			args := []string{d.task, fmt.Sprint("-agent=", i), "-certs=" + own[i], "-cluster=" + file,
				"-out=" + filepath.Join(home, "out"), fmt.Sprint("-mask=", d.mask)}
			if d.task == "tune" {
				args = append(args, fmt.Sprintf("-data=%s/ours%d.csv", dir, i))
			}
			return args
		})
		whole := true
		for i := range n {
			whole = whole && errs[i] == nil
			fields, words := d.forbids(policies[i])
			at := fmt.Sprintf("pair %d, site %d: %+v with %v ended with %v", k, i, d, policies[i], errs[i])
			if len(fields) > 0 && (records[i].vectors > 0 || errs[i] == nil) {
				t.Errorf("%s: %d vectors left, which %v forbids", at, records[i].vectors, fields)
			}
			seen = seen || bytes.Contains(records[i].texts.Bytes(), []byte("zircon"))
			for _, w := range words {
				if bytes.Contains(records[i].texts.Bytes(), []byte(w)) {
					t.Errorf("%s: the word %s left", at, w)
				}
			}
			if cli.Code(errs[i]) == cli.Usage && strings.Contains(errs[i].Error(), "policy") {
				_, rule, _ := strings.Cut(errs[i].Error(), "by its rule \"")
				rule, _, _ = strings.Cut(rule, `"`)
				refused[rule]++
			}
		}
		for i := range n {
			if !whole {
				continue
			}
			finished++
			report := reportOf(t, home, i)
			if report.All.Vectors != records[i].vectors {
				t.Errorf("pair %d, site %d: %d vectors left; the report has %d", k, i, records[i].vectors,
					report.All.Vectors)
			}
		}
	}
	t.Logf("%d sites of %d runs have finished; refused are %v", finished, *pairs, refused)
	if finished == 0 || !seen && *pairs > 100 || len(refused) < min(*pairs/4, 8) {
		t.Errorf("%d sites have finished, and %v were refused: the draws must be nearer to the edge", finished, refused)
	}
}

// reportOf reads what a site has signed.
func reportOf(t *testing.T, home string, agent int) site.Report {
	t.Helper()
	_, report, _, err := readDisclosure(runs.Folder(filepath.Join(home, "out", fmt.Sprintf("agent-%d", agent))))
	if err != nil {
		t.Fatal(err)
	}
	return report
}
