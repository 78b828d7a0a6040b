// SPDX-License-Identifier: Apache-2.0

package otlp

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"unicode"

	"github.com/shardyard/shardyard/internal/trace"
)

// MaxRequestBytes is the size of the largest request that is taken: nodes send at
// most 4,096 spans at once, about a megabyte.
const MaxRequestBytes = 16 << 20

// lengthBytes come before each request.
const lengthBytes = 4

// File keeps requests, the newest of them: once it has its most bytes, it goes
// on in an empty one, and the one before it stays.
type File struct {
	path string
	most int64

	mutex sync.Mutex
	file  *os.File
	bytes int64
}

// Previous is where the file that came before the one at a path stays.
func Previous(path string) string { return path + ".1" }

// Create makes an empty file of at most so many bytes. What was at the path
// before is removed.
func Create(path string, most int64) (*File, error) {
	if err := os.Remove(Previous(path)); err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, err
	}
	file := &File{path: path, most: most}
	return file, file.open()
}

// open goes on in an empty file at the path. The one before is given up only once
// that is there.
func (f *File) open() error {
	file, err := os.OpenFile(f.path, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o644)
	if err != nil {
		return err
	}
	before := f.file
	f.file, f.bytes = file, 0
	if before == nil {
		return nil
	}
	return before.Close()
}

// Append keeps a request, or nothing of it.
func (f *File) Append(request []byte) error {
	framed := make([]byte, lengthBytes, lengthBytes+len(request))
	binary.BigEndian.PutUint32(framed, uint32(len(request)))
	framed = append(framed, request...)
	f.mutex.Lock()
	defer f.mutex.Unlock()
	if f.bytes > 0 && f.bytes+int64(len(framed)) > f.most {
		if err := f.turn(); err != nil {
			return err
		}
	}
	if _, err := f.file.WriteAt(framed, f.bytes); err != nil {
		// A disk that is full may have taken a part. Whatever came after that could not
		// be read.
		return errors.Join(err, f.file.Truncate(f.bytes))
	}
	f.bytes += int64(len(framed))
	return nil
}

// turn goes on in an empty file. One that failed is tried again by the next request
// for which there is no room.
func (f *File) turn() error {
	// There is nothing to rename where only the new file could not be opened.
	if err := os.Rename(f.path, Previous(f.path)); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	return f.open()
}

// Close closes the file. What is in it stays.
func (f *File) Close() error {
	f.mutex.Lock()
	defer f.mutex.Unlock()
	return f.file.Close()
}

// ReadKept reads what a File kept, also while it is written: the one before, if
// there is one, and the one at the path. Where there is neither, the error is
// os.ErrNotExist.
func ReadKept(path string) ([]trace.Span, error) {
	files, err := openKept(path)
	if err != nil {
		return nil, err
	}
	defer files.close()
	var spans []trace.Span
	for _, file := range []*os.File{files.before, files.current} {
		if file == nil {
			continue
		}
		read, err := readOpen(file)
		if err != nil {
			return nil, err
		}
		spans = append(spans, read...)
	}
	return spans, nil
}

// kept are the files of a File; nil where there is none. What is open is read to its
// end, wherever the File has put it meanwhile.
type kept struct{ before, current *os.File }

// mostOpens is how often files are opened to have two that follow each other. Once more
// is for a File that turns in between, and it takes many requests until it turns again.
const mostOpens = 10

func openKept(path string) (kept, error) {
	for range mostOpens {
		files, follow, err := openBoth(path)
		if err == nil && follow {
			return files, nil
		}
		files.close()
		if err != nil {
			return kept{}, err
		}
	}
	return kept{}, fmt.Errorf("read %s: its file was another one each of %d times", path, mostOpens)
}

// openBoth opens both files, and says whether they follow each other. They do if what
// is at the path stayed the same until the one before it was open.
func openBoth(path string) (files kept, follow bool, err error) {
	if files.current, err = openIfThere(path); err != nil {
		return files, false, err
	}
	if files.before, err = openIfThere(Previous(path)); err != nil {
		return files, false, err
	}
	if files.current == nil && files.before == nil {
		return files, false, &os.PathError{Op: "open", Path: path, Err: os.ErrNotExist}
	}
	now, err := os.Stat(path)
	if errors.Is(err, os.ErrNotExist) {
		// A File that turns has no file at its path for a moment.
		return files, files.current == nil, nil
	}
	if err != nil || files.current == nil {
		return files, false, err
	}
	opened, err := files.current.Stat()
	return files, err == nil && os.SameFile(now, opened), err
}

// openIfThere opens a file; nil if there is none.
func openIfThere(path string) (*os.File, error) {
	file, err := os.Open(path)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	return file, err
}

func (k kept) close() {
	for _, file := range []*os.File{k.before, k.current} {
		if file != nil {
			_ = file.Close()
		}
	}
}

// ReadFile reads a file of spans, in protobuf or in JSON. A request at its end
// that is not whole is being written, and passed over.
func ReadFile(path string) ([]trace.Span, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }()
	return readOpen(file)
}

func readOpen(file *os.File) ([]trace.Span, error) {
	reader := bufio.NewReader(file)
	read := readFrames
	if first, err := firstByte(reader); err == nil && first == '{' {
		read = readLines
	}
	spans, err := read(reader)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", file.Name(), err)
	}
	return spans, nil
}

// firstByte is the first one that is no space. A request is never so large that
// its length begins with one of these or with a brace.
func firstByte(reader *bufio.Reader) (byte, error) {
	for {
		first, err := reader.Peek(1)
		if err != nil {
			return 0, err
		}
		if !unicode.IsSpace(rune(first[0])) {
			return first[0], nil
		}
		_, _ = reader.Discard(1)
	}
}

func readFrames(reader io.Reader) ([]trace.Span, error) {
	var spans []trace.Span
	for {
		var length [lengthBytes]byte
		if _, err := io.ReadFull(reader, length[:]); err != nil {
			return spans, endOfFile(err)
		}
		size := binary.BigEndian.Uint32(length[:])
		if size > MaxRequestBytes {
			return nil, fmt.Errorf("not a file of spans: a request of %d bytes", size)
		}
		request := make([]byte, size)
		if _, err := io.ReadFull(reader, request); err != nil {
			return spans, endOfFile(err)
		}
		decoded, err := Decode(request)
		if err != nil {
			return nil, err
		}
		spans = append(spans, decoded...)
	}
}

func endOfFile(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return nil
	}
	return err
}

// readLines reads JSON: a request for each line, or one over many.
func readLines(reader io.Reader) ([]trace.Span, error) {
	content, err := io.ReadAll(reader)
	if err != nil {
		return nil, err
	}
	if spans, err := DecodeJSON(content); err == nil {
		return spans, nil
	}
	var spans []trace.Span
	lines := bytes.Split(content, []byte("\n"))
	for i, line := range lines {
		if len(bytes.TrimSpace(line)) == 0 {
			continue
		}
		decoded, err := DecodeJSON(line)
		if err != nil && i == len(lines)-1 {
			break
		}
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", i+1, err)
		}
		spans = append(spans, decoded...)
	}
	return spans, nil
}
