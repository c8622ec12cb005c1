package cluster

import (
	"fmt"
	"math"
	"net"
	"regexp"
	"strconv"
	"strings"

	"dsbo/network"
)

// addresses returns each agent's host:port.
func (f *file) addresses() ([]string, error) {
	all, n := f.agents, len(f.agents)
	switch {
	case f.count != nil && f.address == nil:
		return nil, fmt.Errorf(`"address" is required if "agents" is a number: a rule such as "host-{agent}:7000"`)
	case f.count != nil:
		n = *f.count
	case all == nil:
		return nil, fmt.Errorf(`"agents" is required: their addresses, or their number and the rule "address"`)
	case f.address != nil:
		return nil, fmt.Errorf(`"address" must be left out if "agents" lists the addresses`)
	}
	if n < 1 || n > network.MaxAgents {
		return nil, fmt.Errorf(`there must be 1 to %d agents; there are %d`, network.MaxAgents, n)
	}
	for i := len(all); i < n; i++ {
		a, err := Expand(*f.address, i)
		if err != nil {
			return nil, fmt.Errorf(`"address" %q: %w`, *f.address, err)
		}
		all = append(all, a)
	}
	return all, checkAddresses(all)
}

// Expand puts agent i's number into a rule: {agent} stands for it and {7000+agent} for the sum of 7000 and it.
func Expand(rule string, i int) (string, error) {
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

// braces matches a pair of braces, or one that has lost the other.
var braces = regexp.MustCompile(`\{[^{}]*\}?|\}`)

// checkAddresses reports the first address that is none, or is another agent's.
func checkAddresses(all []string) error {
	first := map[string]int{}
	for i, a := range all {
		host, port, err := net.SplitHostPort(a)
		if err != nil || host == "" || strings.ContainsAny(host, " \t\r\n/\"'{}") {
			return fmt.Errorf("the address of agent %d must be host:port; it is %q", i, a)
		}
		p, err := strconv.ParseUint(port, 10, 16)
		if err != nil || p == 0 {
			return fmt.Errorf("the port of agent %d must be 1 to %d; its address is %q", i, math.MaxUint16, a)
		}
		key := fmt.Sprintf("%s %d", strings.ToLower(host), p)
		if j, twice := first[key]; twice {
			return fmt.Errorf("agents must have different addresses; %d and %d both have %q", j, i, a)
		}
		first[key] = i
	}
	return nil
}
