// SPDX-License-Identifier: Apache-2.0

// Command bucket serves an empty bucket to tests, in memory, at the address that it is
// given.
package main

import (
	"fmt"
	"log"
	"net/http"
	"os"
	"time"

	"github.com/shardyard/shardyard/test/buckets"
)

func main() {
	log.Fatal(serve(os.Args[1:]))
}

func serve(arguments []string) error {
	if len(arguments) != 1 {
		return fmt.Errorf("want the address to serve at, and nothing else: got %q", arguments)
	}
	handler, _, err := buckets.NewHandler()
	if err != nil {
		return err
	}
	server := &http.Server{Addr: arguments[0], Handler: handler, ReadHeaderTimeout: time.Minute}
	return server.ListenAndServe()
}
