package report

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"testing"
	"time"
)

// A browser is a headless Chromium that is spoken to over two pipes: one JSON message each way at a
// time, with a zero byte after it.
type browser struct {
	t        testing.TB
	to       io.Writer
	from     *bufio.Reader
	session  string
	last     int
	problems []string // errors on the console, uncaught exceptions, blocked loads
}

// message is a request, its answer, or an event.
type message struct {
	ID        int             `json:"id,omitempty"`
	Session   string          `json:"sessionId,omitempty"`
	Method    string          `json:"method,omitempty"`
	Params    any             `json:"params,omitempty"`
	Result    json.RawMessage `json:"result,omitempty"`
	Error     json.RawMessage `json:"error,omitempty"`
	eventData json.RawMessage
}

// startBrowser starts Chromium with an empty page, or skips the test where there is none.
func startBrowser(t testing.TB) *browser {
	t.Helper()
	path := ""
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if p, err := exec.LookPath(name); err == nil {
			path = p
			break
		}
	}
	if path == "" || runtime.GOOS == "windows" {
		t.Skip("no browser: Debian's package chromium brings one")
	}
	profile, err := os.MkdirTemp("", "browser")
	if err != nil {
		t.Fatal(err)
	}
	toRead, toWrite := pipe(t)
	fromRead, fromWrite := pipe(t)
	cmd := exec.Command(path, "--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update",
		"--disable-sync", "--no-first-run", "--disable-dev-shm-usage", "--hide-scrollbars", "--user-data-dir="+profile, "--remote-debugging-pipe")
	cmd.ExtraFiles = []*os.File{toRead, fromWrite} // which are its descriptors 3 and 4
	if err := cmd.Start(); err != nil {
		t.Skipf("no browser: %v", err)
	}
	toRead.Close()
	fromWrite.Close()
	guard := time.AfterFunc(2*time.Minute, func() { _ = cmd.Process.Kill() }) // a browser that hangs ends the pipe
	b := &browser{t: t, to: toWrite, from: bufio.NewReader(fromRead)}
	t.Cleanup(func() {
		b.close()
		_ = cmd.Wait()
		guard.Stop()
		_ = os.RemoveAll(profile) // its helpers may be a moment behind
	})
	var target struct{ TargetID string }
	b.call("Target.createTarget", map[string]any{"url": "about:blank"}, &target)
	var attached struct{ SessionID string }
	b.call("Target.attachToTarget", map[string]any{"targetId": target.TargetID, "flatten": true}, &attached)
	b.session = attached.SessionID
	for _, domain := range []string{"Page", "Runtime", "Log", "Network"} {
		b.call(domain+".enable", nil, nil)
	}
	return b
}

// close asks the browser to end, and reads until it has.
func (b *browser) close() {
	if _, err := b.to.Write([]byte(`{"id":0,"method":"Browser.close"}` + "\x00")); err != nil {
		return // it is gone
	}
	_, _ = io.Copy(io.Discard, b.from)
}

func pipe(t testing.TB) (r, w *os.File) {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		r.Close()
		w.Close()
	})
	return r, w
}

// call sends a request and reads until its answer, keeping what goes wrong on the page meanwhile.
func (b *browser) call(method string, params, result any) {
	b.t.Helper()
	b.last++
	data, err := json.Marshal(message{ID: b.last, Session: b.session, Method: method, Params: params})
	if err != nil {
		b.t.Fatal(err)
	}
	if _, err := b.to.Write(append(data, 0)); err != nil {
		b.t.Fatalf("%s: %v", method, err)
	}
	for {
		m := b.read(method)
		switch {
		case m.ID == b.last && m.Error != nil:
			b.t.Fatalf("%s: %s", method, m.Error)
		case m.ID == b.last:
			if result != nil {
				if err := json.Unmarshal(m.Result, result); err != nil {
					b.t.Fatalf("%s: %v", method, err)
				}
			}
			return
		default:
			b.note(m)
		}
	}
}

