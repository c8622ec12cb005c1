package cli

import (
	"cmp"
	"errors"
	"flag"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"dsbo"
	"dsbo/internal/wording"
)

// Flags is a set of flags. Its help, -h, is one page of the flags in First; -h all, or -h of a set
// without First, shows all flags by group.
type Flags struct {
	*flag.FlagSet
	Synopsis string   // of the usage line, after the name; "": [flags]
	Example  string   // a command line, after the flags
	First    []string // names of the flags of the help's first page
	Usages   string   // of the flags by groups, as [SetUsages] reads them; they precede Group's
	// Elsewhere has, by the names of flags that the set has not, which command has them.
	Elsewhere map[string]string

	intro, outro string  // of the help, around the flags
	groups       []group // in the help's order
}

type group struct {
	title string
	names []string
}

// NewFlags makes an empty set of flags for a command called name. The help has intro before the
// flags and outro after them.
func NewFlags(name, intro, outro string) *Flags {
	f := &Flags{FlagSet: flag.NewFlagSet(name, flag.ContinueOnError), intro: intro, outro: outro}
	f.SetOutput(io.Discard)
	return f
}

// Group puts the named flags under a title of the help, in the given order.
func (f *Flags) Group(title string, names ...string) {
	f.groups = append(f.groups, group{title, names})
}

// Vars adds flags by their names, each with a pointer to its variable, whose value is the default.
// Their usages are in Usages.
func (f *Flags) Vars(variables map[string]any) {
	for name, at := range variables {
		switch at := at.(type) {
		case *string:
			f.StringVar(at, name, *at, "")
		case *bool:
			f.BoolVar(at, name, *at, "")
		case *int:
			f.IntVar(at, name, *at, "")
		case *uint64:
			f.Uint64Var(at, name, *at, "")
		case *time.Duration:
			f.DurationVar(at, name, *at, "")
		default:
			panic(fmt.Sprintf("-%s has a variable of type %T", name, at))
		}
	}
}

// Explain sets the usages of flags, and puts them into groups, as [SetUsages] has both.
func (f *Flags) Explain(text string) { f.groups = append(f.groups, SetUsages(f.FlagSet, text)...) }

// SetUsages sets the usages of flags by a text: "  -name  usage", which lines that begin with more
// blanks go on with. Lines without a blank before them are titles of groups.
func SetUsages(f *flag.FlagSet, text string) (groups []group) {
	var last *flag.Flag
	for line := range strings.Lines(text) {
		name, usage, _ := strings.Cut(strings.TrimPrefix(line, "  -"), "  ")
		switch {
		case line[0] != ' ':
			groups = append(groups, group{title: strings.TrimSpace(line)})
		case strings.HasPrefix(line, "  -"):
			last = f.Lookup(name)
			if last.Usage = strings.TrimSpace(usage); groups != nil {
				g := &groups[len(groups)-1]
				g.names = append(g.names, name)
			}
		default:
			last.Usage += " " + strings.TrimSpace(line)
		}
	}
	return groups
}

// Parse reads a command line of flags alone, as [Flags.ParseOperands] does.
func (f *Flags) Parse(args []string, out io.Writer, required ...string) error {
	if err := f.ParseOperands(args, out, required...); err != nil {
		return err
	}
	if f.NArg() > 0 {
		return dsbo.ConfigErrorf("unexpected argument %q: flags begin with - (-h lists them)", f.Arg(0))
	}
	return nil
}

// ParseOperands reads a command line of flags and of operands, which Args returns. Flags may stand
// before, between and after operands; all that follows -- is operands. The required flags, by their
// names, must not be empty. With -h, or -h all, it writes the help to out and returns flag.ErrHelp.
// Errors match [dsbo.ErrConfig]; the error of an unknown flag names the nearest known one.
func (f *Flags) ParseOperands(args []string, out io.Writer, required ...string) error {
	f.groups = append(SetUsages(f.FlagSet, f.Usages), f.groups...)
	err := f.parseMixed(args)
	if errors.Is(err, flag.ErrHelp) {
		f.help(out, f.Arg(0) == "all")
		return err
	}
	if err == nil {
		for _, name := range required {
			if fl := f.Lookup(name); fl.Value.String() == "" {
				value, _ := flag.UnquoteUsage(fl)
				return dsbo.ConfigErrorf("-%s %s is required (-h lists the flags)", name, value)
			}
		}
		return nil
	}
	if name, unknown := strings.CutPrefix(err.Error(), "flag provided but not defined: -"); unknown {
		if instead, is := wording.Struck("-" + name); is {
			return dsbo.ConfigErrorf("flag -%s is gone: %s", name, instead)
		}
		if command, is := f.Elsewhere[name]; is {
			return dsbo.ConfigErrorf("flag -%s is given to %s", name, command)
		}
		var names []string
		f.VisitAll(func(fl *flag.Flag) { names = append(names, fl.Name) })
		return dsbo.ConfigErrorf("unknown flag -%s%s (-h all lists the flags)", name,
			Suggest("-", name, names))
	}
	return dsbo.ConfigErrorf("%w (-h lists the flags)", f.explain(err))
}

