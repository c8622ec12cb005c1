package ad

import (
	"cmp"
	"math"
	"slices"

	"dsbo/internal/num"
)

// riskSets are the rows of a riskRule in the order of their times. Its kernels are two passes: by
// falling time for risk sets, and by rising time for the terms that have a row at risk.
type riskSets struct {
	order  []int     // rows that are there, by time; of equal times the events come last
	tied   []tiedSet // the rows of one time
	efron  bool
	scores []float64 // η + log v

	column, logs, made []float64 // of a kernel
}

// A tiedSet is the rows of one time: places in the order where they begin, where the events among
// them begin, and where they end.
type tiedSet struct{ from, events, to int }

// sortRows sorts rows by their times, negative without an event, and leaves rows of weight 0 out.
func sortRows[T Float](s *riskSets, times, weights []T) {
	s.order, s.tied = s.order[:0], s.tied[:0]
	for i, w := range weights {
		if w > 0 {
			s.order = append(s.order, i)
		}
	}
	size := func(i int) T { return max(times[i], -times[i]) }
	slices.SortFunc(s.order, func(i, j int) int {
		return cmp.Or(cmp.Compare(size(i), size(j)), cmp.Compare(times[i], times[j]), cmp.Compare(i, j))
	})
	for at := 0; at < len(s.order); {
		set := tiedSet{from: at, events: at}
		for t := size(s.order[at]); at < len(s.order) && size(s.order[at]) == t; at++ {
			if times[s.order[at]] < 0 {
				set.events++
			}
		}
		set.to = at
		s.tied = append(s.tied, set)
	}
}

// setScores adds the logarithms of weights to the scores of the rows that are there.
func (s *riskSets) setScores(scores, weights []float64) {
	for _, i := range s.order {
		scores[i] += num.Log(weights[i])
	}
	s.scores = scores
}

// share returns log m of the l-th term of k events for these events themselves.
func (s *riskSets) share(l, k int) float64 {
	if !s.efron || l == 0 {
		return 0
	}
	return num.Log(1 - float64(l)/float64(k))
}

// A logMean is the logarithm of a sum of weights e^a, and the mean of numbers with these weights.
type logMean struct{ log, mean float64 }

// noRows is a logMean of nothing.
var noRows = logMean{log: math.Inf(-1)}

// with returns m with another part: a step of the mean in place of a difference of sums.
func (m logMean) with(log, mean float64) logMean {
	if math.IsInf(m.log, -1) {
		return logMean{log, mean}
	}
	high, low := max(m.log, log), min(m.log, log)
	sum := high + num.Log1p(num.Exp(low-high))
	return logMean{sum, m.mean + float64(num.Exp(log-sum)*(mean-m.mean))}
}

// fall goes from the last time to the first, and writes the logarithms of the sums of risks of the
// terms, and the means of f over their risk sets; nil: not asked for.
func (s *riskSets) fall(logs, f, means []float64) {
	mean := func(i int) float64 {
		if f == nil {
			return 0
		}
		return f[i]
	}
	at := noRows
	for _, set := range slices.Backward(s.tied) {
		for _, i := range s.order[set.from:set.events] {
			at = at.with(s.scores[i], mean(i))
		}
		events := s.order[set.events:set.to]
		tied := noRows
		for _, i := range events {
			tied = tied.with(s.scores[i], mean(i))
		}
		for l, i := range events {
			term := at.with(tied.log+s.share(l, len(events)), tied.mean)
			if logs != nil {
				logs[i] = term.log
			}
			if means != nil {
				means[i] = term.mean
			}
		}
		if len(events) > 0 {
			at = at.with(tied.log, tied.mean)
		}
	}
}

// rise goes from the first time to the last, and writes the sums of g over the terms that have a
// row at risk, by the row's shares. logs are the logarithms of the sums of risks.
func (s *riskSets) rise(sums, g, logs []float64) {
	at := noRows
	for _, set := range s.tied {
		events := s.order[set.events:set.to]
		own := at // of the events themselves
		for l, i := range events {
			own = own.with(s.share(l, len(events))-logs[i], g[i])
		}
		for _, i := range events {
			at = at.with(-logs[i], g[i])
		}
		write := func(rows []int, of logMean) {
			for _, i := range rows {
				sums[i] = float64(num.Exp(s.scores[i]+of.log) * of.mean)
			}
		}
		write(s.order[set.from:set.events], at)
		write(events, own)
	}
}

// tieMeans writes the means of v in events of one time.
func (s *riskSets) tieMeans(means, v []float64) {
	for _, set := range s.tied {
		events, mean := s.order[set.events:set.to], 0.0
		for l, i := range events {
			mean += (v[i] - mean) / float64(l+1)
		}
		for _, i := range events {
			means[i] = mean
		}
	}
}
