package algo

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"dsbo"
)

// Terms says which truncation of the Neumann series H⁻¹ ≈ (1/l) Σ_{m<N} (I − H/l)^m a method uses.
// Papers draw N' uniformly from 0..N−1 and use the single term (N/l)(I − H/l)^N': only its mean
// over the draw, the series itself, is a Hessian inverse.
//
// The zero Terms is the series ("sum"). As text and in JSON: "sum"; "last" for N' = N−1 always; a
// number for that N' always; a list of draws, one an iteration, used again from its start when it ends.
type Terms struct {
	last  bool
	draws []int
}

// Draws is the given N' of each iteration: the literal method, made repeatable. No draws is the series.
func Draws(n ...int) Terms { return Terms{draws: slices.Clone(n)} }

// LastTerm is N' = N−1 in each iteration. It is no Hessian inverse; it is there to show that.
func LastTerm() Terms { return Terms{last: true} }

// IsZero reports whether t is the series.
func (t Terms) IsZero() bool { return !t.last && len(t.draws) == 0 }

// Equal reports whether t and r are the same.
func (t Terms) Equal(r Terms) bool { return t.last == r.last && slices.Equal(t.draws, r.draws) }

// single returns N' of iteration k, or false for the series.
func (t Terms) single(k, N int) (int, bool) {
	switch {
	case t.last:
		return N - 1, true
	case len(t.draws) > 0:
		return t.draws[k%len(t.draws)], true
	}
	return 0, false
}

// products returns the number of Hessian-vector products in iteration k.
func (t Terms) products(k, N int) int {
	if n, ok := t.single(k, N); ok {
		return n
	}
	return N - 1
}

// String writes what ParseTerms reads.
func (t Terms) String() string {
	switch {
	case t.last:
		return "last"
	case len(t.draws) == 0:
		return "sum"
	}
	s := make([]string, len(t.draws))
	for i, n := range t.draws {
		s[i] = strconv.Itoa(n)
	}
	return strings.Join(s, ",")
}

// ParseTerms reads "sum", "last", a number, or numbers with commas between; empty is the series.
func ParseTerms(text string) (Terms, error) {
	switch t := strings.TrimSpace(text); t {
	case "", "sum":
		return Terms{}, nil
	case "last":
		return LastTerm(), nil
	default:
		var d []int
		for part := range strings.SplitSeq(t, ",") {
			n, err := strconv.Atoi(strings.TrimSpace(part))
			if err != nil {
				return Terms{}, fmt.Errorf("nprime %q: %q is no whole number; right are sum, last, 3 or 2,0,1: %w", text, strings.TrimSpace(part), dsbo.ErrConfig)
			}
			d = append(d, n)
		}
		return Terms{draws: d}, nil
	}
}

// MarshalText and UnmarshalText let Terms be a flag (flag.TextVar).
func (t Terms) MarshalText() ([]byte, error) { return []byte(t.String()), nil }

// UnmarshalText reads what ParseTerms reads.
func (t *Terms) UnmarshalText(text []byte) error {
	r, err := ParseTerms(string(text))
	if err == nil {
		*t = r
	}
	return err
}

// MarshalJSON writes "sum", "last" or the list of draws.
func (t Terms) MarshalJSON() ([]byte, error) {
	if len(t.draws) > 0 {
		return json.Marshal(t.draws)
	}
	return json.Marshal(t.String())
}

// UnmarshalJSON reads a string as ParseTerms does, a number, or a list of numbers.
func (t *Terms) UnmarshalJSON(data []byte) error {
	data = bytes.TrimSpace(data)
	var text string
	if json.Unmarshal(data, &text) == nil { // null too: it leaves text empty
		return t.UnmarshalText([]byte(text))
	}
	if text = string(data); strings.HasPrefix(text, "[") {
		var d []int
		if err := json.Unmarshal(data, &d); err != nil {
			return fmt.Errorf("nprime %s: a list must hold whole numbers: %w", data, dsbo.ErrConfig)
		}
		*t = Terms{draws: d}
		return nil
	}
	return t.UnmarshalText([]byte(text))
}
