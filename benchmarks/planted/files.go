package main

// fileBugs are those of run folders, of checkpoints and of the way back to them.
func fileBugs() []bug {
	const disk, runs, train, experiment = "internal/disk", "runs", "train", "experiment"
	one := func(name string, file, old, new string, packages ...string) bug {
		return bug{name, []edit{{file, old, new}}, packages}
	}
	return []bug{
		one("no fsync of a file", disk+"/disk.go", "w.Flush, f.Sync, f.Close}", "w.Flush, f.Close}", disk, experiment),
		one("no fsync of a folder", disk+"/disk.go", "\treturn SyncDir(filepath.Dir(path))\n", "\treturn nil\n", disk, experiment),
		one("no fsync of records", runs+"/metrics.go", "return m.size, m.sum.Sum(nil), m.file.Sync()", "return m.size, m.sum.Sum(nil), nil", runs, train, experiment),
		one("a checkpoint has the exchange after its own", train+"/checkpoint.go", "Round: r.round, Seconds", "Round: r.round + 1, Seconds", train),
		one("a checkpoint's checksum is not compared", train+"/checkpoint.go", "!bytes.Equal(sum[:], want) {", "!bytes.Equal(sum[:0], want[:0]) {", train),
		one("a checkpoint is without the state of averages", train+"/checkpoint.go", "\t\tc.add(r.agents[i].id, r.agents[i].mixer.State())\n", "", train),
		one("records after a checkpoint are written twice", train+"/resume.go", "\t\terr = r.metrics.Repeat()\n", "\t\terr = nil\n", train),
		one("records of an epoch before stay", train+"/resume.go", "\t\t\terr = r.metrics.Cut()\n", "\t\t\terr = r.metrics.Repeat()\n", train),
		one("what a run has gone back from is removed", runs+"/checkpoints.go", "newest := i >= len(all)-keptCheckpoints || i < behind", "newest := i < behind", runs, train),
		one("the count of iterations is not restored", train+"/resume.go", "\t\ta.k, a.earlier = c.Iteration, c.Usage[k]\n", "\t\ta.earlier = c.Usage[k]\n", train),
		one("gone back to a checkpoint that is too new", experiment+"/oneagent.go", "if p.Round <= limit &&", "if p.Round-1 <= limit &&", experiment),
		one("one checkpoint is kept", runs+"/checkpoints.go", "const keptCheckpoints = 3", "const keptCheckpoints = 1", runs, train),
		one("a finished agent that goes back is still finished", experiment+"/oneagent.go", "if r.done = s.Round <= limit; r.done {", "if r.done = true; r.done {", experiment),
	}
}
