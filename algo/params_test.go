package algo_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"dsbo"
	"dsbo/algo"
	"dsbo/internal/testkit"
)

func TestSchedules(t *testing.T) {
	for _, c := range []struct {
		text algo.Schedule
		k    int
		want float64
		full string // in JSON
	}{
		{"0.5", 7, 0.5, `0.5`},
		{" 1e-3 ", 0, 1e-3, `0.001`},
		{"0.5/sqrt(k+1)", 3, 0.25, `"0.5/sqrt(k+1)"`},
		{"0.5/sqrt", 0, 0.5, `"0.5/sqrt(k+1)"`},
		{"0.5/(k+1)", 4, 0.1, `"0.5/(k+1)"`},
		{"0.5/k", 1, 0.25, `"0.5/(k+1)"`},
		{"2/sqrt(K)", 5, 0.2, `"2/sqrt(K)"`},
		{"2/sqrtK", 0, 0.2, `"2/sqrt(K)"`},
		{"2*(1-k/K)", 0, 2, `"2*(1-k/K)"`},
		{"2*linear", 50, 1, `"2*(1-k/K)"`},
		{"2*(1-k/K)", 1000, 2 * (1 - 99./100), `"2*(1-k/K)"`}, // stays at its last number beyond the run
		{"0.1,0.05, 0.02", 1, 0.05, `[0.1,0.05,0.02]`},
		{"0.1,0.05,0.02", 100, 0.02, `[0.1,0.05,0.02]`},
		{"3,", 0, 3, `3`},
	} {
		at, err := c.text.For(100)
		if err != nil || !(math.Abs(at(c.k)-c.want) <= 1e-15) {
			t.Errorf("%q at %d: %v, want %g", c.text, c.k, err, c.want)
			continue
		}
		text, err := json.Marshal(c.text)
		var again algo.Schedule
		if err != nil || string(text) != c.full || json.Unmarshal(text, &again) != nil {
			t.Errorf("%q is %s in JSON (%v), want %s", c.text, text, err, c.full)
		}
		if at, err := again.For(100); err != nil || !(math.Abs(at(c.k)-c.want) <= 1e-15) {
			t.Errorf("%s read again at %d: %v, want %g", text, c.k, err, c.want)
		}
	}
	for _, bad := range []algo.Schedule{"", "x", "0.5/", "1/sqrt(n)", "NaN", "inf", "1e999", "0.1,,0.2", ",", "0.1;0.2",
		"1/L", "0.1,0.2/k"} {
		if _, err := bad.For(100); !errors.Is(err, dsbo.ErrConfig) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%q: %v", bad, err)
		}
	}
	for _, s := range []algo.Schedule{"2/sqrt(K)", "2*(1-k/K)"} {
		if _, err := s.For(0); err == nil || !strings.Contains(err.Error(), "number K") {
			t.Errorf("%q without K: %v", s, err)
		}
	}
	for _, bad := range []string{`true`, `["a"]`, `"x"`, `{}`, `[[1]]`, `[1,null]`} {
		var s algo.Schedule
		if err := json.Unmarshal([]byte(bad), &s); !errors.Is(err, dsbo.ErrConfig) {
			t.Errorf("%s: %v", bad, err)
		}
	}
}

func FuzzSchedule(f *testing.F) {
	for _, s := range []string{"", "0.5", "0.5/sqrt", "1/(k+1)", "2/sqrt(K)", "2*(1-k/K)", "0.1,0.05", "3,", "-0",
		"1e-300/k", "x", ",", "1,,2"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		s := algo.Schedule(text)
		at, err := s.For(9)
		if err != nil {
			return
		}
		data := testkit.Get(json.Marshal(s))
		var again algo.Schedule
		if err := json.Unmarshal(data, &again); err != nil {
			t.Fatalf("%q is %s in JSON, which is refused: %v", text, data, err)
		}
		for k := range 12 {
			if b, err := again.For(9); err != nil || math.Float64bits(b(k)) != math.Float64bits(at(k)) {
				t.Errorf("%q is %s in JSON, which is another schedule (%v)", text, data, err)
			}
		}
	})
}

