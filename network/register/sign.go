package register

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"dsbo/internal/wording"
	"dsbo/network/membership"
)

// signedText is what an agent signs for its answer.
func (a Answer) signedText(run, hash string) []byte {
	a.Certificate, a.Signature = nil, nil
	text, err := json.Marshal(a) // in which maps are sorted
	if err != nil {
		panic(err) // what is checked has numbers and texts alone
	}
	return append(fmt.Appendf(nil, "dsbo answer in run %q with settings %q: ", run, hash), text...)
}

// A signer has the certificate of an agent. An identity of package pki is one.
type signer interface {
	Sign(message []byte) (signature []byte, err error)
	Certificate() []byte // in DER, with intermediate ones
}

// Sign signs the answer to a proposal in a run.
func (a *Answer) Sign(run, hash string, id signer) (err error) {
	a.Signature, err = id.Sign(a.signedText(run, hash))
	a.Certificate = id.Certificate()
	return err
}

// Verify returns an error unless an answer is within bounds, and its agent has signed it, as the
// authority has its admission and its removals. An agent that is not of the roster at the start
// must have an admission.
func (r Rule) Verify(a Answer, now time.Time) error {
	if err := r.check(a); err != nil {
		return err
	}
	if r.Authority == nil {
		if len(a.Certificate)+len(a.Signature)+len(a.Admission)+len(a.Removals) > 0 {
			return errors.New("an answer must have no signatures where there are no certificates; it has")
		}
		return nil
	}
	text := a.signedText(r.Run, r.Hash)
	if err := r.Authority.Verify(a.Agent, a.Certificate, text, a.Signature, now); err != nil {
		return fmt.Errorf("the answer of agent %d: %w", a.Agent, err)
	}
	if a.Agent >= r.Matrix.N() {
		if _, err := r.admission(a); err != nil {
			return err
		}
	}
	for agent, text := range a.Removals {
		removed, err := r.Authority.Removal(text, r.Run, r.Hash)
		if err == nil && removed != agent {
			err = fmt.Errorf("it is of agent %d", removed)
		}
		if err != nil {
			return fmt.Errorf("the removal of agent %d: %w", agent, err)
		}
	}
	return nil
}

// Admission returns the neighbours that an admission gives an agent, which this run can admit.
func (r Rule) Admission(agent int, text string) ([]int, error) {
	switch largest := membership.LargestRoster(r.Quorum); {
	case agent < r.Matrix.N():
		return nil, fmt.Errorf("agent %d is in the cluster file, and must have no admission", agent)
	case r.Quorum == 0:
		return nil, fmt.Errorf("agent %d cannot be admitted: there must be a quorum, which this run does not have",
			agent)
	case r.Authority == nil:
		return nil, fmt.Errorf(
			"agent %d cannot be admitted: there must be certificates, as the authority signs an admission", agent)
	case agent >= largest:
		return nil, fmt.Errorf("agent %d cannot be admitted: the quorum must be more than half of the roster, which "+
			"would have %d agents; it is %d", agent, agent+1, r.Quorum)
	}
	return r.admission(Answer{Agent: agent, Admission: text})
}

// admission returns the neighbours that the admission in an agent's answer has, signed for this run
// and of agents of the start, which have addresses. There is an authority.
func (r Rule) admission(a Answer) ([]int, error) {
	m, err := r.Authority.Admission(a.Admission, r.Run, r.Hash)
	if err == nil && m.Agent != a.Agent {
		err = fmt.Errorf("it is of agent %d", m.Agent)
	}
	for _, j := range m.Neighbours {
		if err == nil && j >= r.Matrix.N() {
			err = fmt.Errorf("neighbours must be agents of the cluster file, 0 to %d; one is %d", r.Matrix.N()-1, j)
		}
	}
	if err != nil {
		return nil, fmt.Errorf("the admission of agent %d: %w", a.Agent, err)
	}
	return m.Neighbours, nil
}

// tagLength is the length of the tag of data in bytes.
const tagLength = 16

// DataTag returns an agent's tag of its data: the same for the same data, and otherwise without
// information, since nobody else has the key. Without a key, anyone who guesses the data can verify
// the guess.
func DataTag(key []byte, run string, data []byte) string {
	mac := hmac.New(sha256.New, key)
	fmt.Fprintf(mac, "data of run %q: ", run)
	mac.Write(data)
	return hex.EncodeToString(mac.Sum(nil)[:tagLength])
}

// Bounds on what others send.
const (
	maxPoints = 64   // of an answer
	maxKept   = 1024 // results that are kept, of an answer
	maxText   = 256  // bytes of a name or a digest
	keyLength = 32   // bytes of a public key of masks
)

// check returns what is wrong with an answer by itself, so that it can be used once its
// signature and its warrants are verified.
func (r Rule) check(a Answer) error {
	for _, c := range []struct { // the first that does not hold is the error
		holds bool
		must  string
	}{
		{isAgent(a.Agent), "the agent must be 0 to 1023"},
		{a.Number <= maxNumber && a.Last < a.Number, "the number must be above the last one, and at most 2⁶²"},
		{len(a.Log) == 0 || a.Log[0].Session > 0 && a.Log[len(a.Log)-1].Session <= a.Last, // they ascend
			"lines of the log must be of sessions up to the last one"},
		{len(a.Points) <= maxPoints && !slices.ContainsFunc(a.Points, func(p Point) bool {
			return p.Epoch > a.Last || p.Iteration < 0 || p.Iteration > Result || !isShort(p.Digest)
		}), "points must be at most 64, of epochs up to the last session"},
		{isSet(a.Links) && isSet(a.Slow), "neighbours must be ascending numbers of agents"},
		{len(a.Key) == keyLength || len(a.Key) == 0 && !r.Masked, "the key must have 32 bytes"},
		{isShort(a.Data) && areAll(a.Tags, func(i int, tag string) bool { return isAgent(i) && isShort(tag) }),
			"tags of data must be short texts"},
		{len(a.Kept) <= maxKept &&
			areAll(a.Kept, func(name, digest string) bool { return isShort(name) && isShort(digest) }),
			"results that are kept must be at most 1024, with short names"},
		{a.Time.Location() == time.UTC && a.Time.Year() >= 1970 && a.Time.Year() <= 9999, "the time must be in UTC"},
	} {
		if !c.holds {
			return fmt.Errorf("an answer of agent %d: %s", a.Agent, c.must)
		}
	}
	if err := a.Log.Validate(r.Matrix.N(), r.Quorum); err != nil {
		return fmt.Errorf("an answer of agent %d: %w", a.Agent, err)
	}
	return nil
}

func isAgent(i int) bool { return i >= 0 && i < membership.MaxAgents }

// isSet reports whether numbers are ascending numbers of agents.
func isSet(numbers []int) bool {
	for k, i := range numbers {
		if !isAgent(i) || k > 0 && i <= numbers[k-1] {
			return false
		}
	}
	return true
}

// isShort reports whether a text is short, and can be shown.
func isShort(text string) bool { return len(text) <= maxText && wording.Printable(text) }

// areAll reports whether each key and text of a map are what they may be.
func areAll[K comparable](texts map[K]string, are func(key K, text string) bool) bool {
	for key, text := range texts {
		if !are(key, text) {
			return false
		}
	}
	return true
}
