// SPDX-License-Identifier: Apache-2.0

package page

import (
	"bytes"
	"fmt"
	"net"
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/shardyard/shardyard/internal/chain"
	"github.com/shardyard/shardyard/internal/local/supervision"
	"github.com/shardyard/shardyard/internal/profiling"
)

const (
	// profileWriteTimeout is how long the answer with a profile may take: a minute for
	// the first block, a minute for the profile, and what it takes to make it.
	profileWriteTimeout = 3 * time.Minute
	// mostProfileForm is how many bytes the form of a profile has at most.
	mostProfileForm = 1 << 10
)

// profiler has validators take profiles for whoever looks at the page. A browser never
// learns the token that it takes.
type profiler struct {
	supervisors []*supervision.Supervisor
}

// handler answers with the flame graph of a profile that is taken now. It costs the
// validator something, so only this machine may ask, and of the pages that a browser
// shows, only the own one.
func (p *profiler) handler(address net.Addr) http.Handler {
	if tcp, ok := address.(*net.TCPAddr); !ok || !tcp.IP.IsLoopback() {
		return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			http.Error(w, "profiles are taken for this machine alone, and this address is open to others", http.StatusForbidden)
		})
	}
	return http.NewCrossOriginProtection().Handler(http.HandlerFunc(p.serve))
}

func (p *profiler) serve(w http.ResponseWriter, r *http.Request) {
	r.Body = http.MaxBytesReader(w, r.Body, mostProfileForm)
	if err := r.ParseForm(); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	wanted, err := profileWanted(r)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	named := func(supervisor *supervision.Supervisor) bool { return supervisor.Name() == r.PostForm.Get("validator") }
	at := slices.IndexFunc(p.supervisors, named)
	if at < 0 {
		http.Error(w, fmt.Sprintf("there is no validator %q", r.PostForm.Get("validator")), http.StatusNotFound)
		return
	}
	if err := http.NewResponseController(w).SetWriteDeadline(time.Now().Add(profileWriteTimeout)); err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	taken, err := profiling.Take(r.Context(), p.supervisors[at].Name(), p.supervisors[at].Client, wanted)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadGateway)
		return
	}
	if len(taken.Content.Sample) == 0 {
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		_, _ = fmt.Fprintf(w, "The profile of %s has no samples: in that time, it did too little for one. Take a longer one.\n",
			p.supervisors[at].Name())
		return
	}
	var page bytes.Buffer
	if err := profiling.WriteFlameGraph(&page, taken.Content, taken.Content.DefaultSampleType); err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	_, _ = page.WriteTo(w)
}

// profileWanted is what a form asks for. The validator judges how much it is.
func profileWanted(r *http.Request) (wanted chain.ProfileWanted, err error) {
	wanted.Kind = chain.ProfileKind(r.PostForm.Get("kind"))
	if !slices.Contains(chain.ProfileKinds, wanted.Kind) {
		return wanted, fmt.Errorf("invalid kind %q", wanted.Kind)
	}
	for _, field := range []struct {
		name  string
		value *int32
	}{{"blocks", &wanted.Blocks}, {"seconds", &wanted.Seconds}} {
		text := r.PostForm.Get(field.name)
		if text == "" {
			continue
		}
		value, err := strconv.ParseInt(text, 10, 32)
		if err != nil {
			return wanted, fmt.Errorf("invalid %s %q", field.name, text)
		}
		*field.value = int32(value)
	}
	return wanted, nil
}
