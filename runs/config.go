package runs

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strings"

	"dsbo"
)

// Config is config.json: the settings of a run, with those that were left to defaults.
type Config struct {
	Format     int             `json:"format"`           // of the file
	Task       string          `json:"task"`             // verb
	Algorithm  string          `json:"algorithm"`        // name of the method
	Preset     string          `json:"preset"`           // name
	Iterations int             `json:"iterations"`       // K
	Params     json.RawMessage `json:"params"`           // object of the method's parameters
	X0         float64         `json:"x0,omitzero"`      // start of every entry of x
	X0Best     bool            `json:"x0_best,omitzero"` // it is the best constant, found before iteration 0
	Agents     int             `json:"agents"`           // n
	Graph      string          `json:"graph"`            // by name, or path
	W          float64         `json:"w"`                // weight of an agent's own vector
	Prob       float64         `json:"prob,omitzero"`    // of an edge of a random graph
	Rho        float64         `json:"rho"`              // ρ of the mixing matrix
	// how exchanges are combined, such as "matchings"; "": plainly, by W
	Mix      string  `json:"mix,omitempty"`
	Wire     string  `json:"wire"`     // type in which numbers travel
	Batch    int     `json:"batch"`    // examples of a draw; 0: all
	Holdout  float64 `json:"holdout"`  // share of the validation examples that tunes nothing
	Evaluate string  `json:"evaluate"` // "exact" or "off": whether records have exact values
	DType    string  `json:"dtype"`    // type of the numbers of losses
	Seed     uint64  `json:"seed"`     // of all draws
	// Matrix is what products with second derivatives of the lower losses are with.
	Matrix  dsbo.CurvatureMatrix `json:"curvature_matrix,omitzero"`
	Problem json.RawMessage      `json:"problem"` // object of the task's own settings
	// what x is; the zero value: log-penalties λ, see [Config.Hyperparameters]
	Meaning Meaning `json:"meaning,omitzero"`
	// nil: no bound on what agents' answers reveal
	Privacy *Privacy `json:"privacy,omitempty"`
	// consecutive evaluations with a rising, clearly worse held-out loss that end the run; 0: none
	// do
	Patience        int     `json:"patience,omitzero"`
	EvalEvery       int     `json:"eval_every"`        // iterations from record to record
	CheckpointEvery int     `json:"checkpoint_every"`  // iterations from checkpoint to checkpoint
	ExactTol        float64 `json:"exact_tolerance"`   // of exact solutions
	AdjointTol      float64 `json:"adjoint_tolerance"` // of their adjoint systems
	// largest L_max of an agent at the start, where steps follow it
	Curvature float64 `json:"curvature,omitzero"`
	// Transport and Processes are the agents' placement; a run is resumed with the same one.
	Transport string `json:"transport"`
	Processes int    `json:"processes"` // that the run began in
	// Identity identifies the run and the agent of a process that may come back; "" for other
	// processes.
	Identity string `json:"identity,omitempty"`
	// Flags are the flags that were given; a resumed run takes them over.
	Flags []string `json:"flags"`
	Build Build    `json:"build"` // of the program
}

// A Meaning describes x in words.
type Meaning struct {
	Symbol string `json:"symbol"`          // such as "λ"
	One    string `json:"one"`             // an entry, such as "penalty"
	Many   string `json:"many"`            // several, such as "penalties"
	About  string `json:"about,omitempty"` // a sentence for people on what an entry does
	// Pictures is how many pictures of Rows·Cols entries x begins with.
	Pictures int `json:"pictures,omitzero"`
	Rows     int `json:"rows,omitzero"`
	Cols     int `json:"cols,omitzero"`
}

// Text returns n entries of x, such as "784 penalties".
func (m Meaning) Text(n int) string {
	if n == 1 {
		return "1 " + m.One
	}
	return fmt.Sprint(n, " ", m.Many)
}

// Penalties is the meaning of log-penalties λ.
var Penalties = Meaning{Symbol: "λ", One: "penalty", Many: "penalties"}

// Hyperparameters is the meaning of the x of a model without one.
var Hyperparameters = Meaning{Symbol: "x", One: "hyperparameter", Many: "hyperparameters"}

// Hyperparameters returns what x of the run is.
func (c Config) Hyperparameters() Meaning { return cmp.Or(c.Meaning, Penalties) }

// A ClusterConfig is the config.json of a run whose agents are processes of this machine, with
// folders of their own in the run's, as long as it is under way.
type ClusterConfig struct {
	Format int      `json:"format"`
	Task   string   `json:"task"`
	Run    string   `json:"run"`          // its name in the cluster file
	Hash   string   `json:"cluster_hash"` // hash of that file
	Flags  []string `json:"flags"`
	Build  Build    `json:"build"`
}

// Model returns the name of the model among the task's own settings, "" where they have none.
func (c Config) Model() string {
	var own struct {
		Model string `json:"model"`
	}
	if err := json.Unmarshal(c.Problem, &own); err != nil {
		return ""
	}
	return own.Model
}

// Values returns the values of c as text, each in This of a [Difference]: the settings, with the
// method's parameters by their own names, and separately the build and the machine.
func (c Config) Values() (settings, build Differences, err error) {
	all, err := Diff(struct{}{}, c)
	for _, d := range all {
		name, ofBuild := strings.CutPrefix(d.Name, "build.")
		d.Name = strings.TrimPrefix(name, "params.")
		if strings.HasPrefix(name, "meaning.") || name == "format" { // which are no settings
			continue
		}
		if ofBuild {
			build = append(build, d)
		} else {
			settings = append(settings, d)
		}
	}
	return settings, build, err
}
