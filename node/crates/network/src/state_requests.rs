// SPDX-License-Identifier: Apache-2.0
//! What nodes ask each other about states, on
//! [`STATE_REQUESTS`](crate::channels::STATE_REQUESTS).
//!
//! ```text
//! 0x00 ‖ shard ‖ 0 (u64) ‖ slot (u32) ‖ 0 (32)          the newest snapshot of the one in this slot
//! 0x01 ‖ shard ‖ height (u64) ‖ index (u32) ‖ root      a page of the state with this root
//!
//! executed height (8) ‖ height of the block that states it (8)      an offer
//! ```
//!
//! The first is answered with an [`Offer`], the second with a
//! [`shardnode_state::Page`].
//!
//! A shard's producers have the slots that genesis gives them, the network's
//! archives those [after them](crate::Identity::keepers).

use bytes::BufMut;
use commonware_codec::{Buf, Error, FixedSize, Read, ReadExt as _, Write};
use commonware_utils::Span;
use shardnode_primitives::{Digest, ShardId, hash::ZERO};
use std::fmt;

/// What is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Key {
    /// What a producer or an archive has: only it can say.
    Newest {
        /// The shard.
        shard: ShardId,
        /// Its slot.
        slot: u16,
    },
    /// A page of a state.
    Page {
        /// The shard.
        shard: ShardId,
        /// The executed height that the state is of.
        height: u64,
        /// The state's root.
        root: Digest,
        /// The page.
        index: u32,
    },
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Newest { shard, slot } => {
                write!(f, "newest snapshot of shard {shard} in slot {slot}")
            }
            Self::Page {
                shard,
                height,
                index,
                ..
            } => write!(f, "page {index} of shard {shard} at {height}"),
        }
    }
}

impl Write for Key {
    fn write(&self, buf: &mut impl BufMut) {
        match self {
            Self::Newest { shard, slot } => {
                0u8.write(buf);
                shard.write(buf);
                0u64.write(buf);
                u32::from(*slot).write(buf);
                ZERO.write(buf);
            }
            Self::Page {
                shard,
                height,
                root,
                index,
            } => {
                1u8.write(buf);
                shard.write(buf);
                height.write(buf);
                index.write(buf);
                root.write(buf);
            }
        }
    }
}

impl FixedSize for Key {
    const SIZE: usize = 1 + ShardId::SIZE + 8 + 4 + Digest::SIZE;
}

impl Read for Key {
    type Cfg = ();
    fn read_cfg(buf: &mut impl Buf, (): &()) -> Result<Self, Error> {
        let kind = u8::read(buf)?;
        let shard = ShardId::read(buf)?;
        let height = u64::read(buf)?;
        let number = u32::read(buf)?;
        let root = Digest::read(buf)?;
        match kind {
            0 => match u16::try_from(number) {
                Ok(slot) if height == 0 && root == ZERO => Ok(Self::Newest { shard, slot }),
                _ => Err(Error::Invalid(
                    "Key",
                    "whoever is asked has a slot and nothing more",
                )),
            },
            1 => Ok(Self::Page {
                shard,
                height,
                root,
                index: number,
            }),
            kind => Err(Error::InvalidEnum(kind)),
        }
    }
}

impl Span for Key {}

/// The newest snapshot that somebody has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Offer {
    /// The executed height that it is of.
    pub height: u64,
    /// The block whose header of the shard states it.
    pub block: u64,
}

impl Write for Offer {
    fn write(&self, buf: &mut impl BufMut) {
        self.height.write(buf);
        self.block.write(buf);
    }
}

impl FixedSize for Offer {
    const SIZE: usize = 2 * 8;
}

impl Read for Offer {
    type Cfg = ();
    fn read_cfg(buf: &mut impl Buf, (): &()) -> Result<Self, Error> {
        Ok(Self {
            height: u64::read(buf)?,
            block: u64::read(buf)?,
        })
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;
    use commonware_codec::{DecodeExt as _, Encode as _};

    const NEWEST: Key = Key::Newest {
        shard: ShardId(7),
        slot: 3,
    };
    const PAGE: Key = Key::Page {
        shard: ShardId(7),
        height: 0x0102_0304,
        root: Digest([0xab; 32]),
        index: 258,
    };
    const OFFER: Offer = Offer {
        height: 1_000,
        block: 1_001,
    };

    fn hex(bytes: &[u8]) -> String {
        bytes.iter().map(|byte| format!("{byte:02x}")).collect()
    }

    /// An encoding that changes breaks every network that runs.
    #[test]
    fn encodings_are_the_golden_ones() {
        let newest = format!(
            "00{}{}{}{}",
            "0007",
            "00".repeat(8),
            "00000003",
            "00".repeat(32)
        );
        let page = format!(
            "01{}{}{}{}",
            "0007",
            "0000000001020304",
            "00000102",
            "ab".repeat(32)
        );
        let offer = "00000000000003e8".to_owned() + "00000000000003e9";
        assert_eq!(hex(&NEWEST.encode()), newest);
        assert_eq!(hex(&PAGE.encode()), page);
        assert_eq!(hex(&OFFER.encode()), offer);
    }

    #[test]
    fn keys_come_back_and_nothing_else_does() {
        for key in [NEWEST, PAGE] {
            let bytes = key.encode();
            assert_eq!(Key::decode(bytes.clone()).unwrap(), key);
            for length in 0..bytes.len() {
                assert!(Key::decode(bytes.slice(..length)).is_err(), "{length}");
            }
        }
        assert_eq!(Offer::decode(OFFER.encode()).unwrap(), OFFER);
        // Two encodings of one question would be two questions.
        for at in [3, 11, 12, 20, 46] {
            let mut bytes = NEWEST.encode().to_vec();
            bytes[at] = 1;
            assert!(Key::decode(bytes).is_err(), "byte {at}");
        }
        let mut unknown = PAGE.encode().to_vec();
        unknown[0] = 2;
        assert!(Key::decode(unknown).is_err());
    }
}
