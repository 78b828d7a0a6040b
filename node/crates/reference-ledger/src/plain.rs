// SPDX-License-Identifier: Apache-2.0
//! What the model is told and what it says, as plain data.

/// An account's id, which is its ed25519 public key.
pub type Id = [u8; 32];
/// A hash.
pub type Hash = [u8; 32];

/// The id that no account has.
pub const NOBODY: Id = [0; 32];

/// What genesis says of the rules.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rules {
    /// The network's name.
    pub network: String,
    /// The hash of its genesis document.
    pub genesis: Hash,
    /// How many shards there are.
    pub shards: u16,
    /// `executionLag`.
    pub lag: u8,
    /// `maxTransactionsPerChunk`.
    pub most_transactions: u32,
    /// Whether `congestionControl` is enabled.
    pub congestion_control: bool,
    /// `transferFee`.
    pub fee: u64,
    /// `leastBalance`.
    pub least_balance: u64,
}

impl Rules {
    /// The shard that owns an account: shard `i` of `n` owns the ids whose
    /// first eight bytes, as a number `x`, have `floor(x * n / 2^64) = i`.
    #[must_use]
    pub fn shard_of(&self, id: &Id) -> u16 {
        let [a, b, c, d, e, f, g, h, ..] = *id;
        let x = u64::from_be_bytes([a, b, c, d, e, f, g, h]);
        ((u128::from(x) * u128::from(self.shards)) >> 64) as u16
    }
}

/// What an account has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Account {
    /// Value.
    pub balance: u64,
    /// The highest nonce used.
    pub nonce: u64,
}

/// A signed transfer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Transfer {
    /// Who pays.
    pub signer: Id,
    /// Who is paid.
    pub receiver: Id,
    /// Value.
    pub amount: u64,
    /// Above the signer's.
    pub nonce: u64,
    /// The first height at which it is not executed any more; 0 for none.
    pub expires_at: u64,
    /// The signer's, if it holds.
    pub signature: [u8; 64],
}

/// One shard's transfers at one height.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Chunk {
    /// The shard.
    pub shard: u16,
    /// In order; none for a chunk whose body is not valid.
    pub transfers: Vec<Transfer>,
}

/// What becomes of a transfer, by its number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Outcome {
    /// The signer pays.
    #[error("executed")]
    Executed = 0,
    /// The nonce is not above the signer's.
    #[error("failed: nonce is not above the signer's")]
    StaleNonce = 1,
    /// The amount and the fee are above the signer's balance.
    #[error("failed: amount and fee are above the signer's balance")]
    InsufficientBalance = 2,
    /// The signer belongs to another shard.
    #[error("failed: signer belongs to another shard")]
    WrongShard = 3,
    /// There is no such account.
    #[error("failed: signer does not exist")]
    NoAccount = 4,
    /// The receiver is [`NOBODY`].
    #[error("failed: receiver is the reserved id of all zeroes")]
    ReservedReceiver = 5,
    /// The receiver's shard is another one, and congested.
    #[error("failed: receiver's shard is congested")]
    Congested = 6,
    /// The amount is below `leastBalance`.
    #[error("failed: amount is below the least balance")]
    LittleAmount = 7,
    /// The height is that at which it expires, or above.
    #[error("failed: transfer has expired")]
    Expired = 8,
    /// The nonce is above the highest of the height.
    #[error("failed: nonce is above the highest of this height")]
    HighNonce = 9,
}

/// What a transfer to another shard sends there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Receipt {
    /// Who paid.
    pub sender: Id,
    /// With which nonce.
    pub nonce: u64,
    /// Who is paid.
    pub receiver: Id,
    /// Value.
    pub amount: u64,
}

/// What executing one chunk came to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sums {
    /// The chunk's height.
    pub height: u64,
    /// The shard's accounts afterwards.
    pub state_root: Hash,
    /// The transfers' outcomes.
    pub outcomes_root: Hash,
    /// The receipts to all shards.
    pub receipts_root: Hash,
    /// Transfers executed.
    pub transfers: u32,
    /// Credits, of receipts and of transfers within the shard.
    pub credits: u32,
}

/// A place in the queue of receipts that fell due for a shard.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    /// A block's height.
    pub block: u64,
    /// The first shard whose header in it is not before the place.
    pub source: u16,
}

/// Everything that a shard did since genesis.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Totals {
    /// The height of the newest execution that is in it.
    pub height: u64,
    /// The accounts after that.
    pub state_root: Hash,
    /// Transfers executed.
    pub transfers: u64,
    /// Those to other shards.
    pub cross_shard: u64,
    /// Credits.
    pub credits: u64,
    /// The sum of all balances.
    pub balance: u64,
    /// Value that is no more.
    pub burnt: u64,
    /// Value that left in receipts.
    pub sent: u128,
    /// Value that came in receipts.
    pub received: u128,
    /// Where crediting goes on.
    pub next_due: Place,
}

/// What a chunk's header says of executions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Header {
    /// How many chunks the shard has had.
    pub sequence: u64,
    /// Executions that it is the first to commit to.
    pub results: Vec<Sums>,
    /// Heights of chunks whose executions no header commits to yet.
    pub uncommitted: Vec<u64>,
    /// Everything up to the newest result.
    pub totals: Totals,
}
