package algo

import (
	"fmt"
	"strings"

	"dsbo"
)

// Info says what a runner has to know of a method before it starts.
type Info struct {
	Name          string
	Title         string   // a line for people
	Params        []string // the fields of Params that it uses, by their JSON names
	OneAgent      bool     // runs with n = 1 only
	ExactAverage  bool     // its mixer must be the exact average: complete graph, weights 1/n
	Personalized  bool     // solves the problem in which each agent has its own y
	Compositional bool     // right only for lower problems g_i = y'y/2 − G_i(x)'y
	Dense         bool     // asks the oracle for dsbo.DenseOracle; see DenseBytes
}

// settings are a method's own parameters.
type settings interface {
	Validate() error
	Cost(p, q, k int) Cost
}

// A method is an entry of the table.
type method struct {
	info     Info
	settings func(a Params) settings
	create   func(p, q int, a Params) (dsbo.Algorithm, error)
}

// entry makes a table entry of a method's conversion and constructor; params are names with blanks between.
func entry[A dsbo.Algorithm, S settings](i Info, params string, from func(Params) S, create func(p, q int, c S) (A, error)) method {
	i.Params = strings.Fields(params)
	return method{
		info:     i,
		settings: func(a Params) settings { return from(a) },
		create: func(p, q int, a Params) (dsbo.Algorithm, error) {
			m, err := create(p, q, from(a))
			if err != nil {
				return nil, err // and not a nil of type A in an interface
			}
			return m, nil
		},
	}
}

func methods() []method {
	return []method{
		entry(Info{Name: "madsbo", Title: "MA-DSBO, to the letter of the paper"},
			"alpha beta gamma T N x0", Params.madsbo, NewMADSBO),
		entry(Info{Name: "madsbo_tuned", Title: "MA-DSBO with warm starts, tracking, momentum, adam and a box"},
			"alpha beta gamma T N x0 warm_z track_y mom_y mom_z reuse_b xstep eta lr v eps clip", Params.tuned, NewTuned),
		entry(Info{Name: "jhip", Title: "DSBO-JHIP: tracks the Jacobian-Hessian-inverse product", Dense: true},
			"alpha beta gamma T N x0", func(a Params) JHIPParams { return JHIPParams{a.madsbo()} }, NewJHIP),
		entry(Info{Name: "gbdsbo", Title: "GBDSBO: gossip averages of Hessians, Neumann product", Dense: true},
			"alpha beta N mav lg x0", Params.gbdsbo, NewGBDSBO),
		entry(Info{Name: "fednest", Title: "FEDNEST: server and clients", ExactAverage: true},
			"alpha beta T N tau lg nprime x0", Params.fednest, NewFedNest),
		entry(Info{Name: "mdbo", Title: "MDBO: tracked local hypergradients"},
			"alpha beta a1 a2 eta lg N nprime x0", Params.mdbo, NewMDBO),
		entry(Info{Name: "pdsbo_gossip", Title: "personalized problem, plain gossip on x", Personalized: true},
			"alpha beta gamma T N x0", Params.gossip, NewGossip),
		entry(Info{Name: "pdsbo_al", Title: "personalized problem, augmented Lagrangian", Personalized: true},
			"alpha beta gamma T N rho x0", func(a Params) LagrangianParams { return LagrangianParams{a.gossip(), a.Rho} }, NewLagrangian),
		entry(Info{Name: "dascgd", Title: "D-ASCGD: compositional problems", Compositional: true},
			"alpha b init x0", Params.dascgd, NewDASCGD),
		entry(Info{Name: "dsoba", Title: "D-SOBA: one loop, adapt then combine"},
			"alpha beta gamma theta x0", Params.dsoba, NewDSOBA),
		entry(Info{Name: "sparkle", Title: "SPARKLE: one loop, a correction for each variable"},
			"alpha beta gamma theta strategy x0", func(a Params) SparkleParams { return SparkleParams{a.dsoba(), a.Strategy} }, NewSparkle),
		entry(Info{Name: "aidcg", Title: "implicit differentiation by conjugate gradients", OneAgent: true},
			"alpha beta T N warm_z x0", func(a Params) AIDCGParams { return AIDCGParams{a.oneAgent(), a.WarmZ} }, NewAIDCG),
		entry(Info{Name: "itd", Title: "iterative differentiation", OneAgent: true},
			"alpha beta T cold_y x0", func(a Params) ITDParams { return ITDParams{a.oneAgent(), a.ColdY} }, NewITD),
		entry(Info{Name: "stocbio", Title: "stocBiO: Neumann series with step γ", OneAgent: true},
			"alpha beta gamma T N x0", func(a Params) StocBiOParams { return StocBiOParams{a.oneAgent(), a.Gamma.For(a.K)} }, NewStocBiO),
		entry(Info{Name: "alset", Title: "ALSET: Neumann series with step 1/l", OneAgent: true},
			"alpha beta T N lg nprime x0", func(a Params) ALSETParams { return ALSETParams{a.oneAgent(), a.L, a.NPrime} }, NewALSET),
		entry(Info{Name: "soba", Title: "SOBA: one loop, all at once", OneAgent: true},
			"alpha beta gamma x0", func(a Params) SOBAParams { return SOBAParams{a.oneAgent(), a.Gamma.For(a.K)} }, NewSOBA),
	}
}