// badValues are values that methods refuse, by the parameter's name.
var badValues = map[string]string{
	"alpha": `-1`, "beta": `[0.1,0]`, "gamma": `"-1/k"`, "T": `-1`, "N": `-2`, "mom_y": `1`, "mom_z": `-0.1`,
	"xstep": `"lbfgs"`,
	"eta":   `-1`, "lr": `-0.1`, "v": `1`, "eps": `-1`, "clip": `[2,1]`, "lg": `0`, "nprime": `[2,-1]`,
	"mav": `1.5`, "tau": `-1`,
	"c": `-1`, "cold": `-1`, "most": `-1`, "ly": `-1`, "mu": `-1`, "wait": `-1`, "mem": `121`,
	"beta1": `1`, "beta2": `-1`, "dg_every": `-1`, "constants": `-1`, "cut": `2`,
	"damping": `-1`,
	"a1":      `-1`, "a2": `1e300`, "rho": `-1`, "b": `2`, "init": `"random"`, "theta": `-1`,
	"batches": `[1,0]`,
	"period":  `-1`, "refresh": `[0]`, "compress": `{"kind":"top"}`, "gin": `2`, "gout": `2`, "clients": `[[]]`,
	"I": `-1`, "at": `-1`, "cx": `-1`, "cy": `-1`, "cz": `-1`, "ex": `-1`, "ey": `-1`, "ez": `-1`, "ball": `-1`,
	"agg": `{"kind":"best"}`, "mom": `1`, "byz": `[-1]`, "attack": `-1`,
	"lam": `-1`, "a": `2`, "lam0": `-1`, "dlam": `-1`, "m0": `[1,0,1]`,
	"order": `3`, "dim": `-1`, "dim_fre": `-1`, "dim_inc": `-1`, "dim_max": `-1`, "env": `-1`,
	"strategy": `{"y":"none of these"}`, "rule": `"best"`, "seed": `-1`,
}

// TestParametersAreChecked: each parameter of each method is refused when it is bad, with its name.
func TestParametersAreChecked(t *testing.T) {
	switches := []string{"warm_z", "track_y", "reuse_b", "cold_y", "absolute", "part", "hold", "all",
		"track", "shro", "unit", "plain", "each"}
	for _, name := range algo.Names() {
		parameters := algo.Parameters(made(t, name, "{}"))
		for _, p := range parameters {
			if slices.Contains(switches, p) {
				continue
			}
			m := made(t, name, "{}")
			if slices.Contains(parameters, "lg") {
				set(t, m, "lg", "5")
			}
			if err := algo.Clone(m).Init(2, 3, 100); err != nil {
				t.Errorf("%s with defaults: %v", name, err)
			}
			set(t, m, p, badValues[p])
			err := m.Init(2, 3, 100)
			if !errors.Is(err, dsbo.ErrConfig) || !strings.HasPrefix(err.Error(), name+": ") ||
				!strings.Contains(err.Error(), "must be") ||
				!strings.Contains(err.Error(), p) && p != "a2" { // it bounds eta
				t.Errorf("%s with %s = %s: %v", name, p, badValues[p], err)
			}
		}
	}
	if err := (&algo.MADSBO{Beta: "1/sqrt(K)"}).Init(2, 3, 0); !errors.Is(err, dsbo.ErrConfig) ||
		!strings.Contains(err.Error(), "number K") {
		t.Errorf("a schedule c/√K without K: %v", err)
	}
	saba := new(algo.SABA)
	if set(t, saba, "batches", "-1"); !errors.Is(saba.Init(2, 3, 9), dsbo.ErrConfig) {
		t.Error("batches of -1 are not refused")
	}
	// whose state would not fit into memory
	for _, m := range []algo.Method{new(algo.NewtonCG), new(algo.AdamCG), new(algo.Search)} {
		if err := m.Init(2, 3, 1e13); !errors.Is(err, dsbo.ErrConfig) ||
			!strings.Contains(err.Error(), "K must be at most 1000000") {
			t.Errorf("%T with 10¹³ iterations: %v", m, err)
		}
	}
}

