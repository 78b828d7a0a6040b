// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"

	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/defaulting"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/objectmeta"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/pruning"
	"k8s.io/apimachinery/pkg/util/json"
	"k8s.io/apimachinery/pkg/util/validation/field"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/yaml"
)

// object is a manifest as the API server's library handles it.
type object = map[string]any

// splitDocument returns the only document of a file, which should be of a kind.
func splitDocument(content []byte, kind string) (object, error) {
	reader := utilyaml.NewYAMLReader(bufio.NewReader(bytes.NewReader(content)))
	var documents []object
	for {
		document, err := reader.Read()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, fmt.Errorf("document %d: %w", len(documents)+1, err)
		}
		parsed, err := parseDocument(document)
		if err != nil {
			return nil, fmt.Errorf("document %d: %w", len(documents)+1, err)
		}
		if parsed != nil {
			documents = append(documents, parsed)
		}
	}
	if len(documents) != 1 {
		return nil, fmt.Errorf("holds %d documents, want one %s and nothing else", len(documents), kind)
	}
	return documents[0], nil
}

// parseDocument parses one document; it is nil when there is nothing in it but
// comments. A key that is there twice is an error.
func parseDocument(document []byte) (object, error) {
	content, err := yaml.YAMLToJSONStrict(document)
	if err != nil {
		// The parser puts each error on a line of its own.
		return nil, errors.New(strings.Join(strings.Fields(err.Error()), " "))
	}
	var parsed any
	if err := json.Unmarshal(content, &parsed); err != nil {
		return nil, err
	}
	switch parsed := parsed.(type) {
	case nil:
		return nil, nil
	case object:
		return parsed, nil
	default:
		return nil, errors.New("is not an object")
	}
}

// decode does what the API server's strict decoder does: it finds unknown
// fields, drops nulls and fills in defaults.
func (s *resourceSchema) decode(manifest object) error {
	// The schema of a resource says nothing about metadata, which has a type of
	// its own.
	meta, found, unknown, err := objectmeta.GetObjectMetaWithOptions(manifest, objectmeta.ObjectMetaOptions{
		ReturnUnknownFieldPaths: true,
	})
	if err != nil {
		return fmt.Errorf("metadata: %w", err)
	}
	unknown = append(unknown, pruning.PruneWithOptions(manifest, s.structural, true,
		structuralschema.UnknownFieldPathOptions{TrackUnknownFieldPaths: true})...)
	if len(unknown) > 0 {
		return newInvalidError(unknownFields(unknown))
	}
	if found {
		if err := objectmeta.SetObjectMeta(manifest, meta); err != nil {
			return fmt.Errorf("metadata: %w", err)
		}
	}

	defaulting.PruneNonNullableNullsWithoutDefaults(manifest, s.structural)
	defaulting.Default(manifest, s.structural)
	return nil
}

func unknownFields(paths []string) field.ErrorList {
	errs := make(field.ErrorList, 0, len(paths))
	for _, path := range paths {
		errs = append(errs, &field.Error{
			Type:   field.ErrorTypeForbidden,
			Field:  path,
			Detail: "unknown field",
		})
	}
	return errs
}
