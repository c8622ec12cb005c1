package command

import (
	"cmp"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"dsbo"
	"dsbo/experiment"
	"dsbo/experiment/site"
	"dsbo/internal/cli"
	"dsbo/network/pki"
	"dsbo/runs"
	"dsbo/train"
)

// runOptions are the flags of the verb run.
type runOptions struct {
	options
	common   []string // the options, as flags of an agent
	restarts int
	resume   bool
	force    bool
	report   bool
}

// parseRun reads the command line of the verb run and its cluster file. It checks as much as
// possible before -force destroys an earlier run: the certificates, and with -force also the data
// of all agents.
func (p *program) parseRun(f *call) (o runOptions, c *site.Cluster, err error) {
	o.addFlags(f, "plain")
	var common []*flag.Flag
	f.VisitAll(func(fl *flag.Flag) { common = append(common, fl) })
	o.restarts, o.report = 3, true
	f.Vars(map[string]any{"resume": &o.resume, "force": &o.force, "restarts": &o.restarts, "report": &o.report})
	f.First = []string{"cluster", "out", "certs", "resume", "force", "restarts", "http", "report", "quiet", "log"}
	if err = f.parse("cluster", "out"); err != nil {
		return o, nil, err
	}
	if c, err = site.LoadCluster(o.cluster, p.checkTask); err != nil {
		return o, nil, err
	}
	for _, fl := range common {
		o.common = append(o.common, "-"+fl.Name+"="+fl.Value.String())
	}
	if err = cmp.Or(o.validate(c), o.checkCerts(c)); err == nil && o.force {
		var j *experiment.Job
		if j, err = p.clusterJob(c, c.Flags); err == nil {
			err = j.CheckData(len(c.Addresses), c.Seed)
		}
	}
	return o, c, err
}

// checkCerts returns an error for the first certificate that an agent could not begin with.
func (o *runOptions) checkCerts(c *site.Cluster) error {
	if o.certs == "" {
		return nil
	}
	for i := range c.Addresses {
		own := pki.Files{Folder: o.certs, Agent: i}
		if _, err := own.Changed(time.Now()); err != nil {
			return fmt.Errorf("-certs: %w", err)
		}
	}
	return nil
}

// validate returns an error for the first flag whose value cannot work, such as a rule of -http
// that gives two agents the same address.
func (o *runOptions) validate(c *site.Cluster) error {
	switch {
	case o.restarts < 0:
		return dsbo.ConfigErrorf("-restarts must not be negative; it is %d", o.restarts)
	case o.resume && o.force:
		return dsbo.ConfigErrorf("-resume and -force are mutually exclusive")
	}
	first := map[string]int{}
	for i := range c.Addresses {
		address, err := o.httpAddress(i)
		if err != nil {
			return err
		}
		// :0 is any free port
		if j, twice := first[address]; twice && address != "" && !strings.HasSuffix(address, ":0") {
			return dsbo.ConfigErrorf(
				"-http must give each agent its own address, as {9100+agent} does; with %s agents %d and %d "+
					"have the same", o.http, j, i)
		}
		first[address] = i
	}
	return o.options.validate(c)
}

// runAgents is the verb run: it runs all agents of a cluster file, each as a process of this same
// program, and merges their run folders. The run folder is locked meanwhile.
func (p *program) runAgents(f *call) error {
	o, c, err := p.parseRun(f)
	if err != nil {
		return err
	}
	executable, err := os.Executable()
	if err != nil {
		return err
	}
	lock, err := runs.Folder(o.out).Lock()
	if err != nil {
		return err
	}
	defer lock.Close()
	if err := o.prepareFolder(c); err != nil {
		return err
	}
	s := supervisor{executable: executable, name: p.name, args: o.agentArgs, stderr: f.stderr, restarts: o.restarts,
		pause: restartPause}
	if err := s.run(f.ctx, len(c.Addresses)).error(); err != nil {
		return o.writeFailure(err)
	}
	var folders []runs.Folder
	for i := range c.Addresses {
		folders = append(folders, o.agentFolder(i))
	}
	m, err := runs.Merge(folders)
	if err != nil {
		return o.writeFailure(err)
	}
	return writeMerged(f.stdout, m, runs.Folder(o.out), o.report)
}

// agentArgs returns the flags of agent i; where one is given twice, the last one counts. Agent 0
// shows the progress of all agents; the others show warnings and errors alone.
func (o *runOptions) agentArgs(i int) []string {
	return append(slices.Clone(o.common), fmt.Sprintf("-agent=%d", i), "-attached", "-certs="+o.certsFolder(),
		"-log-file="+string(o.agentFolder(i))+".log", fmt.Sprintf("-quiet=%t", o.quiet || i > 0))
}

// certsFolder returns the folder of the certificates, "" with -insecure.
func (o *runOptions) certsFolder() string {
	if o.certs != "" || o.insecure {
		return o.certs
	}
	return filepath.Join(o.out, certsName)
}

// certsName is the folder of the certificates in the run folder.
const certsName = "certs"