func find(name string) (method, error) {
	for _, m := range methods() {
		if m.info.Name == name {
			return m, nil
		}
	}
	return method{}, fmt.Errorf("algorithm %q is unknown; right are %s: %w", name, strings.Join(Names(), ", "), dsbo.ErrConfig)
}

// Names lists the methods that [New] knows, MA-DSBO first.
func Names() []string {
	var names []string
	for _, m := range methods() {
		names = append(names, m.info.Name)
	}
	return names
}

// Describe returns what is to be known of a method, or an error that lists the right names.
func Describe(name string) (Info, error) {
	m, err := find(name)
	return m.info, err
}

// New makes one agent's side of the named method for x of length p and y of length q. What cannot
// work is an error that wraps [dsbo.ErrConfig] or [dsbo.ErrShape].
func New(name string, p, q int, a Params) (dsbo.Algorithm, error) {
	m, err := find(name)
	if err != nil {
		return nil, err
	}
	return m.create(p, q, a)
}

// Validate checks the parameters that the named method uses.
func (a Params) Validate(name string) error {
	m, err := find(name)
	if err != nil {
		return err
	}
	return m.settings(a).Validate()
}

// CostOf returns what iteration k of the named method costs one agent.
func CostOf(name string, a Params, p, q, k int) (Cost, error) {
	m, err := find(name)
	if err != nil {
		return Cost{}, err
	}
	return m.settings(a).Cost(p, q, k), nil
}

// FloatsPerNeighbour returns the numbers that one agent sends to each neighbour in one iteration, the
// most where iterations differ (the first of mdbo sends less, the draws of fednest vary).
func FloatsPerNeighbour(name string, a Params, p, q int) (int, error) {
	m, err := find(name)
	if err != nil {
		return 0, err
	}
	most := 0
	for k := range max(2, len(a.NPrime.draws)) {
		most = max(most, m.settings(a).Cost(p, q, k).Floats)
	}
	return most, nil
}

// DenseBytes returns the memory that the named method's matrices take on one agent, 0 for the methods
// without. The oracle's own matrices come on top. For MNIST (q = 7840) one Hessian is 469 MiB.
func DenseBytes(name string, a Params, p, q int) (int64, error) {
	m, err := find(name)
	if err != nil {
		return 0, err
	}
	if d, ok := m.settings(a).(interface{ DenseBytes(p, q int) int64 }); ok {
		return d.DenseBytes(p, q), nil
	}
	return 0, nil
}
