package command

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"dsbo/experiment/site"
	"dsbo/internal/cli"
	"dsbo/internal/testkit"
	"dsbo/network/pki"
	"dsbo/network/session"
)

// policyOf writes the policy of a site beside its key.
func policyOf(certs string, fields map[string]any) {
	testkit.OK(os.WriteFile(filepath.Join(certs, site.PolicyFile), testkit.Get(json.Marshal(fields)), 0o600))
}

// aCounter counts frames on their way.
type aCounter struct {
	session.Sender
	sent *atomic.Int64
}

func (c aCounter) Send(frame []byte) error {
	c.sent.Add(1)
	return c.Sender.Send(frame)
}

// refusesSite starts an agent, which must end with an error before it sends a frame.
func refusesSite(t *testing.T, args []string, rule string) {
	t.Helper()
	sent := new(atomic.Int64)
	wantError(t, changedAgent(func(o *agentOptions) {
		o.adjust = func(c *session.Config) {
			c.Wrap = func(_ int, s session.Sender) session.Sender { return aCounter{s, sent} }
		}
	})(t.Context(), args, io.Discard, io.Discard), cli.Usage, rule)
	if n := sent.Load(); n > 0 {
		t.Errorf("%s: %d frames are sent", rule, n)
	}
}

// TestPolicy: an agent whose site's policy allows less than the run needs is refused by the rule,
// with exit code 2, before it sends anything; at the edge of the rule it is not.
func TestPolicy(t *testing.T) {
	dir := writeTables(t, "ours%d.csv", 3)
	certs, file := filepath.Join(dir, "certs"), ""
	args := func(task string, more []string) []string {
		line := []string{task, "-agent=1", "-certs=" + certs, "-cluster=" + file, "-out=" + filepath.Join(dir, "out")}
		if task == "tune" {
			line = append(line, "-data="+filepath.Join(dir, "ours1.csv"))
		}
		return append(line, more...)
	}
	tune := map[string]any{"task": "tune", "flags": tuneFlags}
	with := func(more map[string]any, flags ...string) map[string]any {
		all := map[string]any{"task": "tune", "flags": append(slices.Clone(tuneFlags), flags...)}
		for k, v := range more {
			all[k] = v
		}
		return all
	}
	private := map[string]any{"flags": append(slices.Clone(small), "-dp-epsilon=8", "-dp-delta=1e-5", "-K=2")}
	type policy = map[string]any
	for _, c := range []struct {
		rule            string
		cluster         map[string]any
		refuses, allows policy
		flags           []string
	}{
		{"least_rows", tune, policy{"least_rows": 51}, policy{"least_rows": 50}, nil},
		{"least_rows", map[string]any{"flags": append(slices.Clone(small), "-batch=2", "-algorithm=dsoba")},
			policy{"least_rows": 3}, policy{"least_rows": 2}, nil},
		{"least_sites", tune, policy{"least_sites": 4}, policy{"least_sites": 3}, nil},
		{"columns", tune, policy{"columns": []string{"age", "ill"}},
			policy{"columns": []string{"a*", "colour", "ill"}}, nil},
		{"columns", with(nil, "-drop=colour"), policy{"columns": []string{"ill"}},
			policy{"columns": []string{"age", "ill"}}, nil},
		{"tasks", tune, policy{"tasks": []string{"mnist"}}, policy{"tasks": []string{"mnist", "tune"}}, nil},
		{"methods", tune, policy{"methods": []string{}}, policy{"methods": []string{"newtoncg"}}, nil},
		{"own_results", tune, policy{"own_results": false}, policy{"own_results": true}, nil},
		{"words", tune, policy{"words": false}, policy{"words": true}, nil},
		{"classes", with(nil, "-drop=colour"), policy{"classes": false}, policy{"classes": true, "words": false}, nil},
		{"models", with(nil, "-exchange-alone"), policy{"models": false}, policy{"models": true}, nil},
		{"unmasked", tune, policy{"unmasked": false}, policy{"unmasked": true}, []string{"-mask=false"}},
		{"unmasked", map[string]any{"flags": append(slices.Clone(small), "-algorithm=dsoba")},
			policy{"unmasked": false}, policy{}, nil},
		{"most_epsilon", tune, policy{"most_epsilon": 8}, policy{}, nil},
		{"most_epsilon", private, policy{"most_epsilon": 7}, policy{"most_epsilon": 8, "unmasked": false}, nil},
		{"most_delta", private, policy{"most_delta": 1e-6}, policy{"most_delta": 1e-5}, nil},
		{"admit", with(map[string]any{"quorum": 3, "absent_after": "10m"}), policy{"admit": []string{}},
			policy{"admit": nil}, nil},
	} {
		file = writeCluster(t, dir, 3, c.cluster)
		testkit.OK(os.RemoveAll(certs))
		runCommand(t, "pki", "-cluster="+file, "-out="+certs)
		if c.rule == "admit" {
			authority := testkit.Get(pki.LoadCertificate(filepath.Join(certs, "ca.pem")))
			c.allows["admit"] = []string{pki.KeyDigest(authority)}
		}
		task, _ := c.cluster["task"].(string)
		if task == "" {
			task = "synthetic"
		}
		line := args(task, c.flags)
		policyOf(certs, c.refuses)
		refusesSite(t, line, fmt.Sprintf("by its rule %q", c.rule))
		policyOf(certs, c.allows)
		p, o, of, err := agentLine(line)
		if err == nil {
			j := testkit.Get(p.agentJob(&o, of))
			err = o.askSite(j, of, testkit.Get(pki.Load(certs, 1, time.Now())))
		}
		if err != nil {
			t.Errorf("%s: %v", c.rule, err)
		}
	}
	testkit.OK(os.WriteFile(filepath.Join(certs, site.PolicyFile), []byte(`{"least_row": 3}`), 0o600))
	refusesSite(t, args("tune", nil), `field "least_row" is not known`)
	machinePolicy = filepath.Join(dir, "machine.json")
	defer func() { machinePolicy = "/etc/dsbo/" + site.PolicyFile }()
	testkit.OK(os.WriteFile(machinePolicy, []byte(`{"tasks": []}`), 0o600))
	policyOf(certs, policy{})
	refusesSite(t, args("tune", nil), "machine.json")
}

