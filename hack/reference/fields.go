// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"slices"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
)

// describeType says what a field holds; of an object, or of a list of them, also
// which.
func describeType(field *apiextensionsv1.JSONSchemaProps) (text string, object *apiextensionsv1.JSONSchemaProps) {
	switch {
	case field.XIntOrString:
		return "quantity", nil
	case field.Type == "array":
		text, object = describeType(field.Items.Schema)
		return "list of " + text, object
	case field.Type == "object" && len(field.Properties) > 0:
		return "", field
	case field.Type == "object" && field.AdditionalProperties != nil:
		text, object = describeType(field.AdditionalProperties.Schema)
		return "map of " + text, object
	case field.Format == "date-time":
		return "time", nil
	default:
		return field.Type, nil
	}
}

// describeDefault says what holds when a field of an object is left out, or that
// it cannot be.
func describeDefault(parent *apiextensionsv1.JSONSchemaProps, name string, field *apiextensionsv1.JSONSchemaProps) string {
	switch {
	case field.Default != nil:
		return code(strings.Trim(string(field.Default.Raw), `"`))
	case slices.Contains(parent.Required, name):
		return "required"
	default:
		return ""
	}
}

// describeLimits lists the bounds of a field and of what it is a list of.
func describeLimits(field *apiextensionsv1.JSONSchemaProps) []string {
	limits := slices.DeleteFunc([]string{
		values(field.Enum),
		bounds(field.Minimum, field.Maximum, ""),
		bounds(field.MinLength, field.MaxLength, "character"),
		bounds(field.MinItems, field.MaxItems, "item"),
		bounds(field.MinProperties, field.MaxProperties, "field"),
	}, func(limit string) bool { return limit == "" })
	// That of quantities is the same everywhere, and long.
	if field.Pattern != "" && !field.XIntOrString {
		limits = append(limits, "matches "+code(field.Pattern))
	}
	if len(field.XListMapKeys) > 0 {
		limits = append(limits, "one of each "+code(strings.Join(field.XListMapKeys, "` and `")))
	}
	if field.XListType != nil && *field.XListType == "set" {
		limits = append(limits, "each once")
	}
	inner := field.AdditionalProperties
	switch {
	case field.Items != nil:
		return append(limits, each(field.Items.Schema)...)
	case inner != nil && inner.Schema != nil:
		return append(limits, each(inner.Schema)...)
	default:
		return limits
	}
}

// each lists the bounds of what a list or a map holds.
func each(item *apiextensionsv1.JSONSchemaProps) []string {
	var limits []string
	for _, limit := range describeLimits(item) {
		limits = append(limits, "each "+limit)
	}
	return limits
}

func values(enum []apiextensionsv1.JSON) string {
	words := make([]string, 0, len(enum))
	for _, value := range enum {
		words = append(words, code(strings.Trim(string(value.Raw), `"`)))
	}
	return strings.Join(words, ", ")
}

// bounds says how much of something there may be; of numbers, of nothing.
func bounds[N int64 | float64](least, most *N, of string) string {
	var text string
	last := most
	switch {
	case least != nil && most != nil && *least == *most:
		text = number(*least)
	case least != nil && most != nil:
		text = number(*least) + " to " + number(*most)
	case least != nil:
		text, last = "at least "+number(*least), least
	case most != nil:
		text = "at most " + number(*most)
	default:
		return ""
	}
	if of != "" {
		text += " " + of
		if *last != 1 {
			text += "s"
		}
	}
	return text
}

func number[N int64 | float64](value N) string {
	return strings.TrimSuffix(fmt.Sprintf("%.3f", float64(value)), ".000")
}

// ownRules are the messages of an object's or a field's own rules, by the field
// further in that they are about, and by "" if they are about itself.
func ownRules(schema *apiextensionsv1.JSONSchemaProps) (map[string][]string, error) {
	own := map[string][]string{}
	for _, rule := range schema.XValidations {
		if rule.Message == "" {
			return nil, fmt.Errorf("the rule %s has no message", rule.Rule)
		}
		field := strings.TrimPrefix(rule.FieldPath, ".")
		if !slices.Contains(own[field], rule.Message) {
			own[field] = append(own[field], rule.Message)
		}
	}
	return own, nil
}

// rulesOfRow are the messages of the rules of a field about itself, and of what
// it is a list of.
func rulesOfRow(field *apiextensionsv1.JSONSchemaProps) ([]string, error) {
	own, err := ownRules(field)
	if err != nil || field.Items == nil {
		return own[""], err
	}
	ofItems, err := ownRules(field.Items.Schema)
	rules := own[""]
	for _, rule := range ofItems[""] {
		rules = append(rules, "each "+rule)
	}
	return rules, err
}

func code(text string) string {
	return "`" + text + "`"
}
