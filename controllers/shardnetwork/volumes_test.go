// SPDX-License-Identifier: Apache-2.0

package shardnetwork

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/shardyard/shardyard/api/v1alpha1"
	"github.com/shardyard/shardyard/internal/resources"
)

// disks do for a network what the cluster's controllers and a driver do besides the
// machines: they make the claims of StatefulSets and their volumes, and part
// StatefulSets that are deleted without their pods from these.
type disks struct {
	*machines
	// uids are those of all pods and claims, by name, as they were first seen.
	uids map[string]types.UID
	// missing is the most StatefulSets that were missing at a time.
	missing int
}

// withDisks is a running network of four whose nodes have disks of 1Gi, of a class of
// its own that may let them grow.
func withDisks(t *testing.T, expandable bool) *disks {
	t.Helper()
	m := running(t, func(network *v1alpha1.ShardNetwork) {
		network.Spec.Volume = &v1alpha1.VolumeSpec{StorageClassName: network.Namespace}
		network.Spec.Volume.Size = resource.MustParse("1Gi")
	})
	d := &disks{machines: m, uids: map[string]types.UID{}}
	d.makeClass(m.namespace, expandable)
	d.make()
	d.makeTime()
	check(t, m.network, v1alpha1.ConditionVolumesSized, metav1.ConditionTrue, v1alpha1.ReasonAllVolumesSized)
	return d
}

func (c *cluster) makeClass(name string, expandable bool) {
	c.t.Helper()
	class := &storagev1.StorageClass{
		ObjectMeta: metav1.ObjectMeta{Name: name}, Provisioner: "example.com/disks", AllowVolumeExpansion: ptr.To(expandable),
	}
	if err := c.client.Create(c.t.Context(), class); err != nil {
		c.t.Fatal(err)
	}
}

// makeTime runs the operator as often as it takes to look at all claims again.
func (d *disks) makeTime() {
	d.t.Helper()
	for range int(volumeInterval/pollInterval) + 1 {
		d.step()
	}
}

// step runs the cluster and the operator once.
func (d *disks) step() {
	d.t.Helper()
	d.work()
	d.mustReconcile(d.network)
	d.part()
	d.watch()
}

// make makes the claims that the StatefulSets have none of, and their volumes.
func (d *disks) make() {
	d.t.Helper()
	for _, set := range d.sets() {
		d.makeClaim(&set)
	}
}

func (c *cluster) makeClaim(set *appsv1.StatefulSet) {
	c.t.Helper()
	claim := set.Spec.VolumeClaimTemplates[0].DeepCopy()
	claim.Namespace, claim.Name = set.Namespace, resources.ClaimName(set.Name)
	claim.OwnerReferences = []metav1.OwnerReference{ofSet(set)}
	claim.Spec.VolumeName = claim.Namespace + "-" + claim.Name
	err := c.client.Create(c.t.Context(), claim)
	if apierrors.IsAlreadyExists(err) {
		return
	}
	if err != nil {
		c.t.Fatal(err)
	}
	claim.Status.Phase, claim.Status.Capacity = corev1.ClaimBound, claim.Spec.Resources.Requests
	if err := c.client.Status().Update(c.t.Context(), claim); err != nil {
		c.t.Fatal(err)
	}
}

func ofSet(set *appsv1.StatefulSet) metav1.OwnerReference {
	return *metav1.NewControllerRef(set, appsv1.SchemeGroupVersion.WithKind("StatefulSet"))
}

func (d *disks) sets() []appsv1.StatefulSet {
	d.t.Helper()
	sets := &appsv1.StatefulSetList{}
	if err := d.client.List(d.t.Context(), sets, client.InNamespace(d.namespace)); err != nil {
		d.t.Fatal(err)
	}
	return sets.Items
}

func (d *disks) claims() []corev1.PersistentVolumeClaim {
	d.t.Helper()
	claims := &corev1.PersistentVolumeClaimList{}
	if err := d.client.List(d.t.Context(), claims, client.InNamespace(d.namespace)); err != nil {
		d.t.Fatal(err)
	}
	return claims.Items
}

