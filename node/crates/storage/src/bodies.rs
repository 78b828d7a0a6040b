// SPDX-License-Identifier: Apache-2.0
//! Chunk bodies by height and hash.

use crate::{StorageError, error::archive_error};
use bytes::Bytes;
use commonware_codec::RangeCfg;
use commonware_runtime::{Clock, Metrics, Storage, buffer::paged::CacheRef};
use commonware_storage::{
    archive::{Archive as _, Identifier, MultiArchive as _, prunable},
    translator::EightCap,
};
use commonware_utils::{NZU64, NZUsize};
use shardnode_primitives::Digest;
use std::num::{NonZeroU64, NonZeroUsize};

/// Heights in one file: the unit of pruning. Fixed for the life of a
/// partition. Bodies of a full shard are about a megabyte each, and up to so
/// many are kept beyond the retention.
const HEIGHTS_PER_SECTION: NonZeroU64 = NZU64!(64);
const BUFFER: NonZeroUsize = NZUsize!(1 << 20);

/// Where a [`BodyStore`] is.
#[derive(Clone)]
pub struct BodyStoreConfig {
    /// Prefix of its partitions.
    pub partition: String,
    /// Pages shared with other stores.
    pub page_cache: CacheRef,
}

/// The bodies of one shard's chunks.
pub struct BodyStore<E: Storage + Clock + Metrics> {
    partition: String,
    archive: prunable::Archive<EightCap, E, Digest, Bytes>,
}

impl<E: Storage + Clock + Metrics> BodyStore<E> {
    /// Opens the store.
    pub async fn open(context: E, config: BodyStoreConfig) -> Result<Self, StorageError> {
        let BodyStoreConfig {
            partition,
            page_cache,
        } = config;
        let archive = prunable::Archive::init(
            context,
            prunable::Config {
                translator: EightCap,
                metadata_partition: format!("{partition}-metadata"),
                key_partition: format!("{partition}-keys"),
                key_page_cache: page_cache,
                value_partition: format!("{partition}-values"),
                compression: None,
                codec_config: RangeCfg::from(..),
                items_per_section: HEIGHTS_PER_SECTION,
                key_write_buffer: BUFFER,
                value_write_buffer: BUFFER,
                replay_buffer: BUFFER,
            },
        )
        .await
        .map_err(archive_error(&partition))?;
        Ok(Self { partition, archive })
    }

    /// Keeps a body; it is durable when this returns. A body that is kept
    /// already costs nothing.
    pub async fn put(
        mut self,
        height: u64,
        hash: Digest,
        body: Bytes,
    ) -> Result<Self, StorageError> {
        let key = key(height, &hash);
        let kept = self
            .archive
            .has(Identifier::Key(&key))
            .await
            .map_err(archive_error(&self.partition))?;
        if !kept {
            self.archive = self
                .archive
                .put_multi_sync(height, key, &body)
                .await
                .map_err(archive_error(&self.partition))?;
        }
        Ok(self)
    }

    /// The body with this hash of a chunk at `height`.
    pub async fn get(&self, height: u64, hash: &Digest) -> Result<Option<Bytes>, StorageError> {
        self.archive
            .get(Identifier::Key(&key(height, hash)))
            .await
            .map_err(archive_error(&self.partition))
    }

    /// Lets go of bodies below `height`.
    pub async fn prune(mut self, height: u64) -> Result<Self, StorageError> {
        self.archive = self
            .archive
            .prune(height)
            .await
            .map_err(archive_error(&self.partition))?;
        Ok(self)
    }
}

/// What a body is found by. The archive slows down with the number of equal
/// keys, and all empty chunks have the same body, so a key is the body's hash
/// and height in one: the height is folded into the first eight bytes, and the
/// other 24 still tell all bodies apart.
fn key(height: u64, hash: &Digest) -> Digest {
    let mut key = *hash;
    for (byte, height) in key.0.iter_mut().zip(height.to_be_bytes()) {
        *byte ^= height;
    }
    key
}
