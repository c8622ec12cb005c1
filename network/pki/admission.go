package pki

import (
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"

	"dsbo"
)

// An Admission lets an agent that the cluster file does not have into a run that goes on: the
// authority has signed its number, its neighbours, and of which run that is.
type Admission struct {
	Agent      int
	Neighbours []int // agents of the cluster file, ascending; the admitted one connects to them
}

// MaxAdmission bounds the text of an admission, in bytes: it fits a hello.
const MaxAdmission = 255

// Admit returns the text of an admission to a run with settings of a hash, signed by the authority.
// It has one line, of printable characters. Errors match dsbo.ErrConfig.
func (a *Authority) Admit(m Admission, run, hash string) (string, error) {
	if err := m.validate(); err != nil {
		return "", dsbo.ConfigErrorf("%w", err)
	}
	signature, err := sign(a.pair, m.message(run, hash))
	if err != nil {
		return "", err
	}
	text := m.unsignedText() + base64.StdEncoding.EncodeToString(signature)
	if len(text) > MaxAdmission {
		return "", dsbo.ConfigErrorf(
			"an admission must have at most %d bytes; with %d neighbours and a signature of %d bytes it has %d: "+
				"there must be fewer "+
				"neighbours, or the authority's key must be ECDSA or Ed25519", MaxAdmission, len(m.Neighbours),
			len(signature), len(text))
	}
	return text, nil
}

// validate returns what is wrong with the numbers.
func (m Admission) validate() error {
	if len(m.Neighbours) == 0 {
		return fmt.Errorf("agent %d must have a neighbour; it has none", m.Agent)
	}
	for k, j := range m.Neighbours {
		if j < 0 || j >= m.Agent || k > 0 && j <= m.Neighbours[k-1] {
			return fmt.Errorf("the neighbours of agent %d must be ascending numbers of agents before it; they are %v",
				m.Agent, m.Neighbours)
		}
	}
	return nil
}

// unsignedText is the text without its signature.
func (m Admission) unsignedText() string {
	neighbours := strings.Trim(strings.ReplaceAll(fmt.Sprint(m.Neighbours), " ", ","), "[]")
	return fmt.Sprintf("admission of agent %d beside %s, signed ", m.Agent, neighbours)
}

// message is what the authority signs.
func (m Admission) message(run, hash string) []byte {
	return fmt.Appendf(nil, "dsbo %sfor run %q with settings %q\n", m.unsignedText(), run, hash)
}

var admission = regexp.MustCompile(
	`^admission of agent (\d{1,4}) beside (\d{1,4}(?:,\d{1,4})*), signed ([A-Za-z0-9+/=]+)$`)

// parseAdmission reads the text of an admission.
func parseAdmission(text string) (m Admission, signature []byte, err error) {
	parts := admission.FindStringSubmatch(text)
	if parts == nil || len(text) > MaxAdmission {
		return m, nil, fmt.Errorf(
			`an admission must be a line such as "admission of agent 8 beside 0,3, signed ..." of at most %d `+
				`bytes; it is %.60q`, MaxAdmission, text)
	}
	m.Agent, _ = strconv.Atoi(parts[1]) // at most four digits
	for _, digits := range strings.Split(parts[2], ",") {
		j, _ := strconv.Atoi(digits)
		m.Neighbours = append(m.Neighbours, j)
	}
	if err := m.validate(); err != nil {
		return m, nil, fmt.Errorf("admission: %w", err)
	}
	if m.unsignedText() != text[:len(text)-len(parts[3])] {
		return m, nil, errors.New("the numbers of an admission must have no leading zeros")
	}
	signature, err = base64.StdEncoding.Strict().DecodeString(parts[3])
	if err != nil {
		return m, nil, fmt.Errorf("the signature of an admission: %w", err)
	}
	return m, signature, nil
}

// Admission reads the text of an admission, which one of the authorities must have signed, for a
// run with settings of a hash.
func (t *Trust) Admission(text, run, hash string) (Admission, error) {
	m, signature, err := parseAdmission(text)
	if err != nil {
		return m, err
	}
	if !t.hasSigned(m.message(run, hash), signature) {
		return m,
			fmt.Errorf(
				"the admission of agent %d must be signed by an authority of ca.pem, for run %q and its cluster file "+
					"(SHA-256 %.8s); it is not", m.Agent, run, hash)
	}
	return m, nil
}

// AdmissionFile returns the path of an agent's admission in a folder.
func AdmissionFile(folder string, agent int) string {
	return filepath.Join(folder, Name(agent)+".admission")
}

// SaveAdmission writes an admission into a folder, where it must not exist.
func SaveAdmission(folder string, agent int, text string) error {
	return savePEM(AdmissionFile(folder, agent), append([]byte(text), '\n'))
}

// LoadAdmission reads an agent's admission, and checks it as [Trust.Admission] does. Errors match
// dsbo.ErrConfig and name the file.
func LoadAdmission(folder string, agent int, run, hash string) (text string, m Admission, err error) {
	trust, err := LoadTrust(folder)
	if err != nil {
		return "", m, err
	}
	path := AdmissionFile(folder, agent)
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return "", m, dsbo.ConfigErrorf(
			"agent %d is not in the cluster file, and must have an admission: %s is missing (pki admission makes it)",
			agent, path)
	}
	if err == nil {
		text = string(bytes.TrimSuffix(data, []byte("\n")))
		m, err = trust.Admission(text, run, hash)
	}
	if err == nil && m.Agent != agent {
		err = fmt.Errorf("it must be that of agent %d; it is that of agent %d", agent, m.Agent)
	}
	if err != nil {
		return "", m, dsbo.ConfigErrorf("%s: %w", path, err)
	}
	return text, m, nil
}
