package command

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"dsbo"
	"dsbo/experiment"
	"dsbo/internal/cli"
)

const planIntro = `Says what a run will send and need, without running it: the exchanges, the bytes of all sites
and of the one that sends most, the memory of a site, and the time that exchanges take on links
between them. It loads the data that the flags name, and exchanges nothing.

What depends on what the run finds, such as how many products a solution takes, is said as
"usual (least to most)".`

// planOptions are the flags of the verb plan.
type planOptions struct{ link experiment.Link }

// planFlags returns the flags of plan, which stand before the task.
func (p *program) planFlags() (*cli.Flags, *planOptions) {
	o := &planOptions{}
	f := cli.NewFlags(p.name+" plan", planIntro, "")
	f.Synopsis, f.Example = "[flags] TASK [flags of the task]", p.name+" plan -mbit 50 -ms 20 mnist -K 20"
	f.Float64Var(&o.link.Mbit, "mbit", 100, "`Mbit/s` of the link between two sites")
	f.Float64Var(&o.link.Ms, "ms", 10, "`ms` that a message takes on it, one way")
	f.Group("Links", "mbit", "ms")
	return f, o
}

// plan is the verb plan. Its own flags may stand before the task or among the task's.
func (p *program) plan(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	f, o := p.planFlags()
	own, task, rest := p.splitPlan(args)
	if err := f.Parse(own, stdout); err != nil {
		return err
	}
	if !(o.link.Mbit > 0) || !(o.link.Ms >= 0) {
		return dsbo.Errorf(dsbo.ErrConfig, "-mbit must be positive and -ms at least 0; they are %g and %g", o.link.Mbit, o.link.Ms)
	}
	if task == "" {
		return dsbo.Errorf(dsbo.ErrConfig, "a task is required: %s", strings.Join(p.taskNames(), " or "))
	}
	t, err := p.findTask(task)
	if err != nil {
		return err
	}
	j, err := experiment.ParseAs(p.name+" "+task, t, rest, stdout)
	if err != nil {
		return err
	}
	plan, err := j.Plan(ctx)
	if err != nil {
		return err
	}
	return writePlan(stdout, plan, o.link)
}

// splitPlan divides the command line into the flags of plan, the task's name and the task's flags.
func (p *program) splitPlan(args []string) (own []string, task string, rest []string) {
	at := slices.IndexFunc(args, func(a string) bool { return slices.Contains(p.taskNames(), a) })
	if at < 0 {
		for i, a := range args { // a name that is no task's, for the error
			if !strings.HasPrefix(a, "-") && (i == 0 || !strings.HasPrefix(args[i-1], "-") || strings.Contains(args[i-1], "=")) {
				return args[:i], a, nil
			}
		}
		return args, "", nil
	}
	own, rest = slices.Clone(args[:at]), slices.Clone(args[at+1:])
	for i := 0; i < len(rest); i++ {
		name, _, whole := strings.Cut(strings.TrimLeft(rest[i], "-"), "=")
		if !strings.HasPrefix(rest[i], "-") || name != "mbit" && name != "ms" {
			continue
		}
		n := 2
		if whole || i+1 == len(rest) {
			n = 1
		}
		own = append(own, rest[i:i+n]...)
		rest = slices.Delete(rest, i, i+n)
		i--
	}
	return own, args[at], rest
}

// taskNames returns the names of the program's tasks.
func (p *program) taskNames() (names []string) {
	for _, t := range p.tasks {
		names = append(names, t.Name())
	}
	return names
}

// writePlan writes a plan for people.
func writePlan(w io.Writer, plan *experiment.Plan, l experiment.Link) error {
	var b strings.Builder
	for _, line := range cli.Wrap(plan.Line, cli.Columns) {
		fmt.Fprintln(&b, line)
	}
	b.WriteString("\n")
	rows := [][]string{{"sent for", "all sites, MB", "the site that sends most, MB"}}
	for _, phase := range experiment.Phases {
		if all := plan.All.Phases[phase]; all.Most > 0 {
			rows = append(rows, []string{phase, ranged(all.Times(1e-6), "%.3g"), ranged(plan.Site.Phases[phase].Times(1e-6), "%.3g")})
		}
	}
	rows = append(rows, []string{"all", ranged(plan.All.Bytes.Times(1e-6), "%.3g"), ranged(plan.Site.Bytes.Times(1e-6), "%.3g")})
	if err := cli.Table(&b, rows); err != nil {
		return err
	}
	fmt.Fprintf(&b, "\nmessages    %s by all sites\n", ranged(plan.All.Messages, "%.0f"))
	fmt.Fprintf(&b, "memory      about %.0f MB a site\n", plan.Memory.Usual/1e6)
	seconds := plan.Seconds(l)
	fmt.Fprintf(&b, "exchanges   %s (%s to %s) on links of %g Mbit/s and %g ms, beside the time of computing\n",
		duration(seconds.Usual), duration(seconds.Least), duration(seconds.Most), l.Mbit, l.Ms)
	_, err := io.WriteString(w, b.String())
	return err
}

// duration writes seconds for people.
func duration(seconds float64) string {
	d := time.Duration(seconds * float64(time.Second))
	switch {
	case d < 10*time.Second:
		return d.Round(10 * time.Millisecond).String()
	case d < time.Hour:
		return d.Round(time.Second).String()
	}
	return d.Round(time.Minute).String()
}

// ranged writes a number, with its range if it is not known exactly.
func ranged(r experiment.Range, format string) string {
	text := fmt.Sprintf(format, r.Usual)
	if r.Least != r.Most {
		text += fmt.Sprintf(" ("+format+" to "+format+")", r.Least, r.Most)
	}
	return text
}
