// SPDX-License-Identifier: Apache-2.0

package profiling

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"time"

	"github.com/google/pprof/driver"
	"github.com/google/pprof/profile"
)

// onlyHere hides what asks the program that serves the page, which nobody runs.
const onlyHere = "<style>.menu-item, #action-menu { display: none; }</style>\n</head>"

// driving is held while pprof runs: it keeps its settings for the whole process.
var driving sync.Mutex

// WriteFlameGraph writes a profile as a page that holds all that it shows, by one of
// its sample types; by the last of them without one.
func WriteFlameGraph(out io.Writer, content *profile.Profile, by string) error {
	page, err := flameGraph(content, by)
	if err != nil {
		return fmt.Errorf("draw a flame graph: %w", err)
	}
	_, err = out.Write(bytes.Replace(page, []byte("</head>"), []byte(onlyHere), 1))
	return err
}

// flameGraph is the page that pprof would serve.
func flameGraph(content *profile.Profile, by string) ([]byte, error) {
	driving.Lock()
	defer driving.Unlock()
	var page []byte
	said := &silence{}
	err := driver.PProf(&driver.Options{
		// It listens nowhere: the address is to choose the page.
		Flagset: newFlags("-http=localhost:0", "-no_browser", "-symbolize=none", "-sample_index="+by, "profile"),
		Fetch:   inMemory{content},
		UI:      said,
		HTTPServer: func(args *driver.HTTPServerArgs) error {
			answer := httptest.NewRecorder()
			request := httptest.NewRequestWithContext(context.Background(), http.MethodGet, "/flamegraph", http.NoBody)
			args.Handlers["/flamegraph"].ServeHTTP(answer, request)
			if answer.Code != http.StatusOK {
				return fmt.Errorf("%d %s", answer.Code, strings.TrimSpace(answer.Body.String()))
			}
			page = answer.Body.Bytes()
			return nil
		},
	})
	if err != nil {
		return nil, err
	}
	if page == nil {
		return nil, errors.New(strings.Join(said.errors, ": "))
	}
	return page, nil
}

// inMemory has a profile that need not be fetched.
type inMemory struct {
	content *profile.Profile
}

func (m inMemory) Fetch(string, time.Duration, time.Duration) (*profile.Profile, string, error) {
	return m.content.Copy(), "", nil
}

// silence is a terminal at which nobody sits.
type silence struct {
	errors []string
}

func (s *silence) PrintErr(args ...any)              { s.errors = append(s.errors, fmt.Sprint(args...)) }
func (*silence) ReadLine(string) (string, error)     { return "", io.EOF }
func (*silence) Print(...any)                        {}
func (*silence) IsTerminal() bool                    { return false }
func (*silence) WantBrowser() bool                   { return false }
func (*silence) SetAutoComplete(func(string) string) {}

// flags are those of a command line that is not this program's.
type flags struct {
	*flag.FlagSet

	args []string
}

func newFlags(args ...string) *flags {
	set := flag.NewFlagSet("pprof", flag.ContinueOnError)
	set.SetOutput(io.Discard)
	return &flags{set, args}
}

// StringList has no flag here that is given more than once.
func (f *flags) StringList(name, value, usage string) *[]*string {
	return &[]*string{f.String(name, value, usage)}
}

func (*flags) ExtraUsage() string   { return "" }
func (*flags) AddExtraUsage(string) {}

func (f *flags) Parse(usage func()) []string {
	if err := f.FlagSet.Parse(f.args); err != nil {
		usage()
		return nil
	}
	return f.Args()
}
