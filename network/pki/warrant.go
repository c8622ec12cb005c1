package pki

import (
	"bytes"
	"crypto/x509"
	"encoding/base64"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"dsbo"
	"dsbo/network/membership"
)

// Kinds of warrants, which are lines that an authority has signed.
const (
	admissionKind = "admission"
	removalKind   = "removal"
)

// Admit returns the text of an admission to a run with settings of a hash, signed by the authority:
// a line of printable characters. Errors match dsbo.ErrConfig.
func (a *Authority) Admit(m membership.Admission, run, hash string) (string, error) {
	beside := strings.Trim(strings.ReplaceAll(fmt.Sprint(m.Neighbours), " ", ","), "[]")
	return a.warrant(fmt.Sprintf("%s of agent %d beside %s, signed ", admissionKind, m.Agent, beside), run, hash)
}

// Remove returns the text of a removal, in Admit's form: it takes an agent out of a run for good.
// The remaining agents then continue and no longer wait for it.
func (a *Authority) Remove(agent int, run, hash string) (string, error) {
	return a.warrant(fmt.Sprintf("%s of agent %d, signed ", removalKind, agent), run, hash)
}

// warrant returns a line with the authority's signature of it, for a run with settings of a hash. A
// line that parseWarrant would refuse is an error.
func (a *Authority) warrant(line, run, hash string) (string, error) {
	signature, err := sign(a.pair, warrantMessage(line, run, hash))
	if err != nil {
		return "", err
	}
	kind, _, _ := strings.Cut(line, " ")
	text := line + base64.StdEncoding.EncodeToString(signature)
	if _, err := parseWarrant(kind, text); err != nil { // such as of agent 10000: nobody could read it
		return "", dsbo.ConfigErrorf("%w", err)
	}
	return text, nil
}

// warrantMessage is what the authority signs of a line.
func warrantMessage(line, run, hash string) []byte {
	return fmt.Appendf(nil, "dsbo %sfor run %q with settings %q\n", line, run, hash)
}

// A signedLine is a warrant whose signature is checked by nobody yet.
type signedLine struct {
	membership.Admission
	line      string // what is signed
	signature []byte
}

var warrant = func() *regexp.Regexp {
	const number = `(?:0|[1-9]\d{0,3})`
	return regexp.MustCompile(`^((admission|removal) of agent (` + number + `)(?: beside (` + number + `(?:,` +
		number + `)*))?, signed )([A-Za-z0-9+/=]+)$`)
}()

// parseWarrant reads the text of a warrant of a kind, without checking its signature.
func parseWarrant(kind, text string) (w signedLine, err error) {
	parts := warrant.FindStringSubmatch(text) // all, line, kind, agent, neighbours, signature
	if parts == nil || parts[2] != kind || len(text) > membership.MaxWarrant ||
		(parts[4] != "") != (kind == admissionKind) { // only an admission has neighbours
		return w, fmt.Errorf("the %s must be a line such as %q, with %q after the number of who is admitted, of at "+
			"most %d bytes; it is %.60q", kind, kind+" of agent 8, signed ...", "beside 0,3",
			membership.MaxWarrant, text)
	}
	w.line = parts[1]
	w.Agent, _ = strconv.Atoi(parts[3]) // at most four digits
	for digits := range strings.SplitSeq(parts[4], ",") {
		if j, err := strconv.Atoi(digits); err == nil { // there are none in a removal
			w.Neighbours = append(w.Neighbours, j)
		}
	}
	for k, j := range w.Neighbours {
		if j >= w.Agent || k > 0 && j <= w.Neighbours[k-1] {
			return w, fmt.Errorf("the neighbours of agent %d must be ascending numbers of agents before it; they "+
				"are %v", w.Agent, w.Neighbours)
		}
	}
	if w.signature, err = base64.StdEncoding.Strict().DecodeString(parts[5]); err != nil {
		return w, fmt.Errorf("the signature of the %s: %w", kind, err)
	}
	return w, nil
}

// Admission reads the text of an admission, which one of the authorities must have signed, for a
// run with settings of a hash.
func (t *Trust) Admission(text, run, hash string) (membership.Admission, error) {
	return t.open(admissionKind, text, run, hash)
}

// Removal reads the text of a removal, as Admission does, and returns who is removed.
func (t *Trust) Removal(text, run, hash string) (agent int, err error) {
	m, err := t.open(removalKind, text, run, hash)
	return m.Agent, err
}

// open reads a warrant of a kind that one of the authorities must have signed, for a run with
// settings of a hash.
func (t *Trust) open(kind, text, run, hash string) (membership.Admission, error) {
	w, err := parseWarrant(kind, text)
	if err != nil {
		return w.Admission, err
	}
	message := warrantMessage(w.line, run, hash)
	if !slices.ContainsFunc(t.authorities, func(c *x509.Certificate) bool {
		return checkSignature(c, message, w.signature) == nil
	}) {
		return w.Admission, fmt.Errorf("the %s of agent %d must be signed by an authority of ca.pem, for run %q and "+
			"its cluster file (SHA-256 %.8s); it is not", kind, w.Agent, run, hash)
	}
	return w.Admission, nil
}

func warrantFile(folder string, agent int, kind string) string {
	return filepath.Join(folder, Name(agent)+"."+kind)
}

// SaveWarrant writes an admission or a removal into a folder, where it must not exist, and returns
// its path.
func SaveWarrant(folder, text string) (path string, err error) {
	kind, _, _ := strings.Cut(text, " ")
	w, err := parseWarrant(kind, text)
	if err != nil {
		return "", err
	}
	path = warrantFile(folder, w.Agent, kind)
	return path, savePEM(path, append([]byte(text), '\n'))
}

// LoadAdmission reads an agent's admission, and checks it as [Trust.Admission] does. Errors match
// dsbo.ErrConfig and name the file.
func LoadAdmission(folder string, agent int, run, hash string) (text string, err error) {
	path := warrantFile(folder, agent, admissionKind)
	text, m, err := loadWarrant(path, admissionKind, run, hash)
	if errors.Is(err, fs.ErrNotExist) {
		return "", dsbo.ConfigErrorf(
			"agent %d is not in the cluster file, and must have an admission: %s is missing (pki admission makes it)",
			agent, path)
	}
	if err == nil && m.Agent != agent {
		err = dsbo.ConfigErrorf("%s: it must be that of agent %d; it is that of agent %d", path, agent, m.Agent)
	}
	return text, err
}

// LoadRemovals returns the texts of all removals in a folder, and checks each as [Trust.Removal]
// does. Errors match dsbo.ErrConfig and name the file.
func LoadRemovals(folder, run, hash string) (texts []string, err error) {
	paths, err := filepath.Glob(filepath.Join(folder, namePrefix+"*."+removalKind))
	for _, path := range paths {
		text, _, err := loadWarrant(path, removalKind, run, hash)
		if err != nil {
			return nil, err
		}
		texts = append(texts, text)
	}
	return texts, err
}

// loadWarrant reads a warrant beside the ca.pem whose authorities must have signed it.
func loadWarrant(path, kind, run, hash string) (text string, m membership.Admission, err error) {
	trust, err := LoadTrust(filepath.Dir(path))
	if err != nil {
		return "", m, err
	}
	m, err = load(path, func(data []byte) (membership.Admission, error) {
		text = string(bytes.TrimSuffix(data, []byte("\n")))
		return trust.open(kind, text, run, hash)
	})
	return text, m, err
}
