// SPDX-License-Identifier: Apache-2.0
//! The chain's own randomness, and the epochs that use it.
//!
//! The leader of every block *reveals* one number that nobody, the leader
//! included, can choose: the output of a verifiable random function of the
//! leader's key over the randomness before (RFC 9381,
//! ECVRF-EDWARDS25519-SHA512-TAI, with the ed25519 key that the leader signs
//! with). It is mixed into the chain's randomness:
//!
//! ```text
//! alpha  = 0x25 ‖ parent's mix ‖ height
//! mix    = blake3(0x25 ‖ parent's mix ‖ height ‖ output)
//! ```
//!
//! An epoch is `epochLength` heights; height `h` is in epoch `h / epochLength`.
//! Its seed is the mix at the end of the epoch before the last, so committees
//! are known one epoch ahead and are fixed before anybody can prepare for
//! them. The seeds of epochs 0 and 1 follow from genesis alone. A block carries
//! what its child needs, so that a block and its parent are enough to know the
//! committees:
//!
//! ```text
//! at the first height of an epoch   seed = parent's next,   next = parent's mix
//! at every other height             seed = parent's seed,   next = parent's next
//! ```
//!
//! Nobody can choose what is revealed. Byzantine leaders can choose whose reveals
//! an epoch ends with: they give turns of their own away, and keep blocks of others
//! from being final. The crate `mandates` counts how many seeds that leaves them to
//! choose from.
//!
//! The encoding is `mix ‖ seed ‖ next ‖ proof`; the proof has 80 bytes.

use crate::{
    hash::{Domain, ZERO, hash},
    work::{self, Work},
};
use bytes::BufMut;
use commonware_codec::{Buf, Encode as _, Error, FixedSize, Read, ReadExt as _, Write};
use commonware_cryptography::{
    blake3::Digest,
    ed25519::{PrivateKey, PublicKey},
};
use vrf_rfc9381::{
    Proof as _, Prover as _, Verifier as _,
    ec::edwards25519::{
        EdVrfProof,
        tai::{EdVrfEdwards25519TaiPublicKey, EdVrfEdwards25519TaiSecretKey},
    },
};

const PROOF: usize = 80;

/// Proves what a leader revealed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reveal([u8; PROOF]);

impl Reveal {
    /// Of a block that nobody proposed.
    pub const NONE: Self = Self([0; PROOF]);
}

impl Write for Reveal {
    fn write(&self, buf: &mut impl BufMut) {
        buf.put_slice(&self.0);
    }
}

impl Read for Reveal {
    type Cfg = ();
    fn read_cfg(buf: &mut impl Buf, (): &()) -> Result<Self, Error> {
        Ok(Self(<[u8; PROOF]>::read(buf)?))
    }
}

impl FixedSize for Reveal {
    const SIZE: usize = PROOF;
}

/// What a block says about randomness.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Randomness {
    /// Everything revealed so far.
    pub mix: Digest,
    /// What the committees of this block's epoch are dealt from.
    pub seed: Digest,
    /// The next epoch's seed.
    pub next: Digest,
    /// What this block's leader revealed.
    pub reveal: Reveal,
}

/// Why a block's randomness is wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RandomnessError {
    /// The leader's key is none that reveals anything.
    #[error("the leader's key cannot reveal")]
    Key,
    /// The proof is not the leader's over the randomness before.
    #[error("the reveal is not the leader's")]
    Reveal,
    /// Mix or seeds do not follow from the parent.
    #[error("mix and seeds do not follow from the parent's and the reveal")]
    Sequel,
}

impl Randomness {
    /// That of the genesis block, whose first epochs have `seed`.
    #[must_use]
    pub const fn genesis(seed: Digest) -> Self {
        Self {
            mix: seed,
            seed,
            next: seed,
            reveal: Reveal::NONE,
        }
    }

    /// What the committees of the block after this one, at `height`, are dealt
    /// from.
    #[must_use]
    pub const fn seed_at(&self, height: u64, epoch_length: u64) -> Digest {
        if height.is_multiple_of(epoch_length) {
            self.next
        } else {
            self.seed
        }
    }

