// SPDX-License-Identifier: Apache-2.0

package clients

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
)

// maxDocument is how long the document of a loader may be, in bytes: it has a line
// for each second of a day.
const maxDocument = 256 << 20

// Remote asks for loaders at a socket.
type Remote struct {
	client *http.Client
}

// NewRemote asks at a socket, which need not be there yet.
func NewRemote(socket string) *Remote {
	return &Remote{client: &http.Client{Transport: &http.Transport{
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return (&net.Dialer{}).DialContext(ctx, "unix", socket)
		},
		// A connection that is kept may be to one that has ended.
		DisableKeepAlives: true,
	}}}
}

// Ready says why no loader can be asked for; nil if one can.
func (r *Remote) Ready(ctx context.Context) error {
	_, err := r.ask(ctx, http.MethodGet, readyPath, nil)
	return err
}

// Run asks for the loader of a step, and returns what it says in the end.
func (r *Remote) Run(ctx context.Context, step *Step) ([]byte, error) {
	told, err := json.Marshal(step)
	if err != nil {
		return nil, fmt.Errorf("encode step: %w", err)
	}
	return r.ask(ctx, http.MethodPost, loadPath, told)
}

func (r *Remote) ask(ctx context.Context, method, path string, body []byte) ([]byte, error) {
	request, err := http.NewRequestWithContext(ctx, method, "http://loader"+path, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	response, err := r.client.Do(request)
	if err != nil {
		return nil, noAnswer(err)
	}
	defer response.Body.Close()
	content, err := io.ReadAll(io.LimitReader(response.Body, maxDocument+1))
	switch {
	case err != nil:
		return nil, noAnswer(err)
	case len(content) > maxDocument:
		return nil, fmt.Errorf("says more than %d bytes", maxDocument)
	case response.StatusCode != http.StatusOK:
		return nil, errors.New(strings.TrimSpace(string(content)))
	default:
		return content, nil
	}
}

// noAnswer says that a container did not answer, as it does not whose program ended.
func noAnswer(err error) error {
	if asked, ok := errors.AsType[*url.Error](err); ok {
		err = asked.Err
	}
	return fmt.Errorf("its container gave no answer: %w", err)
}
