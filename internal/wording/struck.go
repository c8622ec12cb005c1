package wording

// struck are names of earlier versions that are gone, with what does instead. Flags begin with -.
var struck = map[string]string{
	"-keep-frames":  "a session that ends begins again with a checkpoint",
	"-keep-mib":     "a session that ends begins again with a checkpoint",
	"-delay-budget": "-peer-timeout and -straggler-deadline bound waits",
	"-lies":         "nothing is promised against members that lie",
	"clipped":       "operators remove a member that sends what cannot be",
	"trimmed":       "operators remove a member that sends what cannot be",
}

// Struck returns what does instead of a flag or a setting that an earlier version had; false if
// none had it.
func Struck(name string) (instead string, is bool) {
	instead, is = struck[name]
	return instead, is
}