// part does what the garbage collector does of StatefulSets that are deleted without
// what they own. One that is deleted with it fails the test.
func (d *disks) part() {
	d.t.Helper()
	for _, set := range d.sets() {
		if set.DeletionTimestamp == nil {
			continue
		}
		if !slices.Equal(set.Finalizers, []string{metav1.FinalizerOrphanDependents}) {
			d.t.Fatalf("%s is deleted with the finalizers %v, and so with its pod and its claim", set.Name, set.Finalizers)
		}
		claims := d.claims()
		for i := range claims {
			if claim := &claims[i]; metav1.IsControlledBy(claim, &set) {
				claim.OwnerReferences = nil
				d.update(claim)
			}
		}
		set.Finalizers = nil
		d.update(&set)
	}
}

func (d *disks) update(object client.Object) {
	d.t.Helper()
	if err := d.client.Update(d.t.Context(), object); err != nil {
		d.t.Fatal(err)
	}
}

// watch sees to it that every pod and every claim stays the very one that it was.
func (d *disks) watch() {
	d.t.Helper()
	for _, pod := range d.pods() {
		d.same(&pod)
	}
	for _, claim := range d.claims() {
		d.same(&claim)
	}
	present := 0
	for _, set := range d.sets() {
		if set.DeletionTimestamp == nil {
			present++
		}
	}
	d.missing = max(d.missing, 4-present)
}

func (d *disks) same(object client.Object) {
	d.t.Helper()
	if first, ok := d.uids[object.GetName()]; ok && first != object.GetUID() {
		d.t.Errorf("%s is another one than before", object.GetName())
	}
	d.uids[object.GetName()] = object.GetUID()
}

// resize is the driver: it has volumes have what their claims ask for.
func (d *disks) resize() {
	d.t.Helper()
	claims := d.claims()
	for i := range claims {
		claim := &claims[i]
		claim.Status.Capacity, claim.Status.Conditions = claim.Spec.Resources.Requests, nil
		if err := d.client.Status().Update(d.t.Context(), claim); err != nil {
			d.t.Fatal(err)
		}
	}
}

// awaitStarts is the driver that has grown the volumes, and not the file systems that
// pods use: since after they were made, and before any that comes.
func (d *disks) awaitStarts() {
	d.t.Helper()
	since := time.Time{}
	for _, pod := range d.pods() {
		if made := pod.CreationTimestamp.Add(time.Second); made.After(since) {
			since = made
		}
	}
	select {
	case <-time.After(time.Until(since)):
	case <-d.t.Context().Done():
		d.t.Fatal(d.t.Context().Err())
	}
	claims := d.claims()
	for i := range claims {
		claim := &claims[i]
		claim.Status.Conditions = []corev1.PersistentVolumeClaimCondition{{
			Type: corev1.PersistentVolumeClaimFileSystemResizePending, Status: corev1.ConditionTrue,
			Message: "Waiting for user to (re-)start a pod", LastTransitionTime: metav1.NewTime(since),
		}}
		if err := d.client.Status().Update(d.t.Context(), claim); err != nil {
			d.t.Fatal(err)
		}
	}
}

func (d *disks) grow(size string) {
	d.t.Helper()
	d.change(func(spec *v1alpha1.ShardNetworkSpec) { spec.Volume.Size = resource.MustParse(size) })
}

// checkSizes compares what claims ask for and what StatefulSets make, by name.
func (d *disks) checkSizes(asked, made string) {
	d.t.Helper()
	claims, sets := d.claims(), d.sets()
	for i := range claims {
		if got := claims[i].Spec.Resources.Requests.Storage().String(); got != asked {
			d.t.Errorf("%s asks for %s, want %s", claims[i].Name, got, asked)
		}
	}
	for i := range sets {
		if got := resources.ClaimSize(&sets[i]).String(); got != made || sets[i].DeletionTimestamp != nil {
			d.t.Errorf("%s makes claims of %s, deleted at %v; want %s", sets[i].Name, got, sets[i].DeletionTimestamp, made)
		}
	}
	if len(claims) != 4 || len(sets) != 4 {
		d.t.Errorf("there are %d claims and %d StatefulSets, want 4 of each", len(claims), len(sets))
	}
}

