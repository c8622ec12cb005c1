package session

import (
	"encoding/json"
	"fmt"

	"dsbo/network/membership"
	"dsbo/network/register"
)

// An answerList is all agents' answers that determine a session. Each membership log, and each
// table of tags, is sent once: most agents' are equal, and many copies would be longer than a
// frame.
type answerList []register.Answer

// A packedList is an answerList as it travels.
type packedList struct {
	Logs    []membership.Log `json:"logs"`
	Tags    []map[int]string `json:"tags"`
	Answers []packedAnswer   `json:"answers"`
}

// A packedAnswer is an answer without its log and its tags.
type packedAnswer struct {
	register.Answer
	Log  int `json:"log"`  // its place in Logs
	Tags int `json:"tags"` // its place in Tags
}

// MarshalJSON implements [json.Marshaler].
func (all answerList) MarshalJSON() ([]byte, error) {
	var p packedList
	logs, tags := map[string]int{}, map[string]int{}
	for _, a := range all {
		b := packedAnswer{Answer: a, Log: placeOf(logs, a.Log, &p.Logs), Tags: placeOf(tags, a.Tags, &p.Tags)}
		b.Answer.Log, b.Answer.Tags = nil, nil
		p.Answers = append(p.Answers, b)
	}
	return json.Marshal(p)
}

// placeOf returns the place of a value in a list, and appends it if it is missing.
func placeOf[T any](places map[string]int, value T, list *[]T) int {
	text, err := json.Marshal(value)
	if err != nil {
		panic(err) // numbers and texts alone
	}
	place, known := places[string(text)]
	if !known {
		place = len(*list)
		places[string(text)] = place
		*list = append(*list, value)
	}
	return place
}

// UnmarshalJSON implements [json.Unmarshaler]. Answers share the parts that are sent once.
func (all *answerList) UnmarshalJSON(text []byte) error {
	var p packedList
	if err := json.Unmarshal(text, &p); err != nil {
		return err
	}
	for _, b := range p.Answers {
		if b.Log < 0 || b.Log >= len(p.Logs) || b.Tags < 0 || b.Tags >= len(p.Tags) {
			return fmt.Errorf("the log and the tags of an answer must be among %d and %d; they are %d and %d",
				len(p.Logs), len(p.Tags), b.Log, b.Tags)
		}
		b.Answer.Log, b.Answer.Tags = p.Logs[b.Log], p.Tags[b.Tags]
		*all = append(*all, b.Answer)
	}
	return nil
}
