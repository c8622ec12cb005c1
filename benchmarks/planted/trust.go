package main

// trustBugs are those of whom an agent believes, and of what others may do to it.
func trustBugs() []bug {
	const grpc, pki, disk = "network/grpc", "pki", "internal/disk"
	return []bug{
		one("an admission's signature is not checked", "network/pki.TestAdmission", pki+"/admission.go",
			"\tif !signed {\n", "\tif !signed && len(signature) == 0 {\n"),
		one("an admission to a run with other settings", "network/pki.TestAdmission", pki+"/admission.go",
			"m.unsignedText(), run, hash)", "m.unsignedText(), run, \"\")"),
		one("a key's signature is not checked", "network/pki.TestSign", pki+"/sign.go",
			"return until, chain[0].CheckSignature(", "return until, nil\n\treturn until, chain[0].CheckSignature("),
		one("a known agent with another key", "network/grpc.TestOtherKeyRefused", grpc+"/keys.go",
			"h.key != string(before) {", "len(h.key) != len(before) {"),
		one("the digest of the arithmetic is not compared", "network.TestMixable", "network/program.go",
			"if p.Arithmetic == other.Arithmetic {", "if len(p.Arithmetic) == len(other.Arithmetic) {"),
		one("a hello's program is not compared", "network/grpc.TestVisitorsRefused", grpc+"/accept.go",
			"c.Agent), c.Program); err != nil {", "c.Agent), c.Program); err != nil && h.to != c.Agent {"),
		one("the later process is the one that ends", "network/grpc.TestFence", grpc+"/fence.go",
			"instance < e.instance &&", "instance > e.instance &&"),
		one("who offends again is refused no longer", "network/grpc.TestBarsGrow", grpc+"/offence.go",
			"max(2*e.barBeats, firstBar)", "firstBar"),
		one("a neighbour's numbers are not looked at", "network/grpc.TestGarbageIsTheSenders", grpc+"/mixer.go",
			"&notFinite == 0 && !finite(m.terms[k]) {", "&notFinite != 0 && !finite(m.terms[k]) {"),
		one("another agent's fault has the code of divergence", "internal/cli.TestCode", "internal/cli/cli.go",
			"\tcase errors.Is(err, dsbo.ErrPeer):\n\t\treturn Failure\n", ""),
		one("texts of others move the cursor", "internal/wording.TestText", "internal/wording/plain.go",
			"!strconv.IsPrint(r)", "r == '\\n'"),
		one("a secret that its group can read", "internal/disk.TestCheckSecret", disk+"/secret_unix.go",
			"os.FileMode(0o077)", "os.FileMode(0o007)"),
		one("a stranger sends without bound", "internal/guard.TestStranger", "internal/guard/entrance.go",
			"c.allowance.Store(l.limits.Bytes)", "c.allowance.Store(1 << 40)"),
		one("heartbeats begin the wait anew", "network/grpc.TestHeldUp", grpc+"/progress.go",
			"\tif !h.Computing {\n\t\tm.stalledBeats++", "\tif h.cause == causeSilence {\n\t\tm.stalledBeats++"),
		one("who computes is waited for without end", "network/grpc.TestHeldUp", grpc+"/progress.go",
			"stalled < patience && waited < c.ComputeTimeout ||", "stalled < patience && waited >= 0 ||"),
		one("restarts are counted for life", "command.TestRestartsOfAnHour", "command/supervise.go",
			"now.Sub(t) >= time.Hour", "now.Sub(t) < 0"),
		one("SIGHUP ends the process at once", "internal/cli.TestBegin", "internal/cli/cli.go",
			"\t\tsignals = append(signals, syscall.SIGHUP)\n", "\t\tsignals = append(signals, syscall.SIGTERM)\n"),
	}
}