// TestPolicyOfParts: rows of a fold, which are known once sites have met, are decided before a sum
// over them leaves: one step beyond the edge of TestSite.
func TestPolicyOfParts(t *testing.T) {
	testkit.Long(t, "as TestSite")
	dir := writeTables(t, "ours%d.csv", 3)
	file, certs, out := writeCertified(t, dir, 3, map[string]any{"task": "tune",
		"flags": append(slices.Clone(tuneFlags), "-split=0.25:0.25:0.5")})
	policyOf(certs, map[string]any{"least_rows": 11})
	errs := make([]error, 3)
	atOnce(t, 3, func(ctx context.Context, args []string, stdout, stderr io.Writer) error {
		i := int(args[1][len(args[1])-1] - '0')
		errs[i] = withoutPage(ctx, args, stdout, stderr)
		return nil
	}, func(i int) []string {
		return []string{"tune", fmt.Sprint("-agent=", i), "-certs=" + certs, "-cluster=" + file, "-out=" + out,
			fmt.Sprintf("-data=%s/ours%d.csv", dir, i)}
	})
	wantError(t, errs[0], cli.Usage, `"least_rows": asked is 10, allowed is 11`)
}

// TestPolicyOfDocuments: the policy that docs/privacy.md shows is one, with all fields.
func TestPolicyOfDocuments(t *testing.T) {
	for _, l := range testkit.BlockTests("..") {
		if strings.HasSuffix(l.How, "TestPolicyOfDocuments") {
			text := []byte(blockOf(t, l).Text)
			testkit.Get(site.ParsePolicy(text))
			var fields map[string]any
			testkit.OK(json.Unmarshal(text, &fields))
			if want := reflect.TypeFor[site.Policy]().NumField(); len(fields) != want {
				t.Errorf("%d fields; there are %d", len(fields), want)
			}
			return
		}
	}
	t.Error("no document shows a policy")
}
