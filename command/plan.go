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
	"dsbo/experiment/plan"
	"dsbo/internal/cli"
	"dsbo/internal/wording"
)

const planIntro = `Says what a run will send and need, before sites meet: the exchanges, the bytes of all sites and
of the one that sends most, and the memory of a site. It loads the data that the flags name, and
exchanges nothing with anybody.

How many products a solution takes, when iterations end, and how many constants are tried depends
on what a run finds. Therefore a pilot computes the whole run in this process, for as long as -pilot
says: the run of the same data, seed and flags between sites sends the same to the byte. One site
can deal its own rows to as many agents as there will be sites (-agents), which is a guess at their
run. Without a pilot such numbers are said as "usual (least to most)"; of more than 1024 agents, up to
10000, there is none.`

// planOptions are the flags of the verb plan.
type planOptions struct {
	pilot time.Duration
}

// planFlags returns the flags of plan, which stand before the task.
func (p *program) planFlags() (*cli.Flags, *planOptions) {
	o := &planOptions{}
	f := p.flags("plan", planIntro, "[flags] TASK [flags of the task]", "-pilot 1m mnist -K 20")
	f.DurationVar(&o.pilot, "pilot", 2*time.Minute,
		"`time` that a pilot may compute on this machine, to know what a formula does not; 0: none")
	f.Group("Plan", "pilot")
	return f, o
}

// plan is the verb plan. Its own flags may stand before the task or among the task's.
func (p *program) plan(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	f, o := p.planFlags()
	for _, a := range args {
		if name, is := cli.FlagName(a); is && name == "link" {
			return dsbo.ConfigErrorf("there is no flag -link any more: %s", removed["plan -link"])
		}
	}
	own, task, rest := p.splitPlan(f, args)
	if err := f.Parse(own, stdout); err != nil {
		return err
	}
	if o.pilot < 0 {
		return dsbo.ConfigErrorf("-pilot must be at least 0; it is %v", o.pilot)
	}
	if task == "" {
		return dsbo.ConfigErrorf("a task is required: %s", strings.Join(p.taskNames(), " or "))
	}
	t, err := p.findTask("TASK", task)
	if err != nil {
		return err
	}
	j, err := experiment.ParseAs(p.name+" "+task, t, rest, stdout)
	if err != nil {
		return err
	}
	of, err := j.Plan(ctx, o.pilot, stderr)
	if err != nil {
		return err
	}
	return writePlan(stdout, of, o)
}

// splitPlan divides the command line into the flags of plan, the task's name and the task's flags.
func (p *program) splitPlan(f *cli.Flags, args []string) (own []string, task string, rest []string) {
	at := slices.IndexFunc(args, func(a string) bool { return slices.Contains(p.taskNames(), a) })
	if at < 0 {
		for i, a := range args { // a name that is no task's, for the error
			if !strings.HasPrefix(a, "-") &&
				(i == 0 || !strings.HasPrefix(args[i-1], "-") || strings.Contains(args[i-1], "=")) {
				return args[:i], a, nil
			}
		}
		return args, "", nil
	}
	own, rest = slices.Clone(args[:at]), slices.Clone(args[at+1:])
	for i := 0; i < len(rest); i++ {
		name, is := cli.FlagName(rest[i])
		if !is || f.Lookup(name) == nil {
			continue
		}
		n := min(2, len(rest)-i)
		if strings.Contains(rest[i], "=") {
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
		names = append(names, t.Name)
	}
	return names
}

// writePlan writes a plan for people.
func writePlan(w io.Writer, of *plan.Plan, o *planOptions) error {
	var b strings.Builder
	_ = cli.Paragraph(&b, of.Line) // a builder takes all
	b.WriteString("\n")
	rows := [][]string{{"sent for", "all sites, MB", "the site that sends most, MB"}}
	for _, phase := range plan.Phases {
		if all := of.All.Phases[phase].Bytes; all.Most > 0 {
			rows = append(rows, []string{phase, rangeText(all.Times(1e-6), "%.4g"),
				rangeText(of.Site.Phases[phase].Bytes.Times(1e-6), "%.4g")})
		}
	}
	rows = append(rows, []string{"all", rangeText(of.All.Bytes.Times(1e-6), "%.4g"),
		rangeText(of.Site.Bytes.Times(1e-6), "%.4g")})
	if err := cli.Table(&b, rows); err != nil {
		return err
	}
	fmt.Fprintf(&b, "\nmessages    %s by all sites\n", rangeText(of.All.Messages, "%.0f"))
	fmt.Fprintf(&b, "memory      about %.0f MB a site\n", of.Memory/1e6)
	fmt.Fprintf(&b, "sums        go %s up and down\n\n", wording.Count(of.Height, "hop"))
	if _, err := io.WriteString(w, b.String()); err != nil {
		return err
	}
	return cli.Paragraph(w, planBasis(of, o))
}

// planBasis says what the numbers of a plan rest on.
func planBasis(of *plan.Plan, o *planOptions) string {
	switch {
	case of.Pilot != nil:
		return fmt.Sprintf(
			"A pilot on this machine had %s and took %v for all sites: a run of the same data, seed and flags "+
				"sends the same.",
			wording.Count(of.Pilot.Iterations, "iteration"), of.Pilot.Elapsed.Round(time.Second/10))
	case of.Certain():
		return "All of it is known beforehand."
	case of.Agents > experiment.MostPiloted:
		return fmt.Sprintf(
			"All agents are taken to have as many data as the first one. There is no pilot of more than %d agents: "+
				"what depends on what the run finds is said as usual (least to most).", experiment.MostPiloted)
	case o.pilot > 0:
		return fmt.Sprintf(
			"A pilot did not end in %v (-pilot): what depends on what the run finds is said as usual (least to most).",
			o.pilot)
	}
	return "What depends on what the run finds is said as usual (least to most)."
}

// rangeText writes a number, with its range if it is not known exactly.
func rangeText(r plan.Range, format string) string {
	text := fmt.Sprintf(format, r.Usual)
	if r.Least != r.Most {
		text += fmt.Sprintf(" ("+format+" to "+format+")", r.Least, r.Most)
	}
	return text
}
