// SPDX-License-Identifier: Apache-2.0

package manifest_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"k8s.io/utils/ptr"

	"github.com/shardyard/shardyard/internal/manifest"
)

const network = `apiVersion: shardyard.dev/v1alpha1
kind: ShardNetwork
metadata:
  name: net
spec:
  shards: 2
  producersPerShard: 1
  regions:
    - name: here
      nodes: 2
  genesis:
    accountsPerShard: 10
`

const namespace = `apiVersion: v1
kind: Namespace
metadata:
  name: net
`

func replaced(t *testing.T, text, by string) []byte {
	t.Helper()
	if !strings.Contains(network, text) {
		t.Fatalf("%q is not in the manifest", text)
	}
	return []byte(strings.Replace(network, text, by, 1))
}

func TestParseFillsInDefaults(t *testing.T) {
	t.Parallel()
	parsed, err := manifest.Parse([]byte(network))
	if err != nil {
		t.Fatal(err)
	}
	if parsed.Name != "net" || parsed.Namespace != "default" || parsed.Spec.Shards != 2 {
		t.Errorf("parsed %+v", parsed)
	}
	spec := parsed.Spec
	for name, isDefault := range map[string]bool{
		"genesis.initialBalance":                spec.Genesis.InitialBalance == 1_000_000_000,
		"genesis.seed":                          spec.Genesis.Seed == "shardyard",
		"protocol.executionLag":                 spec.Protocol.ExecutionLag == 1,
		"protocol.minBlockTimeMilliseconds":     spec.Protocol.MinBlockTimeMilliseconds == 250,
		"protocol.maxTransactionsPerChunk":      spec.Protocol.MaxTransactionsPerChunk == 20_000,
		"protocol.mandatesPerShard":             spec.Protocol.MandatesPerShard == 64,
		"protocol.epochLengthBlocks":            spec.Protocol.EpochLengthBlocks == 43_200,
		"protocol.congestionControl":            spec.Protocol.CongestionControl == "Enabled",
		"protocol.transferFee":                  ptr.Deref(spec.Protocol.TransferFee, -1) == 1,
		"protocol.leastBalance":                 ptr.Deref(spec.Protocol.LeastBalance, -1) == 10,
		"chunkValidators":                       spec.ChunkValidators == 0,
		"node.features.signatureBatchSize":      ptr.Deref(spec.Node.Features.SignatureBatchSize, -1) == 0,
		"node.features.mempoolCapacity":         spec.Node.Features.MempoolCapacity == 100_000,
		"node.features.mempoolMebibytes":        spec.Node.Features.MempoolMebibytes == 64,
		"node.features.adaptiveChunkSize":       spec.Node.Features.AdaptiveChunkSize == "Enabled",
		"node.features.saveUntrackedChunkParts": spec.Node.Features.SaveUntrackedChunkParts == "Disabled",
		"node.storage.engine":                   spec.Node.Storage.Engine == "Log",
		"node.storage.snapshotIntervalBlocks":   spec.Node.Storage.SnapshotIntervalBlocks == 1000,
		"node.storage.retentionBlocks":          spec.Node.Storage.RetentionBlocks == 20_000,
		"node.log.level":                        spec.Node.Log.Level == "Info",
		"placement.exclusivity":                 spec.Placement.Exclusivity == "OneValidatorPerMachine",
		"update.maxUnavailable":                 spec.Update.MaxUnavailable == nil,
		"update.onTrouble":                      spec.Update.OnTrouble == "Pause",
		"update.deadlineSeconds":                spec.Update.DeadlineSeconds == 600,
		"update.onlyCopies":                     spec.Update.OnlyCopies == "Keep",
		"volume":                                spec.Volume == nil,
		"load":                                  spec.Load == nil,
	} {
		if !isDefault {
			t.Errorf("spec.%s does not have its default in %+v", name, spec)
		}
	}
}

// All of these hold the same one network.
func TestParseAccepts(t *testing.T) {
	t.Parallel()
	cases := map[string][]byte{
		"leading separator":   []byte("---\n" + network),
		"comments around it":  []byte("# first\n---\n" + network + "---\n# last\n"),
		"windows line ends":   []byte(strings.ReplaceAll(network, "\n", "\r\n")),
		"null for a default":  []byte(network + "  protocol: null\n"),
		"null for an option":  []byte(network + "  volume: null\n"),
		"a status of its own": []byte(network + "status:\n  height: 5\n"),
		"json": []byte(`{"apiVersion": "shardyard.dev/v1alpha1", "kind": "ShardNetwork", "metadata": {"name": "net"},
			"spec": {"shards": 2, "producersPerShard": 1, "regions": [{"name": "here", "nodes": 2}],
				"genesis": {"accountsPerShard": 10}}}`),
	}
	for name, content := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			parsed, err := manifest.Parse(content)
			if err != nil {
				t.Fatal(err)
			}
			if parsed.Spec.Shards != 2 || parsed.Spec.Protocol.MinBlockTimeMilliseconds != 250 || parsed.Status.Height != nil {
				t.Errorf("parsed %+v", parsed)
			}
		})
	}
}