// Disks grow while all nodes run on: every claim asks for more, and every
// StatefulSet is made anew around its pod.
func TestVolumesGrow(t *testing.T) {
	t.Parallel()
	for name, killed := range map[string]bool{"by one operator": false, "by one operator after the other": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := withDisks(t, true)
			d.watch()
			d.grow("2Gi")
			for range 20 {
				d.step()
				if killed {
					d.restart()
				}
			}
			d.checkSizes("2Gi", "2Gi")
			message := check(t, d.network, v1alpha1.ConditionVolumesSized, metav1.ConditionFalse, v1alpha1.ReasonVolumesGrowing)
			if !strings.HasPrefix(message, "0 of 4 volumes have 2Gi; these claims grow: data-quickstart-s0-p0-0, ") {
				t.Errorf("the message is %q", message)
			}
			check(t, d.network, v1alpha1.ConditionNodesReady, metav1.ConditionTrue, v1alpha1.ReasonAllNodesReady)
			if most := map[bool]int{false: 2, true: 1}[killed]; d.missing > most || d.missing == 0 {
				t.Errorf("%d StatefulSets were missing at a time, want at most %d", d.missing, most)
			}

			d.resize()
			d.makeTime()
			message = check(t, d.network, v1alpha1.ConditionVolumesSized, metav1.ConditionTrue, v1alpha1.ReasonAllVolumesSized)
			if message != "all 4 volumes have 2Gi" {
				t.Errorf("the message is %q", message)
			}
			check(t, d.network, v1alpha1.ConditionUpdated, metav1.ConditionTrue, v1alpha1.ReasonUpToDate)
			if len(d.made) != 0 {
				t.Errorf("%v were replaced", d.made)
			}
			for _, set := range d.sets() {
				d.same(&set)
			}
			d.makeTime()
			for _, set := range d.sets() {
				d.same(&set)
			}
		})
	}
}

// Nobody follows a StatefulSet that is let go before it is back, also by a cache that does
// not have yet what became of the last run.
func TestVolumesGrowByACacheThatLags(t *testing.T) {
	t.Parallel()
	d := withDisks(t, true)
	d.grow("2Gi")
	var cached []appsv1.StatefulSet
	d.reconciler.client = interceptor.NewClient(d.reconciler.client.(client.WithWatch), interceptor.Funcs{
		List: func(ctx context.Context, next client.WithWatch, list client.ObjectList, options ...client.ListOption) error {
			if sets, ok := list.(*appsv1.StatefulSetList); ok {
				sets.Items = slices.Clone(cached)
				return nil
			}
			return next.List(ctx, list, options...)
		},
	})
	live := func() (names []string) {
		for _, set := range d.sets() {
			if set.DeletionTimestamp == nil {
				names = append(names, set.Name)
			}
		}
		return names
	}
	before := d.sets()
	for range 30 {
		cached, before = before, d.sets()
		there := live()
		d.mustReconcile(d.network)
		if still := live(); len(there) < 4 {
			for _, name := range there {
				if !slices.Contains(still, name) {
					t.Errorf("%s is let go while only %v are there", name, there)
				}
			}
		}
		d.part()
		d.work()
	}
	d.checkSizes("2Gi", "2Gi")
}

// An operator that dies after any of its writes leaves what the next one goes on from.
func TestVolumesGrowAfterTheOperatorWasKilled(t *testing.T) {
	t.Parallel()
	d := withDisks(t, true)
	d.watch()
	for writes := range int64(14) {
		size := resource.NewQuantity((writes+2)<<30, resource.BinarySI)
		d.grow(size.String())
		d.writes.Store(0)
		d.killAfter.Store(writes + 1)
		for range 20 {
			d.work()
			err := d.reconcile(d.network)
			if errors.Is(err, errKilled) {
				break
			}
			if err != nil {
				t.Fatal(err)
			}
			d.part()
		}
		d.restart()
		for range 16 {
			d.step()
		}
		d.checkSizes(size.String(), size.String())
		d.resize()
	}
	d.makeTime()
	check(t, d.network, v1alpha1.ConditionVolumesSized, metav1.ConditionTrue, v1alpha1.ReasonAllVolumesSized)
	if len(d.made) != 0 {
		t.Errorf("%v were replaced", d.made)
	}
}

