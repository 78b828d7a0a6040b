// SPDX-License-Identifier: Apache-2.0

package charts_test

import (
	"bytes"
	"encoding/json"
	"net/http"
	"testing"
)

// inEtcd is the version that each object below a key is stored as. The API server
// tells nobody.
func (c cluster) inEtcd(t *testing.T, prefix string) map[string]string {
	t.Helper()
	// Slices of bytes are in base64 there, as etcd has them. The end of the range is
	// the first key that does not begin like that.
	end := []byte(prefix)
	end[len(end)-1]++
	asked, err := json.Marshal(map[string][]byte{"key": []byte(prefix), "range_end": end})
	if err != nil {
		t.Fatal(err)
	}
	address := c.etcd.JoinPath("v3", "kv", "range").String()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, address, bytes.NewReader(asked))
	if err != nil {
		t.Fatal(err)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	var answered struct {
		KVs []struct {
			Key, Value []byte
		}
	}
	if err := json.NewDecoder(response.Body).Decode(&answered); err != nil {
		t.Fatalf("etcd answers with %s: %v", response.Status, err)
	}
	stored := map[string]string{}
	for _, pair := range answered.KVs {
		var object struct {
			APIVersion string `json:"apiVersion"`
		}
		if err := json.Unmarshal(pair.Value, &object); err != nil {
			t.Fatalf("%s: %v", pair.Key, err)
		}
		stored[string(pair.Key)] = object.APIVersion
	}
	return stored
}
