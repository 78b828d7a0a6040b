// SPDX-License-Identifier: Apache-2.0

// Package docs_test checks that the pages of this repository lead somewhere, and
// that everything names things as the operator does.
package docs_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

const root = ".."

var (
	linkPattern    = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	headingPattern = regexp.MustCompile(`(?m)^#{1,6} +(.+?) *$`)
	codePattern    = regexp.MustCompile("(?ms)^```.*?^```$")
	wordsPattern   = regexp.MustCompile("`[^`\n]*`")
)

// Every link into the repository leads to a file or a folder, and one with an
// anchor to a heading.
func TestLinks(t *testing.T) {
	pages := listPages(t)
	if len(pages) == 0 {
		t.Fatal("there are no pages")
	}
	for _, page := range pages {
		// Neither do brackets of code within a line.
		text := wordsPattern.ReplaceAllString(read(t, page), "")
		for _, link := range linkPattern.FindAllStringSubmatch(text, -1) {
			if strings.Contains(link[1], "://") || strings.HasPrefix(link[1], "mailto:") {
				continue
			}
			path, anchor, anchored := strings.Cut(link[1], "#")
			target := page
			if path != "" {
				target = filepath.Join(filepath.Dir(page), path)
			}
			if _, err := os.Stat(target); err != nil {
				t.Errorf("%s links to %s: %v", page, link[1], err)
				continue
			}
			if anchored && !slices.Contains(anchors(read(t, target)), anchor) {
				t.Errorf("%s links to %s, which has no such heading", page, link[1])
			}
		}
	}
}

// listPages lists the pages that belong to the repository.
func listPages(t *testing.T) []string {
	t.Helper()
	var pages []string
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && slices.Contains([]string{".git", "node_modules", "target"}, entry.Name()):
			return fs.SkipDir
		case filepath.Ext(path) == ".md":
			pages = append(pages, path)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return pages
}

// anchors are the anchors of a page's headings, as GitHub makes them.
func anchors(page string) []string {
	var anchors []string
	for _, heading := range headingPattern.FindAllStringSubmatch(page, -1) {
		anchor := strings.Map(func(letter rune) rune {
			switch {
			case letter == ' ':
				return '-'
			case letter == '-' || letter == '_' || letter >= '0' && letter <= '9' || letter >= 'a' && letter <= 'z':
				return letter
			default:
				return -1
			}
		}, strings.ToLower(heading[1]))
		anchors = append(anchors, anchor)
	}
	return anchors
}

// read reads a page without its blocks of code, where brackets mean something
// else.
func read(t *testing.T, page string) string {
	t.Helper()
	content, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	return codePattern.ReplaceAllString(string(content), "")
}