// A class that lets no disk grow is named before anything is touched, and the network
// goes on; what else changes is applied all the same.
func TestVolumesOfAClassThatForbidsIt(t *testing.T) {
	t.Parallel()
	d := withDisks(t, false)
	d.watch()
	d.grow("2Gi")
	d.step()
	message := check(t, d.network, v1alpha1.ConditionVolumesSized, metav1.ConditionFalse, v1alpha1.ReasonExpansionNotAllowed)
	for _, words := range []string{
		"0 of 4 volumes have 2Gi; the storage class " + d.namespace + " does not let these claims grow",
		"data-quickstart-s0-p0-0, data-quickstart-s0-p1-0, data-quickstart-s1-p0-0, data-quickstart-s1-p1-0", "goes on as it is",
	} {
		if !strings.Contains(message, words) {
			t.Errorf("the message does not say %q: %s", words, message)
		}
	}
	check(t, d.network, v1alpha1.ConditionNodesReady, metav1.ConditionTrue, v1alpha1.ReasonAllNodesReady)
	d.makeTime()
	d.checkSizes("1Gi", "1Gi")

	d.change(logMore)
	d.until(metav1.ConditionTrue, v1alpha1.ReasonUpToDate)
	d.settle()
	if !slices.Equal(d.made, everyValidator) {
		t.Errorf("%v were replaced, want each once", d.made)
	}
	d.checkSizes("1Gi", "1Gi")

	class := &storagev1.StorageClass{ObjectMeta: metav1.ObjectMeta{Name: d.namespace}}
	d.read(class)
	class.AllowVolumeExpansion = ptr.To(true)
	d.update(class)
	clear(d.uids)
	d.makeTime()
	d.makeTime()
	d.checkSizes("2Gi", "2Gi")
}

// On such a class, a disk that somebody gives up is made anew in the new size.
func TestVolumesThatAreReplaced(t *testing.T) {
	t.Parallel()
	d := withDisks(t, false)
	d.grow("2Gi")
	given := &corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Namespace: d.namespace, Name: "data-quickstart-s1-p0-0"}}
	d.read(given)
	// The cluster keeps a claim that a pod uses.
	if err := d.client.Delete(t.Context(), given); err != nil {
		t.Fatal(err)
	}
	d.makeTime()
	for _, set := range d.sets() {
		want := map[bool]string{false: "1Gi", true: "2Gi"}[set.Name == "quickstart-s1-p0"]
		if got := resources.ClaimSize(&set).String(); got != want {
			t.Errorf("%s makes claims of %s, want %s", set.Name, got, want)
		}
	}
}

// A claim that the cluster does not let grow is named with the cluster's words; the
// others grow.
func TestVolumesOverQuota(t *testing.T) {
	t.Parallel()
	d := withDisks(t, true)
	quota := &corev1.ResourceQuota{
		ObjectMeta: metav1.ObjectMeta{Namespace: d.namespace, Name: "team"},
		Spec:       corev1.ResourceQuotaSpec{Hard: corev1.ResourceList{corev1.ResourceRequestsStorage: resource.MustParse("5Gi")}},
	}
	if err := d.client.Create(t.Context(), quota); err != nil {
		t.Fatal(err)
	}
	quota.Status = corev1.ResourceQuotaStatus{
		Hard: quota.Spec.Hard, Used: corev1.ResourceList{corev1.ResourceRequestsStorage: resource.MustParse("4Gi")},
	}
	if err := d.client.Status().Update(t.Context(), quota); err != nil {
		t.Fatal(err)
	}
	d.awaitQuota()
	d.grow("2Gi")
	d.makeTime()
	message := check(t, d.network, v1alpha1.ConditionVolumesSized, metav1.ConditionFalse, v1alpha1.ReasonExpansionFailed)
	if !strings.Contains(message, "cannot be made to ask for more: persistentvolumeclaims") ||
		!strings.Contains(message, "exceeded quota: team") {
		t.Errorf("the message is %q", message)
	}
	var asked, made []string
	for _, claim := range d.claims() {
		if claim.Spec.Resources.Requests.Storage().String() == "2Gi" {
			asked = append(asked, claim.Name)
		}
	}
	for _, set := range d.sets() {
		if resources.ClaimSize(&set).String() == "2Gi" {
			made = append(made, resources.ClaimName(set.Name))
		}
	}
	if len(asked) != 1 || !slices.Equal(asked, made) {
		t.Errorf("%v ask for more, and the StatefulSets of %v were made anew; want one, of both", asked, made)
	}
	check(t, d.network, v1alpha1.ConditionNodesReady, metav1.ConditionTrue, v1alpha1.ReasonAllNodesReady)
}

