package relay

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"dsbo/network/pki"
)

const (
	magic       = "dsborly1"
	nonceLength = 32
	maxRequest  = 16 << 10
	maxLine     = 256
	joinedLine  = "ok"
	// greetingTime is within which both sides have to say what precedes an answer.
	greetingTime = 10 * time.Second
)

// A request is what an agent wants of the relay.
type request struct {
	Run         string `json:"run"`
	Agent       int    `json:"agent"`
	To          *int   `json:"to,omitempty"` // the agent to talk to; nil: whoever wants to talk to this one
	Certificate []byte `json:"certificate"`
	Signature   []byte `json:"signature"`
}

// text is what an agent signs.
func (r *request) text(nonce []byte) []byte {
	wish := "waits"
	if r.To != nil {
		wish = fmt.Sprintf("calls agent %d", *r.To)
	}
	return fmt.Appendf(nil, "dsbo relay: agent %d of run %q %s, %x", r.Agent, r.Run, wish, nonce)
}

// sign completes a request.
func (r *request) sign(id *pki.Identity, nonce []byte) (err error) {
	r.Certificate = id.Certificate()
	r.Signature, err = id.Sign(r.text(nonce))
	return err
}

// check returns an error unless the agent has signed the request for a connection with this nonce.
func (r *request) check(trust *pki.Trust, nonce []byte, now time.Time) error {
	if r.Run == "" || len(r.Run) > maxLine/2 || r.Agent < 0 || r.To != nil && *r.To < 0 {
		return errors.New("a request must name a run and agents from 0 on")
	}
	if _, err := trust.Verify(r.Agent, r.Certificate, r.text(nonce), r.Signature, now); err != nil {
		return fmt.Errorf("agent %d: %w", r.Agent, err)
	}
	return nil
}

func (r *request) write(w io.Writer) error {
	text, err := json.Marshal(r)
	if err != nil {
		return err
	}
	_, err = w.Write(append(binary.BigEndian.AppendUint32(nil, uint32(len(text))), text...))
	return err
}

func readRequest(from io.Reader) (*request, error) {
	var size [4]byte
	if _, err := io.ReadFull(from, size[:]); err != nil {
		return nil, err
	}
	n := binary.BigEndian.Uint32(size[:])
	if n > maxRequest {
		return nil, fmt.Errorf("a request must have at most %d bytes; it has %d", maxRequest, n)
	}
	text := make([]byte, n)
	if _, err := io.ReadFull(from, text); err != nil {
		return nil, err
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	r := &request{}
	if err := d.Decode(r); err != nil {
		return nil, fmt.Errorf("a request must be a JSON object: %w", err)
	}
	return r, nil
}

// readNonce reads the relay's greeting.
func readNonce(from io.Reader) ([]byte, error) {
	b := make([]byte, len(magic)+nonceLength)
	if _, err := io.ReadFull(from, b); err != nil {
		return nil, err
	}
	nonce, ok := bytes.CutPrefix(b, []byte(magic))
	if !ok {
		return nil, fmt.Errorf("a relay must say %q first; it says %q", magic, b[:len(magic)])
	}
	return nonce, nil
}

// readLine reads a line and not a byte after it, which is the other agent's.
func readLine(from io.Reader) (string, error) {
	var line []byte
	var b [1]byte
	for len(line) < maxLine {
		if _, err := io.ReadFull(from, b[:]); err != nil {
			return "", err
		}
		if b[0] == '\n' {
			return string(line), nil
		}
		line = append(line, b[0])
	}
	return "", fmt.Errorf("an answer of the relay must have less than %d bytes", maxLine)
}
