// SPDX-License-Identifier: Apache-2.0

package proof

import (
	"encoding/binary"
	"errors"
	"fmt"
)

var errShort = errors.New("it ends early")

// reader reads an encoding. After the first thing that is wrong it reads zeroes,
// and err says what that was.
type reader struct {
	rest []byte
	err  error
}

func (r *reader) fail(err error) {
	if r.err == nil {
		r.err = err
	}
}

// bytes reads so many bytes; none if there are not as many.
func (r *reader) bytes(count int) []byte {
	if r.err != nil || count > len(r.rest) {
		r.fail(errShort)
		return nil
	}
	read := r.rest[:count:count]
	r.rest = r.rest[count:]
	return read
}

func (r *reader) hash() (hash [32]byte) {
	copy(hash[:], r.bytes(len(hash)))
	return hash
}

func (r *reader) uint8() uint8 {
	if read := r.bytes(1); read != nil {
		return read[0]
	}
	return 0
}

func (r *reader) uint16() uint16 {
	if read := r.bytes(2); read != nil {
		return binary.BigEndian.Uint16(read)
	}
	return 0
}

func (r *reader) uint32() uint32 {
	if read := r.bytes(4); read != nil {
		return binary.BigEndian.Uint32(read)
	}
	return 0
}

func (r *reader) uint64() uint64 {
	if read := r.bytes(8); read != nil {
		return binary.BigEndian.Uint64(read)
	}
	return 0
}

// uvarint reads a number that takes no more bytes than it needs.
func (r *reader) uvarint() uint64 {
	number, length := binary.Uvarint(r.rest)
	switch {
	case r.err != nil || length == 0:
		r.fail(errShort)
	case length < 0 || length > 1 && r.rest[length-1] == 0:
		r.fail(errors.New("a number has more bytes than it needs"))
	default:
		r.rest = r.rest[length:]
		return number
	}
	return 0
}

// length reads the length of a list, which is in a range.
func (r *reader) length(least, most int) int {
	length := r.uvarint()
	if r.err == nil && (length < uint64(least) || length > uint64(most)) {
		r.fail(fmt.Errorf("a list has %d elements, of %d to %d", length, least, most))
	}
	if r.err != nil {
		return 0
	}
	return int(length)
}

// version reads the version of an encoding.
func (r *reader) version(want uint8) {
	if got := r.uint8(); r.err == nil && got != want {
		r.fail(fmt.Errorf("it has version %d instead of %d", got, want))
	}
}

// end is what was wrong, if only that there is more to read.
func (r *reader) end() error {
	if r.err == nil && len(r.rest) > 0 {
		r.fail(fmt.Errorf("it goes on for %d bytes", len(r.rest)))
	}
	if r.err != nil {
		return refuse(Malformed, "not a proof: %s", r.err)
	}
	return nil
}
