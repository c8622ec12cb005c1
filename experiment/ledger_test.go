package experiment

import (
	"errors"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"dsbo"
	"dsbo/internal/testkit"
)

// draws returns the first numbers of the noise of a question.
func draws(t *testing.T, l *noiseLedger, of rowKind, question string) []int64 {
	t.Helper()
	r := testkit.Get(l.noise(of, []byte(question), 100))
	return []int64{discreteGaussian(r), discreteGaussian(r), discreteGaussian(r)}
}

// TestNoiseBelongsToItsQuestion: one question has one noise, also after the process has come back,
// and nothing else has it.
func TestNoiseBelongsToItsQuestion(t *testing.T) {
	path := filepath.Join(t.TempDir(), "noise")
	l := testkit.Get(openNoiseLedger(path))
	first := draws(t, l, trainingRows, "a")
	others := [][]int64{draws(t, l, trainingRows, "b"), draws(t, l, validationRows, "a"),
		draws(t, testkit.Get(openNoiseLedger(path+"2")), trainingRows, "a")} // the last is another agent's
	for _, other := range others {
		if slices.Equal(first, other) {
			t.Error("two questions have one noise")
		}
	}
	testkit.OK(l.file.Close())
	back := testkit.Get(openNoiseLedger(path))
	if again := draws(t, back, trainingRows, "a"); !slices.Equal(first, again) {
		t.Errorf("the noise of one question is %v and then %v", first, again)
	}
	if back.counts[trainingRows] != 2 || back.counts[validationRows] != 1 {
		t.Errorf("%d and %d answers are counted, want 2 and 1", back.counts[trainingRows], back.counts[validationRows])
	}
}

func TestAnswersBeyondTheMostAreRefused(t *testing.T) {
	path := filepath.Join(t.TempDir(), "noise")
	ask := func(question string) error {
		l := testkit.Get(openNoiseLedger(path)) // the count is in the file
		defer l.file.Close()
		_, err := l.noise(validationRows, []byte(question), 2)
		return err
	}
	for _, question := range []string{"a", "b", "a"} {
		testkit.OK(ask(question))
	}
	if err := ask("c"); !errors.Is(err, dsbo.ErrConfig) {
		t.Errorf("third answer of two: error %v", err)
	}
}

// TestLedgerAfterAKill: a secret and a name that are not whole belong to no answer.
func TestLedgerAfterAKill(t *testing.T) {
	path := filepath.Join(t.TempDir(), "noise")
	testkit.OK(os.WriteFile(path, make([]byte, secretLen-1), 0o600))
	l := testkit.Get(openNoiseLedger(path))
	if l.secret == [secretLen]byte{} {
		t.Error("the secret must be a new one")
	}
	first := draws(t, l, trainingRows, "a")
	testkit.OK(l.file.Close())
	whole := testkit.Get(os.ReadFile(path))
	testkit.OK(os.WriteFile(path, append(whole, 1, 2, 3), 0o600))
	l = testkit.Get(openNoiseLedger(path))
	if again := draws(t, l, trainingRows, "a"); !slices.Equal(first, again) || l.counts[trainingRows] != 1 {
		t.Errorf("%d answers, noise %v, want 1 and %v", l.counts[trainingRows], again, first)
	}
	testkit.OK(l.file.Close())
	if now := testkit.Get(os.ReadFile(path)); !slices.Equal(now, whole) {
		t.Errorf("the file has %d bytes, want %d", len(now), len(whole))
	}
}

func TestTheSecretIsTheOwnersAlone(t *testing.T) {
	path := filepath.Join(t.TempDir(), "noise")
	testkit.OK(testkit.Get(openNoiseLedger(path)).file.Close())
	if mode := testkit.Get(os.Stat(path)).Mode().Perm(); mode != 0o600 {
		t.Errorf("the file's mode is %o, want 600", mode)
	}
}

func FuzzOpenLedger(f *testing.F) {
	f.Add([]byte{})
	f.Add(make([]byte, secretLen+nameLen+3))
	f.Add(append(make([]byte, secretLen), byte(rowKinds)))
	f.Fuzz(func(t *testing.T, content []byte) {
		path := filepath.Join(t.TempDir(), "noise")
		testkit.OK(os.WriteFile(path, content, 0o600))
		l, err := openNoiseLedger(path)
		if err != nil {
			if !errors.Is(err, dsbo.ErrConfig) {
				t.Fatal(err)
			}
			return
		}
		defer l.file.Close()
		if n := l.counts[trainingRows] + l.counts[validationRows]; n > max(0, len(content)-secretLen)/nameLen {
			t.Errorf("%d bytes have %d answers", len(content), n)
		}
	})
}

// fixed is a source that is the same in each run of the tests.
func fixed() *rand.Rand { return rand.New(rand.NewChaCha8([32]byte{7})) }

// TestBernoulliExp: the share of n draws is within five standard deviations of e^{−γ}.
func TestBernoulliExp(t *testing.T) {
	const n = 40_000
	r := fixed()
	for _, c := range []struct {
		numerator uint64
		shift     int
	}{{0, 3}, {1, 0}, {1, 1}, {5, 2}, {3 << 40, 41}, {1 << 41, 41}, {7, 0}} {
		p, hits := math.Exp(-math.Ldexp(float64(c.numerator), -c.shift)), 0
		for range n {
			if bernoulliExp(r, c.numerator, c.shift) {
				hits++
			}
		}
		if off := math.Abs(float64(hits) - n*p); off > 5*math.Sqrt(n*p*(1-p)) {
			t.Errorf("γ = %d/2^%d: %d of %d draws are true, want %.0f", c.numerator, c.shift, hits, n, n*p)
		}
	}
}

// TestDiscreteGaussian compares the distribution of draws with the normal one, from which that on
// so fine a grid differs by less than 1e-6: the largest distance of the two is below 2/√n in all
// but some 1e-3 of samples (Kolmogorov).
func TestDiscreteGaussian(t *testing.T) {
	const n = 60_000
	r, draws := fixed(), make([]float64, n)
	for i := range draws {
		draws[i] = math.Ldexp(float64(discreteGaussian(r)), -gridBits)
	}
	slices.Sort(draws)
	farthest := 0.0
	for i, v := range draws {
		p := math.Erfc(-v/math.Sqrt2) / 2
		farthest = max(farthest, math.Abs(p-float64(i)/n), math.Abs(p-float64(i+1)/n))
	}
	if farthest > 2/math.Sqrt(n) {
		t.Errorf("the distribution of %d draws is %g from the normal one", n, farthest)
	}
	if least, most := draws[0], draws[n-1]; least > -3 || most < 3 {
		t.Errorf("draws are from %g to %g: there must be tails", least, most)
	}
}

func BenchmarkDiscreteGaussian(b *testing.B) {
	r := fixed()
	for b.Loop() {
		discreteGaussian(r)
	}
}
