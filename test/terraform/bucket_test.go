// SPDX-License-Identifier: Apache-2.0

package terraform_test

import (
	"encoding/json"
	"io"
	"maps"
	"mime"
	"mime/multipart"
	"net/http"
	"slices"
	"strings"
	"sync"
)

// bucket answers as Cloud Storage does for one bucket, as much as a state needs.
type bucket struct {
	name string

	mutex   sync.Mutex
	objects map[string][]byte
}

type object struct {
	Name       string `json:"name"`
	Generation string `json:"generation"`
}

func (b *bucket) names() []string {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	return slices.Sorted(maps.Keys(b.objects))
}

func (b *bucket) put(name, content string) {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	b.objects[name] = []byte(content)
}

func (b *bucket) ServeHTTP(writer http.ResponseWriter, request *http.Request) {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	list := "/storage/v1/b/" + b.name + "/o"
	name, isObject := strings.CutPrefix(request.URL.Path, list+"/")
	content, isContent := strings.CutPrefix(request.URL.Path, "/"+b.name+"/")
	switch {
	case request.Method == http.MethodPost && request.URL.Path == "/upload"+list:
		b.upload(writer, request)
	case request.Method == http.MethodDelete && isObject:
		delete(b.objects, name)
		writer.WriteHeader(http.StatusNoContent)
	case request.Method == http.MethodGet && request.URL.Path == list:
		b.list(writer, request.URL.Query().Get("prefix"))
	case request.Method == http.MethodGet && isObject && b.objects[name] != nil:
		answer(writer, object{Name: name, Generation: "1"})
	case request.Method == http.MethodGet && isContent && b.objects[content] != nil:
		_, _ = writer.Write(b.objects[content])
	default:
		http.NotFound(writer, request)
	}
}

// upload takes an object whose first part is what it is called and whose second
// part is what it holds. Generation 0 is that of an object that is not there.
func (b *bucket) upload(writer http.ResponseWriter, request *http.Request) {
	name := request.URL.Query().Get("name")
	if request.URL.Query().Get("ifGenerationMatch") == "0" && b.objects[name] != nil {
		http.Error(writer, `{"error":{"code":412,"message":"it is there"}}`, http.StatusPreconditionFailed)
		return
	}
	content, err := secondPart(request)
	if err != nil {
		http.Error(writer, err.Error(), http.StatusBadRequest)
		return
	}
	b.objects[name] = content
	answer(writer, object{Name: name, Generation: "1"})
}

func secondPart(request *http.Request) ([]byte, error) {
	_, parameters, err := mime.ParseMediaType(request.Header.Get("Content-Type"))
	if err != nil {
		return nil, err
	}
	parts := multipart.NewReader(request.Body, parameters["boundary"])
	if _, err := parts.NextPart(); err != nil {
		return nil, err
	}
	part, err := parts.NextPart()
	if err != nil {
		return nil, err
	}
	return io.ReadAll(part)
}

func (b *bucket) list(writer http.ResponseWriter, prefix string) {
	found := struct {
		Items []object `json:"items"`
	}{Items: []object{}}
	for name := range b.objects {
		if strings.HasPrefix(name, prefix) {
			found.Items = append(found.Items, object{Name: name, Generation: "1"})
		}
	}
	answer(writer, found)
}

func answer(writer http.ResponseWriter, document any) {
	writer.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(writer).Encode(document)
}
