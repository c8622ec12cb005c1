//go:build unix

package experimenttest

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"syscall"

	"dsbo/internal/cli"
	"dsbo/internal/testkit"
)

const struckVariable = "DSBO_TEST_STRUCK"

// Strike is the environment variable that makes a process send itself a fatal signal at the first
// line of its stderr with a text: the moment is exact, however busy the machine.
func Strike(s syscall.Signal, text string) string {
	return fmt.Sprintf("%s=%d %s", struckVariable, int(s), text)
}

// Struck makes a process of a test that has a [Strike] the command, before it would become a test:
// init calls it.
func Struck(name string, command Command) {
	strike, is := os.LookupEnv(struckVariable)
	if !is {
		return
	}
	number, text, _ := strings.Cut(strike, " ")
	s := struck{signal: syscall.Signal(testkit.Get(strconv.Atoi(number))), text: []byte(text)}
	os.Exit(cli.Main(name, func(ctx context.Context, args []string, stdout, stderr io.Writer) error {
		s.ctx, s.stderr = ctx, stderr
		return command(ctx, args, stdout, &s)
	}))
}

// A struck is the stderr of such a process.
type struck struct {
	signal syscall.Signal
	text   []byte
	ctx    context.Context
	stderr io.Writer
}

// Write returns from the line with the text when the signal has come.
func (s *struck) Write(b []byte) (int, error) {
	n, err := s.stderr.Write(b)
	if bytes.Contains(b, s.text) {
		_ = syscall.Kill(os.Getpid(), s.signal) // to oneself it cannot fail
		<-s.ctx.Done()
	}
	return n, err
}
