// This file makes up tables of patients of three clinics, on which people try the program before
// they take data of their own: words and numbers, some missing, in populations that are unlike. No
// patient is real.

package command

import (
	"bytes"
	"encoding/csv"
	"math/rand/v2"
	"strconv"

	"dsbo/internal/num"
)

// clinicCount is the number of clinics.
const clinicCount = 3

// A clinic is what differs between the patients of the clinics.
type clinic struct {
	patients int
	age      float64 // mean
	smokers  float64 // share
	missing  float64 // share of values that nobody wrote down
	wards    []string
}

var clinics = [clinicCount]clinic{
	{patients: 240, age: 67, smokers: .3, missing: .02, wards: []string{"surgery", "internal", "internal", "heart"}},
	{patients: 180, age: 52, smokers: .5, missing: .08,
		wards: []string{"internal", "surgery", "emergency", "emergency"}},
	{patients: 300, age: 44, smokers: .2, missing: .04,
		wards: []string{"surgery", "surgery", "birth", "internal", "eyes"}},
}

// markers is the number of markers of the blood.
const markers = 60

// telling is what the first markers add to the risk. There are ten of them, of which a clinic finds
// few alone among the others: joining gives each a better model.
var telling = []float64{1.3, -1.2, 1.1, -1, 1, -.9, .9, -.8, .8, -.7}

// clinicHeader returns the names of the columns; the diagnosis is the last one.
func clinicHeader() []string {
	names := []string{"patient", "age", "sex", "smoker", "ward", "pressure", "pulse", "temperature"}
	for m := range markers {
		names = append(names, "marker"+strconv.Itoa(m+1))
	}
	return append(names, "diagnosis")
}

// newPatients is the number of patients of all clinics whose diagnosis nobody knows yet.
const newPatients = 8

// clinicTable returns the patients of clinic i as comma-separated values with a header, the same
// each time. Clinic clinicCount has the new patients, without the column of the diagnosis.
func clinicTable(i int) []byte {
	from, count := clinics[:], newPatients
	if i < clinicCount {
		from, count = clinics[i:][:1], clinics[i].patients
	}
	r := rand.New(rand.NewPCG(2, uint64(i)))
	rows := [][]string{clinicHeader()}
	for n := range count {
		rows = append(rows, from[n%len(from)].patient(r, 1000*(i+1)+n))
	}
	if i == clinicCount {
		for k, row := range rows {
			rows[k] = row[:len(row)-1]
		}
	}
	var b bytes.Buffer
	_ = csv.NewWriter(&b).WriteAll(rows) // a buffer takes all
	return b.Bytes()
}

// patient draws a patient's row, in the order of clinicHeader. The diagnosis follows a logistic
// model in age, temperature, smoking and the first (telling) markers. Sex, ward, pressure and pulse
// have no effect, so that a model should find none. Markers are log-normal.
func (c clinic) patient(r *rand.Rand, number int) []string {
	age := min(max(c.age+float64(14*num.Normal(r)), 18), 97)
	smoker := "never"
	if r.Float64() < c.smokers {
		smoker = []string{"current", "former"}[r.IntN(2)]
	}
	temperature := 37 + float64(.6*num.Normal(r))
	pressure := 105 + float64(.4*age) + float64(14*num.Normal(r))
	risk := -.9 + float64(.045*(age-55)) + float64(1.2*(temperature-37)) +
		map[string]float64{"current": 1.1, "former": .4}[smoker]
	row := []string{
		strconv.Itoa(number), c.number(r, age, 0), c.word(r, []string{"f", "m"}[r.IntN(2)]), c.word(r, smoker),
		c.word(r, c.wards[r.IntN(len(c.wards))]), c.number(r, pressure, 0),
		c.number(r, 74+float64(10*num.Normal(r)), 0), c.number(r, temperature, 1),
	}
	for m := range markers {
		level := num.Normal(r)
		if m < len(telling) {
			risk += float64(telling[m] * level)
		}
		row = append(row, strconv.FormatFloat(10*num.Exp(.3*level), 'f', 2, 64))
	}
	diagnosis := "healthy"
	if r.Float64() < 1/(1+num.Exp(-risk)) {
		diagnosis = "ill"
	}
	return append(row, diagnosis)
}

// number writes a number with n digits, or nothing if it was forgotten.
func (c clinic) number(r *rand.Rand, v float64, digits int) string {
	return c.word(r, strconv.FormatFloat(v, 'f', digits, 64))
}

// word returns a word, or nothing if it was forgotten.
func (c clinic) word(r *rand.Rand, w string) string {
	if r.Float64() < c.missing {
		return ""
	}
	return w
}
