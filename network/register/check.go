package register

import (
	"fmt"
	"slices"
	"time"

	"dsbo/internal/wording"
	"dsbo/network/membership"
)

// Bounds on what others send.
const (
	maxPoints = 64   // of an answer
	maxKept   = 1024 // results that are kept, of an answer
	maxText   = 256  // bytes of a name or a digest
	keyLength = 32   // bytes of a public key of masks
	// maxCertificate and maxSignature are in bytes.
	maxCertificate, maxSignature = 16384, 1024
)

// check returns what is wrong with an answer by itself, so that it can be used once its
// signature is verified.
func (r Rule) check(a Answer) error {
	for _, c := range []struct {
		holds bool
		must  string
	}{
		{isAgent(a.Agent), "the agent must be 0 to 1023"},
		{a.Number <= maxNumber && a.Last < a.Number, "the number must be above the last one, and at most 2⁶²"},
		{len(a.Log) == 0 || a.Log[0].Session > 0 && a.Log[len(a.Log)-1].Session <= a.Last,
			"lines of the log must be of sessions up to the last one"},
		{len(a.Points) <= maxPoints && !slices.ContainsFunc(a.Points, func(p Point) bool {
			return p.Epoch > a.Last || p.Iteration < 0 || p.Iteration > Result || !isShort(p.Digest)
		}), "points must be at most 64, of epochs up to the last session"},
		{isSet(a.Links) && isSet(a.Slow), "neighbours must be ascending numbers of agents"},
		{len(a.Key) == keyLength || len(a.Key) == 0 && !r.Masked, "the key must have 32 bytes"},
		{isShort(a.Data) && areShort(a.Tags), "tags of data must be short texts"},
		{len(a.Kept) <= maxKept && areShort(a.Kept), "results that are kept must be at most 1024, with short names"},
		{a.Time.Location() == time.UTC && a.Time.Year() >= 1970 && a.Time.Year() <= 9999, "the time must be in UTC"},
		{len(a.Admission) <= membership.MaxWarrant && wording.Printable(a.Admission),
			"the admission must be a short text"},
		{areRemovals(a.Removals), "removals must be short texts, by agent"},
		{len(a.Certificate) <= maxCertificate && len(a.Signature) <= maxSignature, "the signature must be short"},
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

// isAgent reports whether a number may be an agent's.
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

// areShort reports whether that is so of all keys and values, and of agents where these are keys.
func areShort[K int | string](texts map[K]string) bool {
	for key, text := range texts {
		switch k := any(key).(type) {
		case int:
			if !isAgent(k) {
				return false
			}
		case string:
			if !isShort(k) {
				return false
			}
		}
		if !isShort(text) {
			return false
		}
	}
	return true
}

// areRemovals reports whether texts may be removals, by agent.
func areRemovals(texts map[int]string) bool {
	for agent, text := range texts {
		if !isAgent(agent) || len(text) > membership.MaxWarrant || !wording.Printable(text) {
			return false
		}
	}
	return true
}
