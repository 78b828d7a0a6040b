// SPDX-License-Identifier: Apache-2.0

package standin

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// mount reads the files of a pod's projected volumes as a kubelet does. When an
// object is not there yet, its error says so: a kubelet waits for it as well.
func mount(ctx context.Context, reader client.Reader, pod *corev1.Pod) (files, error) {
	mounted := files{}
	for i := range pod.Spec.Volumes {
		projected := pod.Spec.Volumes[i].Projected
		if projected == nil {
			continue
		}
		for j := range projected.Sources {
			if err := mounted.add(ctx, reader, pod.Namespace, &projected.Sources[j]); err != nil {
				return nil, fmt.Errorf("mount volume %s: %w", pod.Spec.Volumes[i].Name, err)
			}
		}
	}
	return mounted, nil
}

func (f files) add(ctx context.Context, reader client.Reader, namespace string, source *corev1.VolumeProjection) error {
	if source.ConfigMap != nil {
		config := &corev1.ConfigMap{}
		if err := reader.Get(ctx, types.NamespacedName{Namespace: namespace, Name: source.ConfigMap.Name}, config); err != nil {
			return err
		}
		if len(source.ConfigMap.Items) == 0 {
			for name, content := range config.Data {
				f[name] = []byte(content)
			}
		}
		for _, item := range source.ConfigMap.Items {
			content, ok := config.Data[item.Key]
			if !ok {
				return fmt.Errorf("ConfigMap %s has no key %s", config.Name, item.Key)
			}
			f[item.Path] = []byte(content)
		}
	}
	if source.Secret != nil {
		secret := &corev1.Secret{}
		if err := reader.Get(ctx, types.NamespacedName{Namespace: namespace, Name: source.Secret.Name}, secret); err != nil {
			return err
		}
		for name, content := range secret.Data {
			f[name] = content
		}
	}
	return nil
}
