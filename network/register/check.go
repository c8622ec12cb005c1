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
