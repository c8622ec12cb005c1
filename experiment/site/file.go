package site

import (
	"encoding/json"
	"fmt"
	"math"
	"net"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"dsbo/internal/files"
	"dsbo/network"
	"dsbo/network/membership"
)

// file is the fields of a cluster file.
type file struct {
	// name of the run
	Run string `json:"run" must:"a name"`
	// their addresses, or their number
	Agents agents `json:"agents" must:"addresses, [\"host:port\", ...], or their number"`
	// of each agent, by a rule
	Address *string `json:"address" must:"a rule such as \"host-{agent}:7000\""`
	// between agents without addresses
	Relay *string `json:"relay" must:"the address of a relay, \"host:port\""`
	// by name
	Graph string `json:"graph" must:"the name of a graph"`
	// the graph, by its edges
	Edges json.RawMessage `json:"edges" must:"pairs of agents, [[0, 1], ...]"`
	// the mixing matrix
	W json.RawMessage `json:"W" must:"rows of numbers, [[0.5, 0.5], ...]"`
	// of a graph that changes
	Weights json.RawMessage `json:"weights" must:"a graph file with lists of matrices"`
	// weight of an agent's own vector
	Self *float64 `json:"w" must:"a number"`
	// of an edge of a random graph
	Prob *float64 `json:"prob" must:"a number"`
	// of all draws
	Seed uint64 `json:"seed" must:"a whole number from 0 on"`
	// verb of the task
	Task string `json:"task" must:"the name of a task"`
	// of the task
	Flags []string `json:"flags" must:"flags, [\"-K=20\", ...]"`
	// agents that must agree on a change
	Quorum *int `json:"quorum" must:"a number of agents"`
	// silence after which an agent is left out
	Absent *string `json:"absent_after" must:"a time such as \"10m\""`
	// of the agents
	Keys []string `json:"keys" must:"SHA-256 of public keys, [\"9f2c...\", ...]"`
}

// agents are the addresses of the agents or, if these follow a rule, the number of agents.
type agents struct {
	addresses []string
	count     *int
}

func (a *agents) UnmarshalJSON(raw []byte) error {
	if raw[0] == '[' {
		return json.Unmarshal(raw, &a.addresses)
	}
	return json.Unmarshal(raw, &a.count)
}

