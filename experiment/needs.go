package experiment

import (
	"dsbo/algo"
	"dsbo/data"
	"dsbo/experiment/site"
)

// AskSite asks, by need, whether the policy of this agent's site permits the job, of n agents at
// the start, as far as flags and the site's own table tell what it needs. Needs that depend on
// common results are asked later, by Job.Site. Errors other than the policy's match dsbo.ErrConfig.
//
// from has the needs of the exchange: whether sums are unmasked, and who can admit agents. A method
// that mixes sends its vectors to neighbours unmasked. With the noise of differential privacy none
// of these needs permission.
func (j *Job) AskSite(agent, n int, from site.Request, need site.Need) error {
	s := j.Settings
	p, err := j.resolveParameters()
	if err != nil {
		return err
	}
	m := algo.Clone(p.method)
	if err := m.Init(1, 1, s.Iterations); err != nil { // for its Cost, which is the same whatever p and q are
		return err
	}
	mixes, shown := false, Sites{}
	for k := range min(s.Iterations, askedIterations) { // some methods do not mix in the first ones
		mixes = mixes || m.Cost(k).Messages > 0
	}
	if j.Task.SiteFlags != nil && s.Epsilon == 0 {
		shown = j.Task.SiteFlags()
	}
	if err := need(func(r *site.Request) {
		*r = from
		r.Task, r.Method, r.Sites = j.Task.Name, s.Algorithm, n
		if r.Epsilon = s.Epsilon; s.Epsilon > 0 {
			r.Delta = s.Delta
		}
		r.OwnResults, r.Models = shown.Compare, shown.Exchange
		r.Unmasked = (r.Unmasked || mixes) && s.Epsilon == 0
		r.AskRows(s.Batch)
	}); err != nil || j.Task.AskSite == nil {
		return err
	}
	return j.Task.AskSite(Agents{N: max(n, agent+1), Start: n, Local: []int{agent}, Seed: s.Seed, Own: true,
		Private: s.Epsilon != 0, Collective: unmet, Need: need})
}

// askRows asks the policies of this process's sites whether their rows may be used. Each set of
// rows gives a site's term of a sum; a policy may require a least number of rows for a term.
func (r *run) askRows(t data.Task, local ...int) error {
	if r.job.Site == nil {
		return nil
	}
	for _, i := range local {
		s := t.Shards[i]
		test, err := t.TestPart(i)
		if err != nil {
			return err
		}
		if err := r.job.Site(func(q *site.Request) {
			q.AskRows(s.Train.Len(), s.Val.Len(), s.Holdout.Len(), test.Len())
		}); err != nil {
			return err
		}
	}
	return nil
}
