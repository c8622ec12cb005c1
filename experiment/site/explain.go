package site

import (
	"fmt"
	"io"
	"strings"

	"dsbo/internal/cli"
	"dsbo/internal/wording"
	"dsbo/network"
)

// Observers are who sees an agent's own part of a quantity over gRPC, by its [network.Way].
var Observers = [...]string{network.BySum: "nobody: masked", network.ByMix: "each neighbour",
	network.ByMax: "its parent", network.ByText: "all sites", network.ByRow: "all sites",
	network.ByState: "sites that enter"}

// LengthText writes the length of a quantity.
func (q Quantity) LengthText() string {
	switch q.Way {
	case network.ByText:
		return wording.Count(int(q.Length), "byte")
	case network.ByMax:
		return wording.Count(int(q.Length), "word")
	}
	return fmt.Sprintf("%.0f %v", q.Length, q.Wire)
}

// Text writes the number with a format, or its least-most.
func (r Range) Text(format string) string {
	text := fmt.Sprintf(format, r.Least)
	if r.Least != r.Most {
		text += fmt.Sprintf("-"+format, r.Most)
	}
	return text
}

// Explain writes, for people, what each agent sends that is computed from its data: each quantity
// with its length, how often, and who sees it unmasked; texts, with the first site's as an example;
// and what the sums may reveal nevertheless.
func (p *Plan) Explain(w io.Writer) error {
	var b strings.Builder
	paragraph := func(text string) {
		fmt.Fprintf(&b, "%s\n\n", strings.Join(cli.Wrap(text, cli.Columns), "\n"))
	}
	paragraph(p.Line)
	paragraph(
		"Examples stay where they are. This is what each site sends that is made of its own, over gRPC; in one " +
			"process and over MPI nothing is masked.")
	rows := [][]string{{"", "numbers", "times", "seen by"}}
	phase := ""
	for _, q := range p.Quantities {
		if q.Phase != phase {
			phase = q.Phase
			rows = append(rows, []string{phase, "", "", ""})
		}
		rows = append(rows, []string{"  " + q.Name, q.LengthText(), q.Times.Text("%.0f"), Observers[q.Way]})
	}
	if err := cli.Table(&b, rows); err != nil {
		return err
	}
	b.WriteString("\n")
	for _, q := range p.Quantities {
		if q.Text != "" {
			paragraph("Text of the first site: " + q.Text)
		}
	}
	paragraph(
		"With each masked sum go the powers of two above its largest numbers, one for up to 1024 of them, which its " +
			"parent in the spanning tree sees. " +
			"Beside that: the numbers of training and validation rows, once, to all; counts of what was " +
			"computed; and if " +
			"a site fails, the text of its error.")
	switch {
	case p.Privacy != nil:
		paragraph(
			fmt.Sprintf(
				"Differential privacy %v. A site's answers have noise before anything is made of them: at most %d "+
					"about training, %d about validation and %d about test rows, "+
					"with a deviation of %.3g, %.3g and %.3g times what one row can change.", *p.Privacy,
				p.Privacy.Answers[0],
				p.Privacy.Answers[1], p.Privacy.Answers[2],
				p.Privacy.Noise[0], p.Privacy.Noise[1], p.Privacy.Noise[2]))
	case p.Agents < 3:
		paragraph("There are fewer than three sites: each can take its own terms off the sums, and has the other's.")
	default:
		paragraph(
			"The sums, λ and the model are of all sites' data and have no noise: they may tell of rare rows, and " +
				"products of columns of a word that one site alone has (-dp-epsilon adds noise).")
	}
	_, err := io.WriteString(w, strings.TrimRight(b.String(), "\n")+"\n")
	return err
}
