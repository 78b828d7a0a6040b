// SPDX-License-Identifier: Apache-2.0

package local

import (
	"errors"
	"fmt"
	"net/http"
	"strconv"

	"github.com/shardyard/shardyard/internal/chain"
)

// blocksShown is how many blocks one request lists.
const blocksShown = 20

// serveBlocks answers with the finalised blocks from a height downwards, by
// default the newest, highest first.
func (c *census) serveBlocks(w http.ResponseWriter, r *http.Request) {
	validator, status := c.highest(r.Context())
	if validator == nil {
		http.Error(w, "no validator answers", http.StatusServiceUnavailable)
		return
	}
	from := status.FinalizedHeight
	if text := r.FormValue("from"); text != "" {
		asked, err := strconv.ParseUint(text, 10, 64)
		if err != nil {
			http.Error(w, fmt.Sprintf("invalid height %q", text), http.StatusBadRequest)
			return
		}
		from = min(from, asked)
	}
	blocks := []*chain.Block{}
	for height := from; height > 0 && len(blocks) < blocksShown; height-- {
		block, err := validator.client.Block(r.Context(), height)
		if refusal := (*chain.RPCError)(nil); errors.As(err, &refusal) {
			// Those below are not kept either.
			break
		}
		if err != nil {
			http.Error(w, fmt.Sprintf("block %d: %v", height, err), http.StatusBadGateway)
			return
		}
		blocks = append(blocks, block)
	}
	writeAnswer(w, blocks)
}
