// SPDX-License-Identifier: Apache-2.0

package resources

import (
	"encoding/json"
	"fmt"
	"net"
	"path"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/shardyard/shardyard/api/v1alpha1"
	"github.com/shardyard/shardyard/internal/nodeconfig"
	"github.com/shardyard/shardyard/internal/topology"
)

const (
	// LabelBackupRun is the run of a backup or restore that an object belongs to. Its pods
	// do not have LabelNetwork: nothing that is about a network's nodes is about them.
	LabelBackupRun = "shardyard.dev/backup-run"
	// NameKeeper is the name, as in LabelName, of the pods of these runs.
	NameKeeper = "backup-keeper"
	// AnnotationRestore says of a claim which backup is put back on its disk, and how far
	// that is, and of a genesis document that disks of its network are not all full yet,
	// and whose.
	AnnotationRestore = "shardyard.dev/restore"

	// ContentsPort is where a pod shows the files of the network that a backup has, to
	// nobody but itself.
	ContentsPort = 8080

	// BackupFolder is where these pods have the files of a network, by the paths that they
	// have in a backup.
	BackupFolder = "/var/lib/shardyard-backup"
	// BackupHead is a file of the folder that says what the backup is of.
	BackupHead = "head.json"

	// contentsDeadlineSeconds is how long that pod has keys in its memory at most, also of
	// somebody whose command was killed: it copies no disk.
	contentsDeadlineSeconds = 1800

	volumeBackup = "backup"
	manifestFile = "manifest.yaml"
	nodesFolder  = "nodes"
)

// BackupRun is what the pods of one backup or restore have in common.
type BackupRun struct {
	Namespace string
	// ID tells the run from all others, in names and labels.
	ID string
	// Image is the operator's.
	Image string
	// URL is the place in a bucket, SecretName the Secret that has the credentials of it,
	// and ServiceAccountName who the pods are.
	URL, SecretName, ServiceAccountName string
	// DeadlineSeconds is how long a pod may run.
	DeadlineSeconds int64
	// Root is the policy of the run, with which the cluster deletes the pods.
	Root metav1.OwnerReference
}

// BackupLockName is the ConfigMap by which one backup or restore of a network at a time
// goes on.
func BackupLockName(network string) string { return network + "-backup" }

// NewPolicy closes the pods of a run to everybody, and lets them reach the bucket.
func (r *BackupRun) NewPolicy() *networkingv1.NetworkPolicy {
	meta := r.meta()
	meta.Name = "shardyard-backup-" + r.ID
	meta.OwnerReferences = nil
	return &networkingv1.NetworkPolicy{
		TypeMeta:   metav1.TypeMeta{APIVersion: "networking.k8s.io/v1", Kind: "NetworkPolicy"},
		ObjectMeta: meta,
		Spec: networkingv1.NetworkPolicySpec{
			PodSelector: metav1.LabelSelector{MatchLabels: map[string]string{LabelName: NameKeeper, LabelBackupRun: r.ID}},
			PolicyTypes: []networkingv1.PolicyType{networkingv1.PolicyTypeIngress, networkingv1.PolicyTypeEgress},
			Egress:      bucketEgress(r.URL, r.SecretName),
		},
	}
}

// RootOf is the owner of all that is of a run.
func RootOf(policy *networkingv1.NetworkPolicy) metav1.OwnerReference {
	return metav1.OwnerReference{
		APIVersion: "networking.k8s.io/v1", Kind: "NetworkPolicy", Name: policy.Name, UID: policy.UID, BlockOwnerDeletion: ptr.To(true),
	}
}

// NewLock is the ConfigMap that lets no other run begin for a network, with the files that
// the pods of a backup read.
func (r *BackupRun) NewLock(network string, files map[string]string) *corev1.ConfigMap {
	meta := r.meta()
	meta.Name = BackupLockName(network)
	meta.Labels[LabelInstance] = network
	return &corev1.ConfigMap{
		TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "ConfigMap"},
		ObjectMeta: meta,
		Immutable:  ptr.To(true),
		Data:       files,
	}
}

// BackupFiles are the files of a backup that no object of its network has: the manifest
// that the network is run with, and what the backup is of.
func BackupFiles(manifest []byte, head any) (map[string]string, error) {
	content, err := json.Marshal(head)
	if err != nil {
		return nil, fmt.Errorf("encode what the backup is of: %w", err)
	}
	return map[string]string{manifestFile: string(manifest), BackupHead: string(content)}, nil
}

