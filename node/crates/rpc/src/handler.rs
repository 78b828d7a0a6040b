// SPDX-License-Identifier: Apache-2.0
//! What every handler works with.

use crate::token::AdminToken;
use std::sync::Arc;

/// What every handler works with.
#[derive(Clone, Debug)]
pub(crate) struct Api<N> {
    pub(crate) node: N,
    pub(crate) admin_token: Option<Arc<AdminToken>>,
}
