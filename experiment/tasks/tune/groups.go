package tune

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"dsbo"
	"dsbo/experiment/candidates"
	"dsbo/internal/files"
	"dsbo/internal/wording"
	"dsbo/tables/features"
)

// groups are the values of -group, and the lines of the file of -groups: of each a name and a
// pattern of package path, such as gene=gene_*. The columns whose names match have a penalty of
// their own. Groups of one name are one.
type groups []string

func (g *groups) String() string { return strings.Join(*g, ",") }

// Set reads groups, with commas between.
func (g *groups) Set(text string) (err error) {
	*g, err = parseGroups(strings.Split(text, ","))
	return err
}

// parseGroups reads a group of each text that is not empty and does not begin with #.
func parseGroups(texts []string) (list groups, err error) {
	for _, text := range texts {
		if text = strings.TrimSpace(text); text == "" || text[0] == '#' {
			continue
		}
		name, pattern, _ := strings.Cut(text, "=")
		if _, bad := path.Match(pattern, ""); name == "" || pattern == "" || bad != nil {
			return nil, dsbo.ConfigErrorf(
				"a group must be a name and a pattern of columns, such as lab=lab_*; it is %q", text)
		}
		list = append(list, text)
	}
	return list, nil
}

// restOfFeatures is the name of the block of the features that are in no group.
const restOfFeatures = "the rest"

// findBlocks returns which group each feature of a recipe is in: the first one whose pattern
// matches its column.
func (g groups) findBlocks(r features.Recipe) (b candidates.Blocks, err error) {
	matched := make([]bool, len(g))
	for _, f := range r.Features() {
		column, name := r.Input(f.Input).Name, restOfFeatures
		for k, one := range g {
			of, pattern, _ := strings.Cut(one, "=")
			if ok, _ := path.Match(pattern, column); ok { // patterns have been checked
				matched[k] = true
				if name == restOfFeatures {
					name = of
				}
			}
		}
		at := slices.Index(b.Names, name)
		if at < 0 {
			at, b.Names = len(b.Names), append(b.Names, name)
		}
		b.Of = append(b.Of, at)
	}
	if k := slices.Index(matched, false); k >= 0 {
		name, pattern, _ := strings.Cut(g[k], "=")
		return b, dsbo.ConfigErrorf("-group %s: the pattern must match a column; of %s, none is called %s", name,
			wording.Count(len(r.Used()), "column"), pattern)
	}
	return b, nil
}

// nameBlocks finds the named blocks, if there are any.
func (t *tune) nameBlocks() (err error) {
	named := t.group
	if t.groupsFile != "" {
		text, err := files.ReadFile(t.groupsFile)
		if err != nil {
			return dsbo.ConfigErrorf("-groups: %w", err)
		}
		list, err := parseGroups(strings.Split(string(text), "\n"))
		if err != nil {
			return fmt.Errorf("-groups %s: %w", t.groupsFile, err)
		}
		named = slices.Concat(named, list)
	}
	if t.blocks = (candidates.Blocks{}); named == nil {
		return nil
	}
	if t.shared != auto {
		return dsbo.ConfigErrorf("-group must be left out unless -penalty is auto and there are -folds, of "+
			"the rows of a linear model without differential privacy; -penalty is %s, and there are %d folds", t.shared,
			t.prepared.Folds)
	}
	t.blocks, err = named.findBlocks(t.prepared.Recipe)
	return err
}
