package pki

import (
	"bytes"
	"crypto/x509"
	"encoding/base64"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"

	"dsbo"
	"dsbo/internal/guard"
)

// A Removal takes an agent out of a run for good: the authority has signed its number, and of which
// run that is. The others then go on without it, and no longer wait for it.
type Removal struct {
	Agent     int
	Run, Hash string // the run's name, and the hash of its settings
}

// MaxRemoval bounds the text of a removal, in bytes.
const MaxRemoval = 1024

// Remove returns the text of a removal, signed by the authority. It has one line, of printable
// characters. Errors match dsbo.ErrConfig.
func (a *Authority) Remove(r Removal) (string, error) {
	signature, err := sign(a.pair, r.message())
	if err != nil {
		return "", err
	}
	text := r.unsignedText() + base64.StdEncoding.EncodeToString(signature)
	if _, _, err := parseRemoval(text); err != nil { // such as of agent 10000
		return "", dsbo.ConfigErrorf("%w", err)
	}
	return text, nil
}

// unsignedText is the text without its signature.
func (r Removal) unsignedText() string { return fmt.Sprintf("removal of agent %d, signed ", r.Agent) }

// message is what the authority signs.
func (r Removal) message() []byte {
	return fmt.Appendf(nil, "dsbo %sfor run %q with settings %q\n", r.unsignedText(), r.Run, r.Hash)
}

var removal = regexp.MustCompile(`^removal of agent (0|[1-9]\d{0,3}), signed ([A-Za-z0-9+/=]+)$`)

// parseRemoval reads the text of a removal, without its run.
func parseRemoval(text string) (r Removal, signature []byte, err error) {
	parts := removal.FindStringSubmatch(text)
	if parts == nil || len(text) > MaxRemoval {
		return r, nil, fmt.Errorf(`a removal must be a line such as "removal of agent 3, signed ..." of at most %d `+
			`bytes; it is %.60q`, MaxRemoval, text)
	}
	r.Agent, _ = strconv.Atoi(parts[1]) // at most four digits
	if signature, err = base64.StdEncoding.Strict().DecodeString(parts[2]); err != nil {
		return r, nil, fmt.Errorf("the signature of a removal: %w", err)
	}
	return r, signature, nil
}

// Removal reads the text of a removal, which one of the authorities must have signed, from a run
// with settings of a hash.
func (t *Trust) Removal(text, run, hash string) (Removal, error) {
	r, signature, err := parseRemoval(text)
	if err != nil {
		return r, err
	}
	if r.Run, r.Hash = run, hash; !t.hasSigned(r.message(), signature) {
		return r, fmt.Errorf("the removal of agent %d must be signed by an authority of ca.pem, for run %q and its "+
			"cluster file (SHA-256 %.8s); it is not", r.Agent, run, hash)
	}
	return r, nil
}

// hasSigned reports whether one of the authorities has signed a message.
func (t *Trust) hasSigned(message, signature []byte) bool {
	return slices.ContainsFunc(t.authorities, func(c *x509.Certificate) bool {
		return guard.CheckSignature(c, message, signature) == nil
	})
}

// RemovalFile returns the path of an agent's removal in a folder.
func RemovalFile(folder string, agent int) string {
	return filepath.Join(folder, Name(agent)+".removal")
}

// SaveRemoval writes a removal into a folder, where it must not exist.
func SaveRemoval(folder string, agent int, text string) error {
	return savePEM(RemovalFile(folder, agent), append([]byte(text), '\n'))
}

// LoadRemovals returns the texts of all removals in a folder, and checks each as [Trust.Removal]
// does. Errors match dsbo.ErrConfig and name the file.
func LoadRemovals(folder, run, hash string) (texts []string, err error) {
	paths, err := filepath.Glob(filepath.Join(folder, namePrefix+"*.removal"))
	if err != nil || len(paths) == 0 {
		return nil, err
	}
	trust, err := LoadTrust(folder)
	if err != nil {
		return nil, err
	}
	for _, path := range paths {
		data, err := os.ReadFile(path)
		text := string(bytes.TrimSuffix(data, []byte("\n")))
		if err == nil {
			_, err = trust.Removal(text, run, hash)
		}
		if err != nil {
			return nil, dsbo.ConfigErrorf("%s: %w", path, err)
		}
		texts = append(texts, text)
	}
	return texts, nil
}
