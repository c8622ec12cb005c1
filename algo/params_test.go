package algo_test

import (
	"encoding/json"
	"errors"
	"flag"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"dsbo"
	"dsbo/algo"
)

func TestSchedules(t *testing.T) {
	for _, c := range []struct {
		text string
		s    algo.Schedule
		k    int
		want float64
	}{
		{"0.5", algo.Constant(0.5), 7, 0.5},
		{" 1e-3 ", algo.Constant(1e-3), 0, 1e-3},
		{"0.5/sqrt(k+1)", algo.InverseRoot(0.5), 3, 0.25},
		{"0.5/sqrt", algo.InverseRoot(0.5), 0, 0.5},
		{"0.5/(k+1)", algo.Inverse(0.5), 4, 0.1},
		{"0.5/k", algo.Inverse(0.5), 1, 0.25},
		{"0.1,0.05, 0.02", algo.List(0.1, 0.05, 0.02), 1, 0.05},
		{"0.1,0.05,0.02", algo.List(0.1, 0.05, 0.02), 100, 0.02},
		{"3,", algo.List(3), 0, 3},
		{"", algo.Schedule{}, 0, 0},
	} {
		s, err := algo.ParseSchedule(c.text)
		if err != nil || !s.Equal(c.s) {
			t.Errorf("ParseSchedule(%q) = %v, %v; want %v", c.text, s, err, c.s)
		}
		if got := s.At(c.k); got != c.want {
			t.Errorf("%q at %d is %g, want %g", c.text, c.k, got, c.want)
		}
	}
	for _, bad := range []string{"x", "0.5/", "1/sqrt(n)", "NaN", "inf", "1e999", "0.1,,0.2", ",", "0.1;0.2"} {
		if s, err := algo.ParseSchedule(bad); !errors.Is(err, dsbo.ErrConfig) || strings.Contains(err.Error(), "\n") {
			t.Errorf("ParseSchedule(%q) = %v, %v", bad, s, err)
		}
	}
}

func TestLinearScheduleEndsWithTheRun(t *testing.T) {
	s, err := algo.ParseSchedule("2*(1-k/K)")
	if err != nil {
		t.Fatal(err)
	}
	if !math.IsNaN(s.At(0)) {
		t.Errorf("2*(1-k/K) is %g before K is known, want NaN", s.At(0))
	}
	for _, c := range []struct {
		k    int
		want float64
	}{{0, 2}, {5, 1}, {9, 0.2}, {10, 0.2}} {
		if got := s.For(10).At(c.k); math.Abs(got-c.want) > 1e-15 {
			t.Errorf("2*(1-k/K) for K = 10 is %g at k = %d, want %g", got, c.k, c.want)
		}
	}
	if got := s.For(10).String(); got != "2*(1-k/K)" {
		t.Errorf("text %q", got)
	}
}

func TestScheduleOfTheRun(t *testing.T) {
	s, err := algo.ParseSchedule("2/sqrt(K)")
	if err != nil {
		t.Fatal(err)
	}
	if !math.IsNaN(s.At(0)) || s.For(100).At(5) != 0.2 {
		t.Errorf("2/sqrt(K) is %g without K, %g for K = 100", s.At(0), s.For(100).At(5))
	}
	a := algo.Params{Alpha: s}
	if err := a.Validate("madsbo"); err == nil || !strings.Contains(err.Error(), "number K") {
		t.Errorf("a schedule c/√K without K: %v", err)
	}
	a.K = 100
	if err := a.Validate("madsbo"); err != nil {
		t.Error(err)
	}
}

func TestScheduleIsAFlag(t *testing.T) {
	var s algo.Schedule
	fs := flag.NewFlagSet("", flag.ContinueOnError)
	fs.SetOutput(new(strings.Builder))
	fs.TextVar(&s, "alpha", algo.Constant(0.1), "step of x")
	if err := fs.Parse([]string{"-alpha", "0.5/sqrt"}); err != nil || !s.Equal(algo.InverseRoot(0.5)) {
		t.Errorf("-alpha 0.5/sqrt is %v, %v", s, err)
	}
	if err := fs.Parse([]string{"-alpha", "much"}); err == nil {
		t.Error("-alpha much was taken")
	}
}

