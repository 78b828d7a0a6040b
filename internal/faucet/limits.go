// SPDX-License-Identifier: Apache-2.0

package faucet

import (
	"sync"
	"time"
)

// Limits say how much is paid.
type Limits struct {
	// Every is how long an account, and an address that asks, is paid once in.
	Every time.Duration
	// PerHour is how many payments there are in an hour at most.
	PerHour int
}

// ledger remembers who was paid, for as long as that matters. It has at most as many
// entries as Limits allow payments meanwhile, two for each.
type ledger struct {
	limits Limits

	mutex sync.Mutex
	// paid is when who was paid, or is about to be.
	paid map[string]time.Time
	// recent are the times of the payments of the last hour, in their order.
	recent []time.Time
}

func newLedger(limits Limits) *ledger {
	return &ledger{limits: limits, paid: map[string]time.Time{}}
}

// take allows a payment to somebody known by all of names, or says how long it takes
// until there can be one.
func (l *ledger) take(now time.Time, names ...string) (wait time.Duration) {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	for name, at := range l.paid {
		if now.Sub(at) >= l.limits.Every {
			delete(l.paid, name)
		}
	}
	for len(l.recent) > 0 && now.Sub(l.recent[0]) >= time.Hour {
		l.recent = l.recent[1:]
	}
	for _, name := range names {
		if at, known := l.paid[name]; known {
			wait = max(wait, l.limits.Every-now.Sub(at))
		}
	}
	if len(l.recent) >= l.limits.PerHour {
		wait = max(wait, time.Hour-now.Sub(l.recent[0]))
	}
	if wait > 0 {
		return wait
	}
	for _, name := range names {
		l.paid[name] = now
	}
	l.recent = append(l.recent, now)
	return 0
}

// giveBack forgets a payment that was allowed and came to nothing.
func (l *ledger) giveBack(at time.Time, names ...string) {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	for _, name := range names {
		if l.paid[name].Equal(at) {
			delete(l.paid, name)
		}
	}
	for i, taken := range l.recent {
		if taken.Equal(at) {
			l.recent = append(l.recent[:i:i], l.recent[i+1:]...)
			return
		}
	}
}
