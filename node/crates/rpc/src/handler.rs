// SPDX-License-Identifier: Apache-2.0
//! What handlers work with.

use crate::{kept::Kept, large::Large, token::AdminToken};
use std::sync::Arc;

/// What every handler that needs no token works with.
#[derive(Clone, Debug)]
pub(crate) struct Api<N> {
    pub(crate) node: N,
    pub(crate) kept: Arc<KeptAnswers>,
    pub(crate) large: Large,
}

impl<N> Api<N> {
    pub(crate) fn new(node: N) -> Self {
        Self {
            node,
            kept: Arc::default(),
            large: Large::default(),
        }
    }
}

/// The answers that are made once for many.
#[derive(Debug, Default)]
pub(crate) struct KeptAnswers {
    pub(crate) readiness: Kept,
    pub(crate) status: Kept,
    pub(crate) metrics: Kept,
}

/// What every admin handler works with.
#[derive(Clone, Debug)]
pub(crate) struct AdminApi<N> {
    pub(crate) node: N,
    pub(crate) token: Arc<AdminToken>,
}
