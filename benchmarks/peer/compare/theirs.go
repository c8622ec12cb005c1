package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"dsbo/data"
	"dsbo/internal/cli"
	"dsbo/internal/kernel"
	"dsbo/runs"
)

// A rival runs the peer's programs.
type rival struct {
	binary         string // a compiled program, in place of all that follows but dir
	python, mpirun string
	ranks          int
	args           []string // besides a job's
	dir            string   // holds the programs
}

// newRival returns one that puts the peer's programs into dir. The error says what the machine
// lacks to run them.
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
	return r, nil
}

// measure measures a row in new processes. The numbers of the columns must be above 0.
func (r *rival) measure(ctx context.Context, w row, columns []column) (result, error) {
	out, program := filepath.Join(r.dir, "result.json"), []string{r.binary}
	if r.binary == "" {
		path := filepath.Join(r.dir, "program.py")
		if err := os.WriteFile(path, w.program, 0o600); err != nil {
			return nil, err
		}
		program = []string{r.python, path}
	}
	line := slices.Concat(program, []string{"--out", out}, w.args)
	if w.mpi {
		job := []string{r.mpirun, "--oversubscribe", "-np", strconv.Itoa(r.ranks)}
		if os.Geteuid() == 0 {
			job = append(job, "--allow-run-as-root")
		}
		line = slices.Concat(job, line, r.args)
	}
	if w.mnist {
		dir, err := data.FindMNIST("")
		if err != nil {
			return nil, err
		}
		line = append(line, "--mnist", dir)
	}
	cmd := exec.CommandContext(ctx, line[0], line[1:]...)
	cmd.Env = peerEnv()
	if err := cli.RunProgram(ctx, cmd); err != nil {
		return nil, fmt.Errorf("the peer on %s: %w", w.title, err)
	}
	text, err := os.ReadFile(out)
	if err != nil {
		return nil, err
	}
	return readResult(text, w, columns)
}

// keptMemory has glibc keep the memory of large arrays that are freed. It gives it back to the
// system by default, and each of PyTorch's results is then in pages that are new, which on some
// virtual machines takes longer than computing them.
const keptMemory = "glibc.malloc.mmap_threshold=1073741824:" +
	"glibc.malloc.trim_threshold=8589934592:glibc.malloc.top_pad=268435456"

// peerEnv is the environment of the peer's programs: one thread each, memory that is kept, and the
// fastest kernels of OpenBLAS for this machine, whatever the caller's environment names.
func peerEnv() []string {
	env := append(os.Environ(), "OMP_NUM_THREADS=1", "OPENBLAS_NUM_THREADS=1")
	if os.Getenv("GLIBC_TUNABLES") == "" {
		env = append(env, "GLIBC_TUNABLES="+keptMemory)
	}
	if kernels := openBLAS(); kernels != "" {
		env = append(env, "OPENBLAS_CORETYPE="+kernels)
	}
	return env
}

// openBLAS returns the kernels of OpenBLAS for this machine, "" where OpenBLAS is to choose. A
// release older than the machine does not find them by itself: it falls back on a Prescott's.
func openBLAS() string {
	switch {
	case kernel.Supported(kernel.AVX512):
		return "SkylakeX"
	case kernel.Supported(kernel.AVX2):
		return "Haswell"
	}
	return ""
}

// readResult reads what the peer has written of a row.
func readResult(text []byte, w row, columns []column) (numbers result, err error) {
	if w.mpi {
		numbers, err = readJob(text)
	} else {
		err = json.Unmarshal(text, &numbers)
	}
	if err != nil {
		return nil, fmt.Errorf("the peer's result of %s: %w", w.title, err)
	}
	for _, c := range columns {
		if !(numbers[c.name] > 0) {
			return nil, fmt.Errorf("the peer's result of %s: %s must be above 0; it is %v", w.title, c.name,
				numbers[c.name])
		}
	}
	return numbers, nil
}

// readJob reads what an MPI job has written. Of the times it gives the median alone.
func readJob(text []byte) (result, error) {
	var r struct {
		Median runs.Number `json:"iter_ms_median"`
		MiB    runs.Number `json:"rss_MiB_sum"`
		Floats runs.Number `json:"floats_sent_per_agent_iter"`
		Log    []struct {
			Loss runs.Number `json:"test_loss"`
		}
	}
	err := json.Unmarshal(text, &r)
	numbers := result{"ms": r.Median, "MiB": r.MiB, "floats": r.Floats}
	if len(r.Log) > 0 {
		numbers["loss"] = r.Log[len(r.Log)-1].Loss
	}
	return numbers, err
}