// NewNetworkKeeper is the pod that begins a backup with the network's own files: manifest,
// genesis document, and the secrets of all nodes.
func (r *BackupRun) NewNetworkKeeper(network *v1alpha1.ShardNetwork, plan *topology.Plan) *corev1.Pod {
	pod := r.pod("network", "keep-network", "--folder="+BackupFolder)
	r.mountHead(pod, network.Name, manifestFile)
	projected := pod.Spec.Volumes[0].Projected
	projected.Sources = append(projected.Sources, corev1.VolumeProjection{ConfigMap: &corev1.ConfigMapProjection{
		LocalObjectReference: corev1.LocalObjectReference{Name: GenesisName(network.Name)},
	}})
	secret := func(name, file, node string) corev1.VolumeProjection {
		return corev1.VolumeProjection{Secret: &corev1.SecretProjection{
			LocalObjectReference: corev1.LocalObjectReference{Name: name},
			Items:                []corev1.KeyToPath{{Key: file, Path: path.Join(nodesFolder, node, file)}},
		}}
	}
	for _, node := range plan.Nodes {
		projected.Sources = append(projected.Sources,
			secret(KeyName(node.Name), nodeconfig.DefaultFiles.Key, node.Name),
			secret(AdminTokenName(network.Name), nodeconfig.DefaultFiles.AdminToken, node.Name))
	}
	r.complete(pod, network)
	return pod
}

// NewNodeKeeper is the pod that adds to a backup what a node has on its disk, which it
// only reads.
func (r *BackupRun) NewNodeKeeper(network *v1alpha1.ShardNetwork, node topology.Validator) *corev1.Pod {
	pod := r.pod(node.Name, "keep-node", "--folder="+BackupFolder, "--node="+node.Name)
	mountDisk(pod, node, path.Join(BackupFolder, nodesFolder, node.Name), true)
	r.besideNode(pod, network, node)
	return pod
}

// NewSealer is the pod that makes a backup of what others kept.
func (r *BackupRun) NewSealer(network *v1alpha1.ShardNetwork) *corev1.Pod {
	pod := r.pod("seal", "seal-backup", "--folder="+BackupFolder)
	r.mountHead(pod, network.Name, BackupHead)
	r.complete(pod, network)
	return pod
}

// NewClearer is the pod that removes what there is of a backup that failed.
func (r *BackupRun) NewClearer(network *v1alpha1.ShardNetwork) *corev1.Pod {
	pod := r.pod("clear", "clear-backup")
	r.complete(pod, network)
	return pod
}

// NewContentsServer is the pod that shows the network's own files to whoever forwards a
// port to it and knows the password of a hash.
func (r *BackupRun) NewContentsServer(passwordHash string) *corev1.Pod {
	pod := r.pod("contents", "serve-backup",
		"--listen="+net.JoinHostPort("127.0.0.1", strconv.Itoa(ContentsPort)), "--password-sha256="+passwordHash)
	pod.Spec.ActiveDeadlineSeconds = ptr.To(min(r.DeadlineSeconds, contentsDeadlineSeconds))
	return pod
}

// NewFormatsProbe is the pod that says which formats the nodes of an image read.
func (r *BackupRun) NewFormatsProbe(network *v1alpha1.ShardNetwork, image string) *corev1.Pod {
	pod := NewImageProbe(network, image)
	meta := r.meta()
	meta.GenerateName = network.Name + "-formats-"
	pod.ObjectMeta = meta
	pod.Spec.ActiveDeadlineSeconds = ptr.To(r.DeadlineSeconds)
	return pod
}

// NewNodeRestorer is the pod that puts the data of a node onto its disk. Where disks stay
// on a machine, it decides on which: busy counts the nodes of the network that have theirs
// on each.
func (r *BackupRun) NewNodeRestorer(network *v1alpha1.ShardNetwork, node topology.Validator, busy map[string]int) *corev1.Pod {
	pod := r.pod(node.Name, "restore-node", "--folder="+BackupFolder, "--node="+node.Name)
	mountDisk(pod, node, BackupFolder, false)
	r.besideNode(pod, network, node)
	pod.Spec.Affinity = spreadDisks(network, busy)
	return pod
}

// RestoredClaim is the claim of a node's disk, as its StatefulSet would make it; nil when
// the node has none.
func RestoredClaim(network *v1alpha1.ShardNetwork, node topology.Validator) *corev1.PersistentVolumeClaim {
	templates := volumeClaims(network, node.Role, ValidatorLabels(network.Name, node))
	if len(templates) == 0 {
		return nil
	}
	claim := &templates[0]
	claim.TypeMeta = metav1.TypeMeta{APIVersion: "v1", Kind: "PersistentVolumeClaim"}
	claim.Namespace, claim.Name = network.Namespace, ClaimName(node.Name)
	return claim
}

// RestoredGenesis is the ConfigMap of a genesis document that was kept, byte for byte. It
// has no owner until its network takes it over, and neither have the Secrets.
func RestoredGenesis(network *v1alpha1.ShardNetwork, document []byte) *corev1.ConfigMap {
	return &corev1.ConfigMap{
		TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "ConfigMap"},
		ObjectMeta: kept(network, GenesisName(network.Name)),
		Immutable:  ptr.To(true),
		Data:       map[string]string{nodeconfig.DefaultFiles.Genesis: string(document)},
	}
}

// RestoredKey is the Secret of the key of a node that was kept.
func RestoredKey(network *v1alpha1.ShardNetwork, node topology.Validator, keyFile []byte) *corev1.Secret {
	secret := NewKey(network, node, keyFile)
	secret.OwnerReferences = nil
	return secret
}

