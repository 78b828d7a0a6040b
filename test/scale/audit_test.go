// SPDX-License-Identifier: Apache-2.0

package scale_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"

	auditv1 "k8s.io/apiserver/pkg/apis/audit/v1"
)

// auditLog is the API server's log of the operator's requests.
type auditLog struct {
	path string
	// next is where the log goes on.
	next int64
}

// read returns the requests since it was last called.
func (l *auditLog) read(t *testing.T) requests {
	t.Helper()
	file, err := os.Open(l.path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	if _, err := file.Seek(l.next, io.SeekStart); err != nil {
		t.Fatal(err)
	}
	content, err := io.ReadAll(file)
	if err != nil {
		t.Fatal(err)
	}
	// The last line may still be being written.
	content = content[:bytes.LastIndexByte(content, '\n')+1]
	l.next += int64(len(content))

	var found requests
	for line := range bytes.Lines(content) {
		var event auditv1.Event
		if err := json.Unmarshal(line, &event); err != nil {
			t.Fatalf("line of the audit log: %v", err)
		}
		if event.ObjectRef != nil {
			found = append(found, event)
		}
	}
	return found
}

// requests are some of the operator's requests.
type requests []auditv1.Event

// writes are those that are meant to change something, apart from the renewal
// of leases.
func (r requests) writes() requests {
	return r.filter(func(event *auditv1.Event) bool {
		return slices.Contains([]string{"create", "update", "patch", "delete", "deletecollection"}, event.Verb) &&
			event.ObjectRef.Resource != "leases"
	})
}

// of are those about the objects of a network.
func (r requests) of(network string) requests {
	return r.filter(func(event *auditv1.Event) bool {
		name := event.ObjectRef.Name
		return name == network || strings.HasPrefix(name, network+"-") || strings.HasSuffix(name, "."+network)
	})
}

// creations is how often an object was created.
type creations struct {
	// known are those that the API server answered.
	known int
	// unknown are those that it gave up on answering because whoever asked was
	// gone: each may have created the object.
	unknown int
}

// once says whether the object, which is there, was created once.
func (c creations) once() bool {
	return c.known == 1 || c.known == 0 && c.unknown > 0
}

// creations are those of the objects of a kind, by name.
func (r requests) creations(resource string) map[string]creations {
	created := map[string]creations{}
	for i := range r {
		event := &r[i]
		if event.Verb != "create" || event.ObjectRef.Resource != resource {
			continue
		}
		count := created[event.ObjectRef.Name]
		switch event.ResponseStatus.Code {
		case http.StatusCreated:
			count.known++
		case http.StatusGatewayTimeout:
			count.unknown++
		default:
			continue
		}
		created[event.ObjectRef.Name] = count
	}
	return created
}

func (r requests) filter(keep func(*auditv1.Event) bool) requests {
	var kept requests
	for i := range r {
		if keep(&r[i]) {
			kept = append(kept, r[i])
		}
	}
	return kept
}

// String counts the requests by verb and resource.
func (r requests) String() string {
	counts := map[string]int{}
	for i := range r {
		event := &r[i]
		resource := event.ObjectRef.Resource
		if event.ObjectRef.Subresource != "" {
			resource += "/" + event.ObjectRef.Subresource
		}
		counts[event.Verb+" "+resource]++
	}
	lines := make([]string, 0, len(counts))
	for what, count := range counts {
		lines = append(lines, fmt.Sprintf("%6d  %s", count, what))
	}
	slices.Sort(lines)
	slices.Reverse(lines)
	return strings.Join(lines, "\n")
}
