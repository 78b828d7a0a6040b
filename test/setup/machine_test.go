// SPDX-License-Identifier: Apache-2.0

package setup_test

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
)

// debian is what new machines are made of: a minimal Debian of this machine's
// release, from the mirror that this machine uses, and the toolchains.
type debian struct {
	// base is the archive of its files.
	base string
	// lent are this machine's files that it has as well, for enter.sh.
	lent []string
	// programs is where the programs of the toolchains are.
	programs []string
	// npm is where npm is installed.
	npm string
}

// newDebian makes the files of a minimal Debian, or finds them in the cache.
func newDebian(t *testing.T) *debian {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Fatal("only root can make and enter a minimal Debian: run this as root")
	}
	release, err := os.ReadFile("/etc/os-release")
	if err != nil {
		t.Fatal(err)
	}
	suite := regexp.MustCompile(`(?m)^VERSION_CODENAME=(\w+)$`).FindSubmatch(release)
	if suite == nil || !bytes.Contains(release, []byte("\nID=debian\n")) {
		t.Fatalf("this takes a Debian, whose mirror is used; /etc/os-release is\n%s", release)
	}
	cache := filepath.Join(cacheFolder(t), "debian")
	for _, folder := range []string{"archives/partial", "lists/partial"} {
		if err := os.MkdirAll(filepath.Join(cache, folder), 0o755); err != nil {
			t.Fatal(err)
		}
	}

	mustRun(t, "apt-get", "update", "-qq")
	sources := strings.Split(strings.TrimSpace(mustRun(t, "apt-get", "indextargets",
		"--format", "deb $(REPO_URI) $(RELEASE) $(COMPONENT)", "Created-By: Packages", "Origin: Debian")), "\n")
	slices.Sort(sources)
	sources = slices.Compact(sources)
	arguments := []string{"--variant=minbase"}
	for setting := range strings.Lines(mustRun(t, "apt-config", "dump")) {
		if strings.Contains(setting, "::Proxy ") {
			arguments = append(arguments, "--aptopt="+strings.TrimSpace(setting))
		}
	}
	key := sha256.Sum256([]byte(strings.Join(append(arguments, sources...), "\n")))
	made := &debian{base: filepath.Join(cache, fmt.Sprintf("%s-%x.tar", suite[1], key[:6]))}
	if _, err := os.Stat(made.base); err != nil {
		partial := made.base + ".partial"
		mustRun(t, slices.Concat([]string{"mmdebstrap", "--quiet", "--format=tar"}, arguments, []string{string(suite[1]), partial}, sources)...)
		if err := os.Rename(partial, made.base); err != nil {
			t.Fatal(err)
		}
	}
	made.lendToolchains(t)
	made.lend(t, "--read", root)
	// What is downloaded once need not be downloaded again.
	made.lent = append(made.lent, "--write", cache+"/archives:/var/cache/apt/archives", "--write", cache+"/lists:/var/lib/apt/lists")
	return made
}

// lend has machines see a folder or a file at its own path.
func (d *debian) lend(t *testing.T, how, name string) {
	t.Helper()
	path, err := filepath.Abs(name)
	if err != nil {
		t.Fatal(err)
	}
	d.lent = append(d.lent, how, path)
}

// lendToolchains has machines see Go, Rust and Node.js, as the README asks for.
func (d *debian) lendToolchains(t *testing.T) {
	t.Helper()
	goroot := strings.TrimSpace(mustRun(t, "go", "env", "GOROOT"))
	sysroot := strings.TrimSpace(mustRun(t, "rustc", "--print", "sysroot"))
	for _, folder := range []string{goroot, sysroot} {
		if folder == "/usr" {
			t.Fatal("a toolchain in /usr cannot be told apart from the rest of this machine")
		}
		d.lend(t, "--read", folder)
		d.programs = append(d.programs, folder+"/bin")
	}
	node, npm := resolved(t, "node"), resolved(t, "npm")
	// Of npm, the program is in the folder bin of the package.
	d.npm = filepath.Dir(filepath.Dir(npm))
	d.lent = append(d.lent, "--read", node+":/opt/node/bin/node", "--read", d.npm+":/opt/node/lib/npm")
	d.programs = append(d.programs, "/opt/node/bin")
}

