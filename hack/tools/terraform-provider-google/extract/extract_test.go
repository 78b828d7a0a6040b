// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/json"
	"testing"
)

// bindings are those of a resource with each kind of member.
const bindings = `
function exampleRuleToHclTerraform(struct) {
    const attrs = {
        port: {
            value: cdktn.numberToHclTerraform(struct.port),
            isBlock: false,
            type: "simple",
            storageClassType: "number",
        },
    };
}
class ExampleRuleOutputReference extends cdktn.ComplexObject {
    // port - computed: false, optional: false, required: true
    get port() {
        return this.getNumberAttribute('port');
    }
}
class ExampleRuleList extends cdktn.ComplexList {
}
class ExampleSeenOutputReference extends cdktn.ComplexObject {
    // ok - computed: true, optional: false, required: false
    get ok() {
        return this.getBooleanAttribute('ok');
    }
}
class ExampleSeenList extends cdktn.ComplexList {
}
class ExampleTimeoutsOutputReference extends cdktn.ComplexObject {
    // create - computed: false, optional: true, required: false
    get create() {
        return this.getStringAttribute('create');
    }
}
class Example extends cdktn.TerraformResource {
    constructor(scope, id, config) {
        super(scope, id, {
                providerVersion: '1.2.3',
        });
    }
    // tags - computed: true, optional: true, required: false
    get tags() {
        return cdktn.Fn.tolist(this.getListAttribute('tags'));
    }
    // labels - computed: false, optional: true, required: false
    get labels() {
        return this.getStringMapAttribute('labels');
    }
    // rule - computed: false, optional: true, required: false
    _rule = new ExampleRuleList(this, "rule", true);
    // only - computed: false, optional: false, required: true
    _only = new ExampleRuleOutputReference(this, "only");
    // seen - computed: true, optional: false, required: false
    _seen = new ExampleSeenList(this, "seen", false);
    // timeouts - computed: false, optional: true, required: false
    _timeouts = new ExampleTimeoutsOutputReference(this, "timeouts");
    synthesizeHclAttributes() {
        const attrs = {
            tags: {
                value: cdktn.listMapperHcl(cdktn.stringToHclTerraform, false)(this._tags),
                isBlock: false,
                type: "set",
                storageClassType: "stringList",
            },
            rule: {
                value: cdktn.listMapperHcl(exampleRuleToHclTerraform, true)(this._rule.internalValue),
                isBlock: true,
                type: "set",
                storageClassType: "ExampleRuleList",
            },
            only: {
                value: exampleRuleToHclTerraform(this._only.internalValue),
                isBlock: true,
                type: "list",
                storageClassType: "ExampleRuleList",
            },
            timeouts: {
                value: exampleTimeoutsToHclTerraform(this._timeouts.internalValue),
                isBlock: true,
                type: "struct",
                storageClassType: "ExampleTimeouts",
            },
        };
    }
}
`

const wanted = `{
 "attributes": {
  "labels": {
   "type": ["map", "string"],
   "optional": true
  },
  "seen": {
   "type": ["list", ["object", {"ok": "bool"}]],
   "computed": true
  },
  "tags": {
   "type": ["set", "string"],
   "optional": true,
   "computed": true
  }
 },
 "block_types": {
  "only": {
   "nesting_mode": "list",
   "block": {"attributes": {"port": {"type": "number", "required": true}}},
   "min_items": 1,
   "max_items": 1
  },
  "rule": {
   "nesting_mode": "set",
   "block": {"attributes": {"port": {"type": "number", "required": true}}}
  },
  "timeouts": {
   "nesting_mode": "single",
   "block": {"attributes": {"create": {"type": "string", "optional": true}}}
  }
 }
}`

func TestBlockHoldsEveryKindOfMember(t *testing.T) {
	module, err := parse(bindings)
	if err != nil {
		t.Fatal(err)
	}
	if module.version != "1.2.3" {
		t.Errorf("version is %q", module.version)
	}
	block, err := module.top()
	if err != nil {
		t.Fatal(err)
	}
	got, err := json.Marshal(block)
	if err != nil {
		t.Fatal(err)
	}
	if want := compact(t, wanted); string(got) != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestBindingsWithoutAResourceAreRefused(t *testing.T) {
	if _, err := parse("class Other extends cdktn.ComplexObject {\n}\n"); err == nil {
		t.Error("no error")
	}
}

func TestModuleAt(t *testing.T) {
	for file, want := range map[string]string{
		"package/lib/container-cluster/index.js":                  "container-cluster",
		"package/lib/container-cluster/index-structs/structs0.js": "container-cluster",
		"package/lib/container-cluster/index.d.ts":                "",
		"package/LICENSE": "",
	} {
		if got := moduleAt(file); got != want {
			t.Errorf("%s: got %q, want %q", file, got, want)
		}
	}
}

func compact(t *testing.T, document string) string {
	t.Helper()
	var value json.RawMessage
	if err := json.Unmarshal([]byte(document), &value); err != nil {
		t.Fatal(err)
	}
	compacted, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	return string(compacted)
}
