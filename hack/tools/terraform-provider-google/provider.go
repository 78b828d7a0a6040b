// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"

	"github.com/hashicorp/terraform-plugin-go/tfprotov5"

	"github.com/shardyard/shardyard/hack/tools/terraform-provider-google/schema"
)

// provider serves the schema and plans; what it cannot do is in refused.go.
type provider struct {
	refused

	schemas map[string]schema.Schema
	own     *tfprotov5.Schema
	served  map[string]*tfprotov5.Schema
}

var _ tfprotov5.ProviderServer = (*provider)(nil)

func newProvider(document *schema.Document) (*provider, error) {
	own, err := protocolSchema(document.Provider)
	if err != nil {
		return nil, fmt.Errorf("schema of the provider: %w", err)
	}
	served := make(map[string]*tfprotov5.Schema, len(document.Resources))
	for name, resource := range document.Resources {
		if served[name], err = protocolSchema(resource); err != nil {
			return nil, fmt.Errorf("schema of %s: %w", name, err)
		}
	}
	return &provider{schemas: document.Resources, own: own, served: served}, nil
}

func (p *provider) GetMetadata(
	context.Context, *tfprotov5.GetMetadataRequest,
) (*tfprotov5.GetMetadataResponse, error) {
	response := &tfprotov5.GetMetadataResponse{}
	for name := range p.served {
		response.Resources = append(response.Resources, tfprotov5.ResourceMetadata{TypeName: name})
	}
	return response, nil
}

func (p *provider) GetProviderSchema(
	context.Context, *tfprotov5.GetProviderSchemaRequest,
) (*tfprotov5.GetProviderSchemaResponse, error) {
	return &tfprotov5.GetProviderSchemaResponse{Provider: p.own, ResourceSchemas: p.served}, nil
}

func (p *provider) GetResourceIdentitySchemas(
	context.Context, *tfprotov5.GetResourceIdentitySchemasRequest,
) (*tfprotov5.GetResourceIdentitySchemasResponse, error) {
	return &tfprotov5.GetResourceIdentitySchemasResponse{}, nil
}

func (p *provider) GetFunctions(
	context.Context, *tfprotov5.GetFunctionsRequest,
) (*tfprotov5.GetFunctionsResponse, error) {
	return &tfprotov5.GetFunctionsResponse{}, nil
}

func (p *provider) PrepareProviderConfig(
	_ context.Context, request *tfprotov5.PrepareProviderConfigRequest,
) (*tfprotov5.PrepareProviderConfigResponse, error) {
	return &tfprotov5.PrepareProviderConfigResponse{PreparedConfig: request.Config}, nil
}

func (p *provider) ConfigureProvider(
	context.Context, *tfprotov5.ConfigureProviderRequest,
) (*tfprotov5.ConfigureProviderResponse, error) {
	return &tfprotov5.ConfigureProviderResponse{}, nil
}

func (p *provider) StopProvider(
	context.Context, *tfprotov5.StopProviderRequest,
) (*tfprotov5.StopProviderResponse, error) {
	return &tfprotov5.StopProviderResponse{}, nil
}

// ValidateResourceTypeConfig finds nothing: Terraform has checked the
// configuration against the schema before it asks.
func (p *provider) ValidateResourceTypeConfig(
	context.Context, *tfprotov5.ValidateResourceTypeConfigRequest,
) (*tfprotov5.ValidateResourceTypeConfigResponse, error) {
	return &tfprotov5.ValidateResourceTypeConfigResponse{}, nil
}

func (p *provider) PlanResourceChange(
	_ context.Context, request *tfprotov5.PlanResourceChangeRequest,
) (*tfprotov5.PlanResourceChangeResponse, error) {
	kind := p.served[request.TypeName].ValueType()
	proposed, err := request.ProposedNewState.Unmarshal(kind)
	if err != nil {
		return nil, fmt.Errorf("read the proposed %s: %w", request.TypeName, err)
	}
	planned, err := withUnknowns(p.schemas[request.TypeName].Block, proposed)
	if err != nil {
		return nil, fmt.Errorf("plan %s: %w", request.TypeName, err)
	}
	state, err := tfprotov5.NewDynamicValue(kind, planned)
	if err != nil {
		return nil, fmt.Errorf("write the planned %s: %w", request.TypeName, err)
	}
	return &tfprotov5.PlanResourceChangeResponse{PlannedState: &state}, nil
}

// UpgradeResourceState reads back what a test with a mocked provider has
// applied. There is one version of every schema.
func (p *provider) UpgradeResourceState(
	_ context.Context, request *tfprotov5.UpgradeResourceStateRequest,
) (*tfprotov5.UpgradeResourceStateResponse, error) {
	kind := p.served[request.TypeName].ValueType()
	value, err := request.RawState.Unmarshal(kind)
	if err != nil {
		return nil, fmt.Errorf("read the state of %s: %w", request.TypeName, err)
	}
	state, err := tfprotov5.NewDynamicValue(kind, value)
	if err != nil {
		return nil, fmt.Errorf("write the state of %s: %w", request.TypeName, err)
	}
	return &tfprotov5.UpgradeResourceStateResponse{UpgradedState: &state}, nil
}
