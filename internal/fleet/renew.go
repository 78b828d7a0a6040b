// SPDX-License-Identifier: Apache-2.0

package fleet

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	corev1client "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// renewalInterval is how long a renewal that failed waits for the next.
const renewalInterval = time.Minute

// token is the bearer token of a member, which may change under the clients that
// send it.
type token struct {
	value atomic.Pointer[string]

	lock sync.Mutex
	// next is when it is next looked at whether it has to be renewed.
	next time.Time
}

func newToken(value string) *token {
	t := &token{}
	t.value.Store(&value)
	return t
}

// send has requests carry the token as it is then.
func (t *token) send(next http.RoundTripper) http.RoundTripper { return sender{t, next} }

type sender struct {
	token *token
	next  http.RoundTripper
}

func (s sender) RoundTrip(request *http.Request) (*http.Response, error) {
	request = request.Clone(request.Context())
	request.Header.Set("Authorization", "Bearer "+*s.token.value.Load())
	return s.next.RoundTrip(request)
}

// claims are what the token of a service account says of itself.
type claims struct {
	Issued     int64 `json:"iat"`
	Expires    int64 `json:"exp"`
	Kubernetes struct {
		Namespace      string `json:"namespace"`
		ServiceAccount struct {
			Name string `json:"name"`
		} `json:"serviceaccount"`
	} `json:"kubernetes.io"`
}

// readClaims reads them unless the token is of another kind, or never expires.
func readClaims(token string) (claims, bool) {
	var read claims
	parts := strings.Split(token, ".")
	if len(parts) != 3 {
		return read, false
	}
	content, err := base64.RawURLEncoding.DecodeString(parts[1])
	if err != nil || json.Unmarshal(content, &read) != nil {
		return read, false
	}
	return read, read.Expires > read.Issued && read.Kubernetes.Namespace != "" && read.Kubernetes.ServiceAccount.Name != ""
}

// half is when half of the token's time is over.
func (c *claims) half() time.Time { return time.Unix(c.Issued+(c.Expires-c.Issued)/2, 0) }

// renew asks a member for another token of the operator's account once half of
// the time of the present one is over, and puts it into the member's Secret. Until
// the present one expires, a renewal that fails is tried again.
func (f *Fleet) renew(ctx context.Context, name types.NamespacedName, member *Member) {
	present := member.credentials.token
	if f.options.Home == nil || present == nil || !present.lock.TryLock() {
		return
	}
	defer present.lock.Unlock()
	now := f.options.now()
	if now.Before(present.next) {
		return
	}
	read, expires := readClaims(*present.value.Load())
	if !expires || now.Before(read.half()) {
		return
	}
	present.next = now.Add(renewalInterval)
	renewed, err := member.requestToken(ctx, &read)
	if err == nil {
		err = f.keepToken(ctx, name, member, renewed)
	}
	if err != nil {
		f.options.Logger.Error(err, "the token of a member cluster is not renewed", "secret", name, "expires", time.Unix(read.Expires, 0))
		return
	}
	f.options.Logger.Info("renewed the token of a member cluster", "secret", name)
}

// requestToken asks for a token that is valid for as long as the present one was.
func (m *Member) requestToken(ctx context.Context, present *claims) (string, error) {
	core, err := corev1client.NewForConfig(m.credentials.config)
	if err != nil {
		return "", err
	}
	ctx, cancel := context.WithTimeout(ctx, probeTimeout)
	defer cancel()
	seconds := present.Expires - present.Issued
	answer, err := core.ServiceAccounts(present.Kubernetes.Namespace).CreateToken(ctx, present.Kubernetes.ServiceAccount.Name,
		&authenticationv1.TokenRequest{Spec: authenticationv1.TokenRequestSpec{ExpirationSeconds: &seconds}}, metav1.CreateOptions{})
	if err != nil {
		return "", fmt.Errorf("request a token: %w", err)
	}
	return answer.Status.Token, nil
}

// keepToken writes a token into the member's Secret, and then has its clients send
// it. What somebody else wrote into the Secret meanwhile counts.
func (f *Fleet) keepToken(ctx context.Context, name types.NamespacedName, member *Member, renewed string) error {
	secret := &corev1.Secret{}
	if err := f.home.Get(ctx, name, secret); err != nil {
		return fmt.Errorf("read Secret: %w", err)
	}
	if !f.isOf(name, member, secret) {
		return errors.New("its Secret was changed")
	}
	before := secret.DeepCopy()
	config, err := clientcmd.Load(secret.Data[KeyKubeconfig])
	if err != nil {
		return fmt.Errorf("read kubeconfig: %w", err)
	}
	config.AuthInfos[config.Contexts[config.CurrentContext].AuthInfo].Token = renewed
	content, err := clientcmd.Write(*config)
	if err != nil {
		return fmt.Errorf("write kubeconfig: %w", err)
	}
	secret.Data[KeyKubeconfig] = content
	patch := client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{})
	if err := f.options.Home.Patch(ctx, secret, patch); err != nil {
		return fmt.Errorf("write Secret: %w", err)
	}
	f.lock.Lock()
	defer f.lock.Unlock()
	if known := f.members[name]; known != nil && known.Member == member {
		known.content = digest(secret)
	}
	member.credentials.token.value.Store(&renewed)
	return nil
}

// isOf says whether a Secret is the one that a member was made of.
func (f *Fleet) isOf(name types.NamespacedName, member *Member, secret *corev1.Secret) bool {
	f.lock.Lock()
	defer f.lock.Unlock()
	known := f.members[name]
	return known != nil && known.Member == member && known.content == digest(secret)
}
