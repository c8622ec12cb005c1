package pki

import (
	"os"
	"strings"
	"testing"
	"time"

	"dsbo"
	"dsbo/internal/testkit"
)

// TestRemoval: a removal is good for the agent, the run and the settings that it was made for,
// by an authority that is known; of all else the error says what must hold. An admission of the
// same agent is none.
func TestRemoval(t *testing.T) {
	now := time.Now()
	a, other := testkit.Get(NewAuthority("one", now, now.Add(time.Hour))),
		testkit.Get(NewAuthority("other", now, now.Add(time.Hour)))
	r := Removal{3, "run", "hash"}
	text := testkit.Get(a.Remove(r))
	admitted := testkit.Get(a.Admit(Admission{Agent: 3, Neighbours: []int{0}}, "run", "hash"))
	_, signature, _ := strings.Cut(admitted, "signed ")
	for _, c := range []struct{ name, text, run, hash, want string }{
		{"good", text, "run", "hash", ""},
		{"another run", text, "run-2", "hash", "must be signed by an authority of ca.pem"},
		{"other settings", text, "run", "hush", "must be signed"},
		{"another authority", testkit.Get(other.Remove(r)), "run", "hash", "must be signed"},
		{"another agent", strings.Replace(text, "agent 3", "agent 4", 1), "run", "hash", "must be signed"},
		{"an admission", admitted, "run", "hash", "a removal must be a line"},
		{"the signature of an admission", "removal of agent 3, signed " + signature, "run", "hash", "must be signed"},
		{"leading zero", strings.Replace(text, "agent 3", "agent 03", 1), "run", "hash", "a removal must be a line"},
		{"cut short", text[:len(text)-1], "run", "hash", "base64"},
		{"two lines", text + "\n", "run", "hash", "a removal must be a line"},
	} {
		got, err := a.Trust().Removal(c.text, c.run, c.hash)
		testkit.WantError(t, c.name, err, nil, c.want)
		if err == nil && got != r {
			t.Errorf("%s: %+v", c.name, got)
		}
	}
	for _, agent := range []int{-1, 10000} {
		_, err := a.Remove(Removal{Agent: agent})
		testkit.WantError(t, agent, err, dsbo.ErrConfig, "a removal must be a line")
	}
}

// TestLoadRemovals: all removals of a folder are checked as they are read; a folder needs none.
func TestLoadRemovals(t *testing.T) {
	dir, now := t.TempDir(), time.Now()
	if texts, err := LoadRemovals(dir, "run", "hash"); err != nil || len(texts) > 0 {
		t.Errorf("%q, %v", texts, err)
	}
	a := testkit.Get(NewAuthority("one", now, now.Add(time.Hour)))
	testkit.OK(a.Save(dir))
	for agent := range 2 {
		testkit.OK(SaveRemoval(dir, agent, testkit.Get(a.Remove(Removal{agent, "run", "hash"}))))
	}
	if texts, err := LoadRemovals(dir, "run", "hash"); err != nil || len(texts) != 2 {
		t.Errorf("%q, %v", texts, err)
	}
	testkit.OK(os.WriteFile(RemovalFile(dir, 9), []byte("agent 9 has left"), 0o600))
	_, err := LoadRemovals(dir, "run", "hash")
	testkit.WantError(t, "no removal", err, dsbo.ErrConfig, RemovalFile(dir, 9)+": a removal must be a line")
}

// FuzzRemoval: a text is read, or refused with an error; what is read is written as it was.
func FuzzRemoval(f *testing.F) {
	f.Add("removal of agent 8, signed MEUCIQ==")
	f.Add("removal of agent 08, signed MEUCIQ==")
	f.Fuzz(func(t *testing.T, text string) {
		r, _, err := parseRemoval(text)
		if err == nil && !strings.HasPrefix(text, r.unsignedText()) {
			t.Errorf("%q was read as %+v", text, r)
		}
	})
}