// resolved is where a program of this machine really is.
func resolved(t *testing.T, program string) string {
	t.Helper()
	path, err := exec.LookPath(program)
	if err != nil {
		t.Fatal(err)
	}
	path, err = filepath.EvalSymlinks(path)
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// machine is a new machine, with nothing that another one was given.
type machine struct {
	debian *debian
	files  string
}

func (d *debian) newMachine(t *testing.T) *machine {
	t.Helper()
	made := &machine{debian: d, files: t.TempDir()}
	mustRun(t, "tar", "--extract", "--file", d.base, "--directory", made.files, "--exclude", "./dev/*")
	// None of this has to outlive a power cut, or to be read by anybody.
	for name, content := range map[string]string{
		"etc/dpkg/dpkg.cfg.d/unsafe-io":  "force-unsafe-io\n",
		"etc/apt/apt.conf.d/99languages": "Acquire::Languages \"none\";\n",
	} {
		if err := os.WriteFile(filepath.Join(made.files, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	bin := filepath.Join(made.files, "opt/node/bin")
	if err := os.MkdirAll(bin, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("../lib/npm/bin/npm-cli.js", filepath.Join(bin, "npm")); err != nil {
		t.Fatal(err)
	}
	return made
}

// run runs a script of bash in the repository, as it is on the machine.
func (m *machine) run(t *testing.T, script, input string) (string, error) {
	t.Helper()
	here, err := filepath.Abs(root)
	if err != nil {
		t.Fatal(err)
	}
	script = fmt.Sprintf("export PATH=%s:$PATH\ncd '%s'\n%s", strings.Join(m.debian.programs, ":"), here, script)
	arguments := slices.Concat([]string{m.files}, m.debian.lent, []string{"--", "bash", "-euc", script})
	enter := exec.CommandContext(t.Context(), "./enter.sh", arguments...)
	enter.Stdin = strings.NewReader(input)
	var stdout, stderr bytes.Buffer
	enter.Stdout, enter.Stderr = &stdout, &stderr
	if err := enter.Run(); err != nil {
		return "", fmt.Errorf("%w\n%s", err, &stderr)
	}
	return stdout.String(), nil
}

// setUp runs a set-up.
func (m *machine) setUp(t *testing.T, setup string) {
	t.Helper()
	start := time.Now()
	if _, err := m.run(t, setup, ""); err != nil {
		t.Fatalf("%s fails on a new machine: %v", setup, err)
	}
	t.Logf("%s took %s", setup, time.Since(start).Round(time.Second))
}

// lookAround are commands and libraries, one a line, of which those that are
// there are printed. A compiler counts only if it compiles and links.
const lookAround = `
works() {
	case $1 in
	cc) echo 'int main(void) { return 0; }' | cc -static -x c -o /tmp/cc - && /tmp/cc ;;
	c++) echo '#include <string>
		int main() { return std::string().size(); }' | c++ -x c++ -o /tmp/c++ - && /tmp/c++ ;;
	library:*) pkg-config --exists "${1#library:}" ;;
	*) command -v "$1" ;;
	esac
}
while read -r name; do
	if works "$name" >/dev/null 2>&1; then echo "$name"; fi
done`

// look says which of some commands and libraries are there.
func (m *machine) look(t *testing.T, names []string) map[string]bool {
	t.Helper()
	output, err := m.run(t, lookAround, strings.Join(names, "\n")+"\n")
	if err != nil {
		t.Fatal(err)
	}
	there := map[string]bool{}
	for name := range strings.Lines(output) {
		there[strings.TrimSpace(name)] = true
	}
	return there
}

func mustRun(t *testing.T, command ...string) string {
	t.Helper()
	var stderr bytes.Buffer
	made := exec.CommandContext(t.Context(), command[0], command[1:]...)
	made.Dir, made.Stderr = root, &stderr
	output, err := made.Output()
	if err != nil {
		t.Fatalf("%s: %v\n%s", strings.Join(command, " "), err, &stderr)
	}
	return string(output)
}

// cacheFolder is the cache of this repository.
func cacheFolder(t *testing.T) string {
	t.Helper()
	cache := os.Getenv("XDG_CACHE_HOME")
	if cache == "" {
		home, err := os.UserHomeDir()
		if err != nil {
			t.Fatal(err)
		}
		cache = filepath.Join(home, ".cache")
	}
	return filepath.Join(cache, "shardyard")
}