func TestTerms(t *testing.T) {
	for _, text := range []string{"sum", "last", "3", "2,0,1"} {
		v, err := algo.ParseTerms(text)
		if err != nil || v.String() != text {
			t.Errorf("ParseTerms(%q) = %v, %v", text, v, err)
		}
	}
	for _, bad := range []string{"first", "1.5", "1,,2", ","} {
		if _, err := algo.ParseTerms(bad); !errors.Is(err, dsbo.ErrConfig) {
			t.Errorf("ParseTerms(%q): %v", bad, err)
		}
	}
}

func TestParamsAsJSON(t *testing.T) {
	want := algo.Params{
		Alpha: algo.InverseRoot(0.5), Beta: algo.Constant(0.25), Gamma: algo.List(0.1, 0.2), T: 3, N: 4, X0: 1.5,
		Clip: []float64{-1, 3}, NPrime: algo.Draws(1, 0), Strategy: algo.Strategy{X: "gt"}, L: 7,
	}
	text, err := json.Marshal(want)
	if err != nil {
		t.Fatal(err)
	}
	const form = `{"alpha":"0.5/sqrt(k+1)","beta":0.25,"gamma":[0.1,0.2],"T":3,"N":4,"x0":1.5,"clip":[-1,3],"lg":7,"nprime":[1,0],"strategy":{"x":"gt"}}`
	if string(text) != form {
		t.Errorf("JSON is %s\nwant    %s", text, form)
	}
	var got algo.Params
	if err := json.Unmarshal(text, &got); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("after a round trip (-want +got):\n%s", d)
	}
	for _, bad := range []string{`{"alpha":true}`, `{"alpha":["a"]}`, `{"alpha":"x"}`, `{"nprime":1.5}`, `{"nprime":["a"]}`, `{"alpha":{}}`} {
		if err := json.Unmarshal([]byte(bad), &got); !errors.Is(err, dsbo.ErrConfig) {
			t.Errorf("%s: %v", bad, err)
		}
	}
}

// Every field that a method says it uses is refused when it is bad, with its name and value; every
// other field is left alone.
func TestValidate(t *testing.T) {
	bad := map[string]func(a *algo.Params){
		"alpha":    func(a *algo.Params) { a.Alpha = algo.Constant(-1) },
		"beta":     func(a *algo.Params) { a.Beta = algo.List(0.1, 0) },
		"gamma":    func(a *algo.Params) { a.Gamma = algo.Constant(math.NaN()) },
		"T":        func(a *algo.Params) { a.T = -1 },
		"N":        func(a *algo.Params) { a.N = -2 },
		"x0":       func(a *algo.Params) { a.X0 = math.Inf(1) },
		"mom_y":    func(a *algo.Params) { a.MomY = 1 },
		"mom_z":    func(a *algo.Params) { a.MomZ = -0.1 },
		"xstep":    func(a *algo.Params) { a.XStep = "lbfgs" },
		"eta":      func(a *algo.Params) { a.Eta = algo.Constant(0) },
		"lr":       func(a *algo.Params) { a.Lr = algo.Constant(-0.1) },
		"v":        func(a *algo.Params) { a.V = 1 },
		"eps":      func(a *algo.Params) { a.Eps = -1 },
		"clip":     func(a *algo.Params) { a.Clip = []float64{2, 1} },
		"lg":       func(a *algo.Params) { a.L = 0 },
		"nprime":   func(a *algo.Params) { a.NPrime = algo.Draws(2, -1) },
		"mav":      func(a *algo.Params) { a.Mav = 1.5 },
		"tau":      func(a *algo.Params) { a.Tau = -1 },
		"a1":       func(a *algo.Params) { a.A1 = -1 },
		"a2":       func(a *algo.Params) { a.A2 = math.Inf(1) },
		"rho":      func(a *algo.Params) { a.Rho = -1 },
		"b":        func(a *algo.Params) { a.B = 2 },
		"init":     func(a *algo.Params) { a.Init = "random" },
		"theta":    func(a *algo.Params) { a.Theta = math.NaN() },
		"strategy": func(a *algo.Params) { a.Strategy.Y = "none of these" },
	}
	switches := map[string]bool{"warm_z": true, "track_y": true, "reuse_b": true, "cold_y": true}
	for _, name := range algo.Names() {
		info, err := algo.Describe(name)
		if err != nil {
			t.Fatal(err)
		}
		uses := map[string]bool{}
		for _, p := range info.Params {
			uses[p] = true
			if bad[p] == nil && !switches[p] {
				t.Errorf("%s: no bad value for %s is known", name, p)
			}
		}
		if err := (algo.Params{L: 5}).Validate(name); err != nil {
			t.Errorf("%s does not take the zero parameters: %v", name, err)
		}
		for p, spoil := range bad {
			a := algo.Params{L: 5}
			spoil(&a)
			err := a.Validate(name)
			if _, made := algo.New(name, 2, 3, a); (made == nil) != (err == nil) {
				t.Errorf("%s: Validate says %v, New says %v", name, err, made)
			}
			shared := info.OneAgent && (p == "T" || p == "N") // they share one struct
			if errors.Is(err, dsbo.ErrConfig) != uses[p] && !shared {
				t.Errorf("%s with a bad %s: %v", name, p, err)
			}
			if err != nil && (!strings.Contains(err.Error(), p) || !strings.Contains(err.Error(), name+":") || !strings.Contains(err.Error(), "must be")) {
				t.Errorf("%s with a bad %s: %v does not name it", name, p, err)
			}
		}
	}
}

