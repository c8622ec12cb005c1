package relay

import (
	"bytes"
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"strings"
	"sync"
	"time"

	"dsbo/network/pki"
)

const (
	// protocol is what a connection is upgraded to, and the scheme of the header Authorization.
	protocol   = "dsbo"
	maxRequest = 16 << 10
	maxRun     = 128 // bytes of the name of a run
	// greetingTime is within which a request, and its answer where one is due at once, must come.
	greetingTime = 10 * time.Second
	// validTime is how far the time of a signature may be from the relay's.
	validTime = 5 * time.Minute
)

// A ticket shows which agent a request is from.
type ticket struct {
	Agent       int       `json:"agent"`
	Certificate []byte    `json:"certificate"`
	Time        time.Time `json:"time"`
	Random      [16]byte  `json:"random"`
	Signature   []byte    `json:"signature"`
}

// text is what an agent signs of a request.
func (t *ticket) text(r *http.Request) []byte {
	return fmt.Appendf(nil, "dsbo relay: agent %d, %s %s %s, %s, %x", t.Agent, r.Method, r.Host, r.URL.EscapedPath(),
		t.Time.UTC().Format(time.RFC3339Nano), t.Random)
}

// sign gives a request the ticket of an agent, in its header Authorization.
func sign(r *http.Request, id *pki.Identity, now time.Time) error {
	t := ticket{Agent: id.Agent, Certificate: id.Certificate(), Time: now}
	_, _ = rand.Read(t.Random[:]) // which never fails
	var err error
	if t.Signature, err = id.Sign(t.text(r)); err != nil {
		return err
	}
	text, err := json.Marshal(t)
	if err != nil {
		return err
	}
	r.Header.Set("Authorization", protocol+" "+base64.StdEncoding.EncodeToString(text))
	return nil
}

// readTicket reads a request's ticket, without checking it. The error is what the client is told.
func readTicket(r *http.Request) (*ticket, error) {
	scheme, code, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	if scheme != protocol {
		return nil, errors.New("this is for agents of dsbo: a request must show who it is from")
	}
	text, err := base64.StdEncoding.DecodeString(code)
	if err != nil {
		return nil, fmt.Errorf("the header Authorization must be in base64: %w", err)
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	t := &ticket{}
	if err := d.Decode(t); err != nil {
		return nil, fmt.Errorf("the header Authorization must have a JSON object: %w", err)
	}
	return t, nil
}

// check returns an error unless an agent has signed the request with this ticket at about this
// time.
func (t *ticket) check(r *http.Request, trust *pki.Trust, now time.Time) error {
	if apart := now.Sub(t.Time); apart.Abs() > validTime {
		return fmt.Errorf("the clock of agent %d must be within %v of the relay's; it is %v behind", t.Agent, validTime,
			apart.Round(time.Second))
	}
	if err := trust.Verify(t.Agent, t.Certificate, t.text(r), t.Signature, now); err != nil {
		return fmt.Errorf("agent %d: %w", t.Agent, err)
	}
	return nil
}

// maxUsed is how many tickets a relay remembers at once.
const maxUsed = 1 << 16

// A usedTickets remembers tickets for as long as they would be valid.
type usedTickets struct {
	mu    sync.Mutex
	until map[[16]byte]time.Time
}

// add notes the use of a ticket that has been checked. A ticket that was used before is an error,
// and so is one too many: tickets are forgotten once their time is over, and not before.
func (u *usedTickets) add(t *ticket, now time.Time) error {
	u.mu.Lock()
	defer u.mu.Unlock()
	if _, used := u.until[t.Random]; used {
		return fmt.Errorf("agent %d has used this signature before", t.Agent)
	}
	if len(u.until) >= maxUsed {
		maps.DeleteFunc(u.until, func(_ [16]byte, until time.Time) bool { return now.After(until) })
	}
	if len(u.until) >= maxUsed { // all are valid still
		return errors.New("the relay has too many requests")
	}
	if u.until == nil {
		u.until = map[[16]byte]time.Time{}
	}
	u.until[t.Random] = t.Time.Add(validTime)
	return nil
}
