// Package holdup finds out who holds up a run. Each agent says with its heartbeats what it does and
// whom it waits for in the end ([Report]), so that all agents of a chain name the agent at its end.
//
// A [Watch] is a state machine without input and output: it is told what its agent does
// ([Watch.Begin], [Watch.Advance]), judges neighbours by what is known of them ([Watch.Judge]), and
// counts the heartbeats of one exchange ([Watch.Beat]), which ends in a verdict ([Watch.Exceeds]).
// report.go has the reports, watch.go the counts. A Watch belongs to one goroutine at a time.
package holdup
