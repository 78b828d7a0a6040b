// SPDX-License-Identifier: Apache-2.0

package usage

import (
	"crypto/ed25519"
	"crypto/sha256"
	"runtime"
	"time"

	"golang.org/x/sys/unix"
)

const (
	// workSignatures and workBytes are what a piece of work verifies and hashes: less than
	// a thousandth of a core, once a second.
	workSignatures = 4
	workBytes      = 128 << 10
)

// work is a piece of work, of the kind that validators do, that is the same each time.
type work struct {
	key       ed25519.PublicKey
	signature []byte
	message   []byte
}

func newWork() *work {
	key := ed25519.NewKeyFromSeed(make([]byte, ed25519.SeedSize))
	message := make([]byte, workBytes)
	sum := sha256.Sum256(message)
	return &work{key: key.Public().(ed25519.PublicKey), signature: ed25519.Sign(key, sum[:]), message: message}
}

// do does the work, and says how much processor time that took; nil if it is not known. Who
// else wants the processors is no part of it, but for what they do to each other's speed.
func (w *work) do() *float64 {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	var before, after unix.Timespec
	if unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &before) != nil {
		return nil
	}
	sum := sha256.Sum256(w.message)
	right := true
	for range workSignatures {
		right = ed25519.Verify(w.key, sum[:], w.signature) && right
	}
	if !right || unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &after) != nil {
		return nil
	}
	took := time.Duration(after.Nano() - before.Nano())
	return known(float64(took) / float64(time.Microsecond))
}
