package session

import (
	"crypto/sha256"
	"fmt"
	"slices"
	"strings"

	"dsbo/internal/wording"
)

// A hello has Config.Hash's settings, so that a refusal can name the differing one. Each is
// name=value, or name#digest if the value is long.
const (
	longestValue = 16
	namedMost    = 4 // settings that a refusal names
)

// settingsText returns the text of settings, name=value each, in a hello; "" if it would have more
// than a number of bytes.
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
	if text := strings.Join(words, " "); len(text) <= most {
		return text
	}
	return ""
}

func ascii(s string) bool {
	return wording.Printable(s) && !strings.ContainsFunc(s, func(r rune) bool { return r > '~' })
}

// settingsDiffer names the settings that differ between two agents; "" if their hellos do not show
// it.
func settingsDiffer(from int, theirs string, agent int, ours string) string {
	their, own := strings.Fields(theirs), strings.Fields(ours)
	if len(their) == 0 || len(own) == 0 {
		return ""
	}
	found := append(settingsAlone(from, their, own), settingsAlone(agent, own, their)...)
	if more := len(found) - namedMost; more > 0 {
		found = append(found[:namedMost], fmt.Sprintf("%d more", more))
	}
	return strings.Join(found, "; ")
}

func settingsAlone(agent int, own, other []string) (found []string) {
	for _, word := range own {
		if !slices.Contains(other, word) {
			found = append(found, fmt.Sprintf("agent %d has %s", agent, word))
		}
	}
	return found
}

// A settingsError is the refusal of an agent with other settings, or another program: one of the
// two has to be started again with the other one's.
type settingsError struct{ error }

// checkSettings returns a [*settingsError] unless a hello has this agent's hash. It names the
// settings that differ, if both hellos have room for them.
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
