// SPDX-License-Identifier: Apache-2.0

package bucket

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"net/url"

	"cloud.google.com/go/storage"
	"github.com/aws/aws-sdk-go-v2/feature/s3/manager"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"gocloud.dev/blob"
	"gocloud.dev/blob/gcsblob"
	"gocloud.dev/blob/s3blob"
	"gocloud.dev/gcp"
)

const (
	// partBytes is how much of an object is sent at a time, and in memory.
	partBytes = 8 << 20
	// maxParts is a limit of S3, with some room: objects larger than so many parts have
	// larger parts.
	maxParts = 9000
	// batchKey is the name of the metadata that say of which batch an object is.
	batchKey = "batch"
	// attempts are how often something is tried that a server did not do for the moment,
	// with either library, and how often an object is asked for while it is read.
	attempts = 3
)

// Bucket is what lies below a prefix of a bucket.
type Bucket struct {
	url  *URL
	blob *blob.Bucket
}

// Open opens a place in a bucket. Nobody is asked whether the bucket is there yet.
func Open(ctx context.Context, place *URL) (*Bucket, error) {
	opened, err := open(ctx, place)
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", place.Object(""), err)
	}
	if place.Prefix != "" {
		opened = blob.PrefixedBucket(opened, place.Prefix+"/")
	}
	return &Bucket{url: place, blob: opened}, nil
}

func open(ctx context.Context, place *URL) (*blob.Bucket, error) {
	if place.Scheme == SchemeS3 {
		given := maps.Clone(place.parameters)
		// Servers that keep no checksums are warned of for each object otherwise. Whoever
		// keeps backups has better ones.
		given.Set("response_checksum_validation", "when_required")
		return new(s3blob.URLOpener).OpenBucketURL(ctx, &url.URL{Scheme: place.Scheme, Host: place.Name, RawQuery: given.Encode()})
	}
	credentials, err := gcp.DefaultCredentials(ctx)
	if err != nil {
		return nil, err
	}
	transport, err := gcp.NewHTTPClient(gcp.DefaultTransport(), gcp.CredentialsTokenSource(credentials))
	if err != nil {
		return nil, err
	}
	opened, err := gcsblob.OpenBucket(ctx, transport, place.Name, nil)
	if err != nil {
		return nil, err
	}
	var client *storage.Client
	if opened.As(&client) {
		// By itself it would try for as long as nobody ends it.
		client.SetRetry(storage.WithMaxAttempts(attempts))
	}
	return opened, nil
}

// Close closes what Open opened.
func (b *Bucket) Close() error { return b.blob.Close() }

// String names the place in sentences.
func (b *Bucket) String() string { return b.url.Object("") }

// Empty says whether nothing lies there.
func (b *Bucket) Empty(ctx context.Context) (bool, error) {
	_, err := b.blob.List(nil).Next(ctx)
	if errors.Is(err, io.EOF) {
		return true, nil
	}
	return false, b.explain("look at", "", err)
}

// Write writes an object of a known size that is not there yet, from what fill gives,
// whole or not at all.
func (b *Bucket) Write(ctx context.Context, name, contentType string, size int64, fill func(io.Writer) error) error {
	return b.write(ctx, name, contentType, size, fill, "")
}

func (b *Bucket) write(
	ctx context.Context, name, contentType string, size int64, fill func(io.Writer) error, batch string,
) error {
	var metadata map[string]string
	if batch != "" {
		metadata = map[string]string{batchKey: batch}
	}
	// What is cancelled before it is closed is not there.
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	out, err := b.blob.NewWriter(ctx, name, &blob.WriterOptions{
		ContentType: contentType, DisableContentTypeDetection: true,
		BufferSize: int(max(partBytes, size/maxParts)), MaxConcurrency: 1,
		IfNotExist: true, BeforeWrite: abortable, Metadata: metadata,
	})
	if err != nil {
		return b.explain(whatWrite, name, err)
	}
	if err := fill(out); err != nil {
		cancel()
		// It says no more than that it was given up, or once more why.
		_ = out.Close()
		return b.explain(whatWrite, name, err)
	}
	return b.explain(whatWrite, name, out.Close())
}

