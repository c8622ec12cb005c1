package command

import (
	"bytes"
	"encoding/csv"
	"slices"
	"testing"

	"dsbo/internal/testkit"
)

func TestClinics(t *testing.T) {
	for i, c := range clinics {
		once := clinicTable(i)
		if !bytes.Equal(once, clinicTable(i)) {
			t.Errorf("clinic %d: other patients the second time", i)
		}
		rows := testkit.Get(csv.NewReader(bytes.NewReader(once)).ReadAll())
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
	rows := testkit.Get(csv.NewReader(bytes.NewReader(clinicTable(clinicCount))).ReadAll())
	if len(rows) != newPatients+1 || slices.Contains(rows[0], "diagnosis") {
		t.Errorf("%d rows under %v", len(rows), rows[0])
	}
}
