// SPDX-License-Identifier: Apache-2.0

package keys_test

import (
	"encoding/hex"
	"fmt"
	"strings"
	"testing"

	"github.com/shardyard/shardyard/internal/keys"
)

// The first test vector of RFC 8032, section 7.1: what the node makes of a key
// file is what this package says.
const (
	rfcSeed   = "9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60"
	rfcPublic = "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a"
)

func TestParse(t *testing.T) {
	t.Parallel()
	for name, content := range map[string]string{
		"bare":         rfcSeed,
		"with newline": rfcSeed + "\n",
		"upper case":   strings.ToUpper(rfcSeed),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			key, err := keys.Parse([]byte(content))
			if err != nil {
				t.Fatal(err)
			}
			if got := hex.EncodeToString(key.Public()); got != rfcPublic {
				t.Errorf("public key is %s, want %s", got, rfcPublic)
			}
			if got := string(key.File()); got != rfcSeed {
				t.Errorf("key file is %q, want %q", got, rfcSeed)
			}
		})
	}
}

func TestParseRefuses(t *testing.T) {
	t.Parallel()
	for name, content := range map[string]string{
		"nothing":    "",
		"too short":  rfcSeed[2:],
		"too long":   rfcSeed + "00",
		"not hex":    "z" + rfcSeed[1:],
		"half digit": rfcSeed[1:],
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := keys.Parse([]byte(content))
			if err == nil {
				t.Fatal("parsed, want an error")
			}
			if content != "" && strings.Contains(err.Error(), content) {
				t.Errorf("error repeats the secret: %v", err)
			}
		})
	}
}

func TestGeneratedKeysSurviveTheirFile(t *testing.T) {
	t.Parallel()
	first, err := keys.Generate()
	if err != nil {
		t.Fatal(err)
	}
	second, err := keys.Generate()
	if err != nil {
		t.Fatal(err)
	}
	if first.Public().Equal(second.Public()) {
		t.Error("two generated keys are the same")
	}
	read, err := keys.Parse(first.File())
	if err != nil {
		t.Fatal(err)
	}
	if !read.Public().Equal(first.Public()) {
		t.Error("a key read back from its file is another key")
	}
}

func TestPrintedKeysHideTheSecret(t *testing.T) {
	t.Parallel()
	key, err := keys.Parse([]byte(rfcSeed))
	if err != nil {
		t.Fatal(err)
	}
	for _, format := range []string{"%v", "%+v", "%#v", "%s"} {
		if printed := fmt.Sprintf(format, key); printed != "key of "+rfcPublic {
			t.Errorf("%s prints %q", format, printed)
		}
	}
}

func TestAdminTokensDiffer(t *testing.T) {
	t.Parallel()
	first, second := keys.NewAdminToken(), keys.NewAdminToken()
	if len(first) != 64 || first == second {
		t.Errorf("tokens are %q and %q, want 64 different characters each", first, second)
	}
}
