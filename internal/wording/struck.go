package wording

// struck maps removed names of earlier versions to their replacements. Flags begin with -; verb is
// before a verb, and a method's name before its parameter.
var struck = map[string]string{
	"verb export":       "MLflow refuses file stores; docs/result.md has ten lines that log a run by MLflow's own API",
	"-link":             "a sum takes twice the hops of a plan, times the time of one way; the rest is bytes by rate",
	"-keep-frames":      "a session that ends begins again with a checkpoint",
	"-keep-mib":         "a session that ends begins again with a checkpoint",
	"-delay-budget":     "-peer-timeout and -straggler-deadline bound waits",
	"-average":          "averages are sums over a spanning tree of the graph",
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

// Struck returns the replacement of an earlier version's flag or setting; false if there was none
// of that name.
func Struck(name string) (instead string, is bool) {
	instead, is = struck[name]
	return instead, is
}
