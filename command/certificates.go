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
	// expiryWarned is how long before a certificate expires the log begins to say so, and
	// warnedEvery how often it does.
	expiryWarned = 14 * 24 * time.Hour
	warnedEvery  = 24 * time.Hour
)

// A certificate is an agent's own, which may be renewed while the agent runs.
type certificate struct {
	files   pki.Files
	log     *slog.Logger
	monitor *monitor
	warned  time.Time // when the log last said that it expires soon
}

// load returns the identity to begin with.
func (c *certificate) load(now time.Time) (*pki.Identity, error) {
	id, err := c.files.Changed(now)
	if err != nil {
		return nil, fmt.Errorf("-certs: %w", err)
	}
	c.adopt(id, now, "certificate")
	return id, nil
}

// adopt logs which certificate the agent has from now on, and when it expires.
func (c *certificate) adopt(id *pki.Identity, now time.Time, what string) {
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

// check has the exchange take up files that have changed. Those that are not good leave all as
// it was.
func (c *certificate) check(now time.Time, renew func(*pki.Identity) error) {
	id, err := c.files.Changed(now)
	if err == nil && id != nil {
		err = renew(id)
	}
	switch {
	case err != nil:
		c.log.Warn("the certificate's files have changed, and are not used", "reason", cli.OneLine(err))
	case id != nil:
		c.adopt(id, now, "the certificate was renewed: connections are made again with it")
	}
	c.warn(now)
}

// watchFiles checks the files again and again until stop is called.
func (c *certificate) watchFiles(renew func(*pki.Identity) error) (stop func()) {
	end := make(chan struct{})
	var work sync.WaitGroup
	work.Go(func() {
		t := time.NewTicker(filesRead)
		defer t.Stop()
		for {
			select {
			case now := <-t.C:
				c.check(now, renew)
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
