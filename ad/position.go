package ad

import (
	"fmt"
	"path"
	"runtime"
	"strings"
)

// position returns the place where a model's author applied the op under construction, as "
// (folder/file.go:line)": the first frame of the stack outside of packages that only make ops of
// others. If that is in a helper, the calling line of Build is added. It is empty outside of Build,
// where no line of a model is to blame.
func position() string {
	var pcs [128]uintptr
	frames := runtime.CallersFrames(pcs[:runtime.Callers(2, pcs[:])])
	first, build := "", "" // the innermost place and the outermost one
	for {
		f, more := frames.Next()
		if end := f.Function == "dsbo/ad.Compile" || strings.HasPrefix(f.Function, "dsbo/ad.(*Derivs)"); end || !more {
			switch {
			case first == "":
				return ""
			case !end || first == build:
				return " (" + first + ")"
			}
			return " (" + first + ", called at " + build + ")"
		}
		if makesOps(f) {
			continue
		}
		place := fmt.Sprintf("%s:%d", path.Join(path.Base(path.Dir(f.File)), path.Base(f.File)), f.Line)
		if first == "" {
			first, build = place, place
		}
		if !strings.HasPrefix(f.Function, "dsbo/models.") { // which has oracles, too
			build = place
		}
	}
}

// makesOps reports whether a frame is in this package, in one built on it, in Gorgonia or in the
// runtime. Tests count as models.
func makesOps(f runtime.Frame) bool {
	if strings.HasSuffix(f.File, "_test.go") {
		return false
	}
	for _, pkg := range []string{"dsbo/ad.", "dsbo/models/nn.", "gorgonia.org/", "runtime."} {
		if strings.HasPrefix(f.Function, pkg) {
			return true
		}
	}
	return false
}
