package plan

import (
	"dsbo/algo"
	"dsbo/network"
)

// addIterations lists what the method sends, by its Cost.
func (l *listing) addIterations() error {
	c := l.Config
	m := algo.Clone(c.Method)
	if err := m.Init(l.p, l.q, c.K); err != nil {
		return err
	}
	var times [4]Range // as averagesOf has them
	var messages, floats int
	shortest := l.leastIterations()
	for k := range c.K {
		least, usual, most := algo.ForecastOf(m, k, l.Experience.Experience)
		if k >= shortest {
			least = algo.Cost{}
		}
		for i, n := range times {
			times[i] = n.plus(Range{l.averagesOf(least)[i], l.averagesOf(usual)[i], l.averagesOf(most)[i]})
		}
		messages, floats = messages+most.Messages, floats+most.Floats
	}
	way, rounds, err := l.averageWay()
	if err != nil {
		return err
	}
	for i, q := range []Quantity{
		{Name: "gradients and Hessian products", Length: l.q, Wire: l.wire},
		{Name: "hypergradient", Length: l.p, Wire: l.wire},
		{Name: "diagonals of the Hessian", Length: l.q, Wire: l.wire, With: way == BySum},
		{Name: "validation losses, votes", Length: 1, losses: true},
	} {
		q.Way, q.Times = way, times[i].Times(rounds)
		l.add(q)
	}
	if messages > 0 {
		l.add(Quantity{Name: "copies of x, y, z, trackers", Way: ByMix, Length: floats / messages, Wire: l.wire,
			Times: exactly(messages), more: float64(floats%messages) / float64(messages)})
	}
	return nil
}

// leastIterations returns how many iterations the run has at least: it may end as soon as
// patience does.
func (l *listing) leastIterations() int {
	if c := l.Config; c.Patience > 0 && l.HeldOut {
		return min(c.K, c.Patience*c.EvalEvery)
	}
	return l.Config.K
}

// averagesOf returns how many averages of q numbers, of p, of q with others and of one an iteration
// has.
func (l *listing) averagesOf(c algo.Cost) (n [4]float64) {
	if c.Averages == 0 {
		return n
	}
	long := (c.AverageFloats - c.JVP*l.p) / l.q // the numbers in short ones are few
	return [4]float64{float64(long - c.Joined), float64(c.JVP), float64(c.Joined), float64(c.Averages - long - c.JVP)}
}

// averageWay returns how the terms of a method's averages leave an agent, and how often each.
func (l *listing) averageWay() (way Way, rounds float64, err error) {
	o, w := l.Config.Problem.Average, l.Config.W
	if !o.ByMix {
		return BySum, 1, nil
	}
	averages, err := network.NewAverages(nil, w, o)
	if err != nil {
		return ByMix, 0, err
	}
	return ByMix, float64(averages.Cost(0, 1, l.wire, network.OnePass).Messages) / float64(w.Sends(0)), nil
}
