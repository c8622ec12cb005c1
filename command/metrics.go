package command

import (
	"fmt"

	"github.com/prometheus/client_golang/prometheus"

	dsbogrpc "dsbo/network/grpc"
	"dsbo/runs"
)

// Describe sends nothing: the metrics depend on the position of the agent.
func (m *monitor) Describe(chan<- *prometheus.Desc) {}

// Collect implements prometheus.Collector.
func (m *monitor) Collect(to chan<- prometheus.Metric) {
	c, p := metrics(to), m.current()
	c.gauge("agent_info", "The run and the number of the agent.", 1,
		prometheus.Labels{"run": m.run, "agent": fmt.Sprint(m.agent)})
	c.gauge("build_info", "The program of the agent.", 1, m.build)
	c.sendPosition(p)
	if p.record != nil {
		c.sendRecord(p.record)
	}
	if p.exchange == nil {
		return
	}
	s := p.exchange.Status()
	if s.Quorum > 0 {
		c.sendMembership(s)
	}
	c.sendExchange(s)
	for _, n := range s.Neighbours {
		c.sendNeighbour(n)
	}
}

// metrics is where Prometheus receives an agent's metrics. Their names begin with dsbo_.
type metrics chan<- prometheus.Metric

func (c metrics) send(kind prometheus.ValueType, name, help string, value float64, labels prometheus.Labels) {
	desc := prometheus.NewDesc("dsbo_"+name, help, nil, labels)
	c <- prometheus.MustNewConstMetric(desc, kind, value)
}

func (c metrics) gauge(name, help string, value float64, labels prometheus.Labels) {
	c.send(prometheus.GaugeValue, name, help, value, labels)
}

func (c metrics) counter(name, help string, value float64, labels prometheus.Labels) {
	c.send(prometheus.CounterValue, name+"_total", help, value, labels)
}

