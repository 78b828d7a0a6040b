// SPDX-License-Identifier: Apache-2.0

package setup_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"slices"
	"testing"
)

// What this finds in scripts, it would miss a missing command without.
func TestShellCalls(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		script string
		want   []string
	}{
		"plain":         {`jq . file`, []string{"jq"}},
		"pipe":          {`seq 3 | wc -l`, []string{"seq", "wc"}},
		"substitution":  {`local a; a=$(date +%s)`, []string{"date"}},
		"condition":     {`if ! curl -s x; then :; fi`, []string{"curl"}},
		"here-document": {"cat <<END\n$(hostname)\nnotme\nEND", []string{"cat", "hostname"}},
		"environment":   {`A=1 env -u B C=2 gawk`, []string{"env", "gawk"}},
		"exec":          {`exec setsid nsenter --net=/x unshare --cgroup tc qdisc`, []string{"setsid", "nsenter", "unshare", "tc"}},
		"options":       {`xargs -P 2 -I X sha1sum X`, []string{"xargs", "sha1sum"}},
		"namespace":     {`ip netns exec "$n" sysctl -qw a=1`, []string{"ip", "sysctl"}},
		"find":          {`find . -name x -exec shred {} +`, []string{"find", "shred"}},
		"text":          {`unshare --net sh -euc 'nft list' && trap 'fuser x' EXIT`, []string{"unshare", "sh", "nft", "fuser"}},
		"asked for":     {`command -v terraform`, []string{"command"}},
		"function":      {`twice() { shift; "$@"; }; twice why socat -`, []string{"socat"}},
		"wrapped":       {`serve() { local a=$1; shift 2; setpriv --pdeathsig KILL "$@" & }; serve a b iperf`, []string{"setpriv", "iperf"}},
		"of functions":  {`a() { shift; "$@"; }; b() { shift 2; "$@"; }; b x y a z conntrack`, []string{"conntrack"}},
		"loop":          {`for p in gpg age; do "$p" --version; done`, []string{"gpg", "age"}},
		"unknown":       {`"$(which x)" y`, []string{"which"}},
	}
	own, err := builtins()
	if err != nil {
		t.Fatal(err)
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			file, err := parse(test.script, "")
			if err != nil {
				t.Fatal(err)
			}
			reader := reader{functions: functions{}}
			reader.functions.collect(file)
			calls, err := reader.read(file, "")
			if err != nil {
				t.Fatal(err)
			}
			got := map[string]bool{}
			for _, made := range calls {
				for _, name := range made.words[0] {
					_, function := reader.functions[name]
					got[name] = !function && !own[name] && name != unknown || slices.Contains(test.want, name)
				}
			}
			for _, want := range test.want {
				if !got[want] {
					t.Errorf("%s is not found", want)
				}
				delete(got, want)
			}
			for name, found := range got {
				if found {
					t.Errorf("%s is no command here", name)
				}
			}
		})
	}
}

func TestGoCommands(t *testing.T) {
	t.Parallel()
	const source = `package x
func direct() { exec.Command("prometheus", "--x") }
func bound(ctx context.Context) { exec.CommandContext(ctx, "node") }
func look() { exec.LookPath("psql") }
func run(t *testing.T, command ...string) { exec.LookPath(command[0]) }
func inside(t *testing.T, machine string, command ...string) { run(t, append([]string{"ip", "netns", "exec", machine}, command...)...) }
func test(t *testing.T) { inside(t, "a", "tc", "qdisc"); run(t, "sysctl") }
func arguments(path string, arguments ...string) { exec.Command(path, arguments...) }
func other() { arguments("helm", "install") }
`
	file, err := parser.ParseFile(token.NewFileSet(), "x.go", source, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	got := readFiles([]*ast.File{file}).commands
	slices.Sort(got)
	if want := []string{"helm", "ip", "node", "prometheus", "psql", "sysctl", "tc"}; !slices.Equal(got, want) {
		t.Errorf("finds %q, want %q", got, want)
	}
}

// The repository itself has what is hardest to find.
func TestTargets(t *testing.T) {
	t.Parallel()
	tree, err := readTree()
	if err != nil {
		t.Fatal(err)
	}
	for target, want := range map[string][]string{
		"cluster-up":   {"nft", "openssl", "sysctl", "modprobe", "findmnt", "library:libseccomp", "pkg-config", "cc"},
		"demo":         {"cc", "cargo", "go"},
		"e2e":          {"tc", "ip", "prometheus", "ldd"},
		"fuzz":         {"c++", "sha1sum"},
		"kwok-up":      {"setpriv", "openssl"},
		"lint":         {"shellcheck", "npm"},
		"test-go":      {"cc", "promtool"},
		"test-local":   {"/usr/bin/chromium", "prometheus", "node"},
		"test-node":    {"unshare", "cc", "ar"},
		"release":      {"git", "cargo", "ldd", "gzip"},
		"test-release": {"git", "tar", "sha256sum"},
		"setup-check":  {"mmdebstrap", "apt-get", "tar", "mount", "pivot_root"},
	} {
		found, err := tree.ofTarget(target)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range want {
			if found.things()[name] == "" {
				t.Errorf("make %s is not known to call %s", target, name)
			}
		}
	}
}
