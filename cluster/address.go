package cluster

import (
	"fmt"
	"math"
	"net"
	"strconv"
	"strings"

	"dsbo/network"
)

// addresses returns each agent's host:port.
func (f *file) addresses() ([]string, error) {
	all := f.agents
	switch {
	case !f.hasAgents:
		return nil, fmt.Errorf(`no "agents", want their addresses, or their number beside "address"`)
	case all != nil && f.address != nil:
		return nil, fmt.Errorf(`both the addresses in "agents" and the rule "address" are given, want one of them`)
	case all == nil && f.address == nil:
		if f.count == 0 {
			return nil, fmt.Errorf(`"agents" names none, want 1 to %d`, network.MaxAgents)
		}
		return nil, fmt.Errorf(`"agents" is a number and there is no "address", want a rule such as "host-{agent}:7000"`)
	}
	n := len(all)
	if f.address != nil {
		n = f.count
	}
	if n < 1 || n > network.MaxAgents {
		return nil, fmt.Errorf(`%d agents, want 1 to %d`, n, network.MaxAgents)
	}
	if f.address != nil {
		for i := range n {
			a, err := Expand(*f.address, i)
			if err != nil {
				return nil, fmt.Errorf(`"address" %q: %w`, *f.address, err)
			}
			all = append(all, a)
		}
	}
	return all, checkAddresses(all)
}

// Expand puts agent i's number into a rule: {agent} stands for it and {7000+agent} for the sum of 7000 and it.
func Expand(rule string, i int) (string, error) {
	var b strings.Builder
	for rest := rule; ; {
		text, after, ok := strings.Cut(rest, "{")
		if strings.Contains(text, "}") {
			return "", fmt.Errorf("a } without {, want {agent} or {7000+agent}")
		}
		b.WriteString(text)
		if !ok {
			return b.String(), nil
		}
		what, after, ok := strings.Cut(after, "}")
		if !ok {
			return "", fmt.Errorf("a { without }, want {agent} or {7000+agent}")
		}
		number := i
		if what != "agent" {
			base, sum := strings.CutSuffix(what, "+agent")
			v, err := strconv.ParseUint(base, 10, 31)
			if !sum || err != nil {
				return "", fmt.Errorf("{%s}: want {agent} or {7000+agent}", what)
			}
			number += int(v)
		}
		b.WriteString(strconv.Itoa(number))
		rest = after
	}
}

// checkAddresses reports the first address that cannot be one, or is another agent's.
func checkAddresses(all []string) error {
	first := map[string]int{}
	for i, a := range all {
		host, port, err := net.SplitHostPort(a)
		if err != nil || host == "" || strings.ContainsAny(host, " \t\r\n/\"'{}") {
			return fmt.Errorf("address %q of agent %d: want host:port", a, i)
		}
		p, err := strconv.ParseUint(port, 10, 16)
		if err != nil || p == 0 {
			return fmt.Errorf("address %q of agent %d: port %q, want 1 to %d", a, i, port, math.MaxUint16)
		}
		key := fmt.Sprintf("%s %d", strings.ToLower(host), p)
		if j, twice := first[key]; twice {
			return fmt.Errorf("agents %d and %d have the same address %q, want one each", j, i, a)
		}
		first[key] = i
	}
	return nil
}
