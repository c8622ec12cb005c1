package wording

import "log/slog"

// LogUnits writes a duration in seconds, which its name then has, where handlers of JSON write
// nanoseconds. It is a slog.HandlerOptions.ReplaceAttr.
func LogUnits(_ []string, a slog.Attr) slog.Attr {
	if a.Value.Kind() == slog.KindDuration {
		return slog.Float64(a.Key+"_seconds", a.Value.Duration().Seconds())
	}
	return a
}
