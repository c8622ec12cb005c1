package compare

import (
	"cmp"
	"slices"
	"strings"

	"dsbo"
	"dsbo/algo"
	"dsbo/experiment"
)

// maxRuns bounds the runs of a comparison.
const maxRuns = 100_000

// validate returns an error for the first field that cannot work with any program: empty or too
// long lists, then names, flags and methods. Lengths come first, as later checks take time or
// memory proportional to them. cmp.Or keeps the first of several errors.
func (s *Spec) validate() error {
	for i, n := range []int{len(s.Tasks), len(s.Methods), len(s.Seeds)} {
		if n < 1 || n > maxRuns {
			return dsbo.ConfigErrorf(`field %q must have from 1 to %d entries; it has %d`,
				[]string{"tasks", "methods", "seeds"}[i], maxRuns, n)
		}
	}
	err := cmp.Or(checkNames("tasks", each(s.Tasks, func(t task) string { return t.Name })),
		checkNames("methods", each(s.Methods, func(m method) string { return m.Name })))
	if seed, twice := duplicate(s.Seeds); twice {
		err = cmp.Or(err, dsbo.ConfigErrorf(`field "seeds": they must differ; %d is there twice`, seed))
	}
	err = cmp.Or(err, checkName("choose", criteria, s.Choose),
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

// checkMethod returns an error if a method's flags, grid, tasks or number of trials cannot work.
// Flags are checked as given, and again with the grid's first values filled in, which adds the
// flags of axes.
func (s *Spec) checkMethod(m method) error {
	if m.Trials < 0 {
		return dsbo.ConfigErrorf(
			`field "methods", %q: "trials" must be at least 1, or 0 for all points of the grid; it is %d`,
			m.Name, m.Trials)
	}
	method, err := algo.New(m.Algorithm)
	if err != nil {
		return dsbo.ConfigErrorf(`field "methods": %w`, err)
	}
	first := m.flagsAt(make([]int, len(m.Grid)))[1:] // without the method itself
	if err := cmp.Or(checkFlags("methods", m.Flags), checkFlags("methods", first)); err != nil {
		return err
	}
	for _, f := range first {
		set, found := strings.CutPrefix(strings.TrimLeft(f, "-"), "set=")
		parameter, _, _ := strings.Cut(set, "=")
		if all := algo.Parameters(method); found && !slices.Contains(all, parameter) {
			return dsbo.ConfigErrorf(`field "methods", %q: %s has no parameter %q; it has %s`, m.Name, m.Algorithm,
				parameter, strings.Join(all, ", "))
		}
	}
	for _, name := range m.Tasks {
		if !slices.ContainsFunc(s.Tasks, func(t task) bool { return t.Name == name }) {
			return dsbo.ConfigErrorf(`field "methods", %q: "tasks" must be names of tasks; %q is none`,
				m.Name, name)
		}
	}
	return nil
}

// checkFlags returns an error for a text that is no flag, or a flag that the comparison sets
// itself.
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

// checkNames reports names that are there twice, or would be one folder.
func checkNames(field string, names []string) error {
	if name, twice := duplicate(names); twice {
		return dsbo.ConfigErrorf(`field %q: names must differ; %q is there twice`, field, name)
	}
	if name, twice := duplicate(each(names, fileName)); twice {
		return dsbo.ConfigErrorf(`field %q: names must differ in letters or digits; two are the folder %q`, field, name)
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