var runName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$`)

// reservedFlags maps flags that every task's command line has to the fields of the cluster file
// that replace them.
var reservedFlags = map[string]string{
	"agents": `"agents"`, "graph": `"graph", "edges" or "W"`, "w": `"w"`, "prob": `"prob"`, "seed": `"seed"`,
}

// parseFields reads a cluster file and checks each field, and which fields exclude each other: the
// graph is given by its name, or as edges, matrix or lists of weights. Checks that depend on the
// number of agents come later. A field that is nil is not in the file.
func parseFields(data []byte) (*file, error) {
	f := &file{Seed: 1}
	if err := files.StrictJSON(data, f); err != nil {
		return nil, err
	}
	switch {
	case !runName.MatchString(f.Run):
		return nil, fmt.Errorf(
			`"run" must be 1 to 64 letters, digits, dots, dashes and underscores that begin with a letter or `+
				`digit; it is %q`, f.Run)
	case f.Task == "":
		return nil, fmt.Errorf(`"task" is required: the name of a task`)
	}
	for _, flag := range f.Flags {
		name, _, _ := strings.Cut(strings.TrimLeft(flag, "-"), "=")
		switch {
		case name == "" || flag[0] != '-': // an empty flag has no name
			return nil, fmt.Errorf(`"flags": %q must have the form -name=value`, flag)
		case reservedFlags[name] != "":
			return nil, fmt.Errorf(`"flags": %q is not allowed: %s of the file says it`, flag, reservedFlags[name])
		}
	}
	edges, matrix := f.Edges != nil, f.W != nil
	switch {
	case edges && matrix || f.Graph != "" && (edges || matrix):
		return nil, fmt.Errorf(`"graph", "edges" and "W" are mutually exclusive`)
	case f.Weights != nil && (edges || matrix || f.Graph != "" || f.Self != nil || f.Quorum != nil):
		return nil, fmt.Errorf(`"weights" must stand without "graph", "edges", "W", "w" and "quorum"`)
	case matrix && f.Self != nil:
		return nil, fmt.Errorf(`"w" and "W" are mutually exclusive: "W" holds all weights`)
	case f.Prob != nil && f.Graph != "erdos-renyi":
		return nil, fmt.Errorf(`"prob" is for the graph erdos-renyi alone`)
	case strings.HasSuffix(f.Graph, ".json"):
		return nil, fmt.Errorf(
			`"graph" must be a name, not the file %q: write its "edges" or "W", or its lists as `+
				`"weights", into this one, as all agents must have the same`, f.Graph)
	case f.Graph != "" && !slices.Contains(network.Names(), f.Graph):
		return nil, fmt.Errorf(`"graph" must be one of %s; it is %q`, strings.Join(network.Names(), ", "), f.Graph)
	}
	return f, nil
}

// addresses returns each agent's host:port, or "" for an agent that nobody can reach, from the
// file's list or from its rule and number of agents. Two agents must not have the same address.
func (f *file) addresses() ([]string, error) {
	all, n := f.Agents.addresses, len(f.Agents.addresses)
	switch count := f.Agents.count; {
	case count != nil && f.Address == nil:
		return nil, fmt.Errorf(`"address" is required if "agents" is a number: a rule such as "host-{agent}:7000"`)
	case count != nil:
		n = *count
	case all == nil:
		return nil, fmt.Errorf(`"agents" is required: their addresses, or their number and the rule "address"`)
	case f.Address != nil:
		return nil, fmt.Errorf(`"address" must be left out if "agents" lists the addresses`)
	}
	if n < 1 || n > membership.MaxAgents {
		return nil, fmt.Errorf(`there must be 1 to %d agents; there are %d`, membership.MaxAgents, n)
	}
	for i := len(all); i < n; i++ { // by the rule; a list has all n already
		a, err := ExpandAddress(*f.Address, i)
		if err != nil {
			return nil, fmt.Errorf(`"address" %q: %w`, *f.Address, err)
		}
		all = append(all, a)
	}
	first := map[string]int{}
	for i, a := range all {
		if a == "" { // it only connects to others
			continue
		}
		key, err := checkAddress(fmt.Sprintf("agent %d", i), a)
		if err != nil {
			return nil, err
		}
		if j, twice := first[key]; twice {
			return nil, fmt.Errorf("agents must have different addresses; %d and %d both have %q", j, i, a)
		}
		first[key] = i
	}
	return all, nil
}

// checkAddress returns a normalized form of a host:port, the same for all of its spellings, or an
// error if address is none.
func checkAddress(whose, address string) (string, error) {
	host, port, err := net.SplitHostPort(address)
	if err != nil || host == "" || strings.ContainsAny(host, " \t\r\n/\"'{}") {
		return "", fmt.Errorf("the address of %s must be host:port; it is %q", whose, address)
	}
	p, err := strconv.ParseUint(port, 10, 16)
	if err != nil || p == 0 {
		return "", fmt.Errorf("the port of %s must be 1 to %d; its address is %q", whose, math.MaxUint16, address)
	}
	return fmt.Sprintf("%s %d", strings.ToLower(host), p), nil
}

// membership returns the quorum of n agents, and the silence after which an agent counts as absent;
// 0 if the file has neither. One without the other is an error. A quorum is a majority, so that no
// two disjoint groups can both continue.
func (f *file) membership(n int) (quorum int, absent time.Duration, err error) {
	switch {
	case f.Quorum == nil && f.Absent == nil:
		return 0, 0, nil
	case f.Quorum == nil || f.Absent == nil:
		return 0, 0, fmt.Errorf(`"quorum" and "absent_after" must be given both or neither`)
	case 2**f.Quorum <= n || *f.Quorum > n:
		return 0, 0, fmt.Errorf(
			`"quorum" must be more than half of the %d agents and no more than all, so that no two parts of `+
				`them go on; it is %d`, n, *f.Quorum)
	}
	absent, err = time.ParseDuration(*f.Absent)
	if err != nil || absent <= 0 {
		return 0, 0, fmt.Errorf(`"absent_after" must be a time such as "10m"; it is %q`, *f.Absent)
	}
	return *f.Quorum, absent, nil
}

// publicKey matches the SHA-256 of a public key, as the verb pki request prints it.
var publicKey = regexp.MustCompile(`^[0-9a-f]{64}$`)

// keys returns the pinned public keys of n agents, nil where the file has none.
func (f *file) keys(n int) ([]string, error) {
	if f.Keys != nil && len(f.Keys) != n {
		return nil, fmt.Errorf(`"keys" must have the public key of each of the %d agents; it has %d`, n, len(f.Keys))
	}
	for i, key := range f.Keys {
		if !publicKey.MatchString(key) {
			return nil, fmt.Errorf(
				`"keys": the key of agent %d must be its SHA-256 in 64 digits of lower case, as pki request prints `+
					`it; it is %q`, i, key)
		}
	}
	return f.Keys, nil
}

// checkReach returns an error for the first two neighbours that both have no address, so that
// neither can connect to the other. With a relay they can.
func (c *Cluster) checkReach() error {
	if c.Relay != "" {
		return nil
	}
	for i := range c.Addresses {
		for _, j := range c.Graph.W.Neighbours(i) {
			if i < j && c.Addresses[i] == "" && c.Addresses[j] == "" {
				return fmt.Errorf(
					`agents %d and %d are neighbours, and neither has an address: one of them must have one, `+
						`or "relay" must name a relay`, i, j)
			}
		}
	}
	return nil
}

// ExpandAddress puts agent i's number into a rule: it replaces {agent} by i and {7000+agent} by the
// sum of 7000 and i.
func ExpandAddress(rule string, i int) (string, error) {
	var wrong error
	text := braces.ReplaceAllStringFunc(rule, func(part string) string {
		if part == "{agent}" {
			return strconv.Itoa(i)
		}
		base, ok := strings.CutSuffix(part, "+agent}")
		v, err := strconv.ParseUint(strings.TrimPrefix(base, "{"), 10, 31)
		if !ok || err != nil {
			wrong = fmt.Errorf("%s must be {agent} or a sum such as {7000+agent}", part)
		}
		return strconv.Itoa(int(v) + i)
	})
	return text, wrong
}

// braces matches a pair of braces, or an unpaired brace.
var braces = regexp.MustCompile(`\{[^{}]*\}?|\}`)
