package runs

import (
	"fmt"
	"strconv"
)

// Privacy is the differential privacy of a run: all that an agent sends reveals of any one of its
// rows at most what (ε, δ) allow.
type Privacy struct {
	Epsilon float64 `json:"epsilon"`
	Delta   float64 `json:"delta"`
	Clip    float64 `json:"clip"` // norm to which rows of features are scaled where they are longer
	// LeastRows is the number of training rows of the agent that has the fewest.
	LeastRows int `json:"least_rows,omitzero"`
	// Answers are the most that an agent gives about its training, its validation and its test
	// rows, and Noise the deviation of the noise of each, in units of what one row can change. Left
	// out before the run knows them.
	Answers [3]int     `json:"answers,omitzero"`
	Noise   [3]float64 `json:"noise,omitzero"`
}

// String returns it in words.
func (p Privacy) String() string {
	return fmt.Sprintf("(ε = %.4g, δ = %.4g) of each row of each site, whatever the others do", p.Epsilon, p.Delta)
}

// NoisePrefix begins the names of the files with the secrets of the agents' noise.
const NoisePrefix = "noise.agent"

// NoisePath returns the path of the file with the secret of an agent's noise, while a run with
// [Privacy] is under way.
func (f Folder) NoisePath(agent int) string { return f.Path(NoisePrefix + strconv.Itoa(agent)) }
