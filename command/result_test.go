package command

import (
	"bytes"
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"dsbo/command/cluster"
	"dsbo/internal/cli"
	"dsbo/internal/testkit"
	"dsbo/network/membership"
	"dsbo/network/pki"
	"dsbo/runs"
)

// TestResultOfAnother: an agent that the others have left out, and that is started when they have
// finished, ends with the result in the folder of one of them, and so do further starts. With its
// certificate it takes none whose changes the agents of this run have not signed.
func TestResultOfAnother(t *testing.T) {
	dir, now := t.TempDir(), time.Now().UTC()
	file := writeCluster(t, dir, 3, map[string]any{"quorum": 2, "absent_after": "1m"})
	certs := filepath.Join(dir, "certs")
	runCommand(t, "pki", "-cluster="+file, "-out="+certs)
	c := testkit.Get(cluster.Load(file, testProgram().checkTask))
	finished := func(name string, sign func(agent int, text []byte) membership.Signature) string {
		change := membership.Change{Epoch: 1, Iteration: 1, Members: []int{0, 2}, Time: now.Format(time.RFC3339),
			Why: []string{"agent 1 left"}}
		council := membership.Council{Run: c.Run, Settings: c.Hash(), Quorum: 2}
		proof := &membership.Proof{Council: council, Ballot: membership.Ballot{Number: 1}, Stage: membership.SecondVote}
		for _, i := range change.Members {
			text := council.VoteText(proof.Stage, proof.Ballot, 1, change.Digest())
			proof.Votes = append(proof.Votes, sign(i, text))
		}
		change.Proof = proof
		log := filepath.Join(dir, name+".jsonl")
		testkit.OK(runs.Folder(dir).WriteFile(name+".jsonl", membership.Log{change}.Bytes()))
		out := alone(t, filepath.Join(dir, name), "-agents=3", "-graph=complete", "-membership="+log)
		testkit.OK(runs.Folder(out).WriteMembership(runs.Membership{Run: c.Run, Hash: c.Hash(), Agents: 3}))
		return out
	}
	signed := finished("signed", func(i int, text []byte) membership.Signature {
		id := testkit.Get(pki.Load(certs, i, now))
		return membership.Signature{Agent: i, Certificate: id.Certificate(), Signature: testkit.Get(id.Sign(text))}
	})
	open := finished("open", membership.SignOpenly)
	late := func(agent int, from string) []string {
		return []string{"agent", fmt.Sprintf("-agent=%d", agent), "-cluster=" + file, "-certs=" + certs,
			"-out=" + filepath.Join(dir, "out"), "-result=" + from}
	}
	for want, args := range map[string][]string{
		"the vote of agent 0 for the change to epoch 1": late(1, open),
		"agent 2 must have been left out":               late(2, signed),
		"it holds no run":                               late(1, certs+"/none"),
	} {
		_, err := command(t, args...)
		wantError(t, err, cli.Usage, want)
	}
	runCommand(t, late(1, signed)...)
	own := runs.Folder(filepath.Join(dir, "out", "agent-1"))
	for _, name := range []string{runs.LambdaFile, runs.OmegaFile, runs.ChangesFile} {
		if !bytes.Equal(testkit.Get(own.ReadFile(name)), testkit.Get(runs.Folder(signed).ReadFile(name))) {
			t.Errorf("%s must be that of the other agent", name)
		}
	}
	runCommand(t, late(1, signed)[:5]...) // it knows that all have finished
	runCommand(t, "report", string(own))
}
