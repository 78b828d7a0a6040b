// SPDX-License-Identifier: Apache-2.0

// Package terraform_test checks the Terraform of this repository against the
// real schema of the google provider, without Google Cloud: formatting, every
// module, the tests beside them, mistakes that must not pass, and that what is
// planned is what the operator and the presets expect.
//
// TERRAFORM names the terraform or tofu program, TERRAFORM_PROVIDER the provider
// that serves the schema.
package terraform_test