// indicator returns 1 for true and 0 for false.
func indicator(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

// sendPosition sends how far the run is, its newest checkpoint, and when the agent's
// certificate expires.
func (c metrics) sendPosition(p position) {
	c.gauge("step", "Steps done in the phase.", float64(p.Done), prometheus.Labels{"phase": p.Phase})
	c.gauge("steps", "Steps of the phase in all.", float64(p.Total), prometheus.Labels{"phase": p.Phase})
	c.gauge("progress", "Share of the run's time that is spent, from 0 to 1.", p.Share, nil)
	if p.Remaining >= 0 {
		c.gauge("left_seconds", "Time to the end of the run, as it is expected.", p.Remaining.Seconds(), nil)
	}
	if p.saved >= 0 {
		c.gauge("checkpoint_iteration", "Iteration of the newest checkpoint that this process has written.",
			float64(p.saved), nil)
		c.gauge("checkpoint_timestamp_seconds", "Time when it was written, in seconds since 1970.",
			float64(p.savedAt.UnixMilli())/1000, nil)
	}
	if !p.expires.IsZero() {
		c.gauge("certificate_expiry_timestamp_seconds",
			"Time when the agent's certificate expires, in seconds since 1970.", float64(p.expires.Unix()), nil)
	}
}

// sendRecord sends the numbers of a record that are known.
func (c metrics) sendRecord(r *runs.Record) {
	c.gauge("record_iteration", "Iteration of the newest record, of which the following are.",
		float64(r.Iteration), nil)
	for _, v := range []struct {
		name, help string
		value      runs.Number
	}{
		{"phi", "Φ, the validation loss at the best model for λ.", r.Phi},
		{"gradient_norm", "Norm of the gradient of Φ.", r.GradNorm},
		{"train_loss", "Training loss of an example.", r.TrainLoss},
		{"validation_loss", "Validation loss of an example.", r.ValLoss},
		{"holdout_loss", "Loss of a validation example that tunes nothing.", r.HoldoutLoss},
		{"test_loss", "Test loss of an example.", r.TestLoss},
		{"iterations_per_second", "Iterations a second since the record before, by their median time.",
			1000 / r.MsPerIteration},
	} {
		if v.value.Known() {
			c.gauge(v.name, v.help, float64(v.value), nil)
		}
	}
}

// sendMembership sends who takes part in a run whose members may change.
func (c metrics) sendMembership(s dsbogrpc.Status) {
	c.gauge("membership_epoch", "How often the members have changed.", float64(s.Epoch), nil)
	c.gauge("members", "Agents that take part.", float64(len(s.Members)), nil)
	c.gauge("members_left_as_slow",
		"Agents that are left out at present because the others had to wait too long for what they compute.",
		float64(len(s.Slow)), nil)
	c.gauge("membership_waiting", "1 while the members must change and cannot, for want of a quorum or of edges.",
		indicator(s.Waiting != ""), nil)
}

// sendExchange sends how far the exchange is, what it has sent, and for whom it waits.
func (c metrics) sendExchange(s dsbogrpc.Status) {
	c.gauge("round", "The next exchange, or the one under way; a rollback lowers it.", float64(s.Round), nil)
	c.counter("rollbacks", "Times that the agent went back to an earlier exchange.", float64(s.Rewinds), nil)
	c.counter("refused_connections", "Connections that were refused.", float64(s.Refused), nil)
	c.counter("vectors_sent", "Vectors sent, one to each neighbour in an exchange, without repetitions.",
		float64(s.Vectors), nil)
	c.counter("vector_bytes_sent", "Bytes of the numbers in them.", float64(s.VectorBytes), nil)
	waiting := 0.0
	if s.Holdup != nil {
		waiting = s.Holdup.Waiting.Seconds()
		c.gauge("holdup_agent", "The agent that holds up the exchange under way, in the end.",
			float64(s.Holdup.Agent), nil)
	}
	c.gauge("waiting_seconds", "Time for which the exchange under way has waited for others; 0: it does not.", waiting,
		nil)
	c.gauge("stalled", "1 if it has waited for one that does not compute for so long that the log says so.",
		indicator(s.Stalled), nil)
}

// sendNeighbour sends the state of the connection to a neighbour, and what passed on it.
func (c metrics) sendNeighbour(n dsbogrpc.Neighbour) {
	neighbour := prometheus.Labels{"neighbour": fmt.Sprint(n.Agent)}
	c.gauge("neighbour_connected", "1 if there is a connection.", indicator(n.Connected), neighbour)
	c.gauge("neighbour_round", "Exchanges that the neighbour is known to have sent.", float64(n.Round), neighbour)
	c.gauge("neighbour_silent_seconds", "Time since the neighbour was heard.", n.Silent.Seconds(), neighbour)
	c.gauge("neighbour_present_waiting_seconds",
		"Time for which the exchange under way has waited for the neighbour's vector.", n.Waiting.Seconds(), neighbour)
	c.gauge("neighbour_slow",
		"1 if the neighbour computes and the exchange has waited for it for so long that it should be left out.",
		indicator(n.Slow), neighbour)
	c.counter("neighbour_waiting_seconds", "Time spent waiting for the neighbour's vectors.",
		n.Waited.Seconds(), neighbour)
	c.counter("neighbour_connects", "Connections made to the neighbour.", float64(n.Connects), neighbour)
	c.counter("neighbour_frames_sent", "Frames sent to the neighbour, of all kinds.", float64(n.FramesSent), neighbour)
	c.counter("neighbour_bytes_sent", "Bytes of them, without what TLS and gRPC add.", float64(n.BytesSent), neighbour)
	c.counter("neighbour_frames_received", "Frames received from the neighbour, of all kinds.",
		float64(n.FramesReceived), neighbour)
	c.counter("neighbour_bytes_received", "Bytes of them, without what TLS and gRPC add.",
		float64(n.BytesReceived), neighbour)
	c.counter("neighbour_resent", "Vectors sent to the neighbour again.", float64(n.Resent), neighbour)
	c.counter("neighbour_offences", "Connections to the neighbour that ended because of what it sent.",
		float64(n.Offences), neighbour)
	c.counter("neighbour_duplicates", "Vectors received from the neighbour again.", float64(n.Duplicates), neighbour)
}
