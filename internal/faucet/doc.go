// SPDX-License-Identifier: Apache-2.0

// Package faucet gives some base units to whoever asks for an account, over HTTP, so
// that people can try a network whose genesis accounts are not theirs.
//
//	POST /  {"account": "64 hex digits"}    pays, waits for a final block, and answers
//	                                        {"hash", "account", "amount", "height"}
//	GET /                                   a page with a field for the account
//
// An account, and who asks from one address, is paid once in a time, and all together
// so many times an hour: what is refused for that has status 429 and says in
// Retry-After when to come again. What is known not to be paid does not count; that,
// and what is not known to be paid, has status 502. Payments are made one after the other, because the nonces of who pays
// have to rise; when too many wait, more are refused with status 503.
//
// A faucet serves tests. It cannot tell people from programs, so what it pays with
// should be worth nothing.
package faucet
