// SPDX-License-Identifier: Apache-2.0

package statedir

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"strconv"
	"syscall"
	"time"
)

// Lock makes sure that no other process runs the network of a folder.
// The kernel releases the lock when this process ends, however it ends.
func Lock(dir NetworkDir) (*os.File, error) {
	file, err := os.OpenFile(dir.lock(), os.O_RDWR|os.O_CREATE, SecretMode)
	if err != nil {
		return nil, err
	}
	if err := takeLock(file); err != nil {
		_ = file.Close()
		return nil, err
	}
	return file, nil
}

// Unlock lets other processes have the network at once. Closed alone, the
// file would stay locked for as long as a process that this one is just starting
// has it open as well.
func Unlock(file *os.File) error {
	return errors.Join(syscall.Flock(int(file.Fd()), syscall.LOCK_UN), file.Close())
}

// held says whether a process runs the network of a folder, or does something else that
// nobody may do beside it.
func (d NetworkDir) held() (_ bool, err error) {
	file, err := os.Open(d.lock())
	if errors.Is(err, os.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	err = syscall.Flock(int(file.Fd()), syscall.LOCK_SH|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return true, nil
	}
	if err != nil {
		return false, fmt.Errorf("look at the lock %s: %w", file.Name(), err)
	}
	return false, syscall.Flock(int(file.Fd()), syscall.LOCK_UN)
}

// tryLock takes the lock. Whoever only looks whether it is taken has it for a moment.
func tryLock(file *os.File) error {
	patience := time.After(50 * time.Millisecond)
	again := time.NewTicker(5 * time.Millisecond)
	defer again.Stop()
	for {
		err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		if !errors.Is(err, syscall.EWOULDBLOCK) {
			return err
		}
		select {
		case <-again.C:
		case <-patience:
			return err
		}
	}
}

func takeLock(file *os.File) error {
	err := tryLock(file)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		holder, readErr := os.ReadFile(file.Name())
		if holder = bytes.TrimSpace(holder); readErr != nil || len(holder) == 0 {
			return fmt.Errorf("another process holds %s", file.Name())
		}
		return fmt.Errorf("process %s holds %s", holder, file.Name())
	}
	if err != nil {
		return fmt.Errorf("lock %s: %w", file.Name(), err)
	}
	if err := file.Truncate(0); err != nil {
		return err
	}
	_, err = file.WriteString(strconv.Itoa(os.Getpid()) + "\n")
	return err
}
