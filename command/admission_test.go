package command

import (
	"path/filepath"
	"strings"
	"testing"

	"dsbo/internal/cli"
)

// TestAdmission: the authority admits a site beside agents of the cluster file; of each fault the
// error says what must hold.
func TestAdmission(t *testing.T) {
	dir := t.TempDir()
	at := func(parts ...string) string { return filepath.Join(append([]string{dir}, parts...)...) }
	file := writeCluster(t, dir, 3, map[string]any{"quorum": 3, "absent_after": "1m"})
	small := writeCluster(t, t.TempDir(), 3, map[string]any{"quorum": 2, "absent_after": "1m"})
	runCommand(t, "pki", "-cluster="+file, "-out="+at("certs"))
	for _, i := range []string{"2", "3", "5"} {
		runCommand(t, "pki", "request", "-agent="+i, "-out="+at("site"))
	}
	admit := func(file, neighbours, request string, more ...string) []string {
		return append([]string{"pki", "admission", "-ca=" + at("certs"), "-cluster=" + file,
			"-neighbours=" + neighbours, "-out=" + at("site")}, append(more, at("site", request))...)
	}
	for _, tt := range []struct {
		args []string
		want string
	}{
		{admit(file, "0,3", "agent-3.csr"), "-neighbours must be agents of the cluster file, 0 to 2"},
		{admit(file, "0,1", "agent-2.csr"), "asks for agent-2, but the agent must be one of 3 to 4"},
		{admit(file, "0,1", "agent-5.csr"), "asks for agent-5, but the agent must be one of 3 to 4"},
		{admit(small, "0,1", "agent-3.csr"),
			`the cluster file must have a "quorum" of more than half of 4 agents; it is 2`},
		{admit(file, "0,1", "agent-3.csr", at("site", "agent-2.csr")), "one request is required"},
		{[]string{"agent", "-agent=3", "-cluster=" + file, "-out=" + at("run")},
			"agent 3 is not in the cluster file, which has agents 0 to 2: it must be admitted"},
		{[]string{"agent", "-agent=3", "-cluster=" + file, "-out=" + at("run"), "-certs=" + at("certs")},
			"agent-3.admission is missing (pki admission makes it)"},
		{[]string{"agent", "-agent=3", "-cluster=" + small, "-out=" + at("run"), "-certs=" + at("certs")},
			"-agent must be an agent of the cluster file, 0 to 2; it is 3"},
	} {
		_, err := command(t, tt.args...)
		wantError(t, err, cli.Usage, tt.want)
	}
	if out := runCommand(t, admit(file, "0,1", "agent-3.csr")...); !strings.Contains(out, "nothing is signed") {
		t.Error(out)
	}
	if out := runCommand(t, admit(file, "1,0", "agent-3.csr", "-yes")...); !strings.Contains(out,
		"agent-3 is admitted to ") {
		t.Error(out)
	}
	_, err := command(t, admit(file, "0,1", "agent-3.csr", "-yes")...)
	wantError(t, err, cli.Usage, "agent-3.pem exists")
}