// RestoredAdminToken is the Secret of an admin token that was kept.
func RestoredAdminToken(network *v1alpha1.ShardNetwork, token string) *corev1.Secret {
	secret := NewAdminToken(network, token)
	secret.OwnerReferences = nil
	return secret
}

// meta is the metadata of an object of the run.
func (r *BackupRun) meta() metav1.ObjectMeta {
	return metav1.ObjectMeta{
		Namespace:       r.Namespace,
		Labels:          map[string]string{LabelName: NameKeeper, LabelManagedBy: ManagedBy, LabelBackupRun: r.ID},
		OwnerReferences: []metav1.OwnerReference{r.Root},
	}
}

// pod is one of the run. It has the credentials of the bucket, and no rights in the
// cluster.
func (r *BackupRun) pod(name string, arguments ...string) *corev1.Pod {
	meta := r.meta()
	meta.GenerateName = "backup-" + name + "-"
	pod := &corev1.Pod{
		TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "Pod"},
		ObjectMeta: meta,
		Spec: corev1.PodSpec{
			Containers: []corev1.Container{{
				Name:  NameKeeper,
				Image: r.Image,
				Args:  verbatim(append(arguments, "--url="+r.URL)),
				Resources: corev1.ResourceRequirements{
					Requests: corev1.ResourceList{
						corev1.ResourceCPU: resource.MustParse("50m"), corev1.ResourceMemory: resource.MustParse("128Mi"),
					},
					Limits: corev1.ResourceList{corev1.ResourceMemory: resource.MustParse("1Gi")},
				},
				SecurityContext:          restrictedContainer(),
				TerminationMessagePolicy: corev1.TerminationMessageFallbackToLogsOnError,
			}},
			ServiceAccountName:           r.ServiceAccountName,
			RestartPolicy:                corev1.RestartPolicyNever,
			ActiveDeadlineSeconds:        ptr.To(r.DeadlineSeconds),
			SecurityContext:              restrictedPod(),
			AutomountServiceAccountToken: ptr.To(false),
			EnableServiceLinks:           ptr.To(false),
		},
	}
	// A large disk's files change hands once, not with every pod.
	pod.Spec.SecurityContext.FSGroupChangePolicy = ptr.To(corev1.FSGroupChangeOnRootMismatch)
	addCredentials(pod, r.URL, r.SecretName)
	return pod
}

// mountHead mounts a file of the lock.
func (r *BackupRun) mountHead(pod *corev1.Pod, network, file string) {
	mount := corev1.VolumeMount{Name: volumeBackup, MountPath: BackupFolder, ReadOnly: true}
	volume := corev1.Volume{Name: volumeBackup, VolumeSource: corev1.VolumeSource{Projected: &corev1.ProjectedVolumeSource{
		DefaultMode: ptr.To[int32](0o440),
		Sources: []corev1.VolumeProjection{{ConfigMap: &corev1.ConfigMapProjection{
			LocalObjectReference: corev1.LocalObjectReference{Name: BackupLockName(network)},
			Items:                []corev1.KeyToPath{{Key: file, Path: file}},
		}}},
	}}}
	container := &pod.Spec.Containers[0]
	container.VolumeMounts = append([]corev1.VolumeMount{mount}, container.VolumeMounts...)
	pod.Spec.Volumes = append([]corev1.Volume{volume}, pod.Spec.Volumes...)
}

// mountDisk mounts the disk of a node.
func mountDisk(pod *corev1.Pod, node topology.Validator, at string, readOnly bool) {
	container := &pod.Spec.Containers[0]
	container.VolumeMounts = append(container.VolumeMounts, corev1.VolumeMount{Name: volumeData, MountPath: at, ReadOnly: readOnly})
	pod.Spec.Volumes = append(pod.Spec.Volumes, corev1.Volume{
		Name: volumeData,
		VolumeSource: corev1.VolumeSource{PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{
			ClaimName: ClaimName(node.Name),
		}},
	})
}

// complete gives a pod that may run anywhere what the network says of images and machines.
func (r *BackupRun) complete(pod *corev1.Pod, network *v1alpha1.ShardNetwork) {
	pod.Spec.ImagePullSecrets = pullSecrets(network)
	pod.Spec.Tolerations = Tolerations(templateSpec(&network.Spec).Tolerations)
}

// besideNode has a pod run where its node does: not every machine can have every disk.
func (r *BackupRun) besideNode(pod *corev1.Pod, network *v1alpha1.ShardNetwork, node topology.Validator) {
	selector := nodeSelector(&network.Spec, node)
	var machineType []string
	if wanted, ok := selector[LabelMachineType]; ok {
		machineType = append(machineType, wanted)
	}
	pod.Spec.ImagePullSecrets = pullSecrets(network)
	pod.Spec.NodeSelector = under(templateSpec(&network.Spec).NodeSelector, selector)
	pod.Spec.Tolerations = tolerations(&network.Spec, machineType...)
}