// explain replaces package flag's "parse error" by the kind of value that the flag takes. Package
// flag has no type for its errors, so their text is parsed.
func (f *Flags) explain(err error) error {
	var value, name string
	if _, other := fmt.Sscanf(err.Error(), "invalid value %q for flag -%s parse error", &value, &name); other != nil {
		return err
	}
	name = strings.TrimSuffix(name, ":")
	g, ok := f.Lookup(name).Value.(flag.Getter)
	if !ok {
		return err
	}
	switch g.Get().(type) {
	case int:
		return fmt.Errorf("-%s must be a whole number; it is %q", name, value)
	case uint64:
		return fmt.Errorf("-%s must be a whole number from 0; it is %q", name, value)
	case float64:
		return fmt.Errorf("-%s must be a number; it is %q", name, value)
	case time.Duration:
		return fmt.Errorf("-%s must be a time such as 10s; it is %q", name, value)
	}
	return err
}

// FlagName returns the name of the flag that an argument such as -name=value sets, or an argument
// that is none, and whether it is one.
func FlagName(arg string) (name string, is bool) {
	name, _, _ = strings.Cut(strings.TrimLeft(arg, "-"), "=")
	return name, strings.HasPrefix(arg, "-")
}

// parseMixed reads flags and operands in any order, where package flag ends at the first operand.
func (f *Flags) parseMixed(args []string) error {
	var rest, operands []string
	if i := slices.Index(args, "--"); i >= 0 {
		args, rest = args[:i], args[i+1:]
	}
	for len(args) > 0 {
		if err := f.FlagSet.Parse(args); err != nil {
			return err
		}
		args = f.Args()
		n := slices.IndexFunc(args, func(a string) bool { return strings.HasPrefix(a, "-") && a != "-" })
		if n < 0 {
			n = len(args)
		}
		operands, args = append(operands, args[:n]...), args[n:]
	}
	return f.FlagSet.Parse(slices.Concat([]string{"--"}, operands, rest)) // Args returns what follows --
}

// help writes the usage line, the intro, the flags and the example. The first page has the first
// paragraph and First's flags alone; all has everything, by group.
func (f *Flags) help(out io.Writer, all bool) {
	intro, groups, outro := f.intro, f.groups, f.outro
	if f.First != nil && !all {
		intro, _, _ = strings.Cut(f.intro, "\n\n")
		groups = []group{{"First flags", f.First}}
		outro = f.Name() + " -h all explains all flags, by group."
	}
	fmt.Fprintf(out, "usage: %s %s\n\n%s\n", f.Name(), cmp.Or(f.Synopsis, "[flags]"), intro)
	for _, g := range groups {
		fmt.Fprintf(out, "\n%s\n", g.title)
		for _, name := range g.names {
			fl := f.Lookup(name)
			value, usage := flag.UnquoteUsage(fl)
			// other defaults are empty or in the usage text
			if fl.DefValue != "" && fl.DefValue != "false" && !strings.Contains(usage, "default") {
				usage += " (default " + fl.DefValue + ")"
			}
			fmt.Fprintf(out, "  %s\n", strings.TrimSpace("-"+name+" "+value))
			for _, line := range Wrap(usage, 72) {
				fmt.Fprintf(out, "        %s\n", line)
			}
		}
	}
	if outro != "" {
		fmt.Fprintf(out, "\n%s\n", outro)
	}
	if f.Example != "" {
		fmt.Fprintf(out, "\nExample\n  %s\n", f.Example)
	}
}

// Columns is the width of lines for people.
const Columns = 80

// Wrap breaks a text at blanks into lines of at most width characters, if no word is longer. One
// that is short enough is left as it is. Characters that would move the cursor are [wording.Plain].
func Wrap(text string, width int) []string {
	text = wording.Plain(text)
	if utf8.RuneCountInString(text) <= width {
		return []string{text}
	}
	var lines []string
	for i, word := range strings.Fields(text) {
		if n := len(lines) - 1; i > 0 && utf8.RuneCountInString(lines[n]+" "+word) <= width {
			lines[n] += " " + word
		} else {
			lines = append(lines, word)
		}
	}
	return lines
}

// Paragraph writes a text in lines of at most Columns characters, as [Wrap] breaks it.
func Paragraph(w io.Writer, text string) error {
	_, err := io.WriteString(w, strings.Join(Wrap(text, Columns), "\n")+"\n")
	return err
}

// Given returns the names of the flags that were given.
func (f *Flags) Given() map[string]bool {
	given := map[string]bool{}
	f.Visit(func(fl *flag.Flag) { given[fl.Name] = true })
	return given
}

// Choose returns the names in a flag's comma-separated list, in the order of known. The empty list
// means all. An unknown name is an error that matches [dsbo.ErrConfig].
func Choose(flag, list string, known []string) ([]string, error) {
	if list == "" {
		return known, nil
	}
	wanted := strings.Split(list, ",")
	for _, w := range wanted {
		if !slices.Contains(known, w) {
			return nil, dsbo.ConfigErrorf("-%s must name some of %s; %q is none of them", flag,
				strings.Join(known, ", "), w)
		}
	}
	return slices.DeleteFunc(slices.Clone(known), func(name string) bool { return !slices.Contains(wanted, name) }), nil
}
