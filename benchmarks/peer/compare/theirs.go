package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"

	"dsbo/data"
	"dsbo/internal/cli"
	"dsbo/internal/kernel"
	"dsbo/runs"
)

// A rival runs the peer's program.
type rival struct {
	python, mpirun string
	ranks          int
	args           []string // besides the task's
	dir            string   // holds the program
}

// newRival puts the peer's program into dir. The error says what the machine lacks to run it.
func newRival(ctx context.Context, dir string, o options) (*rival, error) {
	r := &rival{python: o.python, mpirun: o.mpirun, ranks: o.ranks, args: strings.Fields(o.peerArgs), dir: dir}
	for _, program := range []string{r.mpirun, r.python} {
		if _, err := exec.LookPath(program); err != nil {
			return nil, fmt.Errorf("no program %s", program)
		}
	}
	for _, module := range []string{"numpy", "torch", "mpi4py"} {
		if err := exec.CommandContext(ctx, r.python, "-c", "import "+module).Run(); err != nil {
			return nil, fmt.Errorf("%s has no module %s", r.python, module)
		}
	}
	return r, os.WriteFile(r.program(), torchProgram, 0o600)
}

func (r *rival) program() string { return filepath.Join(r.dir, "peer.py") }

// run runs a task in new processes.
func (r *rival) run(ctx context.Context, t task) (run, error) {
	result := filepath.Join(r.dir, "result.json")
	args := []string{"--oversubscribe", "-np", strconv.Itoa(r.ranks)}
	if os.Geteuid() == 0 {
		args = append(args, "--allow-run-as-root")
	}
	args = append(append(args, r.python, r.program(), "--out", result), append(t.flags(), r.args...)...)
	if t.mnist() {
		dir, err := data.FindMNIST("")
		if err != nil {
			return run{}, err
		}
		args = append(args, "--mnist", dir)
	}
	cmd := exec.CommandContext(ctx, r.mpirun, args...)
	cmd.Env = peerEnv()
	if err := cli.RunProgram(ctx, cmd); err != nil {
		return run{}, fmt.Errorf("the peer on %s: %w", t.name, err)
	}
	text, err := os.ReadFile(result)
	if err != nil {
		return run{}, err
	}
	return readResult(text)
}

// keptMemory has glibc keep the memory of large arrays that are freed. It gives it back to the
// system by default, and each of PyTorch's results is then in pages that are new, which on some
// virtual machines takes longer than computing them.
const keptMemory = "glibc.malloc.mmap_threshold=1073741824:glibc.malloc.trim_threshold=8589934592:glibc.malloc.top_pad=268435456"

// peerEnv is the environment of the peer's programs: one thread each, memory that is kept, and the
// fastest kernels of OpenBLAS for this machine, which a release older than the machine does not
// find by itself: it falls back on a Prescott's.
func peerEnv() []string {
	const coreType, tunables = "OPENBLAS_CORETYPE", "GLIBC_TUNABLES"
	env := append(os.Environ(), "OMP_NUM_THREADS=1", "OPENBLAS_NUM_THREADS=1")
	if os.Getenv(tunables) == "" {
		env = append(env, tunables+"="+keptMemory)
	}
	switch {
	case os.Getenv(coreType) != "":
	case kernel.Supported(kernel.AVX512):
		env = append(env, coreType+"=SkylakeX")
	case kernel.Supported(kernel.AVX2):
		env = append(env, coreType+"=Haswell")
	}
	return env
}

// readResult reads what the peer has written. Of the times it gives the median alone.
func readResult(text []byte) (run, error) {
	var r struct {
		Median float64 `json:"iter_ms_median"`
		MiB    float64 `json:"rss_MiB_sum"`
		Floats float64 `json:"floats_sent_per_agent_iter"`
		Log    []struct {
			Loss float64 `json:"test_loss"`
		}
	}
	if err := json.Unmarshal(text, &r); err != nil {
		return run{}, fmt.Errorf("the peer's result: %w", err)
	}
	if r.Median <= 0 || len(r.Log) == 0 {
		return run{}, errors.New("the peer's result lacks times or losses")
	}
	return run{Ms: []float64{r.Median}, MiB: runs.Number(r.MiB), Floats: r.Floats, Loss: r.Log[len(r.Log)-1].Loss}, nil
}