// awaitQuota waits until the API server holds to the quota.
func (d *disks) awaitQuota() {
	d.t.Helper()
	err := wait.PollUntilContextTimeout(d.t.Context(), 20*time.Millisecond, time.Minute, true, func(ctx context.Context) (bool, error) {
		claim := &corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Namespace: d.namespace, Name: "large"}}
		claim.Spec.AccessModes = []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce}
		claim.Spec.Resources.Requests = corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("10Gi")}
		err := d.client.Create(ctx, claim, client.DryRunAll)
		return apierrors.IsForbidden(err), ignoreForbidden(err)
	})
	if err != nil {
		d.t.Fatal(err)
	}
}

func ignoreForbidden(err error) error {
	if apierrors.IsForbidden(err) {
		return nil
	}
	return err
}

// What a driver cannot do under a running node is done as the node starts again: once,
// and in the turns of every update.
func TestVolumesWhoseFileSystemsWait(t *testing.T) {
	t.Parallel()
	d := withDisks(t, true)
	d.grow("2Gi")
	d.makeTime()
	d.made = nil
	d.awaitStarts()
	for range 100 {
		d.work()
		// It grows as its pod starts.
		for _, name := range d.made {
			d.started(name)
		}
		d.mustReconcile(d.network)
		if away := 4 - len(d.pods()); away > 1 {
			t.Errorf("%d nodes are away at a time", away)
		}
	}
	if !slices.Equal(d.made, everyValidator) {
		t.Errorf("%v started again, want each once", d.made)
	}
	check(t, d.network, v1alpha1.ConditionVolumesSized, metav1.ConditionTrue, v1alpha1.ReasonAllVolumesSized)
	check(t, d.network, v1alpha1.ConditionUpdated, metav1.ConditionTrue, v1alpha1.ReasonUpToDate)
}

// started has the file system of a validator's volume grow.
func (d *disks) started(validator string) {
	d.t.Helper()
	claim := &corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Namespace: d.namespace, Name: resources.ClaimName(validator)}}
	d.read(claim)
	claim.Status.Capacity, claim.Status.Conditions = claim.Spec.Resources.Requests, nil
	if err := d.client.Status().Update(d.t.Context(), claim); err != nil {
		d.t.Fatal(err)
	}
}

// An operator that may read no storage classes says so, and tries.
func TestVolumesOfAClassThatCannotBeRead(t *testing.T) {
	t.Parallel()
	d := withDisks(t, true)
	direct, err := client.NewWithWatch(apiServer, client.Options{Scheme: scheme})
	if err != nil {
		t.Fatal(err)
	}
	d.reconciler.reader = interceptor.NewClient(direct, interceptor.Funcs{
		Get: func(
			ctx context.Context, next client.WithWatch, key client.ObjectKey, object client.Object, options ...client.GetOption,
		) error {
			if _, ok := object.(*storagev1.StorageClass); ok {
				return apierrors.NewForbidden(storagev1.Resource("storageclasses"), key.Name, errors.New("no right"))
			}
			return next.Get(ctx, key, object, options...)
		},
	})
	d.grow("2Gi")
	d.step()
	message := check(t, d.network, v1alpha1.ConditionVolumesSized, metav1.ConditionFalse, v1alpha1.ReasonVolumesGrowing)
	if words := "(whether the storage class " + d.namespace + " lets it is not known"; !strings.Contains(message, words) {
		t.Errorf("the message does not say %q: %s", words, message)
	}
	d.makeTime()
	d.checkSizes("2Gi", "2Gi")
}

