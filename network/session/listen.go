package session

import (
	"cmp"
	"errors"
	"net"
	"time"

	"dsbo/internal/wording"
	"dsbo/network/pki"

	rpc "google.golang.org/grpc"
)

// Between two attempts to listen passes firstRetry, then twice as long each time up to lastListen.
const lastListen = 2 * time.Second

// waitLogPeriod is the period at which the log repeats the reason why listening waits.
const waitLogPeriod = time.Minute

// listen serves a listener or, without one, Config.Listen or this agent's address. If the port is
// taken or the name is not known yet, it retries, with a connecting agent's back-off, and so it
// does where its own listener ends by itself.
func (l *links) listen(given net.Listener) {
	if given != nil {
		l.serve(given)
		return
	}
	address := cmp.Or(l.config.Listen, l.config.address(l.config.Agent))
	var logged time.Time
	for pause := firstRetry; l.closing.Err() == nil; pause = min(2*pause, lastListen) {
		listener, err := new(net.ListenConfig).Listen(l.closing, "tcp", address)
		if err == nil {
			l.waits.Store("")
			l.config.Log.Info("listening", "address", address)
			l.serve(listener)
			pause, logged = firstRetry, time.Time{}
		} else if l.closing.Err() == nil {
			reason := wording.Plain(err.Error())
			l.waits.Store("it cannot listen on its address, " + address + ": " + reason)
			if now := time.Now(); logged.IsZero() || now.Sub(logged) >= waitLogPeriod {
				logged = now
				l.config.Log.Warn("cannot listen yet, and tries again", "address", address, "reason", reason)
			}
		}
		select {
		case <-time.After(pause):
		case <-l.closing.Done():
		}
	}
}

// serve accepts connections of a listener until the links are closed, or the listener is.
func (l *links) serve(listener net.Listener) {
	err := l.server.Serve(pki.LimitStrangers(listener, strangerLimits))
	if err != nil && !errors.Is(err, rpc.ErrServerStopped) { // before it began
		l.config.Log.Error("no longer listening", "reason", err)
	}
}

// waiting returns the reason why the agent cannot listen at its address yet; "" if it listens, or
// has none.
func (l *links) waiting() string {
	text, _ := l.waits.Load().(string)
	return text
}
