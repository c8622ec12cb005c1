package pki

import (
	"bytes"
	"testing"
	"time"

	"dsbo/internal/testkit"
)

// FuzzFiles: the content of certificate and key files is read, or refused with an error; what is
// read as a certificate is one.
func FuzzFiles(f *testing.F) {
	a := testkit.Get(NewAuthority("run", time.Unix(0, 0), time.Unix(1, 0)))
	f.Add(append([]byte("text before it\n"), certificatesPEM(a.all...)...))
	f.Add(
		[]byte(
			"-----BEGIN EC PARAMETERS-----\nBgA=\n-----END EC PARAMETERS-----\n-----BEGIN PRIVATE " +
				"KEY-----\nAAAA\n-----END PRIVATE KEY-----\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		if key, err := parseKey(text); err == nil && key.Public() == nil {
			t.Error("a key without a public one")
		}
		all, err := parseCertificates(text)
		if err != nil {
			return
		}
		if again := testkit.Get(parseCertificates(certificatesPEM(all...))); len(again) != len(all) ||
			!bytes.Equal(again[0].Raw, all[0].Raw) {
			t.Errorf("%d certificates were written as %d", len(all), len(again))
		}
	})
}
