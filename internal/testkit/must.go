// OK, Get and Catch are for straight-line code of many steps, where the first failure ends them
// all: measurements and conformance suites. A step's error becomes a panic that [Catch] turns back
// into the error, so that no step needs its own check. No exported function may let such a panic
// out.

package testkit

import (
	"errors"
	"flag"
	"slices"
	"strings"
	"testing"
)

// failure is the value with which [OK] panics.
type failure struct{ error }

// OK panics if err is not nil. It is called inside [Catch], in the same goroutine, alone.
func OK(err error) {
	if err != nil {
		panic(failure{err})
	}
}

// Get returns v. It panics as [OK] does.
func Get[T any](v T, err error) T {
	OK(err)
	return v
}

// Get2 returns a and b. It panics as [OK] does.
func Get2[A, B any](a A, b B, err error) (A, B) {
	OK(err)
	return a, b
}

// Catch calls steps and returns the error that ended them, or nil. Other panics pass through.
func Catch(steps func()) (err error) {
	defer func() {
		switch r := recover().(type) {
		case nil:
		case failure:
			err = r.error
		default:
			panic(r)
		}
	}()
	steps()
	return nil
}

// WantError has a test fail unless err is one line that has a text in it, and further ones, and
// matches kind if that is not nil. "" for the text: there must be no error.
func WantError(t testing.TB, what any, err, kind error, text string, further ...string) {
	t.Helper()
	texts := append(further, text)
	lacks := func(part string) bool { return !strings.Contains(err.Error(), part) }
	if (err == nil) != (text == "") || err != nil && (kind != nil && !errors.Is(err, kind) ||
		slices.ContainsFunc(texts, lacks) || !lacks("\n")) {
		t.Errorf("%v: error %v; it must match %v and have in it %q", what, err, kind, texts)
	}
}

// Long skips a test in -short mode, with the reason.
func Long(t testing.TB, why string) {
	t.Helper()
	if testing.Short() {
		t.Skip(why)
	}
}

var whole = flag.Bool("dsbo.whole", false, "run tests at their whole length, as .ci/run does")

// Whole reports whether tests are to be as long as they can be.
func Whole() bool { return *whole }

// Longest skips a test unless tests are whole, with the reason.
func Longest(t testing.TB, why string) {
	t.Helper()
	if !*whole {
		t.Skip(why + "; .ci/run sets -dsbo.whole")
	}
}

// Sized returns what a test is to do in -short mode, as a rule, or where tests are whole.
func Sized[T any](short, usual, most T) T {
	switch {
	case *whole:
		return most
	case testing.Short():
		return short
	}
	return usual
}
