// SPDX-License-Identifier: Apache-2.0

package backup

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"hash"
	"io"
)

// digest says what was written to it.
type digest struct {
	hash  hash.Hash
	bytes int64
}

func newDigest() *digest { return &digest{hash: sha256.New()} }

func (d *digest) Write(content []byte) (int, error) {
	d.bytes += int64(len(content))
	return d.hash.Write(content)
}

func (d *digest) sum() string { return hex.EncodeToString(d.hash.Sum(nil)) }

// until reads from a reader until somebody ends it.
func until(ctx context.Context, in io.Reader) io.Reader { return &endable{ctx: ctx, in: in} }

type endable struct {
	ctx context.Context
	in  io.Reader
}

func (e *endable) Read(into []byte) (int, error) {
	if err := e.ctx.Err(); err != nil {
		return 0, err
	}
	return e.in.Read(into)
}
