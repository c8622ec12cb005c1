package cli

import (
	"bytes"
	"context"
	"fmt"
	"os/exec"
	"path/filepath"
)

// RunProgram runs another program until it ends, or ctx does. If it fails, the error ends with the
// last line of its output.
func RunProgram(ctx context.Context, c *exec.Cmd) error {
	out, err := c.CombinedOutput()
	if err == nil || ctx.Err() != nil {
		return ctx.Err()
	}
	out = bytes.TrimSpace(out)
	return fmt.Errorf("%s: %w: %s", filepath.Base(c.Path), err, out[bytes.LastIndexByte(out, '\n')+1:])
}
