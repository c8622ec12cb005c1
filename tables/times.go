package tables

import (
	"strings"
	"time"
)

// The units of times.
const (
	days    = "day"
	seconds = "s"
)

// momentLayouts are ISO 8601 as people write it, with T or a space between date and time. A
// fraction of a second may follow the seconds. Times that name no zone are in UTC.
var momentLayouts = []string{"2006-01-02T15:04:05Z07:00", "2006-01-02T15:04:05", "2006-01-02T15:04"}

// timeOf returns the time that a text is, in the unit, and whether it is one: a date is both a
// number of days and of seconds, a time of day no number of days.
func timeOf(text []byte, unit string) (float64, bool) {
	if len(text) < len(time.DateOnly) || text[4] != '-' || text[7] != '-' {
		return 0, false
	}
	s := string(text)
	if t, err := time.Parse(time.DateOnly, s); err == nil {
		if unit == days {
			return float64(t.Unix() / (24 * 60 * 60)), true
		}
		return float64(t.Unix()), true
	}
	if unit == days {
		return 0, false
	}
	if len(s) > len(time.DateOnly) && s[len(time.DateOnly)] == ' ' {
		s = strings.Replace(s, " ", "T", 1)
	}
	for _, layout := range momentLayouts {
		if t, err := time.Parse(layout, s); err == nil {
			return float64(t.Unix()) + float64(t.Nanosecond())/1e9, true
		}
	}
	return 0, false
}