// prepareFolder prepares the run folder, which the caller has locked, and makes the certificates in
// it. A resumed run must have the same cluster file, by its hash. With -force what an earlier run
// left is removed, after its agents have ended (their locks are free). The configuration is written
// before the certificates, so that a run that is killed in between can be resumed.
func (o *runOptions) prepareFolder(c *site.Cluster) error {
	folder, mode := runs.Folder(o.out), runs.ModeOf(o.resume, o.force)
	if err := folder.Check(mode); err != nil {
		return err
	}
	if o.resume {
		begun, err := folder.ReadClusterConfig()
		if err != nil {
			return fmt.Errorf("-resume: %w", err)
		}
		if begun.Hash != "" && begun.Hash != c.Hash() { // an earlier version kept none
			return dsbo.ConfigErrorf(
				"-resume needs the cluster file with which the run in %s began, with the same run, agents, graph, "+
					"seed, task and flags: its hash must be %.12s; that of %s is %.12s",
				o.out, begun.Hash, o.cluster, c.Hash())
		}
	}
	old, err := o.leftovers()
	if err != nil {
		return err
	}
	unlock, err := lockAll(old)
	defer unlock()
	if err != nil {
		return err
	}
	if err := folder.RemoveStale(); err != nil {
		return err
	}
	if err := folder.Open(mode); err != nil {
		return err
	}
	for _, path := range old {
		if err := os.RemoveAll(path); err != nil {
			return err
		}
	}
	if err := folder.WriteConfig(runs.ClusterConfig{Format: runs.Format, Task: c.Task, Run: c.Run, Hash: c.Hash(),
		Flags: c.Flags, Build: runs.ThisBuild()}); err != nil {
		return err
	}
	return o.makeCerts(c)
}

// agentFiles matches the run folders of agents, their logs, and the files in which earlier versions
// had random bytes of masks.
var agentFiles = regexp.MustCompile(`^agent-(?:0|[1-9]\d*)(\.log|\.key)?$`)

// leftovers returns the files and folders of an earlier run's agents that must be removed. With
// -force they are all agents' run folders, logs and secrets, also of agents that this run does not
// have, and the certificates. With -resume it is each agent's membership file (agent.json), which
// marks an agent as final: it would not start, and the others would wait for it in vain.
func (o *runOptions) leftovers() ([]string, error) {
	found, err := filepath.Glob(filepath.Join(o.out, "agent-*"))
	if err != nil {
		return nil, dsbo.ConfigErrorf("-out %s: %w", o.out, err)
	}
	var old []string
	for _, path := range found {
		name := agentFiles.FindStringSubmatch(filepath.Base(path))
		switch {
		case name == nil:
		case o.resume && name[1] == "":
			old = append(old, filepath.Join(path, runs.MembershipFile))
		case o.force:
			if name[1] == "" {
				if _, err := runs.Folder(path).State(); err != nil { // no run folder: keep it
					return nil, err
				}
			}
			old = append(old, path)
		}
	}
	if o.force {
		old = append(old, filepath.Join(o.out, certsName))
	}
	return old, nil
}

// lockAll locks the run folders among the leftovers, until unlock is called. It fails if an agent
// of an earlier run is still ending and has its folder's lock. unlock is never nil, also with an
// error.
func lockAll(paths []string) (unlock func(), err error) {
	var held []io.Closer
	unlock = func() {
		for _, l := range held {
			l.Close()
		}
	}
	for _, path := range paths {
		if filepath.Base(path) == runs.MembershipFile {
			path = filepath.Dir(path)
		}
		if info, err := os.Stat(path); err != nil || !info.IsDir() || filepath.Base(path) == certsName {
			continue // a file, or the certificates
		}
		lock, err := runs.Folder(path).Lock()
		if err != nil {
			return unlock, err
		}
		held = append(held, lock)
	}
	return unlock, nil
}

// validity is the time for which the certificates of a run on this machine are valid.
const validity = 365 * 24 * time.Hour

// makeCerts makes the folder of the certificates, unless -certs or -insecure is given or a resumed
// run has it. It is renamed into place when complete, so that a crash leaves no partial one. The
// key of the authority is not kept: nothing else will be signed.
func (o *runOptions) makeCerts(c *site.Cluster) error {
	folder := o.certsFolder()
	if o.certs != "" || folder == "" {
		return nil
	}
	if _, err := os.Stat(folder); !errors.Is(err, fs.ErrNotExist) { // nil: a resumed run has them
		return err
	}
	partial := filepath.Join(o.out, "."+certsName+".tmp")
	if err := os.RemoveAll(partial); err != nil { // left by a process that was killed here
		return err
	}
	now := time.Now()
	if err := makeCertificates(partial, c, (*pki.Authority).SaveCertificate, now.Add(-clockSlack),
		now.Add(validity)); err != nil {
		return err
	}
	return os.Rename(partial, folder)
}

// writeFailure writes the summary of a run that ended with an error, and returns the error for
// the user.
func (o *runOptions) writeFailure(err error) error {
	state := runs.StateOf(err)
	if state == runs.Interrupted {
		err = fmt.Errorf("%w; -resume -out %s goes on", train.ErrInterrupted, o.out)
	}
	summary := runs.ClusterSummary{State: state, Error: cli.OneLine(err)}
	if w := runs.Folder(o.out).WriteSummary(summary); w != nil {
		return fmt.Errorf("%w; summary: %w", err, w)
	}
	return err
}
