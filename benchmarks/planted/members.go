package main

// memberBugs are those of runs whose members change.
func memberBugs() []bug {
	const council, grpc, membership, algo, train = "membership/council", "network/grpc", "membership", "algo", "train"
	const seat, vote, propose = council + "/seat.go", council + "/vote.go", council + "/propose.go"
	one := func(name string, file, old, new string, packages ...string) bug {
		return bug{name, []edit{{file, old, new}}, packages}
	}
	return []bug{
		one("a promise that is not on disk", vote, "if err := c.Records.SaveVote(c.vote); err != nil {\n\t\t\treturn fmt.Errorf(\"the promise",
			"if err := error(nil); err != nil {\n\t\t\treturn fmt.Errorf(\"the promise", council),
		one("a vote that is not on disk", vote, "if err := c.Records.SaveVote(c.vote); err != nil {\n\t\t\treturn fmt.Errorf(\"the vote",
			"if err := error(nil); err != nil {\n\t\t\treturn fmt.Errorf(\"the vote", council),
		one("a vote for an older ballot", vote, "if m.Ballot.Compare(c.vote.Promised) < 0 || c.vote.Sealed", "if c.vote.Sealed", council),
		one("a quorum of one less", propose, "len(a.votes) >= c.Quorum:", "len(a.votes) >= c.Quorum-1:", council),
		one("what was voted for before is not proposed", propose, "a.change, a.again = latest.Change, latest.Change != nil", "a.change, a.again = nil, false", council),
		one("messages of an old epoch are counted", seat, "if m.Epoch != c.epoch.Number+1 {", "if m.Epoch > c.epoch.Number+1 {", council),
		one("a quorum of half", membership+"/log.go", "case 2*quorum <= roster:", "case 2*quorum < roster:", membership, council),
		one("old epoch accepted", grpc+"/part.go", "s.said == epoch && s.theirs == epoch", "s.said == epoch && s.theirs <= epoch", grpc),
		one("masks of the epoch before", grpc+"/mask.go", "if k.epoch == 0 {", "if k.epoch >= 0 {", grpc),
		one("checkpoints that a promise names do not stay", vote, "c.name(points)\n\t\tif err := c.Records.SaveVote(c.vote)",
			"c.name(points)\n\t\tother := c.vote\n\t\tother.Points, other.Earlier = nil, nil\n\t\tif err := c.Records.SaveVote(other)", council),
		one("what is handed over is of the giver's epoch", train+"/handover.go", "\tfound.Enters = epoch\n", "", train),
		one("a tracker is not corrected after a leave", algo+"/reform.go", "copy(r.part, r.to)", "_ = r.to", algo, train),
		one("what begins anew goes on after a leave", algo+"/reform.go", "\t\t\tclear(r.part)\n", "", algo, train),
	}
}
