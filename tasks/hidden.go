package tasks

import (
	"strconv"
	"strings"

	"dsbo"
)

// hiddenUnits reads -hidden: units of the hidden layers, first to last.
func hiddenUnits(text string) (units []int, err error) {
	for part := range strings.SplitSeq(text, ",") {
		n, err := strconv.Atoi(strings.TrimSpace(part))
		if err != nil || n < 1 || n > 1<<16 {
			return nil, dsbo.Errorf(dsbo.ErrConfig, "-hidden must be numbers of units with commas between; it is %s", text)
		}
		units = append(units, n)
	}
	return units, nil
}
