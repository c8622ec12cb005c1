package cli

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"strings"

	"dsbo"
)

// Flags is a set of flags that -h shows in groups.
type Flags struct {
	*flag.FlagSet
	intro  string
	outro  string
	groups []group
}

type group struct {
	title string
	names []string
}

// NewFlags makes an empty set. intro is what -h says before the flags, and outro after them.
func NewFlags(name, intro, outro string) *Flags {
	f := &Flags{FlagSet: flag.NewFlagSet(name, flag.ContinueOnError), intro: intro, outro: outro}
	f.SetOutput(io.Discard)
	return f
}

// Group puts flags, by their names in the order in which -h shows them, under a title.
func (f *Flags) Group(title string, names ...string) {
	f.groups = append(f.groups, group{title, names})
}

// Parse reads the arguments. With -h it writes the help to out and returns flag.ErrHelp; whatever else is wrong matches
// [dsbo.ErrConfig].
func (f *Flags) Parse(args []string, out io.Writer) error {
	err := f.FlagSet.Parse(args)
	switch {
	case errors.Is(err, flag.ErrHelp):
		f.help(out)
		return err
	case err != nil:
		return fmt.Errorf("%w: %w (-h lists the flags)", dsbo.ErrConfig, err)
	case f.NArg() > 0:
		return fmt.Errorf("%w: unexpected argument %q: flags begin with - (-h lists them)", dsbo.ErrConfig, f.Arg(0))
	}
	return nil
}

// help writes all flags by group.
func (f *Flags) help(out io.Writer) {
	fmt.Fprintln(out, f.intro)
	for _, g := range f.groups {
		fmt.Fprintf(out, "\n%s\n", g.title)
		for _, name := range g.names {
			fl := f.Lookup(name)
			value, usage := flag.UnquoteUsage(fl)
			head := "-" + name
			if value != "" {
				head += " " + value
			}
			text := wrap(usage, 72)
			if fl.DefValue != "" && fl.DefValue != "false" && !strings.Contains(usage, "default") { // else it says it itself
				text = wrap(usage+" (default "+fl.DefValue+")", 72)
			}
			fmt.Fprintf(out, "  %s\n", head)
			for _, line := range text {
				fmt.Fprintf(out, "        %s\n", line)
			}
		}
	}
	if f.outro != "" {
		fmt.Fprintf(out, "\n%s\n", f.outro)
	}
}

// wrap breaks a text at blanks into lines of at most width characters.
func wrap(text string, width int) []string {
	var lines []string
	line := ""
	for _, word := range strings.Fields(text) {
		if line != "" && len([]rune(line))+1+len([]rune(word)) > width {
			lines = append(lines, line)
			line = ""
		}
		if line != "" {
			line += " "
		}
		line += word
	}
	return append(lines, line)
}

// Given names the flags that were given.
func (f *Flags) Given() map[string]bool {
	given := map[string]bool{}
	f.Visit(func(fl *flag.Flag) { given[fl.Name] = true })
	return given
}
