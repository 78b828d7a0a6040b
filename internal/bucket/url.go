// SPDX-License-Identifier: Apache-2.0

package bucket

import (
	"errors"
	"fmt"
	"net/url"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// The schemes of buckets, and that of folders.
const (
	SchemeS3   = "s3"
	SchemeGS   = "gs"
	schemeFile = "file"
)

// parameters are what the URL of a bucket may say besides: where the bucket is, and how
// what is written there is encrypted. None of it is secret.
var parameters = map[string][]string{
	SchemeS3: {"endpoint", "kmskeyid", "profile", "region", "request_checksum_calculation", "ssetype", "use_path_style"},
	SchemeGS: {},
}

// URL is a place in a bucket.
type URL struct {
	// Scheme is SchemeS3 or SchemeGS.
	Scheme string
	// Name is the bucket's, and Prefix where the place is in it, without slashes at its
	// ends; empty for all of the bucket.
	Name, Prefix string
	parameters   url.Values
}

// IsURL says whether a place is named by a URL, and not by the path of a folder or file.
func IsURL(place string) bool {
	return strings.Contains(place, "://")
}

// Folder is the folder that a place is, which is named by a path or by a file:// URL;
// false for one in a bucket.
func Folder(place string) (folder string, ok bool, err error) {
	if !IsURL(place) {
		return place, true, nil
	}
	parsed, err := url.Parse(place)
	if err != nil {
		return "", false, fmt.Errorf("read the URL of a place: %w", withoutURL(place, err))
	}
	if parsed.Scheme != schemeFile {
		return "", false, nil
	}
	if parsed.Host != "" || parsed.RawQuery != "" || !path.IsAbs(parsed.Path) {
		return "", false, fmt.Errorf("%s is no folder: want file:///PATH", named(parsed))
	}
	return filepath.FromSlash(parsed.Path), true, nil
}

// Parse reads the URL of a place in a bucket.
func Parse(place string) (*URL, error) {
	parsed, err := url.Parse(place)
	if err != nil {
		return nil, fmt.Errorf("read the URL of a bucket: %w", withoutURL(place, err))
	}
	known, ok := parameters[parsed.Scheme]
	switch {
	case !ok:
		return nil, fmt.Errorf("%s has the scheme %q: want s3://BUCKET/PREFIX, gs://BUCKET/PREFIX or file:///PATH",
			named(parsed), parsed.Scheme)
	case parsed.User != nil:
		return nil, fmt.Errorf("%s holds credentials: they belong into the environment, not into a URL", named(parsed))
	case parsed.Host == "" || parsed.Host != parsed.Hostname():
		return nil, fmt.Errorf("%s names no bucket: want %s://BUCKET/PREFIX", named(parsed), parsed.Scheme)
	case parsed.Fragment != "":
		return nil, fmt.Errorf("%s has a fragment, which buckets do not have", named(parsed))
	}
	values, err := url.ParseQuery(parsed.RawQuery)
	if err != nil {
		return nil, fmt.Errorf("read the parameters of %s://%s: %w", parsed.Scheme, parsed.Host, err)
	}
	for name, given := range values {
		if !slices.Contains(known, name) {
			return nil, fmt.Errorf("%s://%s has the unknown parameter %q: %s", parsed.Scheme, parsed.Host, name, wanted(known))
		}
		if len(given) != 1 {
			return nil, fmt.Errorf("%s://%s has the parameter %q more than once", parsed.Scheme, parsed.Host, name)
		}
	}
	prefix := strings.Trim(parsed.Path, "/")
	if prefix != "" && (path.Clean(prefix) != prefix || strings.HasPrefix(prefix, "..")) {
		return nil, fmt.Errorf("%s has the prefix %q, which is no path: want parts between single slashes", named(parsed), prefix)
	}
	return &URL{Scheme: parsed.Scheme, Name: parsed.Host, Prefix: prefix, parameters: values}, nil
}

// named is a URL as errors name it, without what may be secret: passwords and parameters.
func named(place *url.URL) string {
	public := *place
	public.RawQuery, public.Fragment, public.RawFragment = "", "", ""
	return public.Redacted()
}

// withoutURL is why a URL cannot be read. The error of that quotes it, with what is secret,
// and the reason in it may quote a part of that.
func withoutURL(place string, err error) error {
	if strings.Contains(place, "@") {
		return errors.New("it is none, and seems to hold credentials: they belong into the environment, not into a URL")
	}
	if wrong, ok := errors.AsType[*url.Error](err); ok {
		return wrong.Err
	}
	return err
}

func wanted(known []string) string {
	if len(known) == 0 {
		return "it takes none"
	}
	return "want " + strings.Join(known, ", ")
}

// Join is a place below.
func (u *URL) Join(parts ...string) *URL {
	below := *u
	below.Prefix = path.Join(append([]string{u.Prefix}, parts...)...)
	return &below
}

// Object is what an object below is called in sentences: its place, without parameters.
func (u *URL) Object(name string) string {
	below := url.URL{Scheme: u.Scheme, Host: u.Name, Path: "/" + path.Join(u.Prefix, name)}
	return strings.TrimSuffix(below.String(), "/")
}

// String is the URL, with its parameters: whoever has the credentials finds the place.
func (u *URL) String() string {
	if len(u.parameters) == 0 {
		return u.Object("")
	}
	return u.Object("") + "?" + u.parameters.Encode()
}

// Endpoint is the address that a server has which is not the cloud's; empty for that.
func (u *URL) Endpoint() string { return u.parameters.Get("endpoint") }
