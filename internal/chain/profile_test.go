// SPDX-License-Identifier: Apache-2.0

package chain_test

import (
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/shardyard/shardyard/internal/chain"
)

// expect answers a request that has a body and the token.
func expect(t *testing.T, body string, then http.HandlerFunc) http.HandlerFunc {
	t.Helper()
	return func(w http.ResponseWriter, r *http.Request) {
		content, err := io.ReadAll(r.Body)
		if err != nil || string(content) != body {
			t.Errorf("the body is %s (%v), want %s", content, err, body)
		}
		if got, want := r.Header.Get("Authorization"), "Bearer "+adminToken; got != want {
			t.Errorf("authorization is %q, want %q", got, want)
		}
		then(w, r)
	}
}

func TestBeginProfile(t *testing.T) {
	t.Parallel()
	const ongoing = `{"profile": {"stage": "Waiting", "blocks": 2, "frequencyHertz": 250, "firstHeight": null, "lastHeight": null,
		"samples": null, "reason": null}}`
	for name, test := range map[string]struct {
		wanted chain.ProfileWanted
		body   string
	}{
		"blocks":  {chain.ProfileWanted{Blocks: 2}, `{"blocks":2}`},
		"seconds": {chain.ProfileWanted{Seconds: 30}, `{"seconds":30}`},
		"CPU time": {
			chain.ProfileWanted{Kind: chain.ProfileCPU, Seconds: 30}, `{"seconds":30}`,
		},
		"allocations": {
			chain.ProfileWanted{Kind: chain.ProfileAllocations, Blocks: 1}, `{"kind":"Allocations","blocks":1}`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			client := newNode(t, "PUT /admin/profile", expect(t, test.body, answer(http.StatusOK, ongoing)))
			if err := client.BeginProfile(t.Context(), test.wanted); err != nil {
				t.Error(err)
			}
		})
	}
	t.Run("one goes on", func(t *testing.T) {
		t.Parallel()
		client := newNode(t, "PUT /admin/profile", answer(http.StatusConflict, `{"error": "there is one at a time"}`))
		err := client.BeginProfile(t.Context(), chain.ProfileWanted{Blocks: 1})
		refused, ok := errors.AsType[*chain.ResponseError](err)
		if !ok || refused.StatusCode != http.StatusConflict || refused.Message != "there is one at a time" {
			t.Errorf("the error is %v", err)
		}
	})
}

func TestProfile(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		answer string
		want   *chain.Profile
	}{
		"none": {`{"profile": null}`, nil},
		"waiting": {
			`{"profile": {"stage": "Waiting", "blocks": 2, "frequencyHertz": 250, "firstHeight": null, "lastHeight": null,
				"samples": null, "reason": null}}`,
			&chain.Profile{ProfileWanted: chain.ProfileWanted{Blocks: 2}, Stage: chain.ProfileWaiting, FrequencyHertz: 250},
		},
		"ready": {
			`{"profile": {"stage": "Ready", "seconds": 3, "frequencyHertz": 250, "firstHeight": 12, "lastHeight": 14,
				"samples": 70, "reason": "early"}}`,
			&chain.Profile{
				ProfileWanted: chain.ProfileWanted{Seconds: 3}, Stage: chain.ProfileReady, FrequencyHertz: 250,
				FirstHeight: 12, LastHeight: 14, Samples: 70, Reason: "early",
			},
		},
		"of allocations": {
			`{"profile": {"stage": "Sampling", "kind": "Allocations", "seconds": 3, "frequencyHertz": null, "intervalBytes": 524288,
				"firstHeight": 12, "lastHeight": null, "samples": null, "reason": null}}`,
			&chain.Profile{
				ProfileWanted: chain.ProfileWanted{Kind: chain.ProfileAllocations, Seconds: 3}, Stage: chain.ProfileSampling,
				IntervalBytes: 524288, FirstHeight: 12,
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			client := newNode(t, "GET /admin/profile", expect(t, "", answer(http.StatusOK, test.answer)))
			got, err := client.Profile(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if (got == nil) != (test.want == nil) || got != nil && *got != *test.want {
				t.Errorf("got %+v, want %+v", got, test.want)
			}
		})
	}
}

func TestProfileContent(t *testing.T) {
	t.Parallel()
	client := newNode(t, "GET /admin/profile/content", expect(t, "", answer(http.StatusOK, "\x1f\x8bno JSON")))
	if got, err := client.ProfileContent(t.Context()); err != nil || string(got) != "\x1f\x8bno JSON" {
		t.Errorf("got %q (%v)", got, err)
	}
	client = newNode(t, "GET /admin/profile/content", answer(http.StatusNotFound, `{"error": "there is none"}`))
	const want = "/admin/profile/content: 404 Not Found: there is none"
	if _, err := client.ProfileContent(t.Context()); err == nil || !strings.HasSuffix(err.Error(), want) {
		t.Errorf("the error is %v", err)
	}
}

func TestEndProfile(t *testing.T) {
	t.Parallel()
	client := newNode(t, "DELETE /admin/profile", expect(t, "", answer(http.StatusOK, `{"profile": null}`)))
	if err := client.EndProfile(t.Context()); err != nil {
		t.Error(err)
	}
}

func TestLogLevel(t *testing.T) {
	t.Parallel()
	client := newNode(t, "GET /admin/log", expect(t, "", answer(http.StatusOK, `{"level": "info"}`)))
	if got, err := client.LogLevel(t.Context()); err != nil || got != "info" {
		t.Errorf("got %q (%v)", got, err)
	}
	client = newNode(t, "PUT /admin/log", expect(t, `{"level":"debug"}`, answer(http.StatusOK, `{"level": "debug"}`)))
	if got, err := client.SetLogLevel(t.Context(), "debug"); err != nil || got != "debug" {
		t.Errorf("got %q (%v)", got, err)
	}
}
