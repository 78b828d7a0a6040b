// SPDX-License-Identifier: Apache-2.0
//! Faults on purpose, to see that whoever checks nodes from outside notices
//! what all of them get wrong in the same way.
//!
//! There are none but with the feature `planted-faults` ([`CAN_BE_PLANTED`]). With
//! it, a fault is there for the thread that plants it, and for as long as what
//! `plant` returns lives, or for the whole process: `plant_everywhere`. A program
//! `shardnode` that is compiled with it says so in its version.
//!
//! With the feature `planted-burden`, each execution of a transfer takes work
//! that has no use, and nothing else differs: what a comparison of two builds
//! has to notice. The program says of itself that it has it ([`BURDENED`]).

#[cfg(feature = "planted-burden")]
use std::hint;
#[cfg(feature = "planted-faults")]
use std::{cell::Cell, sync::OnceLock};

/// Whether this is compiled with faults.
pub const CAN_BE_PLANTED: bool = cfg!(feature = "planted-faults");

/// Whether executing a transfer takes needless work.
pub const BURDENED: bool = cfg!(feature = "planted-burden");

/// How many multiplications, each of which waits for the one before, are done
/// for each transfer: 0.6 microseconds where one takes 0.8 ns. Four nodes of a
/// network of two shards execute each transfer, and all that its nodes do for one
/// takes 95 microseconds under the load of `two-builds-local`.
#[cfg(feature = "planted-burden")]
const BURDEN: u64 = 750;

#[cfg(feature = "planted-faults")]
thread_local! {
    static PLANTED: Cell<Option<Fault>> = const { Cell::new(None) };
}

/// The fault of all threads.
#[cfg(feature = "planted-faults")]
static EVERYWHERE: OnceLock<Fault> = OnceLock::new();

/// What an execution gets wrong, or else a pool. All of them keep what a node can check
/// of itself: the accounts of a shard add up to the balance that it states.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// A nonce may be used again.
    NonceTwice,
    /// What a transfer within the shard pays goes to its signer.
    WrongReceiver,
    /// A receipt is credited to the receiver of the first one of its bucket.
    WrongReceiptReceiver,
    /// A transfer above the signer's balance costs the signer one more, which
    /// is burnt.
    CostlyFailure,
    /// Receipts are credited twice.
    CreditedTwice,
    /// The first receipt for each shard is not emitted.
    LostReceipt,
    /// What failed is reported as executed.
    FailedAsExecuted,
    /// Congested shards are sent to.
    CongestedExecuted,
    /// Accounts are kept that have too little.
    KeptDust,
    /// Accounts begin with nonce 0, whenever they are made.
    NonceAnew,
    /// Pools take nonces in any order, and keep what nobody pays for any more.
    KeptInPool,
}

impl Fault {
    /// All of them.
    pub const ALL: [Self; 11] = [
        Self::NonceTwice,
        Self::WrongReceiver,
        Self::WrongReceiptReceiver,
        Self::CostlyFailure,
        Self::CreditedTwice,
        Self::LostReceipt,
        Self::FailedAsExecuted,
        Self::CongestedExecuted,
        Self::KeptDust,
        Self::NonceAnew,
        Self::KeptInPool,
    ];

    /// The fault that has this name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL
            .into_iter()
            .find(|fault| format!("{fault:?}") == name)
    }
}

/// Keeps a fault planted.
#[cfg(feature = "planted-faults")]
#[derive(Debug)]
pub struct Plantation(());

#[cfg(feature = "planted-faults")]
impl Drop for Plantation {
    fn drop(&mut self) {
        PLANTED.set(None);
    }
}

/// Plants a fault on this thread.
#[cfg(feature = "planted-faults")]
#[must_use]
pub fn plant(fault: Fault) -> Plantation {
    PLANTED.set(Some(fault));
    Plantation(())
}

/// Plants a fault on all threads, for as long as this process runs. The first one
/// stays.
#[cfg(feature = "planted-faults")]
pub fn plant_everywhere(fault: Fault) {
    let _ = EVERYWHERE.set(fault);
}

/// Whether this fault is there.
#[cfg(feature = "planted-faults")]
#[must_use]
pub fn has(fault: Fault) -> bool {
    PLANTED.get() == Some(fault) || EVERYWHERE.get() == Some(&fault)
}

/// Whether this fault is there: none is.
#[cfg(not(feature = "planted-faults"))]
#[must_use]
pub const fn has(_: Fault) -> bool {
    false
}

/// Does the work that is planted for the execution of one transfer.
#[cfg(feature = "planted-burden")]
pub(crate) fn burden() {
    let product = (0..BURDEN).fold(hint::black_box(1_u64), |product, round| {
        product.wrapping_mul(hint::black_box(round | 1))
    });
    hint::black_box(product);
}

#[cfg(not(feature = "planted-burden"))]
pub(crate) const fn burden() {}

#[cfg(test)]
mod tests {
    use super::Fault;

    #[test]
    fn every_fault_is_found_by_its_name_and_no_other() {
        for fault in Fault::ALL {
            assert_eq!(Fault::named(&format!("{fault:?}")), Some(fault));
        }
        assert_eq!(Fault::named("creditedTwice"), None);
    }
}
