package command

import (
	"fmt"
	"reflect"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"dsbo/network/session"
	"dsbo/runs"
)

// Describe sends nothing: the metrics depend on the position of the agent.
func (m *monitor) Describe(chan<- *prometheus.Desc) {}

// Collect implements prometheus.Collector. There are metrics of the exchange and of neighbours once
// the agent has opened its end of the exchange (status), and metrics of members in runs whose
// members may change.
func (m *monitor) Collect(to chan<- prometheus.Metric) {
	c, p := metrics(to), m.current()
	c.send(prometheus.Labels{"run": m.run, "agent": fmt.Sprint(m.agent)},
		metric{"agent_info", "The run and the number of the agent.", 1})
	c.send(m.build, metric{"build_info", "The program of the agent.", 1})
	c.sendPosition(p)
	if p.record != nil {
		c.sendRecord(p.record)
	}
	if p.status == nil {
		return
	}
	s := p.status()
	if s.Quorum > 0 { // the members may change
		c.send(nil,
			metric{"membership_epoch", "How often the members have changed.", s.Epoch},
			metric{"members", "Agents that take part.", len(s.Members)},
			metric{"members_left_as_slow",
				"Agents that are left out at present because the others had to wait too long for what they compute.",
				len(s.Slow)})
	}
	c.sendExchange(s)
	for _, n := range s.Neighbours {
		c.sendNeighbour(n)
	}
}

// metrics is where Prometheus receives an agent's metrics. Their names begin with dsbo_.
type metrics chan<- prometheus.Metric

// A metric is a number, a truth value, a duration in seconds or a time in seconds since 1970. The
// name of a counter ends with _total; the others are gauges.
type metric struct {
	name, help string
	value      any
}

// send sends metrics to Prometheus: names that end in _total are counters, all others gauges.
func (c metrics) send(labels prometheus.Labels, all ...metric) {
	for _, m := range all {
		kind := prometheus.GaugeValue
		if strings.HasSuffix(m.name, "_total") {
			kind = prometheus.CounterValue
		}
		desc := prometheus.NewDesc("dsbo_"+m.name, m.help, nil, labels)
		c <- prometheus.MustNewConstMetric(desc, kind, metricValue(m.value))
	}
}

// metricValue returns a metric's value: bools are 0 or 1, times are in seconds. Whole numbers of
// all kinds, and runs.Number, are converted by their kind.
func metricValue(value any) float64 {
	switch v := value.(type) {
	case bool:
		if v {
			return 1
		}
		return 0
	case time.Duration:
		return v.Seconds()
	case time.Time:
		return float64(v.UnixMilli()) / 1000
	}
	return reflect.ValueOf(value).Convert(reflect.TypeFor[float64]()).Float()
}

// sendPosition sends how far the run is, its newest checkpoint, and when the agent's
// certificate expires.
func (c metrics) sendPosition(p position) {
	c.send(prometheus.Labels{"phase": p.Phase},
		metric{"step", "Steps done in the phase.", p.Done},
		metric{"steps", "Steps of the phase in all.", p.Total})
	c.send(nil, metric{"progress", "Share of the run's time that is spent, from 0 to 1.", p.Share})
	if p.Remaining >= 0 {
		c.send(nil, metric{"left_seconds", "Time to the end of the run, as it is expected.", p.Remaining})
	}
	if p.saved >= 0 {
		c.send(nil,
			metric{"checkpoint_iteration",
				"Iteration of the newest checkpoint that this process has written.", p.saved},
			metric{"checkpoint_timestamp_seconds", "Time when it was written, in seconds since 1970.", p.savedAt})
	}
	if !p.expires.IsZero() {
		c.send(nil, metric{"certificate_expiry_timestamp_seconds",
			"Time when the agent's certificate expires, in seconds since 1970.", p.expires})
	}
}

// sendRecord sends the numbers of a record that are known.
func (c metrics) sendRecord(r *runs.Record) {
	c.send(nil, metric{"record_iteration", "Iteration of the newest record, of which the following are.", r.Iteration})
	for _, m := range []metric{
		{"phi", "Φ, the validation loss at the best model for λ.", r.Phi},
		{"gradient_norm", "Norm of the gradient of Φ.", r.GradNorm},
		{"train_loss", "Training loss of an example.", r.TrainLoss},
		{"validation_loss", "Validation loss of an example.", r.ValLoss},
		{"holdout_loss", "Loss of a validation example that tunes nothing.", r.HoldoutLoss},
		{"test_loss", "Test loss of an example.", r.TestLoss},
		{"iterations_per_second", "Iterations a second since the record before, by their median time.",
			1000 / r.MsPerIteration},
	} {
		if m.value.(runs.Number).Known() {
			c.send(nil, m)
		}
	}
}

// sendExchange sends how far the session is, what it has sent, and for whom it waits.
func (c metrics) sendExchange(s session.Status) {
	var waiting time.Duration
	if s.Holdup() != "" {
		waiting = s.Since
		for _, agent := range s.Holdups {
			c.send(prometheus.Labels{"for": fmt.Sprint(agent)},
				metric{"waits", "1 for each agent for which this one waits.", true})
		}
	}
	c.send(nil,
		metric{"ready", "1 while the agent computes or waits for one that does; 0 while /readyz is 503.", isReady(s)},
		metric{"waiting_seconds",
			"Time for which the agent has waited for others, to meet or in an exchange; 0: it does not.", waiting},
		metric{"session", "The session under way, or the last one.", s.Session},
		metric{"meets", "1 while the agents meet, and no session is under way.", s.Meets},
		metric{"exchange", "The exchange of the session that is under way.", s.Exchange},
		metric{"refused_connections_total", "Connections that were refused.", s.Refused},
		metric{"session_vectors_sent", "Vectors sent in the session, one to each neighbour in an exchange.", s.Vectors},
		metric{"session_vector_bytes_sent", "Bytes of the numbers in them.", s.VectorBytes})
}

// sendNeighbour sends the state of the connection to a neighbour, and what passed on it.
func (c metrics) sendNeighbour(n session.Neighbour) {
	c.send(prometheus.Labels{"neighbour": fmt.Sprint(n.Agent)},
		metric{"neighbour_connected", "1 if there is a connection.", n.Connected},
		metric{"neighbour_silent_seconds", "Time since the neighbour was heard.", n.Silent},
		metric{"neighbour_session_waiting_seconds",
			"Time of the session spent waiting for the neighbour's vectors.", n.Waited},
		metric{"neighbour_connects_total", "Connections made to the neighbour.", n.Connects},
		metric{"neighbour_frames_sent_total", "Frames sent to the neighbour, of all kinds.", n.FramesSent},
		metric{"neighbour_bytes_sent_total", "Bytes of them, without what TLS and gRPC add.", n.BytesSent},
		metric{"neighbour_frames_received_total",
			"Frames received from the neighbour, of all kinds.", n.FramesReceived},
		metric{"neighbour_bytes_received_total", "Bytes of them, without what TLS and gRPC add.", n.BytesReceived})
}
