package simulate

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"
)

// childVariable is the environment variable that makes a process one that runs seeds for another.
const childVariable = "DSBO_LIES_CHILD"

// mostSeeds is how many seeds a process runs: the Go runtime keeps some memory of each.
const mostSeeds = 1000

// A campaign runs many seeds, in one process after the other, so that a seed which ends its process
// costs no other one.
type campaign struct {
	began        time.Time
	processor    time.Duration // time of it that the processes took
	done, failed int           // seeds
	child        string        // what the last process said of seeds that fail
}

// run runs the seeds of the flags, and prints those that fail, and how many there were a second.
func (c *campaign) run(t *testing.T) {
	if os.Getenv(childVariable) != "" {
		for seed := *from; seed < *from+uint64(*seeds); seed++ {
			fmt.Println("seed", seed)
			endsAsItMust(t, drawQuickLies(seed))
		}
		return
	}
	for c.began = time.Now(); c.done < *seeds; {
		if err := c.runSome(*from+uint64(c.done), min(mostSeeds, *seeds-c.done)); err != nil {
			t.Fatal(err)
		}
		took, done := time.Since(c.began), float64(c.done)
		fmt.Printf("%d seeds from %d in %v: %.2f a second, %.2f a second of processor time, %d fail\n%s", c.done, *from,
			took.Round(time.Second), done/took.Seconds(), done/c.processor.Seconds(), c.failed, c.child)
	}
	if c.failed > 0 {
		t.Errorf("%d of %d seeds fail", c.failed, c.done)
	}
}

// runSome has a process run seeds, as many as there are until one ends the process.
func (c *campaign) runSome(first uint64, count int) error {
	p := exec.Command(os.Args[0], "-test.run=TestLies$", "-test.timeout=0", fmt.Sprint("-from=", first),
		fmt.Sprint("-seeds=", count))
	p.Env, p.Stderr = append(os.Environ(), childVariable+"=1"), os.Stderr
	out, err := p.StdoutPipe()
	if err != nil {
		return err
	}
	if err := p.Start(); err != nil {
		return err
	}
	ran, text := 0, strings.Builder{}
	lines := bufio.NewScanner(out)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		switch line := lines.Text(); {
		case strings.HasPrefix(line, "seed "):
			ran++
			continue
		case strings.Contains(line, "_test.go:") && strings.Contains(line, ": seed "):
			c.failed++
			fallthrough
		default:
			fmt.Fprintln(&text, line)
		}
	}
	c.child = ""
	if ended := p.Wait(); ended != nil {
		c.child = text.String()
		if p.ProcessState.ExitCode() != 1 || ran < count { // 1: seeds fail
			c.failed++
			c.child += fmt.Sprintf("the process of seed %d ends: %v\n", first+uint64(ran)-1, ended)
		}
	}
	c.processor += p.ProcessState.UserTime() + p.ProcessState.SystemTime()
	c.done += max(1, ran)
	return lines.Err()
}
