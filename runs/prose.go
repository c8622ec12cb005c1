package runs

import (
	"embed"
	"fmt"
	"math"
	"strings"
	"text/template"

	"dsbo/internal/wording"
)

//go:embed judgement.txt verdict.txt
var proseFiles embed.FS

// sentences are the templates of all sentences on results.
var sentences = template.Must(template.New("").Funcs(template.FuncMap{
	"count": wording.Count,
	"small": func(s string) string { return strings.ToLower(s[:1]) + s[1:] },
	"points": func(share Number) string {
		return strings.ReplaceAll(fmt.Sprintf("%.1f", 100*float64(share)), "-", "−")
	},
	"negated": func(n Number) Number { return -n },
	"larger":  func(a, b Number) bool { return math.Abs(float64(a)) > math.Abs(float64(b)) },

	"measure": Assessment.measure, "overGuessing": Assessment.overGuessing,

	"percent": percent, "unsigned": func(text string) string { return strings.TrimLeft(text, "+−") },
	"change": Gain.percentText, "losses": Gain.changeText, "tested": Gain.testText, "few": Gain.few,
	"spent": Gain.spent, "chance": Gain.withinChance, "negligible": Gain.negligible,
	"penalties":   func(m Meaning) bool { return m == Penalties },
	"crossFitted": Contest.crossFitted,
}).ParseFS(proseFiles, "*.txt"))

// prose returns the sentences of a name on a result.
func prose(name string, of any) string {
	var text strings.Builder
	if err := sentences.ExecuteTemplate(&text, name, of); err != nil {
		panic(err) // the embedded files are tested
	}
	return text.String()
}