// read returns the next message.
func (b *browser) read(waiting string) message {
	b.t.Helper()
	data, err := b.from.ReadBytes(0)
	if err != nil {
		b.t.Fatalf("waiting for %s: the browser is gone: %v", waiting, err)
	}
	var m message
	var raw struct{ Params json.RawMessage }
	if err := json.Unmarshal(data[:len(data)-1], &m); err != nil {
		b.t.Fatal(err)
	}
	if err := json.Unmarshal(data[:len(data)-1], &raw); err != nil {
		b.t.Fatal(err)
	}
	m.eventData = raw.Params
	return m
}

// note keeps events that a good page does not cause.
func (b *browser) note(m message) {
	switch m.Method {
	case "Runtime.exceptionThrown", "Log.entryAdded", "Runtime.consoleAPICalled", "Network.loadingFailed":
		b.problems = append(b.problems, fmt.Sprintf("%s: %s", m.Method, m.eventData))
	case "Network.requestWillBeSent":
		var e struct{ Request struct{ URL string } }
		if err := json.Unmarshal(m.eventData, &e); err != nil {
			b.t.Fatal(err)
		}
		if u, err := url.Parse(e.Request.URL); err != nil || (u.Scheme != "file" && u.Scheme != "data") {
			b.problems = append(b.problems, "request to "+e.Request.URL)
		}
	}
}

// screen sets the size of the window and the colours that the user prefers.
func (b *browser) screen(width, height int, scheme string) {
	b.t.Helper()
	b.call("Emulation.setDeviceMetricsOverride", map[string]any{"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 600}, nil)
	b.call("Emulation.setEmulatedMedia", map[string]any{"features": []map[string]string{{"name": "prefers-color-scheme", "value": scheme}}}, nil)
}

// open loads a file and waits until it is there.
func (b *browser) open(path string) {
	b.t.Helper()
	abs, err := filepath.Abs(path)
	if err != nil {
		b.t.Fatal(err)
	}
	b.call("Page.navigate", map[string]any{"url": (&url.URL{Scheme: "file", Path: abs}).String()}, nil)
	for {
		m := b.read("the page")
		b.note(m)
		if m.Method == "Page.loadEventFired" {
			return
		}
	}
}

// eval runs a script on the page and stores its value.
func (b *browser) eval(script string, value any) {
	b.t.Helper()
	var answer struct {
		Result           struct{ Value json.RawMessage }
		ExceptionDetails json.RawMessage
	}
	b.call("Runtime.evaluate", map[string]any{"expression": script, "returnByValue": true, "awaitPromise": true}, &answer)
	if answer.ExceptionDetails != nil {
		b.t.Fatalf("%s: %s", script, answer.ExceptionDetails)
	}
	if err := json.Unmarshal(answer.Result.Value, value); err != nil {
		b.t.Fatalf("%s: %v", script, err)
	}
}

// ratio is the contrast of two colours in the form rgb(r, g, b), as WCAG defines it.
func ratio(t testing.TB, a, b string) float64 {
	t.Helper()
	light := func(s string) float64 {
		var c [3]float64
		if _, err := fmt.Sscanf(s, "rgb(%f, %f, %f)", &c[0], &c[1], &c[2]); err != nil {
			t.Fatalf("colour %q: %v", s, err)
		}
		for i, v := range c {
			if v /= 255; v <= 0.04045 {
				c[i] = v / 12.92
			} else {
				c[i] = math.Pow((v+0.055)/1.055, 2.4)
			}
		}
		return 0.2126*c[0] + 0.7152*c[1] + 0.0722*c[2]
	}
	x, y := light(a), light(b)
	return (max(x, y) + 0.05) / (min(x, y) + 0.05)
}

func parse(t testing.TB, s string) float64 {
	t.Helper()
	v, err := strconv.ParseFloat(s, 64)
	if err != nil {
		t.Fatal(err)
	}
	return v
}
