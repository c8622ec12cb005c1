package session

import (
	"crypto/sha256"
	"fmt"
	"reflect"
	"testing"
	"time"

	"dsbo/internal/testkit"
	"dsbo/network/membership"
	"dsbo/network/register"
)

// TestAnswersOfMany: the answers of as many agents as a run may have, after hundreds of changes of
// members, go into one frame, and come out as they were.
func TestAnswersOfMany(t *testing.T) {
	const agents, lines = membership.MaxAgents, 300
	now := time.Date(2026, 1, 2, 3, 4, 5, 6, time.UTC)
	var log membership.Log
	for k := range lines {
		log = append(log, membership.Change{Epoch: k + 1, Session: uint64(k + 1), Iteration: 10 * k,
			ID: fmt.Sprintf("%x", sha256.Sum256([]byte{byte(k)})), Members: []int{0, 1, 2, 3}})
	}
	tags := map[int]string{}
	for i := range agents {
		tags[i] = fmt.Sprintf("%x", sha256.Sum256([]byte{byte(i)}))
	}
	var all answerList
	for i := range agents {
		a := register.Answer{Agent: i, Number: 7, Log: log, Tags: tags, Time: now, Links: []int{0, 1, 2, 3},
			Points: []register.Point{{Iteration: 10}, {Iteration: 20}, {Iteration: 30}},
			Key:    make([]byte, 32), Certificate: make([]byte, 1200), Signature: make([]byte, 96)}
		if i == 5 { // one that was away
			a.Log, a.Tags = log[:lines-1], nil
		}
		all = append(all, a)
	}
	frame := message{Subject: begins, Answers: all}.frame()
	if len(frame) > headerSize+maxFlood {
		t.Fatalf("the answers have %d bytes; a frame has room for %d", len(frame)-headerSize, maxFlood)
	}
	m := testkit.Get(parseMessage(frame[headerSize:]))
	if !reflect.DeepEqual(m.Answers, all) {
		t.Error("the answers are others after their way")
	}
	for _, text := range []string{`{"from":0,"all":{"logs":[],"tags":[null],"answers":[{"log":0,"tags":0}]}}`,
		`{"from":0,"all":{"logs":[[]],"tags":[null],"answers":[{"log":0,"tags":-1}]}}`} {
		_, err := parseMessage([]byte(text))
		testkit.WantError(t, text, err, nil, "must be among")
	}
}
