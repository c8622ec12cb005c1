package session

import (
	"crypto/sha256"
	"fmt"
	"slices"
	"strings"

	"dsbo/internal/wording"
)

// A hello has the settings that Config.Hash stands for, as far as there is room, so that whoever
// refuses it can say which one differs. Each is name=value, or name#digest where the value is long.
const (
	longestValue = 16
	settingsEnd  = "..." // the last word where there was no room for all
	namedMost    = 3     // settings that a refusal names
	maxSettings  = 1 << 10
)

// settingsText returns what a hello says of settings, name=value each, in a number of bytes at
// most.
func settingsText(settings []string, most int) string {
	words := make([]string, 0, len(settings))
	for _, s := range settings {
		name, value, has := strings.Cut(s, "=")
		switch {
		case len(value) > longestValue || strings.ContainsAny(s, " #") || !ascii(s):
			name = fmt.Sprintf("%s#%.4x", strings.Trim(fmt.Sprintf("%+q", strings.ReplaceAll(name, " ", "_")), `"`),
				sha256.Sum256([]byte(value)))
		case has:
			name = s
		}
		words = append(words, name)
	}
	text := strings.Join(words, " ")
	for len(text) > most && len(words) > 0 {
		words = words[:len(words)-1]
		text = strings.Join(append(slices.Clone(words), settingsEnd), " ")
	}
	return text[:min(len(text), most)]
}

func ascii(s string) bool {
	return wording.Printable(s) && !strings.ContainsFunc(s, func(r rune) bool { return r > '~' })
}

// settingsOf reads a text of settings: the values by name, with "=" or "#" before each, and
// together where a name is there more than once. all says whether there was room for all of them.
func settingsOf(text string) (names []string, values map[string]string, all bool) {
	values = map[string]string{}
	words := strings.Fields(text)
	if all = !slices.Contains(words, settingsEnd); !all {
		words = words[:slices.Index(words, settingsEnd)]
	}
	for _, word := range words {
		end := strings.IndexAny(word, "=#")
		if end < 0 {
			end = len(word)
		}
		if name := word[:end]; !slices.Contains(names, name) {
			names = append(names, name)
		}
		values[word[:end]] += word[end:]
	}
	return names, values, all
}

// settingsDiffer says which settings differ of two agents; "" if that cannot be known by what their
// hellos tell.
func settingsDiffer(from int, theirs string, agent int, ours string) string {
	theirNames, their, theirAll := settingsOf(theirs)
	ourNames, our, ourAll := settingsOf(ours)
	if len(their) == 0 || len(our) == 0 {
		return ""
	}
	var found []string
	for _, name := range append(ourNames, theirNames...) {
		a, there := their[name]
		b, here := our[name]
		text := ""
		switch {
		case a == b && there == here || !there && !theirAll || !here && !ourAll:
			continue
		case !there:
			text = fmt.Sprintf("agent %d alone has %s%s", agent, name, b)
		case !here:
			text = fmt.Sprintf("agent %d alone has %s%s", from, name, a)
		case strings.ContainsRune(a+b, '#'):
			text = name + " differs"
		default:
			text = fmt.Sprintf("%s is %s at agent %d, %s at agent %d", name, shownValue(a), from, shownValue(b), agent)
		}
		if !slices.Contains(found, text) {
			found = append(found, text)
		}
	}
	if more := len(found) - namedMost; more > 0 {
		found = append(found[:namedMost], fmt.Sprintf("%d more", more))
	}
	return strings.Join(found, "; ")
}

// shownValue returns the values of a setting for people: of "=a=b" the text "a, b". An empty text
// means that there is none.
func shownValue(values string) string {
	if values == "" {
		return "without a value"
	}
	return strings.ReplaceAll(values[1:], "=", ", ")
}

// A settingsError is the refusal of an agent with other settings, or another program: one of the
// two has to be started again with the other one's.
type settingsError struct{ error }

// checkSettings returns an error unless h is of an agent with the same settings.
func (l *links) checkSettings(h hello) error {
	c := l.config
	if h.Hash == c.Hash {
		return nil
	}
	which := settingsDiffer(h.From, h.Settings, c.Agent, l.settings)
	if which == "" {
		which = "seed, graph, flags, their order"
	}
	return &settingsError{fmt.Errorf(
		"agent %d has other settings than agent %d (SHA-256 %.8s and %.8s): %s; all but the addresses must be the "+
			"same in the cluster file of each agent", h.From, c.Agent, h.Hash, c.Hash, which)}
}
