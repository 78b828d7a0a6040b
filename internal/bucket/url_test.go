// SPDX-License-Identifier: Apache-2.0

package bucket_test

import (
	"strings"
	"testing"

	"github.com/shardyard/shardyard/internal/bucket"
)

func TestParse(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		scheme, name, prefix, object, url string
	}{
		"s3://kept":       {"s3", "kept", "", "s3://kept/backup.json", "s3://kept"},
		"s3://kept/":      {"s3", "kept", "", "s3://kept/backup.json", "s3://kept"},
		"gs://kept/a/b/":  {"gs", "kept", "a/b", "gs://kept/a/b/backup.json", "gs://kept/a/b"},
		"s3://k.e-pt/ä b": {"s3", "k.e-pt", "ä b", "s3://k.e-pt/%C3%A4%20b/backup.json", "s3://k.e-pt/%C3%A4%20b"},
		"s3://kept/a%20b": {"s3", "kept", "a b", "s3://kept/a%20b/backup.json", "s3://kept/a%20b"},
		"s3://kept/a?region=eu-central-1&endpoint=http%3A%2F%2F127.0.0.1%3A9000": {
			"s3", "kept", "a", "s3://kept/a/backup.json", "s3://kept/a?endpoint=http%3A%2F%2F127.0.0.1%3A9000&region=eu-central-1",
		},
	}
	for place, want := range cases {
		got, err := bucket.Parse(place)
		if err != nil {
			t.Errorf("%s: %v", place, err)
			continue
		}
		if got.Scheme != want.scheme || got.Name != want.name || got.Prefix != want.prefix {
			t.Errorf("%s is %+v", place, got)
		}
		if object := got.Object("backup.json"); object != want.object {
			t.Errorf("%s has the object %s, want %s", place, object, want.object)
		}
		if url := got.String(); url != want.url {
			t.Errorf("%s is written %s, want %s", place, url, want.url)
		}
		again, err := bucket.Parse(got.Join("more", "below").String())
		if err != nil || again.Prefix != strings.TrimPrefix(want.prefix+"/more/below", "/") {
			t.Errorf("%s has below it %+v (%v)", place, again, err)
		}
	}
}

func TestRefusedURLs(t *testing.T) {
	t.Parallel()
	for place, want := range map[string]string{
		"http://kept/a":                    `has the scheme "http": want s3://BUCKET/PREFIX, gs://BUCKET/PREFIX or file:///PATH`,
		"azblob://kept/a":                  `has the scheme "azblob"`,
		"s3://":                            "names no bucket",
		"s3:///a":                          "names no bucket",
		"s3://kept:9000/a":                 "names no bucket",
		"s3://key:secret@kept/a":           "s3://key:xxxxx@kept/a holds credentials",
		"s3://kept/a#secret":               "s3://kept/a has a fragment",
		"s3://kept/../a":                   `has the prefix "../a", which is no path`,
		"s3://kept/a//b":                   `has the prefix "a//b", which is no path`,
		"s3://kept/a?token=secret":         `s3://kept has the unknown parameter "token": want endpoint, kmskeyid`,
		"s3://kept/a?region=x&region=y":    `s3://kept has the parameter "region" more than once`,
		"gs://kept/a?private_key_path=key": `gs://kept has the unknown parameter "private_key_path": it takes none`,
		"s3://kept/a?region=%":             "read the parameters of s3://kept",
		"s3://ke pt":                       "read the URL of a bucket",
		"s3://ke pt?token=secret":          "read the URL of a bucket: invalid character",
		"s3://key:secret@ke pt":            "read the URL of a bucket: it is none, and seems to hold credentials",
		"s3://key:secret/more@kept":        "read the URL of a bucket: it is none, and seems to hold credentials",
		"s3://kept:9000/a?token=secret":    "s3://kept:9000/a names no bucket",
		"http://kept/a?token=secret":       `http://kept/a has the scheme "http"`,
		"s3://kept/../a?token=secret":      `has the unknown parameter "token"`,
		"s3://kept/a?region=%zzsecret":     "read the parameters of s3://kept",
	} {
		if got, err := bucket.Parse(place); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s is %+v, and the error %v, want %q", place, got, err, want)
		} else if strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: the error tells the secret: %v", place, err)
		}
	}
}

func TestFolder(t *testing.T) {
	t.Parallel()
	for place, want := range map[string]struct {
		folder, words string
		ok            bool
	}{
		"kept":                   {folder: "kept", ok: true},
		"/var/kept":              {folder: "/var/kept", ok: true},
		"file:///var/my%20kept":  {folder: "/var/my kept", ok: true},
		"s3://kept/a":            {},
		"file://kept":            {words: "is no folder: want file:///PATH"},
		"file:///kept?region=eu": {words: "is no folder"},
		"s3://ke pt":             {words: "read the URL of a place"},
		"s3://key:secret@ke pt":  {words: "read the URL of a place: it is none, and seems to hold credentials"},
		"file:///a?token=secret": {words: "file:///a is no folder"},
	} {
		folder, ok, err := bucket.Folder(place)
		if folder != want.folder || ok != want.ok || (err == nil) != (want.words == "") ||
			err != nil && !strings.Contains(err.Error(), want.words) {
			t.Errorf("%s is the folder %q, %t (%v), want %+v", place, folder, ok, err, want)
		}
		if err != nil && strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: the error tells the secret: %v", place, err)
		}
	}
}
