// SPDX-License-Identifier: Apache-2.0
//! What handlers work with.

use crate::token::AdminToken;
use std::sync::Arc;

/// What every handler that needs no token works with.
#[derive(Clone, Debug)]
pub(crate) struct Api<N> {
    pub(crate) node: N,
}

/// What every admin handler works with.
#[derive(Clone, Debug)]
pub(crate) struct AdminApi<N> {
    pub(crate) node: N,
    pub(crate) token: Arc<AdminToken>,
}
