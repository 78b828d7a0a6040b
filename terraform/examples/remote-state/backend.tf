# SPDX-License-Identifier: Apache-2.0

# The state in a bucket instead of this folder, where whoever runs Terraform finds it, one at a time. Copied beside
# main.tf, it takes the bucket's name:
#
#   terraform init -backend-config="bucket=BUCKET"
terraform {
  backend "gcs" {
    # Each installation of a bucket has a prefix of its own.
    prefix = "shardyard"
  }
}
