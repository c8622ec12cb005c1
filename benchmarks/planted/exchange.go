package main

// exchangeBugs are those of the exchange over gRPC.
func exchangeBugs() []bug {
	const grpc = "network/grpc"
	const edge, window, end, mixer = grpc + "/edge.go", grpc + "/window.go", grpc + "/end.go", grpc + "/mixer.go"
	exchange := func(name string, file, old, new string) bug {
		return bug{name, []edit{{file, old, new}}, []string{grpc}}
	}
	return []bug{
		exchange("credit off by one", edge, "e.credit = f.exchange + 1\n", "e.credit = f.exchange + 2\n"),
		exchange("resent from the exchange after", edge, "\te.sendFrom(h.next)\n", "\te.sendFrom(h.next + 1)\n"),
		exchange("a hello asks for the exchange before", edge, "sent: e.m.window.end(), next: e.received,", "sent: e.m.window.end(), next: max(0, e.received-1),"),
		exchange("a hello asks for the exchange after", edge, "sent: e.m.window.end(), next: e.received,", "sent: e.m.window.end(), next: e.received + 1,"),
		exchange("digests are not compared", window, "return known && before != vector", "return known && before.purpose != vector.purpose"),
		exchange("future exchanges are accepted", edge, "case f.exchange > min(e.received, m.window.end()):", "case f.exchange > e.received:"),
		exchange("a duplicate is taken for the next vector", edge, "if f.exchange < e.received {\n\t\te.stats.Duplicates++\n\t\treturn nil", "if f.exchange < e.received {\n\t\te.stats.Duplicates++"),
		exchange("vectors from before a rewind are an error", edge, "\te.received, e.stale = exchange, true\n", "\te.received, e.stale = exchange, false\n"),
		exchange("a rewind asks for nothing", edge, "\te.due = kindResend\n", "\te.due = kindAlive\n"),
		exchange("a rewind sends on from where it was", edge, "\te.next = min(e.next, exchange)\n", ""),
		exchange("one vector less is kept", window, "const minKept = 2", "const minKept = 1"),
		exchange("a rewind keeps what was sent", window, "\tw.entries = w.entries[:keep]\n", ""),
		exchange("the window starts an exchange late", window, "\t\tw.start++\n", "\t\tw.start += 2\n"),
		exchange("left before all have finished", end, "func (m *Mixer) allFinished() bool { return m.sealed || m.radius() >= ", "func (m *Mixer) allFinished() bool { return 1+m.radius() >= "),
		exchange("left before others know that all have finished", end, "func (m *Mixer) drained() bool { return m.recorded && m.radius() == m.lastRadius() }",
			"func (m *Mixer) drained() bool { return m.recorded }"),
		exchange("who goes back still counts as finished", edge, "\t\te.setRadius(0)\n", ""),
		exchange("silence is not counted", edge, "\te.silent++\n", ""),
		exchange("neighbours swapped", mixer, "\t\t\te, edges = edges[0], edges[1:]\n\t\t\tpayload", "\t\t\te, edges = edges[len(edges)-1], edges[:len(edges)-1]\n\t\t\tpayload"),
		exchange("the vector of the exchange before", mixer, "payload = e.slot[m.round%2]", "payload = e.slot[(m.round+1)%2]"),
		exchange("masks used again", grpc+"/mask.go", "binary.BigEndian.PutUint64(iv[:], uint64(exchange))", "binary.BigEndian.PutUint64(iv[:], uint64(exchange/2))"),
		exchange("masks of the same sign", grpc+"/mask.go", "addNumbers(chunk, numbers[:len(chunk)], other < k.agent)", "addNumbers(chunk, numbers[:len(chunk)], other < 0)"),
		exchange("exchange numbers of 16 bits", grpc+"/frame.go", "binary.LittleEndian.PutUint64(b[8:], uint64(h.exchange))", "binary.LittleEndian.PutUint64(b[8:], uint64(uint16(h.exchange)))"),
		exchange("a certificate of another agent", grpc+"/accept.go", "\tif agent != h.from {\n", "\tif agent < 0 {\n"),
		exchange("settings are not compared", grpc+"/accept.go", "case h.config != c.Hash:", "case len(h.config) != len(c.Hash):"),
		exchange("sums go down from the wrong depth", grpc+"/reduce.go", "\t\tcase sending + 1:\n\t\t\tfrom = []int{t.Parent[r.agent]}\n", "\t\tcase sending + 2:\n\t\t\tfrom = []int{t.Parent[r.agent]}\n"),
	}
}
