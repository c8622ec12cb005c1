package algo

// Params is one flat struct for all methods, for command lines and configuration files: a method
// takes the fields that it knows ([Info] lists them) and leaves the others alone. Names are the
// paper's symbols; zero means the method's default, as its own params struct states it.
type Params struct {
	Alpha Schedule `json:"alpha,omitzero"` // α, step of x
	Beta  Schedule `json:"beta,omitzero"`  // β, step of y
	Gamma Schedule `json:"gamma,omitzero"` // γ, step of z
	T     int      `json:"T,omitzero"`     // steps of y in an iteration
	N     int      `json:"N,omitzero"`     // steps of z, or terms of a Neumann series
	K     int      `json:"K,omitzero"`     // iterations of the run: what schedules c/√K stand for
	X0    float64  `json:"x0,omitzero"`    // start of every entry of x

	// madsbo_tuned
	WarmZ  bool      `json:"warm_z,omitzero"`  // z starts where it was; aidcg too
	TrackY bool      `json:"track_y,omitzero"` // gradient tracking on y
	MomY   float64   `json:"mom_y,omitzero"`   // momentum of y
	MomZ   float64   `json:"mom_z,omitzero"`   // momentum of z
	ReuseB bool      `json:"reuse_b,omitzero"` // one draw of ∇_y f an iteration
	XStep  string    `json:"xstep,omitzero"`   // "sgd" or "adam"
	Eta    Schedule  `json:"eta,omitzero"`     // η, scale of the x step (sgd); in mdbo how far to go to the new point
	Lr     Schedule  `json:"lr,omitzero"`      // adam: step
	V      float64   `json:"v,omitzero"`       // adam: second moment
	Eps    float64   `json:"eps,omitzero"`     // adam: ε
	Clip   []float64 `json:"clip,omitempty"`   // lo, hi: the box of x

	// the others
	L        float64  `json:"lg,omitzero"`       // l ≥ max_i λ_max(H_i): gbdsbo, fednest, mdbo, alset
	NPrime   Terms    `json:"nprime,omitzero"`   // truncation of the Neumann series: fednest, mdbo, alset
	Mav      float64  `json:"mav,omitzero"`      // b of gbdsbo, weight of its moving averages
	Tau      int      `json:"tau,omitzero"`      // τ of fednest, local steps
	A1       float64  `json:"a1,omitzero"`       // momentum of x in mdbo
	A2       float64  `json:"a2,omitzero"`       // momentum of y in mdbo
	Rho      float64  `json:"rho,omitzero"`      // ρ of pdsbo_al
	B        float64  `json:"b,omitzero"`        // b of dascgd, weight of the fresh inner value
	Init     string   `json:"init,omitzero"`     // dascgd: "exact" or "zero"
	Theta    float64  `json:"theta,omitzero"`    // θ of dsoba and sparkle, weight of the fresh hypergradient
	Strategy Strategy `json:"strategy,omitzero"` // sparkle
	ColdY    bool     `json:"cold_y,omitzero"`   // itd: y starts at 0 in each iteration
}

// The method structs from the flat one. Schedules are those for a run of K iterations.

func (a Params) madsbo() MADSBOParams {
	return MADSBOParams{Alpha: a.Alpha.For(a.K), Beta: a.Beta.For(a.K), Gamma: a.Gamma.For(a.K), T: a.T, N: a.N, X0: a.X0}
}

func (a Params) tuned() TunedParams {
	return TunedParams{
		MADSBOParams: a.madsbo(), WarmZ: a.WarmZ, TrackY: a.TrackY, MomY: a.MomY, MomZ: a.MomZ, ReuseB: a.ReuseB,
		XStep: a.XStep, Eta: a.Eta.For(a.K), Lr: a.Lr.For(a.K), V: a.V, Eps: a.Eps, Clip: a.Clip,
	}
}

func (a Params) gbdsbo() GBDSBOParams {
	return GBDSBOParams{Alpha: a.Alpha.For(a.K), Beta: a.Beta.For(a.K), Mav: a.Mav, L: a.L, N: a.N, X0: a.X0}
}

func (a Params) fednest() FedNestParams {
	return FedNestParams{Alpha: a.Alpha.For(a.K), Beta: a.Beta.For(a.K), T: a.T, N: a.N, Tau: a.Tau, L: a.L, NPrime: a.NPrime, X0: a.X0}
}

func (a Params) mdbo() MDBOParams {
	return MDBOParams{
		Alpha: a.Alpha.For(a.K), Beta: a.Beta.For(a.K), A1: a.A1, A2: a.A2, Eta: a.Eta.For(a.K),
		L: a.L, N: a.N, NPrime: a.NPrime, X0: a.X0,
	}
}

func (a Params) gossip() GossipParams { return GossipParams(a.madsbo()) }

func (a Params) dascgd() DASCGDParams {
	return DASCGDParams{Alpha: a.Alpha.For(a.K), B: a.B, Init: a.Init, X0: a.X0}
}

func (a Params) dsoba() DSOBAParams {
	return DSOBAParams{Alpha: a.Alpha.For(a.K), Beta: a.Beta.For(a.K), Gamma: a.Gamma.For(a.K), Theta: a.Theta, X0: a.X0}
}

func (a Params) oneAgent() OneAgentParams {
	return OneAgentParams{Alpha: a.Alpha.For(a.K), Beta: a.Beta.For(a.K), T: a.T, N: a.N, X0: a.X0}
}
