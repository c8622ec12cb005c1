package main

// lossBugs are those of states, disks and agents that are lost where members change.
func lossBugs() []bug {
	const council, grpc = "network/membership/council", "network/grpc"
	return []bug{
		one("a member that has lost its state counts as slow", "network/membership/council.TestSlowAndLost", council+"/slow.go",
			"accused[i] && !c.isAsking(i) && ", "accused[i] && "),
		one("a vote forgets the checkpoint of an earlier ballot's change", "network/membership/council.TestVotedCheckpointsStay", council+"/vote.go",
			"return p != point && !slices.Contains(c.vote.Earlier, p) })", "return p != point })"),
		one("the state of a later epoch is handed over", "experiment.TestOneAgentFinishedBefore", "experiment/council.go",
			"p.Iteration == e.Iteration && canResumeFrom(log[:epoch], p, f.agent, f.agents) {", "p.Iteration == e.Iteration {"),
		one("who has finished in an epoch before is finished", "experiment.TestOneAgentFinishedBefore", "runs/folder.go",
			"summary.Epoch < len(log) {", "summary.Epoch > len(log) {"),
		one("one lost disk in the first epoch has all begin again", "experiment/simulate.TestLostDisk", grpc+"/blank.go",
			"known: len(points) > 0 && ", "known: len(points) < 0 && "),
		one("who is cut off at the end takes the others for having left", "network/grpc.TestCutOffAtTheEnd", grpc+"/edge.go",
			"e.m.allFinished() && !e.m.isCutOff()", "e.m.allFinished()"),
		one("those that are left out keep each other waiting", "network/grpc.TestIsolation", grpc+"/chamber.go",
			"if all || m.chamber.isMember(e.id) {", "if all || e != nil {"),
	}
}
