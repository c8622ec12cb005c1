package pki

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"dsbo"
	"dsbo/internal/testkit"
	"dsbo/network/membership"
)

// TestWarrants: an admission or a removal is good for the agent, the run and the settings that it
// was made for, by an authority that is known; of all else the error says what must hold. One of
// the same agent is none of the other kind.
func TestWarrants(t *testing.T) {
	now := time.Now()
	a, other := testkit.Get(NewAuthority("one", now, now.Add(time.Hour))),
		testkit.Get(NewAuthority("other", now, now.Add(time.Hour)))
	m := membership.Admission{Agent: 8, Neighbours: []int{0, 3}}
	admission, removal := testkit.Get(a.Admit(m, "run", "hash")), testkit.Get(a.Remove(8, "run", "hash"))
	_, signature, _ := strings.Cut(admission, "signed ")
	for _, c := range []struct{ name, admission, removal, run, hash, want string }{
		{"good", admission, removal, "run", "hash", ""},
		{"another run", admission, removal, "run-2", "hash", "must be signed by an authority of ca.pem"},
		{"other settings", admission, removal, "run", "hush", "must be signed"},
		{"another authority", testkit.Get(other.Admit(m, "run", "hash")), testkit.Get(other.Remove(8, "run", "hash")),
			"run", "hash", "must be signed"},
		{"another agent", strings.Replace(admission, "agent 8", "agent 9", 1),
			strings.Replace(removal, "agent 8", "agent 9", 1), "run", "hash", "must be signed"},
		{"the other kind", removal, admission, "run", "hash", "must be a line such as"},
		{"the other's signature", removal[:len("removal of agent 8, signed ")] + signature,
			"removal of agent 8, signed " + signature, "run", "hash", "must be"},
		{"leading zero", strings.Replace(admission, "agent 8", "agent 08", 1),
			strings.Replace(removal, "agent 8", "agent 08", 1), "run", "hash", "must be a line"},
		{"cut short", admission[:len(admission)-1], removal[:len(removal)-1], "run", "hash", "base64"},
		{"two lines", admission + "\n", removal + "\n", "run", "hash", "must be a line"},
	} {
		got, err := a.Trust().Admission(c.admission, c.run, c.hash)
		testkit.WantError(t, c.name, err, nil, c.want)
		agent, err := a.Trust().Removal(c.removal, c.run, c.hash)
		testkit.WantError(t, c.name, err, nil, c.want)
		if c.want == "" && (fmt.Sprint(got) != fmt.Sprint(m) || agent != 8) {
			t.Errorf("%s: %+v and agent %d", c.name, got, agent)
		}
	}
	for change, want := range map[string]string{"0,4": "must be signed", "0,9": "agents before it",
		"3,0": "ascending"} {
		_, err := a.Trust().Admission(strings.Replace(admission, "0,3", change, 1), "run", "hash")
		testkit.WantError(t, change, err, nil, want)
	}
	for _, wrong := range []membership.Admission{{Agent: 8}, {Agent: 1, Neighbours: []int{2}},
		{Agent: 10000, Neighbours: []int{0}}, {Agent: -1, Neighbours: []int{0}}} {
		_, err := a.Admit(wrong, "run", "hash")
		testkit.WantError(t, wrong, err, dsbo.ErrConfig, "must be")
	}
	_, err := a.Remove(10000, "run", "hash")
	testkit.WantError(t, "agent 10000", err, dsbo.ErrConfig, "the removal must be a line")
}

// TestLoadWarrants: files are checked as they are read; an admission of another agent, or none, is
// an error that names the file. A folder needs no removal.
func TestLoadWarrants(t *testing.T) {
	dir, now := t.TempDir(), time.Now()
	if texts, err := LoadRemovals(dir, "run", "hash"); err != nil || len(texts) > 0 {
		t.Errorf("%q, %v", texts, err)
	}
	a := testkit.Get(NewAuthority("one", now, now.Add(time.Hour)))
	testkit.OK(a.Save(dir))
	text := testkit.Get(a.Admit(membership.Admission{Agent: 8, Neighbours: []int{2}}, "run", "hash"))
	path := testkit.Get(SaveWarrant(dir, text))
	if got := testkit.Get(LoadAdmission(dir, 8, "run", "hash")); got != text {
		t.Errorf("%q is read as %q", text, got)
	}
	testkit.OK(os.Rename(path, warrantFile(dir, 9, admissionKind)))
	for agent, want := range map[int]string{8: "pki admission makes it",
		9: "must be that of agent 9; it is that of agent 8"} {
		_, err := LoadAdmission(dir, agent, "run", "hash")
		testkit.WantError(t, agent, err, dsbo.ErrConfig, want)
	}
	for agent := range 2 {
		path = testkit.Get(SaveWarrant(dir, testkit.Get(a.Remove(agent, "run", "hash"))))
	}
	if texts, err := LoadRemovals(dir, "run", "hash"); err != nil || len(texts) != 2 {
		t.Errorf("%q, %v", texts, err)
	}
	testkit.OK(os.WriteFile(path, []byte("agent 1 has left"), 0o600))
	_, err := LoadRemovals(dir, "run", "hash")
	testkit.WantError(t, "no removal", err, dsbo.ErrConfig, path+": the removal must be a line")
}

// FuzzWarrant: a text is read, or refused with an error; what is read is written as it was.
func FuzzWarrant(f *testing.F) {
	f.Add("admission of agent 8 beside 0,3, signed MEUCIQ==")
	f.Add("removal of agent 08, signed MEUCIQ==")
	f.Fuzz(func(t *testing.T, text string) {
		for _, kind := range []string{admissionKind, removalKind} {
			w, err := parseWarrant(kind, text)
			if err == nil && !strings.HasPrefix(text, fmt.Sprintf("%s of agent %d", kind, w.Agent)) {
				t.Errorf("%q is read as %+v", text, w)
			}
		}
	})
}
