package relay

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"strings"
	"time"
)

// A Command is a program that makes connections for a site whose way out is neither TCP nor an HTTP
// proxy. Like ssh's ProxyCommand, it gets sent bytes on stdin and writes received ones to stdout.
// %h and %p are replaced by host and port; arguments are separated by blanks alone.
type Command string

// commandEnd is how long a program may take to end once its connection is closed.
const commandEnd = 2 * time.Second

// Dial starts the program for host:port. A failure to start is an error; a program that cannot
// connect ends, and the connection with it. Its stderr is this process's.
func (c Command) Dial(_ context.Context, address string) (net.Conn, error) {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return nil, err
	}
	words := strings.Fields(string(c))
	if len(words) == 0 {
		return nil, errors.New("a program is required; there is none")
	}
	for i, w := range words {
		words[i] = strings.NewReplacer("%h", host, "%p", port, "%%", "%").Replace(w)
	}
	ctx, stop := context.WithCancel(context.Background()) // the connection outlives its dialling
	p := exec.CommandContext(ctx, words[0], words[1:]...)
	own, theirs := net.Pipe()
	p.Stdin, p.Stdout, p.Stderr, p.WaitDelay = theirs, theirs, os.Stderr, commandEnd
	if err := p.Start(); err != nil {
		stop()
		return nil, fmt.Errorf("connecting to %s: %w", address, err)
	}
	go func() {
		_ = p.Wait() // the caller sees the end of the connection
		stop()
		theirs.Close()
	}()
	return commandConn{own, stop}, nil
}

// A commandConn is a connection to a program, which is killed as it is closed.
type commandConn struct {
	net.Conn
	stop context.CancelFunc
}

// Close implements net.Conn.
func (c commandConn) Close() error {
	c.stop()
	return c.Conn.Close()
}
