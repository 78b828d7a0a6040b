// SPDX-License-Identifier: Apache-2.0

package setup_test

import (
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// outside are the commands that no set-up brings.
var outside = map[string]string{
	"docker": "used only where it runs",
}

// What a set-up brings, it brings to a machine that has nothing. What a target
// calls is what some set-up brings that the target runs before anything else.
func TestSetupsBringWhatTargetsCall(t *testing.T) {
	tree, err := readTree()
	if err != nil {
		t.Fatal(err)
	}
	all := readTargets(t, tree)
	things, purposes, built := everything(all)
	for name := range built {
		delete(things, name)
	}
	debian := newDebian(t)
	bare := debian.newMachine(t).look(t, slices.Sorted(maps.Keys(things)))
	brought := map[string]map[string]bool{}
	for _, purpose := range slices.Sorted(maps.Keys(purposes)) {
		machine := debian.newMachine(t)
		machine.setUp(t, purpose)
		brought[purpose] = machine.look(t, slices.Sorted(maps.Keys(things)))
	}

	for target, found := range all {
		there := maps.Clone(bare)
		maps.Copy(there, built)
		for setup := range found.setups {
			for _, purpose := range purposesOf(setup) {
				maps.Copy(there, brought[purpose])
			}
		}
		for name, where := range found.things() {
			if !there[name] && outside[name] == "" {
				t.Errorf("%s: %s calls %s, which none of the set-ups %v brings", target, where, name,
					slices.Sorted(maps.Keys(found.setups)))
			}
		}
	}
}

// readTargets reads what every target of the Makefile calls, and what a reader
// of the README does.
func readTargets(t *testing.T, tree *tree) map[string]*needs {
	t.Helper()
	names, err := targets()
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]*needs{}
	for _, name := range names {
		found, err := tree.ofTarget(name)
		if err != nil {
			t.Fatal(err)
		}
		all["make "+name] = found
	}
	for target, before := range follows {
		maps.Copy(all["make "+target].setups, all["make "+before].setups)
	}
	all["README.md"] = readReadme(t, tree, all)
	return all
}

// everything is what any of the needs are about: commands and libraries, the
// purposes of set-ups, and the programs that are built.
func everything(all map[string]*needs) (things, purposes, built map[string]bool) {
	things, purposes, built = map[string]bool{}, map[string]bool{}, map[string]bool{}
	for _, found := range all {
		for name := range found.things() {
			things[name] = true
		}
		for setup := range found.setups {
			for _, purpose := range purposesOf(setup) {
				purposes[purpose] = true
			}
		}
		maps.Copy(built, found.built)
	}
	return things, purposes, built
}

// things are the commands and libraries with what calls them.
func (n *needs) things() map[string]string {
	things := maps.Clone(n.commands)
	for name, where := range n.libraries {
		things["library:"+name] = where
	}
	return things
}

// purposesOf are the set-ups for one purpose each that a set-up is made of.
func purposesOf(setup string) []string {
	words := strings.Fields(setup)
	var purposes []string
	if words[0] == clusterScript {
		purposes = append(purposes, clusterScript)
	}
	for _, purpose := range words[1:] {
		purposes = append(purposes, setupScript+" "+purpose)
	}
	return purposes
}

var shellBlocks = regexp.MustCompile("(?ms)^```sh\n(.*?)^```$")

// readReadme reads what the commands of the README call. The tools that a reader
// calls by their names have to be among what it puts into bin/ before.
func readReadme(t *testing.T, tree *tree, all map[string]*needs) *needs {
	t.Helper()
	content, err := os.ReadFile(root + "/README.md")
	if err != nil {
		t.Fatal(err)
	}
	found := tree.newNeeds()
	path, bin := false, map[string]bool{}
	for _, block := range shellBlocks.FindAllSubmatch(content, -1) {
		file, err := parse(string(block[1]), "README.md")
		if err != nil {
			t.Fatal(err)
		}
		calls, err := tree.read(file, "")
		if err != nil {
			t.Fatal(err)
		}
		path = path || strings.Contains(string(block[1]), "PATH=$PWD/bin:")
		for _, made := range calls {
			name := made.words[0][0]
			switch _, tool := tree.tools[name]; {
			case name == "make":
				for _, word := range made.words[1:] {
					if target := all["make "+word[0]]; target != nil {
						maps.Copy(found.setups, target.setups)
						maps.Copy(bin, target.bin)
					}
				}
			case tool && (!path || !bin[name]):
				t.Errorf("README.md calls %s, which it does not put into the PATH before", name)
			}
			if err := found.calls(name, "README.md"); err != nil {
				t.Fatal(err)
			}
		}
	}
	return found
}
