package pki

import (
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"dsbo"
	"dsbo/internal/testkit"
)

// TestAdmission: an admission is good for the agent, the run and the settings that it was made for,
// by an authority that is known; of all else the error says what must hold.
func TestAdmission(t *testing.T) {
	now := time.Now()
	a, other := testkit.Get(NewAuthority("one", now, now.Add(time.Hour))),
		testkit.Get(NewAuthority("other", now, now.Add(time.Hour)))
	m := Admission{Agent: 8, Neighbours: []int{0, 3}}
	text := testkit.Get(a.Admit(m, "run", "hash"))
	foreign := testkit.Get(other.Admit(m, "run", "hash"))
	for _, c := range []struct{ name, text, run, hash, want string }{
		{"good", text, "run", "hash", ""},
		{"another run", text, "run-2", "hash", "must be signed by an authority of ca.pem"},
		{"other settings", text, "run", "hush", "must be signed"},
		{"another authority", foreign, "run", "hash", "must be signed"},
		{"another agent", strings.Replace(text, "agent 8", "agent 9", 1), "run", "hash", "must be signed"},
		{"other neighbours", strings.Replace(text, "0,3", "0,4", 1), "run", "hash", "must be signed"},
		{"neighbours after it", strings.Replace(text, "0,3", "0,9", 1), "run", "hash", "agents before it"},
		{"unordered", strings.Replace(text, "0,3", "3,0", 1), "run", "hash", "ascending"},
		{"leading zero", strings.Replace(text, "agent 8", "agent 08", 1), "run", "hash", "leading zeros"},
		{"cut short", text[:len(text)-1], "run", "hash", "base64"},
		{"no admission", "hello", "run", "hash", "an admission must be a line"},
		{"two lines", text + "\n", "run", "hash", "an admission must be a line"},
	} {
		got, err := a.Trust().Admission(c.text, c.run, c.hash)
		testkit.WantError(t, c.name, err, nil, c.want)
		if err == nil && (got.Agent != 8 || len(got.Neighbours) != 2) {
			t.Errorf("%s: %+v", c.name, got)
		}
	}
	for _, wrong := range []Admission{{Agent: 8}, {Agent: 1, Neighbours: []int{2}},
		{Agent: 900, Neighbours: manyNumbers(100)}} {
		if _, err := a.Admit(wrong, "run", "hash"); !errors.Is(err, dsbo.ErrConfig) {
			t.Errorf("%+v is admitted: %v", wrong, err)
		}
	}
}

func manyNumbers(n int) (all []int) {
	for i := range n {
		all = append(all, i)
	}
	return all
}

// TestLoadAdmission: an agent's file is checked as it is read; an admission of another agent, or
// none, is an error that names the file.
func TestLoadAdmission(t *testing.T) {
	dir, now := t.TempDir(), time.Now()
	a := testkit.Get(NewAuthority("one", now, now.Add(time.Hour)))
	testkit.OK(a.Save(dir))
	testkit.OK(SaveAdmission(dir, 8, testkit.Get(a.Admit(Admission{Agent: 8, Neighbours: []int{2}}, "run", "hash"))))
	if _, m, err := LoadAdmission(dir, 8, "run", "hash"); err != nil || m.Neighbours[0] != 2 {
		t.Errorf("%+v, %v", m, err)
	}
	testkit.OK(os.Rename(AdmissionFile(dir, 8), AdmissionFile(dir, 9)))
	for agent, want := range map[int]string{8: "pki admission makes it",
		9: "must be that of agent 9; it is that of agent 8"} {
		_, _, err := LoadAdmission(dir, agent, "run", "hash")
		testkit.WantError(t, agent, err, dsbo.ErrConfig, want)
	}
}

// FuzzAdmission: a text is read, or refused with an error; what is read is written as it was.
func FuzzAdmission(f *testing.F) {
	f.Add("admission of agent 8 beside 0,3, signed MEUCIQ==")
	f.Add("admission of agent 08 beside 0,3, signed MEUCIQ==")
	f.Fuzz(func(t *testing.T, text string) {
		m, _, err := parseAdmission(text)
		if err == nil && !strings.HasPrefix(text, m.unsignedText()) {
			t.Errorf("%q is read as %+v", text, m)
		}
	})
}