// A network that may not cost more does not grow.
func TestVolumesGrowWithinTheBudget(t *testing.T) {
	t.Parallel()
	d := withDisks(t, true)
	d.change(func(spec *v1alpha1.ShardNetworkSpec) {
		spec.Budget = &v1alpha1.BudgetSpec{USDPerHour: ptr.To[int32](1)}
		spec.Volume.Size = resource.MustParse("2Gi")
	})
	d.makeTime()
	message := check(t, d.network, v1alpha1.ConditionVolumesSized, metav1.ConditionFalse, v1alpha1.ReasonObjectsPending)
	if !strings.Contains(message, "wait for a cost that is within its budget") {
		t.Errorf("the message is %q", message)
	}
	d.checkSizes("1Gi", "1Gi")
}

// Disks in a member cluster grow with the rights that members give.
func TestVolumesGrowInMember(t *testing.T) {
	t.Parallel()
	here := newCluster(t)
	there := here.joinMember()
	network := here.createSpanning(func(network *v1alpha1.ShardNetwork) {
		network.Spec.Volume = &v1alpha1.VolumeSpec{StorageClassName: here.namespace, Size: resource.MustParse("1Gi")}
	})
	here.mustReconcile(network)
	places := map[string]*cluster{"quickstart-s0-p0": here, "quickstart-s0-p1": there.cluster}
	for name, place := range places {
		place.makeClass(here.namespace, true)
		place.makeClaim(place.set(name))
	}
	network.Spec.Volume.Size = resource.MustParse("2Gi")
	if err := here.client.Update(t.Context(), network); err != nil {
		t.Fatal(err)
	}
	here.eventually(network, func() error {
		for name, place := range places {
			claim := &corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Namespace: here.namespace, Name: resources.ClaimName(name)}}
			place.read(claim)
			if size := claim.Spec.Resources.Requests.Storage().String(); size != "2Gi" {
				return errors.New(claim.Name + " asks for " + size)
			}
		}
		return nil
	})
	here.read(network)
	message := check(t, network, v1alpha1.ConditionVolumesSized, metav1.ConditionFalse, v1alpha1.ReasonVolumesGrowing)
	if !strings.HasPrefix(message, "0 of 4 volumes have 2Gi") {
		t.Errorf("the message is %q", message)
	}

	// The StatefulSets of both follow.
	sizes := map[string]string{}
	here.eventually(network, func() error {
		for _, place := range []*cluster{here, there.cluster} {
			place.takeUp(sizes)
		}
		for name := range places {
			if sizes[name] != "2Gi" {
				return fmt.Errorf("%s makes claims of %s", name, sizes[name])
			}
		}
		return nil
	})
}

// takeUp does what the cluster's controllers do of StatefulSets, and notes the sizes
// of the claims that they make.
func (c *cluster) takeUp(sizes map[string]string) {
	c.t.Helper()
	sets := &appsv1.StatefulSetList{}
	if err := c.client.List(c.t.Context(), sets, client.InNamespace(c.namespace)); err != nil {
		c.t.Fatal(err)
	}
	for i := range sets.Items {
		set := &sets.Items[i]
		sizes[set.Name] = resources.ClaimSize(set).String()
		var err error
		switch {
		case set.DeletionTimestamp != nil:
			set.Finalizers = nil
			err = c.client.Update(c.t.Context(), set)
		case !settled(set):
			set.Status = appsv1.StatefulSetStatus{ObservedGeneration: set.Generation, UpdateRevision: "a"}
			err = c.client.Status().Update(c.t.Context(), set)
		}
		if err != nil {
			c.t.Fatal(err)
		}
	}
}

// set is a StatefulSet as it is.
func (c *cluster) set(name string) *appsv1.StatefulSet {
	c.t.Helper()
	set := &appsv1.StatefulSet{ObjectMeta: metav1.ObjectMeta{Namespace: c.namespace, Name: name}}
	c.read(set)
	return set
}
