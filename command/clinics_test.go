package command

import (
	"bytes"
	"encoding/csv"
	"slices"
	"testing"

	"dsbo/internal/testkit"
)

func TestWrite(t *testing.T) {
	for i, c := range clinics {
		var once, twice bytes.Buffer
		testkit.OK(writeClinic(&once, i))
		testkit.OK(writeClinic(&twice, i))
		if once.String() != twice.String() {
			t.Errorf("clinic %d: other patients the second time", i)
		}
		rows := testkit.Get(csv.NewReader(&once).ReadAll())
		if len(rows) != c.patients+1 || !slices.Equal(rows[0], clinicHeader()) {
			t.Errorf("clinic %d: %d rows under %v", i, len(rows), rows[0])
		}
		ill, missing := 0, 0
		for _, row := range rows[1:] {
			if row[len(row)-1] == "ill" {
				ill++
			}
			for _, v := range row {
				if v == "" {
					missing++
				}
			}
		}
		if part := float64(ill) / float64(c.patients); part < .2 || part > .8 || missing == 0 {
			t.Errorf("clinic %d: %.2f of the patients are ill, %d values are missing", i, part, missing)
		}
	}
}

func TestWriteNew(t *testing.T) {
	var b bytes.Buffer
	testkit.OK(writeNewClinic(&b))
	rows := testkit.Get(csv.NewReader(&b).ReadAll())
	if len(rows) != 9 || slices.Contains(rows[0], "diagnosis") {
		t.Errorf("%d rows under %v", len(rows), rows[0])
	}
}
