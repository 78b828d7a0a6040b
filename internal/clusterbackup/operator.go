// SPDX-License-Identifier: Apache-2.0

package clusterbackup

import (
	"context"
	"fmt"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// How the chart labels the operator, whatever it is called there, and the arguments that it
// gives it.
const (
	labelComponent   = "app.kubernetes.io/component"
	componentName    = "operator"
	nodeImageFlag    = "--node-image="
	operatorImageArg = "--recorder-image="
)

// Images are those that the operator of a cluster has.
type Images struct {
	// Operator is its own.
	Operator string
	// Node is that of networks that name none; empty when that is not known.
	Node string
}

// FindImages asks a cluster for the images of its operator. The pods with them are given
// keys, so where Deployments do not agree, nobody is taken at their word.
func FindImages(ctx context.Context, cluster client.Reader) (Images, error) {
	const help = "name the operator's image with --image"
	deployments := &appsv1.DeploymentList{}
	if err := cluster.List(ctx, deployments, client.MatchingLabels{labelComponent: componentName}); err != nil {
		return Images{}, fmt.Errorf("%s, as nobody can look for the operator: %w", help, err)
	}
	var found []Images
	for i := range deployments.Items {
		if images, ok := imagesOf(&deployments.Items[i]); ok {
			found = append(found, images)
		}
	}
	switch {
	case len(found) == 0:
		return Images{}, fmt.Errorf("%s: no Deployment of the cluster is labelled %s=%s and has it", help, labelComponent, componentName)
	case slices.ContainsFunc(found, func(images Images) bool { return images != found[0] }):
		return Images{}, fmt.Errorf("%s: the cluster has several operators", help)
	default:
		return found[0], nil
	}
}

// imagesOf are those that a Deployment gives its program; false when it is no operator.
func imagesOf(deployment *appsv1.Deployment) (images Images, ok bool) {
	for i := range deployment.Spec.Template.Spec.Containers {
		for _, argument := range deployment.Spec.Template.Spec.Containers[i].Args {
			if image, is := strings.CutPrefix(argument, operatorImageArg); is {
				images.Operator = image
			}
			if image, is := strings.CutPrefix(argument, nodeImageFlag); is {
				images.Node = image
			}
		}
	}
	return images, images.Operator != ""
}
