package algo

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"dsbo"
)

// A Schedule gives a number for each outer iteration k: a step size, as a constant or falling.
// The zero Schedule is unset and means the default of the field that holds it.
//
// As text and in JSON:
//
//	0.5              the constant
//	0.5/sqrt(k+1)    falling (also written 0.5/sqrt)
//	0.5/(k+1)        falling faster (also written 0.5/k)
//	0.5/sqrt(K)      constant in k, chosen by the length of the run (also 0.5/sqrtK); see For
//	0.1,0.05,0.02    a list, one number an iteration; the last one stays in force
type Schedule struct {
	form form
	c    float64
	list []float64
}

type form uint8

const (
	unset form = iota
	constant
	inverseRoot      // c/√(k+1)
	inverse          // c/(k+1)
	inverseRootOfRun // c/√K, K not yet known
	listed
)

// Constant is c in every iteration.
func Constant(c float64) Schedule { return Schedule{form: constant, c: c} }

// InverseRoot is c/√(k+1).
func InverseRoot(c float64) Schedule { return Schedule{form: inverseRoot, c: c} }

// Inverse is c/(k+1).
func Inverse(c float64) Schedule { return Schedule{form: inverse, c: c} }

// List is v[k], and the last number from there on. An empty list is unset.
func List(v ...float64) Schedule {
	if len(v) == 0 {
		return Schedule{}
	}
	return Schedule{form: listed, list: slices.Clone(v)}
}

// For returns the schedule for a run of K iterations: c/√K becomes a constant, others stay as they are.
func (s Schedule) For(K int) Schedule {
	if s.form == inverseRootOfRun && K > 0 {
		return Constant(s.c / math.Sqrt(float64(K)))
	}
	return s
}

// At returns the number for iteration k ≥ 0: 0 when unset, NaN for c/√K before For.
func (s Schedule) At(k int) float64 {
	switch s.form {
	case constant:
		return s.c
	case inverseRoot:
		return s.c / math.Sqrt(float64(k+1))
	case inverse:
		return s.c / float64(k+1)
	case listed:
		return s.list[min(k, len(s.list)-1)]
	case inverseRootOfRun:
		return math.NaN()
	}
	return 0
}

// IsZero reports whether s is unset.
func (s Schedule) IsZero() bool { return s.form == unset }

// Equal reports whether s and r are the same schedule.
func (s Schedule) Equal(r Schedule) bool {
	return s.form == r.form && s.c == r.c && slices.Equal(s.list, r.list)
}

// or returns s, or the constant d when s is unset.
func (s Schedule) or(d float64) Schedule {
	if s.IsZero() {
		return Constant(d)
	}
	return s
}

// worst returns the first number of the schedule that ok refuses; a falling one is largest at its start.
func (s Schedule) worst(ok func(v float64) bool) (v float64, bad bool) {
	if s.form != listed {
		v = s.At(0)
		return v, !ok(v)
	}
	for _, v := range s.list {
		if !ok(v) {
			return v, true
		}
	}
	return 0, false
}

// suffixes are the falling forms as String writes them, then what Parse reads too.
var suffixes = []struct {
	text string
	form form
}{
	{"/sqrt(k+1)", inverseRoot}, {"/(k+1)", inverse}, {"/sqrt(K)", inverseRootOfRun},
	{"/sqrt", inverseRoot}, {"/k", inverse}, {"/sqrtK", inverseRootOfRun},
}

// String writes the schedule as ParseSchedule reads it; an unset one is empty.
func (s Schedule) String() string {
	switch s.form {
	case unset:
		return ""
	case listed:
		t := make([]string, len(s.list))
		for i, v := range s.list {
			t[i] = number(v)
		}
		if len(t) == 1 {
			return t[0] + "," // a list of one is not a constant to Equal
		}
		return strings.Join(t, ",")
	}
	for _, f := range suffixes {
		if f.form == s.form {
			return number(s.c) + f.text
		}
	}
	return number(s.c)
}

func number(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }

// ParseSchedule reads the text form. An empty text is the unset schedule. Any finite number is
// read: what fits is the business of the method that uses it.
func ParseSchedule(text string) (Schedule, error) {
	t := strings.TrimSpace(text)
	if t == "" {
		return Schedule{}, nil
	}
	if strings.Contains(t, ",") {
		return parseList(text, strings.TrimSuffix(t, ","))
	}
	s := Schedule{form: constant}
	for _, f := range suffixes {
		if head, ok := strings.CutSuffix(t, f.text); ok {
			t, s.form = head, f.form
			break
		}
	}
	var err error
	s.c, err = parseNumber(text, t)
	if err != nil {
		return Schedule{}, err
	}
	return s, nil
}

func parseList(text, t string) (Schedule, error) {
	var v []float64
	for part := range strings.SplitSeq(t, ",") {
		x, err := parseNumber(text, part)
		if err != nil {
			return Schedule{}, err
		}
		v = append(v, x)
	}
	return List(v...), nil
}

func parseNumber(text, t string) (float64, error) {
	v, err := strconv.ParseFloat(strings.TrimSpace(t), 64)
	if err != nil || math.IsNaN(v) || math.IsInf(v, 0) {
		return 0, fmt.Errorf("schedule %q: %q is no finite number; right are 0.5, 0.5/sqrt(k+1), 0.5/(k+1), 0.5/sqrt(K) or 0.1,0.05: %w", text, strings.TrimSpace(t), dsbo.ErrConfig)
	}
	return v, nil
}

// MarshalText and UnmarshalText let a Schedule be a flag (flag.TextVar).
func (s Schedule) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText reads what ParseSchedule reads.
func (s *Schedule) UnmarshalText(text []byte) error {
	r, err := ParseSchedule(string(text))
	if err == nil {
		*s = r
	}
	return err
}

// MarshalJSON writes a number, a list of numbers, or the text form; null when unset.
func (s Schedule) MarshalJSON() ([]byte, error) {
	switch s.form {
	case unset:
		return []byte("null"), nil
	case constant:
		return json.Marshal(s.c)
	case listed:
		return json.Marshal(s.list)
	}
	return json.Marshal(s.String())
}

// UnmarshalJSON reads a number, a list of numbers, the text form as a string, or null.
func (s *Schedule) UnmarshalJSON(data []byte) error {
	data = bytes.TrimSpace(data)
	if len(data) > 0 {
		switch data[0] {
		case '"':
			var t string
			if err := json.Unmarshal(data, &t); err != nil {
				return err
			}
			return s.UnmarshalText([]byte(t))
		case '[':
			var v []float64
			if err := json.Unmarshal(data, &v); err != nil {
				return fmt.Errorf("schedule %s: a list must hold numbers: %w", data, dsbo.ErrConfig)
			}
			*s = List(v...)
			return nil
		case 'n':
			*s = Schedule{}
			return nil
		}
	}
	var v float64
	if err := json.Unmarshal(data, &v); err != nil {
		return fmt.Errorf("schedule %s: right are a number, a list of numbers or a text such as \"0.5/sqrt(k+1)\": %w", data, dsbo.ErrConfig)
	}
	*s = Constant(v)
	return nil
}