func TestParseRefuses(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		content []byte
		want    string
	}{
		"nothing":        {nil, "holds 0 documents, want one ShardNetwork and nothing else"},
		"comments only":  {[]byte("# a comment\n"), "holds 0 documents"},
		"two networks":   {[]byte(network + "---\n" + network), "holds 2 documents"},
		"another object": {[]byte(network + "---\n" + namespace), "holds 2 documents"},
		"another kind": {
			[]byte(namespace),
			`apiVersion: Invalid value: "v1": must be shardyard.dev/v1alpha1; ` +
				`kind: Invalid value: "Namespace": must be ShardNetwork`,
		},
		"other version":     {replaced(t, "v1alpha1", "v1"), `apiVersion: Invalid value: "shardyard.dev/v1": must be`},
		"no kind":           {replaced(t, "kind: ShardNetwork\n", ""), "kind: Required value: must be ShardNetwork"},
		"no object":         {[]byte("- 1\n- 2\n"), "document 1: is not an object"},
		"no yaml":           {[]byte("spec: [1, 2\n"), "document 1: yaml:"},
		"field twice":       {replaced(t, "  shards: 2\n", "  shards: 2\n  shards: 3\n"), `key "shards" already set in map`},
		"malformed labels":  {replaced(t, "  name: net\n", "  name: net\n  labels: 5\n"), "metadata: json: cannot unmarshal number"},
		"malformed label":   {replaced(t, "  name: net\n", "  name: net\n  labels: {a: \"b c\"}\n"), "metadata.labels: Invalid value: \"b c\""},
		"no metadata":       {replaced(t, "metadata:\n  name: net\n", ""), "metadata.name: Required value"},
		"error of no field": {replaced(t, "shards: 2", "shards: two"), "; some validation rules were not checked"},
		"number too large":  {replaced(t, "shards: 2", "shards: 99999999999999999999"), "spec.shards: Invalid value"},
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := manifest.Parse(test.content)
			if err == nil {
				t.Fatal("is accepted")
			}
			if !strings.Contains(err.Error(), test.want) {
				t.Errorf("error is %q, want it to say %q", err, test.want)
			}
			if strings.Contains(err.Error(), "\n") {
				t.Errorf("error has several lines: %q", err)
			}
		})
	}
}

func TestErrorsAreInTheOrderOfFields(t *testing.T) {
	t.Parallel()
	content := strings.NewReplacer(
		"shards: 2", "shards: two", "accountsPerShard: 10", "accountsPerShard: 1", "name: here", "name: HERE",
	).Replace(network)
	for range 20 {
		_, err := manifest.Parse([]byte(content))
		var invalid *manifest.InvalidError
		if !errors.As(err, &invalid) {
			t.Fatalf("error is %v, want an InvalidError", err)
		}
		var fields []string
		for _, err := range invalid.Fields {
			fields = append(fields, err.Field)
		}
		want := "spec.genesis.accountsPerShard spec.regions[0].name spec.shards <nil>"
		if got := strings.Join(fields, " "); got != want {
			t.Fatalf("errors are about %s, want %s", got, want)
		}
	}
}

func TestParseUpdate(t *testing.T) {
	t.Parallel()
	old, err := manifest.Parse([]byte(network))
	if err != nil {
		t.Fatal(err)
	}
	cases := map[string]struct {
		content []byte
		want    string
	}{
		"the same": {[]byte(network), ""},
		"what may": {[]byte(network + "  node: {log: {level: Debug}}\n"), ""},
		"what may not": {
			[]byte(network + "  protocol: {minBlockTimeMilliseconds: 300}\n"),
			"spec.protocol.minBlockTimeMilliseconds: Forbidden: is fixed by genesis and cannot change",
		},
		"another name": {replaced(t, "name: net", "name: ten"), `metadata.name: Invalid value: "ten": field is immutable`},
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := manifest.ParseUpdate(test.content, old)
			switch {
			case test.want == "" && err != nil:
				t.Errorf("is refused: %v", err)
			case test.want != "" && (err == nil || err.Error() != test.want):
				t.Errorf("error is %v, want %q", err, test.want)
			}
		})
	}
}

func TestRead(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "net.yaml")
	write := func(content []byte) {
		t.Helper()
		if err := os.WriteFile(path, content, 0o600); err != nil {
			t.Fatal(err)
		}
	}

	write([]byte(network))
	old, err := manifest.Read(path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := manifest.ReadUpdate(path, old); err != nil {
		t.Error(err)
	}

	write(replaced(t, "accountsPerShard: 10", "accountsPerShard: 11"))
	_, err = manifest.ReadUpdate(path, old)
	if want := path + ": spec.genesis.accountsPerShard: Forbidden"; err == nil || !strings.HasPrefix(err.Error(), want) {
		t.Errorf("error is %v, want it to begin with %q", err, want)
	}
	var invalid *manifest.InvalidError
	if !errors.As(err, &invalid) {
		t.Errorf("error is %v, want an InvalidError", err)
	}

	write([]byte(network + "#" + strings.Repeat(" ", 3<<20)))
	if _, err := manifest.Read(path); err == nil || !strings.Contains(err.Error(), "larger than 3145728 bytes") {
		t.Errorf("error is %v, want it to say that the file is too large", err)
	}

	if _, err := manifest.Read(path + ".gone"); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("error is %v, want it to say that there is no file", err)
	}
}
