package guard

import "time"

// A Budget is what each of some others may cost: Most at once, and as much again in each Period. It
// knows no clock, and belongs to one goroutine at a time.
type Budget struct {
	Most, Period time.Duration
	accounts     map[int]account
}

// An account is what one of them has spent, less what has come back since.
type account struct {
	spent time.Duration
	at    time.Time
}

// Spend has one of them spend a cost, and reports whether it has so much left. Else it spends
// nothing.
func (b *Budget) Spend(who int, now time.Time, cost time.Duration) bool {
	spent := b.Spent(who, now) + cost
	if spent > b.Most {
		return false
	}
	if b.accounts == nil {
		b.accounts = map[int]account{}
	}
	b.accounts[who] = account{spent, now}
	return true
}

// Spent returns what one of them has spent and not got back yet.
func (b *Budget) Spent(who int, now time.Time) time.Duration {
	a := b.accounts[who]
	back := time.Duration(float64(now.Sub(a.at)) * (float64(b.Most) / float64(b.Period)))
	return max(0, a.spent-max(0, back))
}
