package compare

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"dsbo"
	"dsbo/algo"
	"dsbo/experiment"
	"dsbo/internal/cli"
)

// maxRuns bounds the runs of a comparison.
const maxRuns = 100_000

// validate reports the first field that cannot work, whatever the program's tasks.
func (s *Spec) validate() error {
	switch {
	case len(s.Tasks) == 0:
		return dsbo.ConfigErrorf(`field "tasks" must name at least one task`)
	case len(s.Methods) == 0:
		return dsbo.ConfigErrorf(`field "methods" must name at least one method`)
	case len(s.Seeds) == 0:
		return dsbo.ConfigErrorf(`field "seeds" must have at least one seed`)
	case max(len(s.Tasks), len(s.Methods), len(s.Seeds)) > maxRuns:
		return dsbo.ConfigErrorf(`fields "tasks", "methods" and "seeds" must have at most %d entries; one has %d`,
			maxRuns, max(len(s.Tasks), len(s.Methods), len(s.Seeds)))
	}
	for _, list := range []struct {
		field string
		names []string
	}{{"tasks", each(s.Tasks, func(t Task) string { return t.Name })},
		{"methods", each(s.Methods, func(m Method) string { return m.Name })}} {
		if name, twice := duplicate(list.names); twice {
			return dsbo.ConfigErrorf(`field %q: names must differ; %q is there twice`, list.field, name)
		}
		if name, twice := duplicate(each(list.names, fileName)); twice {
			return dsbo.ConfigErrorf(
				`field %q: names must differ in letters or digits; two are the folder %q`, list.field, name)
		}
	}
	if seed, twice := duplicate(s.Seeds); twice {
		return dsbo.ConfigErrorf(`field "seeds": they must differ; %d is there twice`, seed)
	}
	err := cmp.Or(checkName("choose", criteria, s.Choose),
		checkName("start", []string{constantStart, "given"}, s.Start), checkFlags("flags", s.Flags))
	for _, t := range s.Tasks {
		err = cmp.Or(err, checkFlags("tasks", t.Flags))
	}
	if err != nil {
		return err
	}
	runs := 0
	for _, m := range s.Methods {
		if err := s.checkMethod(m); err != nil {
			return err
		}
		if runs += m.Grid.points() * len(s.Seeds) * len(s.Tasks); runs > maxRuns {
			return dsbo.ConfigErrorf(
				`field "methods": all grids together must ask for at most %d runs; with %q they ask for more`,
				maxRuns, m.Name)
		}
	}
	return nil
}

func (s *Spec) checkMethod(m Method) error {
	if all := algo.Names(); !slices.Contains(all, m.Algorithm) {
		return dsbo.ConfigErrorf(`field "methods": %q is no method (%s)%s`,
			m.Algorithm, strings.Join(all, ", "), cli.Suggest("", m.Algorithm, all))
	}
	if m.Trials < 0 {
		return dsbo.ConfigErrorf(
			`field "methods", %q: "trials" must be at least 1, or 0 for all points of the grid; it is %d`,
			m.Name, m.Trials)
	}
	first := m.flagsAt(make([]int, len(m.Grid)))[1:] // without the method itself
	if err := cmp.Or(checkFlags("methods", m.Flags), checkFlags("methods", first)); err != nil {
		return err
	}
	if err := m.checkParameters(first); err != nil {
		return dsbo.ConfigErrorf(`field "methods", %q: %w`, m.Name, err)
	}
	for _, name := range m.Tasks {
		if !slices.ContainsFunc(s.Tasks, func(t Task) bool { return t.Name == name }) {
			return dsbo.ConfigErrorf(`field "methods", %q: "tasks" must be names of tasks; %q is none`,
				m.Name, name)
		}
	}
	return nil
}

// checkParameters reports the first -set of flags that names no parameter of the method.
func (m Method) checkParameters(flags []string) error {
	method, err := algo.New(m.Algorithm)
	if err != nil {
		return err
	}
	for _, f := range flags {
		name, value, _ := strings.Cut(strings.TrimLeft(f, "-"), "=")
		if parameter, _, _ := strings.Cut(value, "="); name == "set" &&
			!slices.Contains(algo.Parameters(method), parameter) {
			return fmt.Errorf("%s has no parameter %q; it has %s", m.Algorithm, parameter,
				strings.Join(algo.Parameters(method), ", "))
		}
	}
	return nil
}

// checkFlags reports what is no flag, or one that the comparison sets itself.
func checkFlags(field string, flags []string) error {
	for _, f := range flags {
		name, _, _ := strings.Cut(strings.TrimLeft(f, "-"), "=")
		switch {
		case !strings.HasPrefix(f, "-") || name == "":
			return dsbo.ConfigErrorf(`field %q: flags must be of the form -name=value; %q is not`, field, f)
		case name == "seed" || name == "algorithm" || name == "h" || name == "help" || experiment.LocalOnly(name):
			return dsbo.ConfigErrorf(`field %q: %s is not allowed: the comparison sets it`, field, f)
		}
	}
	return nil
}

// checkName reports a name that is not in a list.
func checkName[T ~string](field string, all []T, name T) error {
	if slices.Contains(all, name) {
		return nil
	}
	return dsbo.ConfigErrorf(`field %q must be one of %s; it is %q`, field,
		strings.Join(each(all, func(t T) string { return string(t) }), ", "), name)
}

// duplicate returns the first value that comes again.
func duplicate[T comparable](all []T) (value T, found bool) {
	seen := map[T]bool{}
	for _, v := range all {
		if seen[v] {
			return v, true
		}
		seen[v] = true
	}
	return value, false
}

// each returns what a function makes of each of a list, in their order.
func each[T, U any](all []T, of func(T) U) (list []U) {
	for _, v := range all {
		list = append(list, of(v))
	}
	return list
}

// constantStart is the [Spec.Start] of methods that start alike.
const constantStart = "constant"
