// SPDX-License-Identifier: Apache-2.0

// Package bucket reads and writes objects below a prefix of a bucket, which a URL names:
// s3://BUCKET/PREFIX of Amazon S3 and what speaks like it, gs://BUCKET/PREFIX of Google
// Cloud Storage.
//
// Credentials are never in the URL. They are where the libraries of both look for them:
// environment variables, files of their command lines, and what a machine or a pod is
// given. Nothing here is tried again but what those libraries try by themselves, a few
// times within seconds; whatever remains is an error that names the object.
package bucket
