// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"

	"github.com/hashicorp/terraform-plugin-go/tfprotov5"
)

var errOffline = errors.New("this provider only checks and plans: it reaches no Google Cloud")

// refused answers everything that would need Google Cloud or a state.
type refused struct{}

func (refused) UpgradeResourceIdentity(
	context.Context, *tfprotov5.UpgradeResourceIdentityRequest,
) (*tfprotov5.UpgradeResourceIdentityResponse, error) {
	return nil, errOffline
}

func (refused) ReadResource(
	context.Context, *tfprotov5.ReadResourceRequest,
) (*tfprotov5.ReadResourceResponse, error) {
	return nil, errOffline
}

func (refused) ApplyResourceChange(
	context.Context, *tfprotov5.ApplyResourceChangeRequest,
) (*tfprotov5.ApplyResourceChangeResponse, error) {
	return nil, errOffline
}

func (refused) ImportResourceState(
	context.Context, *tfprotov5.ImportResourceStateRequest,
) (*tfprotov5.ImportResourceStateResponse, error) {
	return nil, errOffline
}

func (refused) MoveResourceState(
	context.Context, *tfprotov5.MoveResourceStateRequest,
) (*tfprotov5.MoveResourceStateResponse, error) {
	return nil, errOffline
}

func (refused) GenerateResourceConfig(
	context.Context, *tfprotov5.GenerateResourceConfigRequest,
) (*tfprotov5.GenerateResourceConfigResponse, error) {
	return nil, errOffline
}

func (refused) ValidateDataSourceConfig(
	context.Context, *tfprotov5.ValidateDataSourceConfigRequest,
) (*tfprotov5.ValidateDataSourceConfigResponse, error) {
	return nil, errOffline
}

func (refused) ReadDataSource(
	context.Context, *tfprotov5.ReadDataSourceRequest,
) (*tfprotov5.ReadDataSourceResponse, error) {
	return nil, errOffline
}

func (refused) CallFunction(
	context.Context, *tfprotov5.CallFunctionRequest,
) (*tfprotov5.CallFunctionResponse, error) {
	return nil, errOffline
}

func (refused) ValidateEphemeralResourceConfig(
	context.Context, *tfprotov5.ValidateEphemeralResourceConfigRequest,
) (*tfprotov5.ValidateEphemeralResourceConfigResponse, error) {
	return nil, errOffline
}

func (refused) OpenEphemeralResource(
	context.Context, *tfprotov5.OpenEphemeralResourceRequest,
) (*tfprotov5.OpenEphemeralResourceResponse, error) {
	return nil, errOffline
}

func (refused) RenewEphemeralResource(
	context.Context, *tfprotov5.RenewEphemeralResourceRequest,
) (*tfprotov5.RenewEphemeralResourceResponse, error) {
	return nil, errOffline
}

func (refused) CloseEphemeralResource(
	context.Context, *tfprotov5.CloseEphemeralResourceRequest,
) (*tfprotov5.CloseEphemeralResourceResponse, error) {
	return nil, errOffline
}
