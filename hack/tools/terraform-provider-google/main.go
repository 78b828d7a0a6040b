// SPDX-License-Identifier: Apache-2.0

// Command terraform-provider-google stands in for the google provider where
// Terraform is tested without a registry and without a Google Cloud project. It
// serves the schema of the real provider, so that Terraform itself checks every
// argument, block and type of a configuration, and plans by echoing the
// configuration, with unknown values for what Google would decide. It applies,
// reads and imports nothing.
package main

import (
	"fmt"
	"os"

	"github.com/hashicorp/terraform-plugin-go/tfprotov5"
	"github.com/hashicorp/terraform-plugin-go/tfprotov5/tf5server"

	"github.com/shardyard/shardyard/hack/tools/terraform-provider-google/schema"
)

func main() {
	if err := serve(); err != nil {
		fmt.Fprintln(os.Stderr, "terraform-provider-google:", err)
		os.Exit(1)
	}
}

func serve() error {
	document, err := schema.Google()
	if err != nil {
		return err
	}
	provider, err := newProvider(document)
	if err != nil {
		return err
	}
	return tf5server.Serve("registry.terraform.io/hashicorp/google",
		func() tfprotov5.ProviderServer { return provider })
}
