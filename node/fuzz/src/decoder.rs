// SPDX-License-Identifier: Apache-2.0
//! One decoder and what is done with what it decodes.

use crate::Budget;
use bytes::Bytes;
use commonware_codec::Codec;
use std::{any::type_name, fmt};

/// Decodes bytes, and says whether they were good.
type Run = dyn Fn(&[u8]) -> bool + Send + Sync;

/// Something that decodes foreign bytes.
pub struct Decoder {
    /// The type that it decodes, or what it reads.
    pub name: &'static str,
    run: Box<Run>,
}

impl Decoder {
    /// A decoder without a type of its own: `run` says whether the bytes were
    /// good.
    pub fn new(name: &'static str, run: impl Fn(&[u8]) -> bool + Send + Sync + 'static) -> Self {
        Self {
            name,
            run: Box::new(run),
        }
    }

    /// The codec of `T`, under the bounds `cfg`. `then` is what the node does
    /// next with a value that somebody sent.
    pub fn of<T: Codec>(cfg: T::Cfg, then: impl Fn(T) + Send + Sync + 'static) -> Self
    where
        T::Cfg: Send + Sync,
    {
        let name = type_name::<T>();
        Self::new(name, move |bytes| {
            let length = bytes.len();
            let input = Bytes::copy_from_slice(bytes);
            let decoded = Budget::BINARY.within(name, length, || T::decode_cfg(input, &cfg));
            let Ok(value) = decoded else { return false };
            assert_eq!(
                value.encode(),
                bytes,
                "{name}: what was decoded encodes to other bytes"
            );
            Budget::NEXT.within(name, length, || then(value));
            true
        })
    }

    /// Decodes, and says whether the bytes were good.
    #[must_use]
    pub fn run(&self, bytes: &[u8]) -> bool {
        (self.run)(bytes)
    }
}

impl fmt::Debug for Decoder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}
