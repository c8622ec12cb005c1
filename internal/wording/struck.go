package wording

// struck are names of earlier versions that are gone, with what does instead. Flags begin with -,
// and the name of a method is before its parameters.
var struck = map[string]string{
	"-keep-frames":      "a session that ends begins again with a checkpoint",
	"-keep-mib":         "a session that ends begins again with a checkpoint",
	"-delay-budget":     "-peer-timeout and -straggler-deadline bound waits",
	"-lies":             "nothing is promised against members that lie",
	"show":              "the page of a comparison has figures of all quantities",
	"against":           "figures of a comparison are against iterations, time, oracle calls and traffic",
	"clipped":           "operators remove a member that sends what cannot be",
	"newtoncg beta2":    "it is 0.95",
	"newtoncg eps":      "it is 1e-12",
	"newtoncg drop":     "it is 0.85",
	"newtoncg floor":    "it is 0.02",
	"newtoncg reach":    "it is 0.9",
	"newtoncg no_split": "an oracle without the penalty's part of the Hessian does so",
	"newtoncg relative": "pairs are relative but with absolute=true",
	"trimmed":           "operators remove a member that sends what cannot be",
}

// Struck returns what does instead of a flag or a setting that an earlier version had; false if
// none had it.
func Struck(name string) (instead string, is bool) {
	instead, is = struck[name]
	return instead, is
}
