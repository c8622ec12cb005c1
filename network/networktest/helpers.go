package networktest

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"math/bits"
	"net"
	"net/http"
	"slices"
	"sync"

	"dsbo/network"
)

// A process is the team of one of several processes, which are goroutines of a test.
type process struct {
	agents    *network.Local // mixes between all agents of the run
	processes *network.Local // between the processes, for gathering
	rank      int
	local     []int
}

// Processes returns the teams of processes that share a run over w, the k-th with the agents
// locals[k]: what is tested of several processes needs no transport. closeAll ends their exchange.
func Processes(w *network.Matrix, locals ...[]int) (teams []network.Team, closeAll func()) {
	all, err := network.New("complete", len(locals), network.Options{})
	if err != nil {
		panic(err) // there is no process
	}
	agents, processes := network.NewLocal(w), network.NewLocal(all.W)
	for k, local := range locals {
		teams = append(teams, &process{agents, processes, k, local})
	}
	return teams, func() { teams[0].Fail(network.ErrClosed) }
}

func (p *process) Local() []int                { return p.local }
func (p *process) Mixer(i int) network.Reducer { return p.agents.Mixer(i) }
func (p *process) Fail(err error)              { p.agents.Fail(err); p.processes.Fail(err) }

// Gather implements [network.Team]: it checks the rows as one process would, and then takes the
// rows of the others by a maximum. An error ends both exchanges.
func (p *process) Gather(ctx context.Context, rows [][]float64) error {
	err := p.agents.Gather(ctx, rows)
	if err == nil {
		err = network.GatherWords(rows, p.local, func(words []uint64) error {
			return p.processes.Mixer(p.rank).Reduce(ctx, network.Reduction{Op: network.Max, Bits: 64, Words: words})
		})
	}
	if err != nil {
		p.Fail(err)
	}
	return err
}

// RunAll calls body for 0..n-1 at the same time and returns its errors.
func RunAll(n int, body func(i int) error) []error {
	errs := make([]error, n)
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() { errs[i] = body(i) })
	}
	wg.Wait()
	return errs
}

// ProxyRules are the clients and requests that a [Proxy] accepts, beside its rule on ports.
type ProxyRules struct {
	Name, Password string   // that a request must have
	Schemes        []string // of Proxy-Authenticate: nobody is let through if it has any
	TLS            bool     // whether connections must begin as TLS does
}

// Proxy returns an HTTP proxy as sites have them: it lets CONNECT to port 443 through, and nothing
// else. It connects to one address, whatever the host of a request is.
func Proxy(address string, rules ProxyRules) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		r.Header.Set("Authorization", r.Header.Get("Proxy-Authorization"))
		name, password, _ := r.BasicAuth()
		switch {
		case r.Method != http.MethodConnect || r.URL.Port() != "443":
			http.Error(w, "CONNECT to port 443 alone", http.StatusForbidden)
			return
		case rules.Schemes != nil:
			w.Header()["Proxy-Authenticate"] = rules.Schemes
			w.WriteHeader(http.StatusProxyAuthRequired)
			return
		case name != rules.Name || password != rules.Password:
			w.Header().Set("Proxy-Authenticate", `Basic realm="site"`)
			w.WriteHeader(http.StatusProxyAuthRequired)
			return
		}
		to, err := net.Dial("tcp", address)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadGateway)
			return
		}
		defer to.Close()
		conn, buffered, err := http.NewResponseController(w).Hijack()
		if err != nil {
			return
		}
		defer conn.Close()
		_, _ = io.WriteString(conn, "HTTP/1.1 200 Connection established\r\n\r\n")
		tunnel(conn, buffered.Reader, to, rules.TLS)
	})
}

// tunnel moves bytes both ways until one of the directions ends, and closes both connections. What
// must be TLS and is not is not moved. sent has what has come on conn.
func tunnel(conn net.Conn, sent *bufio.Reader, to net.Conn, mustBeTLS bool) {
	if start, _ := sent.Peek(2); mustBeTLS && !bytes.Equal(start, []byte{22, 3}) { // a handshake record
		return
	}
	var back sync.WaitGroup
	back.Go(func() {
		_, _ = io.Copy(conn, to)
		conn.Close()
	})
	_, _ = io.Copy(to, sent)
	to.Close()
	back.Wait()
}

// Sums follows the reductions of an agent's averages, to identify the content of each word of a
// sum.
type Sums struct {
	Agents int

	asked []int    // the scales that were asked for, of sums that have not come yet
	tried [][2]int // bits and numbers of sums that went without asking: when they ask, they are repeated
	wide  [17]bool // by numbers, whether the last whole number was a wide one: the first is repeated
}

// A Sum is what the words of a sum are.
type Sum struct {
	Numbers  int
	Cell     int  // bits of each number of a whole number, else 0
	Flags    bool // behind the numbers
	Repeated bool // the numbers were sent before, under scales that did not fit
}

// Next describes the next reduction, of a number of words. A maximum of scales has no numbers.
func (s *Sums) Next(op network.Op, size, words int) (sum Sum) {
	sum = Sum{Numbers: words}
	switch {
	case op == network.Max && size < 64:
		s.asked, sum.Numbers = append(s.asked, words), 0
	case op == network.Max:
	case s.isAsked(size, words):
		s.asked = s.asked[1:]
		sum.Repeated = slices.Contains(s.tried, [2]int{size, words})
	case size >= network.Whole:
		window := []int{64 + 160, 1024 + 78 + 1074}[size-network.Whole] // bits of a term, narrow and wide
		sum.Cell = 3*(1+bits.Len(uint(s.Agents-1))) + window
		sum.Numbers = 64 * words / sum.Cell
		sum.Repeated = size > network.Whole && !s.wide[sum.Numbers]
		s.wide[sum.Numbers] = size > network.Whole
	default:
		block := blockOf(size)
		sum.Numbers, sum.Flags = words-(words+block)/(block+1), true
		s.tried = append(s.tried, [2]int{size, sum.Numbers})
	}
	return sum
}

// isAsked reports whether words of a sum are under the scales that were asked for first.
func (s *Sums) isAsked(bits, words int) bool {
	block := blockOf(bits)
	return len(s.asked) > 0 && (words+block-1)/block == s.asked[0]
}

// blockOf returns how many numbers have one scale: more of float32, and of float64.
func blockOf(bits int) int {
	if bits >= 44 {
		return 1024
	}
	return 64
}
