// SPDX-License-Identifier: Apache-2.0

// Package machinebackup keeps the files of a network of this machine that does not
// run in a folder or a bucket, and puts them back.
package machinebackup
