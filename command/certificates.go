package command

import (
	"fmt"
	"log/slog"
	"sync"
	"time"

	"dsbo/internal/cli"
	"dsbo/network/pki"
)

const (
	// filesRead is how often the files of certificates are read, to see whether they have changed.
	filesRead = 10 * time.Second
	// expiryWarned is the time before a certificate's expiry at which warnings in the log begin,
	// and warnedEvery their period.
	expiryWarned = 14 * 24 * time.Hour
	warnedEvery  = 24 * time.Hour
)

// A certificate is an agent's own, which may be renewed while the agent runs, with what the
// authority has signed about other agents.
type certificate struct {
	files    pki.Files                 // in the folder of certificates
	run      string                    // the cluster file's
	hash     string                    // of its settings
	log      *slog.Logger              // of the agent
	monitor  *monitor                  // with when it expires
	identity *pki.Identity             // that is in use; nil: there is none
	warned   time.Time                 // when the log last said that it expires soon
	admits   func(*pki.Identity) error // a policy's error about the authorities of a new identity
	refused  string                    // why removals are not used, as the log has it
}

// load returns the identity and the removals to begin with.
func (c *certificate) load(now time.Time) (id *pki.Identity, removals []string, err error) {
	if id, err = c.files.Changed(now); err == nil {
		removals, err = pki.LoadRemovals(c.files.Folder, c.run, c.hash)
	}
	if err != nil {
		return nil, nil, fmt.Errorf("-certs: %w", err)
	}
	c.adopt(id, now, "certificate")
	return id, removals, nil
}

// adopt logs which certificate the agent has from now on, and when it expires.
func (c *certificate) adopt(id *pki.Identity, now time.Time, what string) {
	c.identity = id
	c.log.Info(what, "name", pki.Name(id.Agent), "expires", id.Expires())
	c.monitor.update(func(p *position) { p.expires = id.Expires() })
	c.warned = time.Time{}
	c.warn(now)
}

// warn logs that the certificate expires soon, if it does and has not been logged for a while.
func (c *certificate) warn(now time.Time) {
	left := c.monitor.current().expires.Sub(now)
	if left > expiryWarned || now.Sub(c.warned) < warnedEvery {
		return
	}
	c.warned = now
	c.log.Warn("the certificate expires soon", "days", int(left.Hours()/24), "expires", c.monitor.current().expires)
}

// An authorized agent accepts what the authority has signed, as [session.Agent] does.
type authorized interface {
	Renew(*pki.Identity) error
	Remove(removals []string) error
}

// check lets an agent use certificate files that have changed. If new files are invalid, or refused
// by a policy, it logs that and keeps the old ones. Removals are read every time, since the agent
// ignores those that it knows; a refused one is logged once.
func (c *certificate) check(now time.Time, a authorized) {
	id, err := c.files.Changed(now)
	if err == nil && id != nil && c.admits != nil {
		err = c.admits(id)
	}
	if err == nil && id != nil {
		err = a.Renew(id)
	}
	switch {
	case err != nil:
		c.log.Warn("the certificate's files have changed, and are not used", "reason", cli.OneLine(err))
	case id != nil:
		c.adopt(id, now, "the certificate was renewed: connections are made again with it")
	}
	c.warn(now)
	removals, err := pki.LoadRemovals(c.files.Folder, c.run, c.hash)
	if err == nil {
		err = a.Remove(removals)
	}
	refused := ""
	if err != nil {
		refused = cli.OneLine(err)
	}
	if refused != "" && refused != c.refused {
		c.log.Warn("a removal is not used", "reason", refused)
	}
	c.refused = refused
}

// watchFiles checks the files periodically, every filesRead, until stop is called; stop waits for a
// check under way.
func (c *certificate) watchFiles(a authorized) (stop func()) {
	end := make(chan struct{})
	var work sync.WaitGroup
	work.Go(func() {
		for t := time.Tick(filesRead); ; {
			select {
			case now := <-t:
				c.check(now, a)
			case <-end:
				return
			}
		}
	})
	return func() {
		close(end)
		work.Wait()
	}
}
