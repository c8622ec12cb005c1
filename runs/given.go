package runs

import (
	"bytes"
	"slices"

	"dsbo"
	"dsbo/network/membership"
)

// TakeResult puts into the folder of an agent what another one has found that has finished the run
// and knows that all have, in its folder from: the agent was left out, and came back when they had
// gone. Its own folder is locked; what it holds is replaced, as what is in it of an earlier epoch
// counts for nothing. The last change of the members must be the council's, with the votes of its
// quorum, which verify checks, and must follow on the changes that this agent knows. Errors match
// dsbo.ErrConfig.
//
// A second call with another folder of the run writes the same λ, ω and records. Times are unknown:
// the agent has not computed them.
func (f Folder) TakeResult(own Membership, council membership.Council, verify membership.Verifier,
	identity string, from Folder) error {
	p, err := readPart(from)
	if err != nil {
		return err
	}
	known, err := f.ReadChanges()
	if err != nil {
		return err
	}
	switch n := len(p.changes); {
	case p.Run != own.Run || p.Hash != own.Hash || p.Agents != own.Agents || p.Unconfirmed:
		return dsbo.ConfigErrorf(
			"%s must be of run %s with the cluster file %.12s, and know that all have finished; it is of run %s "+
				"with %.12s",
			from, own.Run, own.Hash, p.Run, p.Hash)
	case n == 0 || slices.Contains(p.members(), own.Agent):
		return dsbo.ConfigErrorf(
			"agent %d must have been left out before the end, to take the result of %s; there it is a member",
			own.Agent, from)
	case p.changes[n-1].Proof == nil || p.changes[n-1].Proof.Council != council:
		return dsbo.ConfigErrorf("the changes in %s must have the votes of the council of %+v", from, council)
	case !bytes.HasPrefix(p.changes.Unsigned().Bytes(), known.Unsigned().Bytes()):
		return dsbo.ConfigErrorf("%s must have the changes of members that %s has", from, f)
	}
	if err := p.changes.VerifyVotes(verify); err != nil {
		return err
	}
	if err := f.Open(Replace); err != nil {
		return err
	}
	p.Config.Identity = identity
	p.Summary.Times, p.Summary.Waited = Times{}, nil
	for k := range p.Records {
		p.Records[k].Times = Times{}
	}
	if err := p.Write(f); err != nil {
		return err
	}
	return f.WriteMembership(own)
}
