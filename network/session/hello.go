package session

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"dsbo/internal/wording"
	"dsbo/network"
)

// A hello opens a stream, in both directions, as JSON. A later version may have more fields, which
// this one passes over.
type hello struct {
	From      int             `json:"from"`                // the sender
	To        int             `json:"to"`                  // whom it takes the receiver for
	Instance  uint64          `json:"instance"`            // see Config.Instance
	Run       string          `json:"run"`                 // see Config.Run
	Hash      string          `json:"hash"`                // see Config.Hash
	Form      string          `json:"form"`                // see Config.form
	Program   network.Program `json:"program"`             // that the sender is
	Admission string          `json:"admission,omitempty"` // of an agent that Config.Matrix does not have
	Removal   string          `json:"removal,omitempty"`   // of the receiver; then there are no settings
	Settings  string          `json:"settings,omitempty"`  // see settingsText
	Session   uint64          `json:"session"`             // that is under way, the first bytes of its id; 0: none
	Due       int             `json:"due"`                 // exchange of it whose vector the sender needs next
}

func (h *hello) texts() []string {
	p := &h.Program
	return []string{h.Run, h.Hash, h.Form, h.Admission, h.Removal, h.Settings, p.Version, p.Kernels, p.Architecture,
		p.Level, p.Arithmetic}
}

func (h hello) encode() []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(h); err != nil {
		panic(err) // it is numbers and texts
	}
	return append(newFrame(frame{kind: kindHello}, b.Len()), b.Bytes()...)
}

// readHello reads the hello in a frame, which may be from anybody: each error is a [*badFrame].
// Texts are printable, as refusals show them.
func readHello(f *frame) (h hello, err error) {
	if f.kind != kindHello {
		return h, badFramef("a stream must begin with a hello; it begins with a frame of kind %d", f.kind)
	}
	if err := json.Unmarshal(f.payload, &h); err != nil {
		return hello{}, badFramef("a hello must be JSON: %w", err)
	}
	for _, n := range []int{h.From, h.To, h.Due} {
		if n < 0 || n > maxExchange {
			return hello{}, badFramef("the numbers of a hello must be 0 to %d; one is %d", maxExchange, n)
		}
	}
	for _, text := range h.texts() {
		if !wording.Printable(text) {
			return hello{}, badFramef("the texts of a hello must be printable; one is %+.60q", text)
		}
	}
	return h, nil
}

// hello returns the agent's hello to a neighbour, with settings as a text.
func (c *Config) hello(to int, settings string, session uint64, due int) hello {
	return hello{From: c.Agent, To: to, Instance: c.Instance, Run: c.Run, Hash: c.Hash, Form: c.form(),
		Program: network.ThisProgram(), Admission: c.Admission, Settings: settings, Session: session, Due: due}
}

// helloLength is the largest length of a hello without settings.
func (c *Config) helloLength() int {
	h := c.hello(maxExchange, " ", 1<<64-1, maxExchange)
	h.From, h.Instance = maxExchange, 1<<64-1
	return len(h.encode())
}

// settingsText returns the settings in the agent's hellos. Each byte may take two in JSON.
func (c *Config) settingsText() string {
	return settingsText(c.Settings, (headerSize+maxHello-c.helloLength())/2)
}

// greet returns the hello to a neighbour. One with a removal has no room for settings.
func (l *links) greet(to int) []byte {
	session, due, removal := l.host.greeting(to)
	h := l.config.hello(to, l.settings, session, due)
	if h.Removal = removal; removal != "" {
		h.Settings = ""
	}
	return h.encode()
}

// checkHello returns an error unless h is for this agent, of this run, and of a process with the
// same settings, form of vectors and program. The last three are [*settingsError].
func (l *links) checkHello(h hello) error {
	c := l.config
	switch {
	case h.To != c.Agent:
		return fmt.Errorf("agent %d takes agent %d for agent %d", h.From, c.Agent, h.To)
	case h.Run != c.Run:
		return fmt.Errorf("agent %d is of run %q, agent %d of run %q", h.From, h.Run, c.Agent, c.Run)
	}
	if err := l.checkSettings(h); err != nil {
		return err
	}
	if h.Form != c.form() {
		return &settingsError{fmt.Errorf(
			"agent %d exchanges %s, agent %d %s: Wire and Unmasked must be the same for all agents", h.From, h.Form,
			c.Agent, c.form())}
	}
	if err := h.Program.Mixable(fmt.Sprintf("agent %d", h.From), fmt.Sprintf("agent %d", c.Agent),
		network.ThisProgram()); err != nil {
		return &settingsError{err}
	}
	return nil
}

// checkDirection returns an error unless it is agent from that connects to this one.
func (l *links) checkDirection(from int) error {
	if !l.config.dials(from) {
		return nil
	}
	return fmt.Errorf("agent %d connects to agent %d, but the other way is right: the one with the lower number "+
		"connects, or the one without an address", from, l.config.Agent)
}

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