func TestDecode(t *testing.T) {
	m := &algo.Tuned{T: 3, Beta: "0.25"}
	testkit.OK(algo.Decode(m, []byte(`{"alpha":"0.5/sqrt","gamma":[0.1,0.2],"clip":[-1,3],"warm_z":true}`)))
	text, err := json.Marshal(m)
	const want = `{"alpha":"0.5/sqrt(k+1)","beta":0.25,"gamma":[0.1,0.2],"T":3,"warm_z":true,"clip":[-1,3]}`
	if err != nil || string(text) != want {
		t.Errorf("%s (%v), want %s", text, err, want)
	}
	for _, bad := range []string{
		`{"Alpha":1}`, `{"t":1}`, `{"x0":1}`, `{"T":1.5}`, `{"alpha":true}`, `{"strategy":{}}`, `[]`, `{`,
		`{"clip":"1"}`, `{"state":{}}`,
	} {
		if err := algo.Decode(new(algo.Tuned), []byte(bad)); !errors.Is(err, dsbo.ErrConfig) ||
			!strings.Contains(err.Error(), "madsbo_tuned") {
			t.Errorf("%s: %v", bad, err)
		}
	}
	for bad, want := range map[string]string{
		`{"most":1.5}`: "newtoncg: most must be a whole number; it is 1.5", `{"init":9}`: "init must be text; it is 9",
		`{"part":1}`: "part must be true or false; it is 1", `{"damping":"a"}`: `damping must be a number; it is "a"`,
		`{"clip":1}`: "clip must be a list, such as [1,2]; it is 1", `{"clip":["a"]}`: "clip must be a list of numbers",
	} {
		err := algo.Decode(new(algo.NewtonCG), []byte(bad))
		if testkit.WantError(t, bad, err, dsbo.ErrConfig, want); strings.Contains(err.Error(), "json") {
			t.Errorf("%s: %v", bad, err)
		}
	}
	if err := algo.Decode(new(algo.Sparkle), []byte(`{"strategy":{"w":"ed"}}`)); !errors.Is(err, dsbo.ErrConfig) {
		t.Errorf("an unknown variable: %v", err)
	}
}

// other is a method of another module: it wraps one of algo.
type other struct {
	algo.DSOBA
	Extra int `json:"extra"`
}

func TestRegister(t *testing.T) {
	if _, err := algo.New("sgd"); !errors.Is(err, dsbo.ErrConfig) || !strings.Contains(err.Error(), `"sgd"`) ||
		!strings.Contains(err.Error(), "madsbo_tuned") {
		t.Errorf("an unknown name: %v", err)
	}
	for _, name := range algo.Names() {
		if got := algo.NameOf(made(t, name, "{}")); got != name {
			t.Errorf("the name of %s is %s", name, got)
		}
	}
	o := &other{Extra: 3}
	o.Alpha = "0.3"
	c := algo.Clone(o).(*other)
	if algo.NameOf(o) != "algo_test.other" || c.Extra != 3 || c.Alpha != "0.3" {
		t.Errorf("%s, cloned %+v", algo.NameOf(o), c)
	}
	if p := fmt.Sprint(algo.Parameters(o)); p != "[alpha beta gamma theta extra]" {
		t.Errorf("parameters %s", p)
	}
	defer func() {
		if recover() == nil {
			t.Error("a name was registered twice")
		}
	}()
	algo.Register("madsbo", func() algo.Method { return new(other) })
}

// TestAutoIs: half the bound of y's step, 0.8 of the bound of z's, 1.05 L; what a method chooses
// goes before; and steps that any number will do for have none.
func TestAutoIs(t *testing.T) {
	all, own := algo.Curvature{L: 4, Y: 3, Z: 5}, algo.Curvature{L: 4, Y: 3, Z: 5, Alpha: 7, Beta: 8, Gamma: 9}
	free := algo.Curvature{L: 4, Y: math.Inf(1), Z: math.Inf(1), Beta: 1, Gamma: 1}
	for _, c := range []struct {
		of   algo.Curvature
		name string
		want float64 // 0: none
	}{
		{all, "alpha", 0}, {all, "beta", 1.5}, {all, "gamma", 4}, {all, "lg", 4.2}, {all, "lr", 0},
		{own, "alpha", 7}, {own, "beta", 8}, {own, "gamma", 9}, {free, "beta", 0}, {free, "gamma", 0},
	} {
		if got, ok := algo.AutoOf(c.of, c.name); ok != (c.want != 0) || ok && !(math.Abs(got-c.want) <= 1e-15) {
			t.Errorf("auto of %s is %g, %t; want %g", c.name, got, ok, c.want)
		}
	}
	m := &algo.MADSBO{Alpha: "3/L", Beta: "2*L", Gamma: algo.Auto}
	testkit.Get(algo.Bind(m, all))
	if m.Alpha != "0.75" || m.Beta != "8" || m.Gamma != "4" {
		t.Errorf("bound to L = 4 the steps 3/L, 2*L and auto are %s, %s and %s", m.Alpha, m.Beta, m.Gamma)
	}
	for _, bad := range []algo.Schedule{"0/L", "-1/L", "inf/L", "x*L"} {
		if _, err := algo.Bind(&algo.MADSBO{Beta: bad}, all); !errors.Is(err, dsbo.ErrConfig) {
			t.Errorf("beta of %s: error %v", bad, err)
		}
	}
}
