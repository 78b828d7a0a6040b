// SPDX-License-Identifier: Apache-2.0

package page

import (
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
)

// ask asks for a profile, with headers as a browser has them.
func askProfile(t *testing.T, address net.Addr, form url.Values, headers map[string]string) (code int, body string) {
	t.Helper()
	request := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "http://127.0.0.1:9600/profile", strings.NewReader(form.Encode()))
	request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	for name, value := range headers {
		request.Header.Set(name, value)
	}
	answer := httptest.NewRecorder()
	(&profiler{}).handler(address).ServeHTTP(answer, request)
	return answer.Code, answer.Body.String()
}

func TestPageRefusesProfiles(t *testing.T) {
	t.Parallel()
	own, open := &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 9600}, &net.TCPAddr{IP: net.IPv4zero, Port: 9600}
	ours := map[string]string{"Sec-Fetch-Site": "same-origin", "Origin": "http://127.0.0.1:9600"}
	fits := url.Values{"validator": {"net-s9-p0"}, "kind": {"CPU"}, "blocks": {"1"}}
	for name, test := range map[string]struct {
		address net.Addr
		form    url.Values
		headers map[string]string
		code    int
		says    string
	}{
		"another site": {own, fits, map[string]string{"Sec-Fetch-Site": "cross-site"}, http.StatusForbidden, "cross-origin"},
		"another port of this machine": {
			own, fits, map[string]string{"Sec-Fetch-Site": "same-site", "Origin": "http://127.0.0.1:8080"}, http.StatusForbidden, "cross-origin",
		},
		"an older browser on another site": {own, fits, map[string]string{"Origin": "http://example.org"}, http.StatusForbidden, "cross-origin"},
		"an address that is open":          {open, fits, ours, http.StatusForbidden, "open to others"},
		"no such validator":                {own, fits, ours, http.StatusNotFound, `there is no validator "net-s9-p0"`},
		"no such kind":                     {own, url.Values{"kind": {"heap"}}, ours, http.StatusBadRequest, `invalid kind "heap"`},
		"no number": {
			own, url.Values{"kind": {"CPU"}, "seconds": {"ten"}}, ours, http.StatusBadRequest, `invalid seconds "ten"`,
		},
		"too much": {own, url.Values{"kind": {strings.Repeat("a", 2000)}}, ours, http.StatusBadRequest, "too large"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			code, body := askProfile(t, test.address, test.form, test.headers)
			if code != test.code || !strings.Contains(body, test.says) {
				t.Errorf("is answered with %d %s, want %d %s", code, body, test.code, test.says)
			}
		})
	}
}