func TestNewRefuses(t *testing.T) {
	_, err := algo.New("sgd", 1, 1, algo.Params{})
	if !errors.Is(err, dsbo.ErrConfig) || !strings.Contains(err.Error(), `"sgd"`) || !strings.Contains(err.Error(), "madsbo_tuned") {
		t.Errorf("an unknown name: %v", err)
	}
	for _, name := range algo.Names() {
		for _, d := range [][2]int{{0, 1}, {1, 0}, {-1, 1}} {
			a, err := algo.New(name, d[0], d[1], algo.Params{L: 1})
			if !errors.Is(err, dsbo.ErrShape) || a != nil {
				t.Errorf("%s for p = %d, q = %d: %v, %v", name, d[0], d[1], a, err)
			}
		}
	}
	if _, err := algo.CostOf("sgd", algo.Params{}, 1, 1, 0); err == nil {
		t.Error("CostOf an unknown name")
	}
	if _, err := algo.FloatsPerNeighbour("sgd", algo.Params{}, 1, 1); err == nil {
		t.Error("FloatsPerNeighbour of an unknown name")
	}
	if _, err := algo.DenseBytes("sgd", algo.Params{}, 1, 1); err == nil {
		t.Error("DenseBytes of an unknown name")
	}
}

func FuzzParseSchedule(f *testing.F) {
	for _, s := range []string{"", "0.5", "0.5/sqrt", "1/(k+1)", "2/sqrt(K)", "2*(1-k/K)", "0.1,0.05", "3,", "-0", "1e-300/k", "x", ",", "1,,2"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		s, err := algo.ParseSchedule(text)
		if err != nil {
			return
		}
		if again, err := algo.ParseSchedule(s.String()); err != nil || !again.Equal(s) {
			t.Errorf("%q is %q, which reads as %v, %v", text, s, again, err)
		}
		data, err := json.Marshal(s)
		if err != nil {
			t.Fatal(err)
		}
		var again algo.Schedule
		if err := json.Unmarshal(data, &again); err != nil || !again.Equal(s) {
			t.Errorf("%q is %s in JSON, which reads as %v, %v", text, data, again, err)
		}
	})
}

func FuzzParseTerms(f *testing.F) {
	for _, s := range []string{"", "sum", "last", "3", "2,0,1", "x", "-1", "1,,2"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		v, err := algo.ParseTerms(text)
		if err != nil {
			return
		}
		data, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		var again algo.Terms
		if err := json.Unmarshal(data, &again); err != nil || !again.Equal(v) {
			t.Errorf("%q is %s in JSON, which reads as %v, %v", text, data, again, err)
		}
	})
}
