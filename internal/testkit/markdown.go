package testkit

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

// A Block is a code block of a Markdown document, indented or between fences.
type Block struct {
	Line     int    // of its first line, from 1
	Language string // behind the fence
	Text     string // without the indent
}

// First returns the first line of the block, by which tests name it.
func (b Block) First() string {
	first, _, _ := strings.Cut(b.Text, "\n")
	return first
}

// Blocks returns the code blocks of a document, and the text without them.
func Blocks(document string) (blocks []Block, prose string) {
	const indent, fence = "    ", "```"
	lines, text := strings.Split(document, "\n"), []string{""}
	for i := 0; i < len(lines); i++ {
		language, fenced := strings.CutPrefix(lines[i], fence)
		if !fenced && (!strings.HasPrefix(lines[i], indent) || text[len(text)-1] != "") {
			text = append(text, lines[i])
			continue
		}
		b := Block{Line: i + 1}
		if fenced {
			b.Language = language
			i++
		}
		var code []string
		for ; i < len(lines) && lines[i] != fence; i++ {
			if !fenced && lines[i] != "" && !strings.HasPrefix(lines[i], indent) {
				i-- // the line is the text's
				break
			}
			if !fenced {
				lines[i] = strings.TrimPrefix(lines[i], indent)
			}
			code = append(code, lines[i])
		}
		b.Text = strings.TrimRight(strings.Join(code, "\n"), "\n") + "\n"
		blocks, text = append(blocks, b), append(text, "")
	}
	return blocks, strings.Join(text, "\n")
}

var (
	continued = regexp.MustCompile(`\s*\\\n\s*`)
	remark    = regexp.MustCompile(`( {2,}| # ).*`)
	codeSpan  = regexp.MustCompile("`[^`]+`")
	redirect  = regexp.MustCompile(` [>|] .*`)
	word      = regexp.MustCompile(`(?:'[^']*'|"[^"]*"|[^\s'"])+`)
)

// Shell returns the lines of a block as a shell takes them, without the remarks that explain
// a line behind two blanks or a #.
func (b Block) Shell() []string {
	lines := strings.Split(strings.TrimSpace(continued.ReplaceAllString(b.Text, " ")), "\n")
	for i := range lines {
		lines[i] = strings.TrimRight(remark.ReplaceAllString(lines[i], ""), " ")
	}
	return lines
}

// Commands returns the words of each command of a document that begins with a text, in code blocks
// and within sentences and tables. An optional part in brackets is taken.
func Commands(document, begin string) (commands [][]string) {
	blocks, prose := Blocks(document)
	var lines []string
	for _, b := range blocks {
		lines = append(lines, b.Shell()...)
	}
	prose = strings.NewReplacer("\n", " ", `\|`, "|").Replace(prose)
	for _, span := range codeSpan.FindAllString(prose, -1) {
		lines = append(lines, strings.Trim(span, "`"))
	}
	for _, line := range lines {
		for part := range strings.SplitSeq(line, " && ") {
			if part = redirect.ReplaceAllString(part, ""); !strings.HasPrefix(part, begin) {
				continue
			}
			words := word.FindAllString(strings.NewReplacer("[-", "-", "] ", " ").Replace(part+" "), -1)
			for i, w := range words {
				words[i] = strings.NewReplacer("'", "", `"`, "").Replace(w)
			}
			commands = append(commands, words)
		}
	}
	return commands
}

// Documents returns the Markdown documents below a root folder by their paths there, but for the
// history of changes.
func Documents(root string) map[string]string {
	all := map[string]string{}
	OK(filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		name := d.Name()
		switch {
		case err != nil:
			return err
		case d.IsDir() && path != root && (name[0] == '.' || name == "testdata" || name == "results"):
			return fs.SkipDir
		case filepath.Ext(name) == ".md" && name != "CHANGELOG.md":
			all[filepath.ToSlash(Get(filepath.Rel(root, path)))] = string(Get(os.ReadFile(path)))
		}
		return nil
	}))
	return all
}

// A BlockTest is a line of docs/testdata/blocks.txt, which explains itself.
type BlockTest struct{ Document, How, First string }

// BlockTests reads that file of the repository with a root folder.
func BlockTests(root string) (all []BlockTest) {
	for line := range strings.Lines(string(Get(os.ReadFile(filepath.Join(root, "docs/testdata/blocks.txt"))))) {
		if f := strings.Split(strings.TrimSpace(line), "\t"); len(f) == 3 {
			all = append(all, BlockTest{f[0], f[1], f[2]})
		}
	}
	return all
}