    /// What the committees at `ahead` are dealt from, if this is the randomness
    /// of the block at `height`, below it. `None` beyond the next epoch, whose
    /// seed nobody knows yet.
    #[must_use]
    pub const fn seed_ahead(&self, height: u64, ahead: u64, epoch_length: u64) -> Option<Digest> {
        let epoch = height / epoch_length;
        match (ahead / epoch_length).checked_sub(epoch) {
            Some(0) => Some(self.seed),
            Some(1) => Some(self.next),
            _ => None,
        }
    }

    /// That of the child at `height` that `leader` proposes.
    pub fn child(
        &self,
        height: u64,
        epoch_length: u64,
        leader: &PrivateKey,
    ) -> Result<Self, RandomnessError> {
        work::count(Work::Reveal, 1);
        let secret = EdVrfEdwards25519TaiSecretKey::from_slice(&leader.encode())
            .map_err(|_| RandomnessError::Key)?;
        let proof = secret
            .prove(&alpha(&self.mix, height))
            .map_err(|_| RandomnessError::Key)?;
        let bytes =
            <[u8; PROOF]>::try_from(proof.encode_to_pi()).map_err(|_| RandomnessError::Key)?;
        let reveal = Reveal(bytes);
        let output = self.output(height, &reveal, &secret.verifier())?;
        Ok(self.follow(height, epoch_length, reveal, &output))
    }

    /// Checks that `child`, at `height` and by `leader`, follows this one.
    pub fn check_child(
        &self,
        child: &Self,
        height: u64,
        epoch_length: u64,
        leader: &PublicKey,
    ) -> Result<(), RandomnessError> {
        let key = EdVrfEdwards25519TaiPublicKey::from_slice(leader.as_ref())
            .map_err(|_| RandomnessError::Key)?;
        let output = self.output(height, &child.reveal, &key)?;
        let expected = self.follow(height, epoch_length, child.reveal.clone(), &output);
        if *child == expected {
            Ok(())
        } else {
            Err(RandomnessError::Sequel)
        }
    }

    fn output(
        &self,
        height: u64,
        reveal: &Reveal,
        key: &EdVrfEdwards25519TaiPublicKey,
    ) -> Result<Vec<u8>, RandomnessError> {
        work::count(Work::Reveal, 1);
        let proof = EdVrfProof::decode_pi(&reveal.0).map_err(|_| RandomnessError::Reveal)?;
        key.verify(&alpha(&self.mix, height), proof)
            .map(|output| output.to_vec())
            .map_err(|_| RandomnessError::Reveal)
    }

    fn follow(&self, height: u64, epoch_length: u64, reveal: Reveal, output: &[u8]) -> Self {
        let starts = height.is_multiple_of(epoch_length);
        Self {
            mix: hash(
                Domain::Randomness,
                &[&self.mix.0, &height.to_be_bytes(), output],
            ),
            seed: self.seed_at(height, epoch_length),
            next: if starts { self.mix } else { self.next },
            reveal,
        }
    }
}

fn alpha(mix: &Digest, height: u64) -> Vec<u8> {
    [
        &[Domain::Randomness as u8][..],
        &mix.0,
        &height.to_be_bytes(),
    ]
    .concat()
}

impl Default for Randomness {
    fn default() -> Self {
        Self::genesis(ZERO)
    }
}

impl Write for Randomness {
    fn write(&self, buf: &mut impl BufMut) {
        self.mix.write(buf);
        self.seed.write(buf);
        self.next.write(buf);
        self.reveal.write(buf);
    }
}

impl Read for Randomness {
    type Cfg = ();
    fn read_cfg(buf: &mut impl Buf, (): &()) -> Result<Self, Error> {
        Ok(Self {
            mix: Digest::read(buf)?,
            seed: Digest::read(buf)?,
            next: Digest::read(buf)?,
            reveal: Reveal::read(buf)?,
        })
    }
}

impl FixedSize for Randomness {
    const SIZE: usize = 3 * 32 + PROOF;
}
