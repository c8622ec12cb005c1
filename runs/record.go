package runs

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"reflect"

	"dsbo"
)

// A Record is one evaluation, one line of metrics.jsonl. Bars (x̄) are averages over the agents.
// Numbers that are not known are null or absent: accuracies without classes, exact values without
// oracles for them, and at iteration 0 the values of an iteration.
//
// The same seed gives all fields the same bits again, but for the times and the memory.
type Record struct {
	Iteration int `json:"iteration"`      // iterations done
	Epoch     int `json:"epoch,omitzero"` // whose members the record is of

	// Losses per example, without regularization, and shares of right answers, at ȳ.
	TrainLoss     Number `json:"train_loss"`
	TrainAccuracy Number `json:"train_accuracy"` // share of right answers
	ValLoss       Number `json:"val_loss"`       // mean per example
	ValAccuracy   Number `json:"val_accuracy"`   // share of right answers
	TestLoss      Number `json:"test_loss"`      // mean per example
	TestAccuracy  Number `json:"test_accuracy"`  // share of right answers

	// Loss on the held-out part of the validation examples, which tunes nothing.
	HoldoutLoss     Number `json:"holdout_loss"`
	HoldoutAccuracy Number `json:"holdout_accuracy"` // share of right answers

	// Exact values at x̄, see Exact in package train.
	Phi      Number `json:"phi"`       // Φ(x̄)
	GradNorm Number `json:"grad_norm"` // ‖∇Φ(x̄)‖
	// HypergradientError is ‖ū − ∇Φ(x̄)‖/‖∇Φ(x̄)‖, with the u of the last iteration, which belongs
	// to the x before its step.
	HypergradientError Number `json:"hypergradient_error"`
	LowerError         Number `json:"lower_error"`    // ‖ȳ − y*(x̄)‖/‖y*(x̄)‖
	LowerResidual      Number `json:"lower_residual"` // ‖∇_y g‖ at the averages

	// LeastEigenvalue is about the least eigenvalue of the averaged Hessian ∇²_yy g at x̄ and ȳ,
	// where the lower problem is not known to be strongly convex: where it is negative, ȳ is at
	// no minimum.
	LeastEigenvalue Number `json:"least_eigenvalue"`

	// (1/n) Σ_i ‖x_i − x̄‖², and so for y and z.
	ConsensusX Number `json:"consensus_x"`
	ConsensusY Number `json:"consensus_y"` // the same of y
	ConsensusZ Number `json:"consensus_z"` // the same of z

	// Oracle calls and messages of all agents together since iteration 0, of those that have left
	// up to the last record with them.
	dsbo.Calls
	dsbo.Traffic
	// EvaluationSent counts what all agents have sent in evaluations since iteration 0.
	EvaluationSent dsbo.Traffic `json:"evaluation_sent"`

	// Times of iterations alone, without evaluations.
	Seconds        float64 `json:"seconds"`          // wall time since iteration 0
	MsPerIteration Number  `json:"ms_per_iteration"` // median since the last record
	Times                  // sums over all agents
	// EvaluationSeconds is the time of this evaluation.
	EvaluationSeconds float64 `json:"evaluation_seconds"`
	PeakRSSMiB        Number  `json:"peak_rss_mib"` // the process's peak so far; null if the system
	// does not report it
}

// Timeless returns r without times and memory: the part that the same seed gives again.
func (r Record) Timeless() Record {
	r.Seconds, r.MsPerIteration, r.EvaluationSeconds, r.PeakRSSMiB, r.Times = 0, 0, 0, 0, Times{}
	return r
}

// ReadRecords reads the records of metrics.jsonl to the end of the input. A last line without a
// line feed, left by a killed run, is dropped, and cut is true. name is the input's name in errors,
// which contain the line number and match [dsbo.ErrConfig].
func ReadRecords(name string, r io.Reader) (records []Record, cut bool, err error) {
	in := bufio.NewReader(r)
	for line := 1; ; line++ {
		text, err := in.ReadBytes('\n')
		if err == io.EOF {
			return records, len(bytes.TrimSpace(text)) > 0, nil
		}
		if err != nil {
			return records, false, fmt.Errorf("%s: %w", name, err)
		}
		if len(bytes.TrimSpace(text)) == 0 {
			continue
		}
		var rec Record
		setUnknown(reflect.ValueOf(&rec).Elem())
		if err := json.Unmarshal(text, &rec); err != nil {
			return records, false, dsbo.ConfigErrorf("%s: line %d is not a record: %v", name, line, err)
		}
		records = append(records, rec)
	}
}