// batchOf is the batch of which an object is, empty if of none.
func (b *Bucket) batchOf(ctx context.Context, name string) (string, error) {
	attributes, err := b.blob.Attributes(ctx, name)
	if err != nil {
		return "", b.explain("look at", name, err)
	}
	return attributes.Metadata[batchKey], nil
}

// abortable has the parts of an object removed that S3 has when its writing is given up: the
// library asks for it with the very context that ended, and so asks nobody.
func abortable(as func(any) bool) error {
	var uploader *manager.Uploader
	if as(&uploader) {
		uploader.S3 = aborting{uploader.S3}
	}
	return nil
}

type aborting struct{ manager.UploadAPIClient }

// AbortMultipartUpload asks for it also for somebody who ended the writing.
func (a aborting) AbortMultipartUpload(
	ctx context.Context, input *s3.AbortMultipartUploadInput, options ...func(*s3.Options),
) (*s3.AbortMultipartUploadOutput, error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), removalTimeout)
	defer cancel()
	return a.UploadAPIClient.AbortMultipartUpload(ctx, input, options...)
}

// Read reads an object. One that is not there is an fs.ErrNotExist. What breaks off is asked
// for again from there on, until somebody ends it.
func (b *Bucket) Read(ctx context.Context, name string) (io.ReadCloser, error) {
	in, err := b.blob.NewReader(ctx, name, nil)
	if err != nil {
		return nil, b.explain("read", name, err)
	}
	return &reader{Reader: in, ctx: ctx, bucket: b, name: name, left: attempts - 1}, nil
}

// reader names its object in errors.
type reader struct {
	*blob.Reader

	ctx    context.Context
	bucket *Bucket
	name   string
	// offset is how much was read, and left how often the rest may still be asked for.
	offset int64
	left   int
}

func (r *reader) Read(into []byte) (int, error) {
	count, err := r.Reader.Read(into)
	r.offset += int64(count)
	if err == nil || errors.Is(err, io.EOF) {
		return count, err
	}
	for r.left > 0 && r.offset < r.Size() && r.ctx.Err() == nil {
		r.left--
		if r.reopen() {
			return count, nil
		}
	}
	return count, fmt.Errorf("%w: it broke off after %d of %d bytes", r.bucket.explain("read", r.name, err), r.offset, r.Size())
}

// reopen asks for what was not read yet: the libraries try again what was not answered, but
// no answer that broke off. What somebody put there meanwhile is no rest of it.
func (r *reader) reopen() bool {
	rest, err := r.bucket.blob.NewRangeReader(r.ctx, r.name, r.offset, -1, nil)
	if err != nil {
		return false
	}
	if rest.Size() != r.Size() || !rest.ModTime().Equal(r.ModTime()) {
		_ = rest.Close()
		return false
	}
	// It says no more than that it broke off.
	_ = r.Close()
	r.Reader = rest
	return true
}

// WriteTo keeps whoever copies from going past Read.
func (r *reader) WriteTo(out io.Writer) (int64, error) {
	return io.Copy(out, struct{ io.Reader }{r})
}

// Remove removes an object, which need not be there.
func (b *Bucket) Remove(ctx context.Context, name string) error {
	if err := b.explain("remove", name, b.blob.Delete(ctx, name)); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// List are the names of all objects that lie there.
func (b *Bucket) List(ctx context.Context) ([]string, error) {
	var names []string
	objects := b.blob.List(nil)
	for {
		object, err := objects.Next(ctx)
		if errors.Is(err, io.EOF) {
			return names, nil
		}
		if err != nil {
			return nil, b.explain("list", "", err)
		}
		names = append(names, object.Key)
	}
}
