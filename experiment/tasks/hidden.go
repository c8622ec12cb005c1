package tasks

import (
	"slices"
	"strconv"
	"strings"

	"dsbo"
)

// Hidden is the flag -hidden of a task: units of the hidden layers of a network, first to last,
// with commas between.
type Hidden struct {
	Text  string
	given bool
}

// DefaultHidden is -hidden where it is not given.
var DefaultHidden = Hidden{Text: "32"}

// String implements [flag.Value].
func (h *Hidden) String() string { return h.Text }

// Set implements [flag.Value]. It accepts any text, as Check returns the error for a wrong one.
func (h *Hidden) Set(text string) error {
	*h = Hidden{text, true}
	return nil
}

// Check returns an error if the units cannot be read, or if they are given for a model that is not
// in layered, the models with hidden layers.
func (h *Hidden) Check(model string, layered ...string) error {
	if h.given && !slices.Contains(layered, model) {
		return dsbo.ConfigErrorf("-hidden must be left out, or -model be %s; -hidden is %s",
			strings.Join(layered, " or "), h.Text)
	}
	_, err := h.Units()
	return err
}

// Sizes returns the values of -hidden for the networks that a linear model is compared with: the
// one given, or else three networks of one hidden layer.
func (h *Hidden) Sizes() []string {
	if h.given {
		return []string{h.Text}
	}
	return []string{"8", "32", "128"}
}

// Units returns the units of each layer. It returns an error for text that is no list of numbers
// from 1 to 65536; a larger one is surely a typing error.
func (h *Hidden) Units() (units []int, err error) {
	for part := range strings.SplitSeq(h.Text, ",") {
		n, err := strconv.Atoi(strings.TrimSpace(part))
		if err != nil || n < 1 || n > 1<<16 {
			return nil, dsbo.ConfigErrorf("-hidden must be numbers of units with commas between; it is %s",
				h.Text)
		}
		units = append(units, n)
	}
	return units, nil
}
