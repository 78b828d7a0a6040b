// SPDX-License-Identifier: Apache-2.0

package clusterbackup

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"time"

	"github.com/shardyard/shardyard/internal/backup"
)

// contentsPath is where the contents of a backup are shown.
const contentsPath = "/contents.json"

// maxContentBytes bounds the network's own files, which are in the memory of a pod and of
// who asks: the genesis document fits a ConfigMap, and a node has some hundred bytes.
const maxContentBytes = 16 << 20

// contents are what a backup has besides the data of nodes, keys included.
type contents struct {
	// Of is the backup's manifest without its files, and ID what tells it from others.
	Of backup.Manifest `json:"of"`
	ID string          `json:"id"`
	// Files are those of the network, by their paths, checked.
	Files map[string][]byte `json:"files"`
}

// readContents reads and checks them.
func readContents(ctx context.Context, place backup.Place) (*contents, error) {
	manifest, err := backup.Read(ctx, place)
	if err != nil {
		return nil, err
	}
	whole, err := json.Marshal(manifest)
	if err != nil {
		return nil, err
	}
	sum := sha256.Sum256(whole)
	read := &contents{Of: *manifest, ID: hex.EncodeToString(sum[:8])}
	read.Of.Files = nil
	read.Files, err = manifest.Contents(ctx, place, maxContentBytes, func(path string) bool { return manifest.DataOf(path) == "" })
	return read, err
}

// hashOf is what the pod is told of the password of who asks: its arguments are no secret.
func hashOf(password string) string {
	sum := sha256.Sum256([]byte(password))
	return hex.EncodeToString(sum[:])
}

// Serve shows the network's own files of a backup, once they are checked, until it is told
// to end, to who knows a password of this hash: keys are among them, and more people may
// forward ports to a pod than may read Secrets.
func Serve(ctx context.Context, url, passwordHash string, listener net.Listener) error {
	var content []byte
	if err := at(ctx, url, func(place backup.Place) error {
		read, err := readContents(ctx, place)
		if err != nil {
			return err
		}
		content, err = json.Marshal(read)
		return err
	}); err != nil {
		return errors.Join(err, listener.Close())
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET "+contentsPath, func(out http.ResponseWriter, request *http.Request) {
		_, password, _ := request.BasicAuth()
		if subtle.ConstantTimeCompare([]byte(hashOf(password)), []byte(passwordHash)) != 1 {
			http.Error(out, "the password is another one", http.StatusUnauthorized)
			return
		}
		out.Header().Set("Content-Type", "application/json")
		_, _ = out.Write(content)
	})
	server := &http.Server{Handler: mux, ReadHeaderTimeout: time.Minute}
	defer context.AfterFunc(ctx, func() { _ = server.Close() })()
	if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

// fetchContents asks for what Serve shows.
func fetchContents(ctx context.Context, address, password string) (*contents, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+address+contentsPath, http.NoBody)
	if err != nil {
		return nil, err
	}
	request.SetBasicAuth("", password)
	// Straight to the pod, whatever the environment says of proxies.
	response, err := (&http.Client{Transport: &http.Transport{}}).Do(request)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("the pod that reads the backup answers %s", response.Status)
	}
	read := &contents{}
	if err := json.NewDecoder(response.Body).Decode(read); err != nil {
		return nil, fmt.Errorf("read the contents of the backup: %w", err)
	}
	return read, nil
}
