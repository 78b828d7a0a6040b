// SPDX-License-Identifier: Apache-2.0

package agent

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// sysctlPrefix is what all parameters begin with that an agent may set.
const sysctlPrefix = "net."

// sysctl is a kernel parameter.
type sysctl struct {
	name, path string
}

func newSysctl(root, name string) (sysctl, error) {
	below, found := strings.CutPrefix(name, sysctlPrefix)
	path := strings.ReplaceAll(below, ".", "/")
	if !found || !filepath.IsLocal(path) {
		return sysctl{}, fmt.Errorf("%q is no parameter of the network", name)
	}
	return sysctl{name: name, path: filepath.Join(root, path)}, nil
}

func (s sysctl) read() (string, error) {
	content, err := os.ReadFile(s.path)
	if err != nil {
		return "", s.trouble("read", err)
	}
	return strings.Join(strings.Fields(string(content)), " "), nil
}

func (s sysctl) original() (string, error) { return s.read() }

func (s sysctl) write(wanted string) error {
	// The kernel takes a value as one write, and says what is wrong with it then.
	file, err := os.OpenFile(s.path, os.O_WRONLY, 0)
	if err != nil {
		return s.trouble("set", err)
	}
	_, err = file.WriteString(wanted)
	if err := errors.Join(err, file.Close()); err != nil {
		return s.trouble("set", err)
	}
	return nil
}

func (s sysctl) restore(original string) error {
	// Some parameters are gone when a module is.
	if now, err := s.read(); errors.Is(err, fs.ErrNotExist) || now == original {
		return nil
	}
	return s.write(original)
}

// trouble names the parameter instead of where its file happens to be.
func (s sysctl) trouble(action string, err error) error {
	if path, ok := errors.AsType[*fs.PathError](err); ok {
		err = path.Err
	}
	return fmt.Errorf("%s %s: %w", action, s.name, err)
}
