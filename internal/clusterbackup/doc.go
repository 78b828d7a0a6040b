// SPDX-License-Identifier: Apache-2.0

// Package clusterbackup keeps a network of a cluster in a bucket, and makes one of what is
// kept there, in the format of networks of one machine.
//
// Backup and Restore act for whoever runs a command, with the rights that they have in the
// cluster. What reaches disks and bucket are pods that they make, each of which does one
// of the other functions here.
package clusterbackup
