package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"sync"
	"time"
)

// An agent is one that is started again when it was killed.
type agent struct {
	number int

	mu     sync.Mutex
	cmd    *exec.Cmd // nil: none runs
	killed bool      // whether the present process has been
	starts int
}

// live runs an agent until it ends of itself.
func (t *trial) live(ctx context.Context, a *agent) error {
	log, err := os.Create(t.path(fmt.Sprintf("agent-%d.log", a.number)))
	if err != nil {
		return err
	}
	defer log.Close()
	for {
		c := exec.CommandContext(ctx, t.path("dsbo"), "agent", "-cluster="+t.path("cluster.json"), fmt.Sprintf("-agent=%d", a.number),
			"-listen="+t.address(a.number), "-certs="+t.path("certs"), "-out="+t.path("many"), "-attached")
		c.Stdout, c.Stderr = log, log
		if _, err := c.StdinPipe(); err != nil { // ends with this process: see -attached
			return err
		}
		a.mu.Lock()
		if err = c.Start(); err == nil {
			a.cmd, a.killed, a.starts = c, false, a.starts+1
		}
		a.mu.Unlock()
		if err != nil {
			return err
		}
		err = c.Wait()
		a.mu.Lock()
		a.cmd = nil
		killed := a.killed
		a.mu.Unlock()
		switch {
		case err == nil:
			return nil
		case ctx.Err() != nil:
			return ctx.Err()
		case !killed:
			return fmt.Errorf("agent %d: %w: see %s", a.number, err, log.Name())
		}
	}
}

// kill kills the agent's process with SIGKILL, and reports whether there was one.
func (a *agent) kill() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.cmd == nil || a.cmd.Process.Kill() != nil {
		return false
	}
	a.killed = true
	return true
}

// endure runs all agents, and kills one every while for as long as that is to last.
func (t *trial) endure(ctx context.Context) (o outcome) {
	ctx, stop := context.WithTimeout(ctx, t.last+t.limit)
	defer stop()
	t.start = time.Now()
	agents := make([]*agent, t.agents)
	ended := make(chan error, t.agents)
	for i := range agents {
		agents[i] = &agent{number: i}
		go func() { ended <- t.live(ctx, agents[i]) }()
	}
	draws := rand.New(rand.NewPCG(t.seed, 0))
	turn := time.NewTicker(t.every)
	defer turn.Stop()
	for left := t.agents; left > 0; {
		select {
		case err := <-ended:
			left--
			if err != nil {
				o.wrong = errors.Join(o.wrong, err)
				stop()
			}
		case <-turn.C:
			if past := time.Since(t.start); past <= t.last {
				if i := draws.IntN(t.agents); agents[i].kill() {
					o.kills++
					o.lastKill = past
					t.log.Log("%4.0f s: agent %d is killed", past.Seconds(), i)
				}
			}
		}
	}
	o.took = time.Since(t.start)
	for _, a := range agents {
		o.starts = append(o.starts, a.starts)
	}
	if o.wrong == nil {
		t.compare(&o)
	}
	return o
}
