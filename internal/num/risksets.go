package num

import (
	"math"
	"slices"
)

// RiskSets are the rows of Cox's partial likelihood in the order of their times. At the time of an
// event all rows are at risk whose time is not before it. Event j has a term, in which row i's
// share of the risk is m_ji v_i e^{η_i} over its sum on the rows at risk, with the row's weight v_i
// and score η_i. m_ji is 1, except by Efron's rule: in term l = 0 ... k−1 of k tied events it is 1
// − l/k for these events. Two passes compute all terms: one by falling time for the risk sets, one
// by rising time for the terms of a row.
type RiskSets struct {
	Efron  bool      // the rule for ties; else Breslow's
	keys   []riskKey // of the rows that are there
	spare  []riskKey // of sortKeys
	order  []int     // rows that are there, by time; of equal times the events come last
	tied   []tiedSet // the rows of one time
	scores []float64 // η + log v
}

// A tiedSet is the rows of one time: places in the order where they begin, where the events among
// them begin, and where they end.
type tiedSet struct{ from, events, to int }

// A riskKey is a row with its place in the order: the bits of its time, then whether it has an
// event.
type riskKey struct {
	place uint64
	row   int
}

// SortRisks sorts rows by their times, negative without an event, and leaves rows of weight 0 out.
func SortRisks[T float32 | float64](s *RiskSets, times, weights []T) {
	s.keys, s.order, s.tied = s.keys[:0], s.order[:0], s.tied[:0]
	for i, w := range weights {
		if w > 0 {
			key := riskKey{math.Float64bits(math.Abs(float64(times[i]))) << 1, i} // without a sign they ascend
			if times[i] > 0 {
				key.place++
			}
			s.keys = append(s.keys, key)
		}
	}
	s.sortKeys()
	for at := 0; at < len(s.keys); {
		set := tiedSet{from: at, events: at}
		for t := s.keys[at].place >> 1; at < len(s.keys) && s.keys[at].place>>1 == t; at++ {
			if s.keys[at].place&1 == 0 {
				set.events++
			}
			s.order = append(s.order, s.keys[at].row)
		}
		set.to = at
		s.tied = append(s.tied, set)
	}
}

// sortKeys sorts the keys, of equal ones the first row first, byte by byte from the last on.
// Comparisons took twice as long as a pass over the rows.
func (s *RiskSets) sortKeys() {
	s.spare = slices.Grow(s.spare[:0], len(s.keys))[:len(s.keys)]
	for shift := 0; shift < 64; shift += 8 {
		var from [257]int // first, behind each byte, the count of its keys; then where they begin
		for _, k := range s.keys {
			from[k.place>>shift&255+1]++
		}
		if slices.Contains(from[:], len(s.keys)) { // all have the same byte: their order stays
			continue
		}
		for b := range 256 {
			from[b+1] += from[b]
		}
		for _, k := range s.keys {
			b := k.place >> shift & 255
			s.spare[from[b]] = k
			from[b]++
		}
		s.keys, s.spare = s.spare, s.keys
	}
}

// SetScores sets the scores of the rows present, plus the logarithms of their weights.
func (s *RiskSets) SetScores(scores, weights []float64) {
	for _, i := range s.order {
		if weights[i] != 1 {
			scores[i] += Log(weights[i])
		}
	}
	s.scores = scores
}

// share returns m of the l-th term of k events for these events themselves.
func (s *RiskSets) share(l, k int) float64 {
	if !s.Efron {
		return 1
	}
	return 1 - float64(l)/float64(k)
}

// A logMean is a sum of weights, sum·e^high with the largest exponent among them, and the mean of
// numbers with these weights; the zero sum is of nothing.
type logMean struct{ high, sum, mean float64 }

// with returns the log-mean of m and another part. It updates the mean instead of subtracting sums,
// which would cancel.
func (m logMean) with(part logMean) logMean {
	if m.sum == 0 || m.high < part.high {
		m, part = part, m
	}
	if part.sum == 0 {
		return m
	}
	weight := float64(part.sum * Exp(part.high-m.high))
	m.sum += weight
	m.mean += float64(weight / m.sum * (part.mean - m.mean))
	return m
}

// Fall goes from the last time to the first, so that at has the rows at risk behind it. For each
// event it writes the logarithm of the sum of risks of its term to logs, and the mean of f over its
// risk set to means; nil: not asked for. Entries of rows without an event stay as they are.
func (s *RiskSets) Fall(logs, f, means []float64) {
	var at logMean
	part := func(i int) logMean {
		if f == nil {
			return logMean{s.scores[i], 1, 0}
		}
		return logMean{s.scores[i], 1, f[i]}
	}
	for _, set := range slices.Backward(s.tied) {
		for _, i := range s.order[set.from:set.events] {
			at = at.with(part(i))
		}
		events := s.order[set.events:set.to]
		var tied logMean // apart, as Efron's rule takes only a share of it
		for _, i := range events {
			tied = tied.with(part(i))
		}
		all := at.with(tied)
		for l, i := range events {
			term := all
			if share := s.share(l, len(events)); share < 1 {
				term = at.with(logMean{tied.high, tied.sum * share, tied.mean})
			}
			if logs != nil {
				logs[i] = term.high + Log(term.sum)
			}
			if means != nil {
				means[i] = term.mean
			}
		}
		at = all
	}
}

// Rise goes from the first time to the last, so that at has the terms up to there. For each row it
// writes the sum of g over the terms in whose risk sets the row is, by the row's shares, to sums;
// rows before the first event stay as they are. logs are of [RiskSets.Fall].
func (s *RiskSets) Rise(sums, g, logs []float64) {
	var at logMean
	for _, set := range s.tied {
		events := s.order[set.events:set.to]
		own := at // of the events themselves, of which Efron's rule takes a share
		for l, i := range events {
			own = own.with(logMean{-logs[i], s.share(l, len(events)), g[i]})
		}
		if len(events) == 1 { // with the share 1 in its own term
			at = own
		} else {
			for _, i := range events {
				at = at.with(logMean{-logs[i], 1, g[i]})
			}
		}
		write := func(rows []int, of logMean) {
			for _, i := range rows {
				if of.sum > 0 {
					sums[i] = float64(Exp(s.scores[i]+of.high) * of.sum * of.mean)
				}
			}
		}
		write(s.order[set.from:set.events], at)
		write(events, own)
	}
}

// TieMeans writes to each event the mean of v over the events of its time.
func (s *RiskSets) TieMeans(means, v []float64) {
	for _, set := range s.tied {
		events, mean := s.order[set.events:set.to], 0.0
		for l, i := range events {
			mean += (v[i] - mean) / float64(l+1) // exactly v where all are equal
		}
		for _, i := range events {
			means[i] = mean
		}
	}
}
