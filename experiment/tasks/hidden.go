package tasks

import (
	"slices"
	"strconv"
	"strings"

	"dsbo"
)

// hidden is the flag -hidden: units of the hidden layers of a network, first to last, with
// commas between.
type hidden struct {
	text  string
	given bool
}

// defaultHidden is -hidden where it is not given.
var defaultHidden = hidden{text: "32"}

// String implements [flag.Value].
func (h *hidden) String() string { return h.text }

// Set implements [flag.Value]. It takes any text; check says what is wrong with it.
func (h *hidden) Set(text string) error {
	*h = hidden{text, true}
	return nil
}

// check returns an error where the units cannot be read, or are given for a model that is none of
// those with hidden layers.
func (h *hidden) check(model string, layered ...string) error {
	if h.given && !slices.Contains(layered, model) {
		return dsbo.ConfigErrorf("-hidden must be left out, or -model be %s; -hidden is %s",
			strings.Join(layered, " or "), h.text)
	}
	_, err := h.units()
	return err
}

// sizes returns the hidden layers of each network that a linear model is compared with: what is
// given, else three of one layer.
func (h *hidden) sizes() []string {
	if h.given {
		return []string{h.text}
	}
	return []string{"8", "32", "128"}
}

// units returns the units of each layer.
func (h *hidden) units() (units []int, err error) {
	for part := range strings.SplitSeq(h.text, ",") {
		n, err := strconv.Atoi(strings.TrimSpace(part))
		if err != nil || n < 1 || n > 1<<16 {
			return nil, dsbo.ConfigErrorf("-hidden must be numbers of units with commas between; it is %s",
				h.text)
		}
		units = append(units, n)
	}
	return units, nil
}
