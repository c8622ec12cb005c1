package command

import (
	"fmt"
	"io"
	"strings"
	"time"

	"dsbo"
	"dsbo/experiment"
	"dsbo/experiment/site"
	"dsbo/internal/cli"
	"dsbo/internal/wording"
)

// plan runs the verb plan. Its own flag may come before the task or among the task's flags, whose
// parser would reject it. So the line is split into plan's own flags, each with its value, and the
// rest, which begins with the task. An unknown flag before the task counts as plan's own, so that
// the error is about plan.
func (p *program) plan(f *call) error {
	within := 2 * time.Minute
	f.Vars(map[string]any{"pilot": &within})
	var own, rest []string
	for i := 0; i < len(f.args); i++ {
		name, is := cli.FlagName(f.args[i])
		switch {
		case is && (f.Lookup(name) != nil || len(rest) == 0):
			n := min(2, len(f.args)-i) // -flag VALUE
			if strings.Contains(f.args[i], "=") || f.Lookup(name) == nil {
				n = 1
			}
			own = append(own, f.args[i:i+n]...)
			i += n - 1
		default:
			rest = append(rest, f.args[i])
		}
	}
	if err := f.Parse(own, f.stdout); err != nil {
		return err
	}
	if within < 0 {
		return dsbo.ConfigErrorf("-pilot must be at least 0; it is %v", within)
	}
	if len(rest) == 0 {
		return dsbo.ConfigErrorf("a task is required: %s", strings.Join(p.taskNames(), " or "))
	}
	t, err := p.findTask("TASK", rest[0])
	if err != nil {
		return err
	}
	j, err := experiment.ParseAs(p.name+" "+t.Name, t, rest[1:], f.stdout)
	if err != nil {
		return err
	}
	of, err := j.Plan(f.ctx, within, f.stderr)
	if err != nil {
		return err
	}
	return writePlan(f.stdout, of, within)
}

// taskNames returns the names of the program's tasks.
func (p *program) taskNames() (names []string) {
	for _, t := range p.tasks {
		names = append(names, t.Name)
	}
	return names
}

// writePlan writes a plan for people: a table of phases, without those that send nothing, and
// whether the numbers are from a pilot or ranges. within is the pilot's time limit; 0: none was
// asked for.
func writePlan(w io.Writer, of *site.Plan, within time.Duration) error {
	var b strings.Builder
	_ = cli.Paragraph(&b, of.Line) // a builder takes all
	b.WriteString("\n")
	rows := [][]string{{"", "all sites, MB", "one site at most, MB", "messages"}}
	row := func(name string, s site.Sending) {
		if s.Bytes.Most > 0 {
			rows = append(rows, []string{name, s.Bytes.Times(site.Range{Least: 1e-6, Most: 1e-6}).Text("%.4g"),
				fmt.Sprintf("%.4g", s.Bytes.Most*of.Share/1e6), s.Messages.Text("%.0f")})
		}
	}
	for _, phase := range site.Phases {
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
