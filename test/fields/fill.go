// SPDX-License-Identifier: Apache-2.0

package fields

import (
	"reflect"
	"strconv"
	"testing"

	"k8s.io/apimachinery/pkg/api/resource"
)

// Fill gives every field of a spec a value that no other has, as far as its type has
// as many: whatever copies the spec has to copy all of it.
func Fill(t *testing.T, spec any) {
	t.Helper()
	count := 0
	fill(t, reflect.ValueOf(spec).Elem(), &count)
	if count == 0 {
		t.Fatal("there is nothing to fill")
	}
}

func fill(t *testing.T, value reflect.Value, count *int) {
	t.Helper()
	*count++
	if quantity, ok := value.Addr().Interface().(*resource.Quantity); ok {
		*quantity = *resource.NewQuantity(int64(*count), resource.DecimalSI)
		return
	}
	switch value.Kind() {
	case reflect.Pointer:
		value.Set(reflect.New(value.Type().Elem()))
		fill(t, value.Elem(), count)
	case reflect.Struct:
		for i := range value.NumField() {
			fill(t, value.Field(i), count)
		}
	case reflect.Slice:
		value.Set(reflect.MakeSlice(value.Type(), 2, 2))
		for i := range value.Len() {
			fill(t, value.Index(i), count)
		}
	case reflect.Map:
		key, item := reflect.New(value.Type().Key()).Elem(), reflect.New(value.Type().Elem()).Elem()
		fill(t, key, count)
		fill(t, item, count)
		value.Set(reflect.MakeMap(value.Type()))
		value.SetMapIndex(key, item)
	case reflect.String:
		value.SetString("value-" + strconv.Itoa(*count))
	case reflect.Int32, reflect.Int64:
		value.SetInt(int64(*count))
	case reflect.Bool:
		value.SetBool(true)
	default:
		t.Fatalf("there is no value for a %s", value.Type())
	}
}
