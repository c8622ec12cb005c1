package command

import (
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"dsbo"
	"dsbo/experiment"
	"dsbo/experiment/plan"
	"dsbo/internal/cli"
	"dsbo/internal/wording"
)

const planIntro = `Prints what a run will send, before sites meet: the bytes and exchanges of all sites, and the most
that one site sends. It loads the data that the flags name, and exchanges nothing with anybody.

How many products a solution takes, when iterations end, and how many constants are tried depends
on what a run finds. Therefore a pilot computes the whole run in this process, for as long as -pilot
allows: the run of the same data, seed and flags between sites sends the same to the byte. One site
can deal its own rows to as many agents as there will be sites (-agents), which is a guess at their
run. Without a pilot such numbers are ranges, least-most.`

// plan is the verb plan. Its own flag may be before the task or among the task's.
func (p *program) plan(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	f := p.flags("plan", planIntro, "[flags] TASK [flags of the task]", "-pilot 1m mnist -K 20")
	within := f.Duration("pilot", 2*time.Minute, "`time` that a pilot may compute on this machine; 0: no pilot")
	f.Group("Plan", "pilot")
	var own, rest []string
	for i := 0; i < len(args); i++ {
		name, is := cli.FlagName(args[i])
		switch {
		case is && name == "link":
			return dsbo.ConfigErrorf("there is no flag -link any more: %s", removed["plan -link"])
		case is && (f.Lookup(name) != nil || len(rest) == 0):
			n := min(2, len(args)-i)
			if strings.Contains(args[i], "=") || f.Lookup(name) == nil {
				n = 1
			}
			own = append(own, args[i:i+n]...)
			i += n - 1
		default:
			rest = append(rest, args[i])
		}
	}
	if err := f.Parse(own, stdout); err != nil {
		return err
	}
	if *within < 0 {
		return dsbo.ConfigErrorf("-pilot must be at least 0; it is %v", *within)
	}
	if len(rest) == 0 {
		return dsbo.ConfigErrorf("a task is required: %s", strings.Join(p.taskNames(), " or "))
	}
	t, err := p.findTask("TASK", rest[0])
	if err != nil {
		return err
	}
	j, err := experiment.ParseAs(p.name+" "+t.Name, t, rest[1:], stdout)
	if err != nil {
		return err
	}
	of, err := j.Plan(ctx, *within, stderr)
	if err != nil {
		return err
	}
	return writePlan(stdout, of, *within)
}

// taskNames returns the names of the program's tasks.
func (p *program) taskNames() (names []string) {
	for _, t := range p.tasks {
		names = append(names, t.Name)
	}
	return names
}

// writePlan writes a plan for people, whose pilot had a time to compute.
func writePlan(w io.Writer, of *plan.Plan, within time.Duration) error {
	var b strings.Builder
	_ = cli.Paragraph(&b, of.Line) // a builder takes all
	b.WriteString("\n")
	rows := [][]string{{"", "all sites, MB", "one site at most, MB", "messages"}}
	row := func(name string, s plan.Sending) {
		if s.Bytes.Most > 0 {
			rows = append(rows, []string{name, s.Bytes.Times(plan.Range{Least: 1e-6, Most: 1e-6}).Text("%.4g"),
				fmt.Sprintf("%.4g", s.Bytes.Most*of.Share/1e6), s.Messages.Text("%.0f")})
		}
	}
	for _, phase := range plan.Phases {
		row(phase, of.Phases[phase])
	}
	row("all", of.All())
	_ = cli.Table(&b, rows)
	basis := "What depends on what the run finds is a range."
	if of.Pilot != nil {
		basis = fmt.Sprintf("A pilot on this machine had %s and took %v for all sites: a run of the same data, seed "+
			"and flags sends the same.", wording.Count(of.Pilot.Iterations, "iteration"),
			of.Pilot.Elapsed.Round(time.Second/10))
	} else if within > 0 {
		basis = fmt.Sprintf("A pilot did not end in %v (-pilot). ", within) + basis
	}
	b.WriteString("\n")
	_ = cli.Paragraph(&b, fmt.Sprintf("Sums go %s up and down. %s", wording.Count(of.Height, "hop"), basis))
	_, err := io.WriteString(w, b.String())
	return err
}
