// SPDX-License-Identifier: Apache-2.0
//! What happens to a network in one run: everything but chance on the links,
//! which has the same seed.

use crate::{
    byzantine::{
        BodyLie, CrowdedWitnesses, DoubleSignedChunks, DoubleVotes, EquivocatedBlocks,
        FalseResults, Flood, ForgedReceipts, ForgedWitnesses, Garbage, IgnoredTransactions, Lie,
        OtherBodies, ParcelledParts, PartialReceipts, Replays, WithheldBodies, WithheldParts,
        WithheldWitnesses, flooded,
    },
    lies::Behaviour,
    machine::Skew,
    shape::Shape,
};
use std::{
    collections::{BTreeMap, BTreeSet},
    num::NonZeroUsize,
    time::Duration,
};

/// Something that goes wrong, or right again.
#[derive(Clone, Debug, PartialEq)]
pub enum Fault {
    /// A node is killed: what it had not synced is gone.
    Kill(usize),
    /// A node is killed, and all that it had stored is gone.
    LoseDisk(usize),
    /// A killed or stopped node starts on what it has.
    Start(usize),
    /// A node's machine stops before the change to its disk that comes after
    /// so many others.
    StopAtDisk(usize, u64),
    /// Nodes of different sides no longer hear each other.
    Partition(BTreeSet<usize>),
    /// The second node no longer hears the first.
    Deafen(usize, usize),
    /// All links are back.
    Heal,
    /// Changes to a node's disk take this long.
    SlowDisk(usize, Duration),
}

impl Fault {
    /// What it counts as; `None` for what ends another one.
    #[must_use]
    pub const fn kind(&self) -> Option<&'static str> {
        match self {
            Self::Kill(_) => Some("kills"),
            Self::LoseDisk(_) => Some("lost disks"),
            Self::StopAtDisk(..) => Some("stops at a disk operation"),
            Self::Partition(_) => Some("partitions"),
            Self::Deafen(..) => Some("one-way cuts"),
            Self::SlowDisk(..) => Some("slow disks"),
            Self::Start(_) | Self::Heal => None,
        }
    }
}

/// How a byzantine validator lies.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Lies {
    /// [`FalseResults`], once in so many chunks.
    Results(Vec<Lie>, u64),
    /// [`ForgedWitnesses`].
    ForgedWitnesses,
    /// [`WithheldWitnesses`], but for one part in so many.
    WithheldWitnesses(u64),
    /// [`CrowdedWitnesses`].
    CrowdedWitnesses,
    /// [`WithheldBodies`].
    WithheldBodies,
    /// [`WithheldParts`], but for one in so many.
    WithheldParts(u64),
    /// [`ParcelledParts`], to this third.
    ParcelledParts(usize),
    /// Invalid [`OtherBodies`], once in so many chunks.
    Bodies(u64),
    /// [`OtherBodies`] of transfers that fail, once in so many chunks.
    FailingTransfers(u64),
    /// [`ForgedReceipts`].
    Receipts,
    /// [`PartialReceipts`], with so many votes.
    PartialReceipts(u64),
    /// [`IgnoredTransactions`].
    Ignored,
    /// [`DoubleSignedChunks`].
    Chunks,
    /// [`EquivocatedBlocks`].
    Blocks,
    /// [`DoubleVotes`].
    Votes,
    /// [`Garbage`], once in so many messages.
    Garbage(u64),
    /// [`Replays`], once in so many messages.
    Replays(u64),
    /// [`Flood`], on these channels, to the nodes at these places among others, with
    /// nothing but what is right, or not.
    Flood(Vec<u64>, Vec<usize>, bool),
}

impl Lies {
    pub(crate) fn behaviour(&self) -> Box<dyn Behaviour> {
        match self {
            Self::Results(lies, once_in) => Box::new(FalseResults::new(lies, *once_in)),
            Self::ForgedWitnesses => Box::new(ForgedWitnesses::default()),
            Self::WithheldWitnesses(keeps) => Box::new(WithheldWitnesses::new(*keeps)),
            Self::CrowdedWitnesses => Box::new(CrowdedWitnesses::default()),
            Self::WithheldBodies => Box::new(WithheldBodies),
            Self::WithheldParts(keeps) => Box::new(WithheldParts::new(*keeps)),
            Self::ParcelledParts(third) => Box::new(ParcelledParts::new(*third)),
            Self::Bodies(once_in) => Box::new(OtherBodies::invalid(*once_in)),
            Self::FailingTransfers(once_in) => Box::new(OtherBodies::failing(*once_in)),
            Self::Receipts => Box::new(ForgedReceipts),
            Self::PartialReceipts(votes) => Box::new(PartialReceipts::new(*votes)),
            Self::Ignored => Box::new(IgnoredTransactions),
            Self::Chunks => Box::new(DoubleSignedChunks::default()),
            Self::Blocks => Box::new(EquivocatedBlocks::default()),
            Self::Votes => Box::new(DoubleVotes),
            Self::Garbage(once_in) => Box::new(Garbage::new(*once_in)),
            Self::Replays(once_in) => Box::new(Replays::new(*once_in)),
            Self::Flood(channels, to, right) => {
                Box::new(Flood::new(channels.clone(), to.clone(), *right))
            }
        }
    }
}

impl Lies {
    /// What it counts as.
    #[must_use]
    pub fn kinds(&self) -> Vec<&'static str> {
        match self {
            Self::Results(lies, _) => lies.iter().map(|lie| lie.kind()).collect(),
            Self::ForgedWitnesses => vec!["forged witnesses", "forged states in witnesses"],
            Self::WithheldWitnesses(_) => vec!["withheld witness parts"],
            Self::CrowdedWitnesses => vec!["unsigned witness parts"],
            Self::WithheldBodies => vec!["withheld bodies"],
            Self::WithheldParts(_) | Self::ParcelledParts(_) => {
                vec!["withheld bodies", "withheld parts"]
            }
            Self::Bodies(_) => BodyLie::ALL.map(BodyLie::kind).to_vec(),
            Self::FailingTransfers(_) => vec![
                BodyLie::Failing.kind(),
                "stale nonces",
                "overdrafts",
                "signers of other shards",
                "signers that do not exist",
                "reserved receivers",
                "amounts below the least",
                "expired transfers",
                "high nonces",
                "congested receivers",
            ],
            Self::Receipts => vec!["forged receipts", "forged answers"],
            Self::PartialReceipts(_) => vec!["receipts kept from some", "votes kept back"],
            Self::Ignored => vec![IgnoredTransactions::IGNORED, IgnoredTransactions::TOLD],
            Self::Chunks => vec!["double-signed chunks"],
            Self::Blocks => vec!["equivocated blocks", "double votes"],
            Self::Votes => vec!["double votes"],
            Self::Garbage(_) => vec!["garbage"],
            Self::Replays(_) => vec!["replayed messages", "messages for another height"],
            Self::Flood(channels, ..) => channels.iter().copied().map(flooded).collect(),
        }
    }
}

/// One run.
#[derive(Clone, Debug)]
pub struct Plan {
    /// Who is in the network.
    pub shape: Shape,
    /// Transfers per second that each producer's generator signs.
    pub load: u32,
    /// How many of a thousand messages are lost.
    pub lost_per_mille: u64,
    /// How much the time of a message varies, in addition to a tenth of it.
    pub jitter: Duration,
    /// Clocks that are wrong.
    pub clocks: BTreeMap<usize, Skew>,
    /// Who lies, and how.
    pub liars: BTreeMap<usize, Vec<Lies>>,
    /// Who endorses whatever it hears of.
    pub colluders: BTreeSet<usize>,
    /// Whether a node that blocks another no longer hears it: if not, liars go
    /// on talking.
    pub blocking: bool,
    /// Blocks for which nodes keep bodies and receipts for others.
    pub retention: u64,
    /// What happens when, from the start of the run.
    pub faults: Vec<(Duration, Fault)>,
    /// Nodes that are replaced by ones with an empty disk, each once another
    /// producer of its shard has a complete copy. All are by the time of
    /// `calm_at`, which comes as soon as that is so.
    pub replaced: Vec<usize>,
    /// When everything stops going wrong, and everybody is honest again.
    pub calm_at: Duration,
    /// Validators that are dead from the first fault on.
    pub dead: BTreeSet<usize>,
    /// The longest time without a finalised block, before all is calm; `None` for what
    /// [the rest of the plan](Self::longest_lull) can cost.
    pub lull: Option<Duration>,
    /// How many blocks honest nodes are behind the others at most, once the chain has
    /// so many, before all is calm.
    pub behind: Option<u64>,
    /// How long a block takes at most, on average, before all is calm.
    pub block_time: Option<Duration>,
    /// Processors of each machine, on which work, changes to disks and bytes cost
    /// [what they cost](crate::costs); `None` if they cost nothing.
    pub processors: Option<NonZeroUsize>,
    /// Blocks within which the transfers of honest clients are executed, who hand
    /// them to nodes of other shards. They have been by the time of `calm_at`, which
    /// comes as soon as that is so; `None` if there are no such clients.
    pub executed_within: Option<u64>,
}

impl Plan {
    /// A network in which nothing goes wrong.
    #[must_use]
    pub const fn new(shape: Shape) -> Self {
        Self {
            shape,
            load: 20,
            lost_per_mille: 0,
            jitter: Duration::ZERO,
            clocks: BTreeMap::new(),
            liars: BTreeMap::new(),
            colluders: BTreeSet::new(),
            blocking: true,
            retention: 1_000,
            faults: Vec::new(),
            replaced: Vec::new(),
            calm_at: Duration::from_secs(5),
            dead: BTreeSet::new(),
            lull: None,
            behind: None,
            block_time: None,
            processors: None,
            executed_within: None,
        }
    }

    /// Liars and colluders.
    #[must_use]
    pub fn byzantine(&self) -> BTreeSet<usize> {
        self.liars.keys().chain(&self.colluders).copied().collect()
    }

    /// Whether no node loses its memory: then every transfer that was signed
    /// must be executed.
    #[must_use]
    pub fn keeps_memory(&self) -> bool {
        self.replaced.is_empty()
            && !self.faults.iter().any(|(_, fault)| {
                matches!(
                    fault,
                    Fault::Kill(_) | Fault::LoseDisk(_) | Fault::StopAtDisk(..)
                )
            })
    }

    /// Whether somebody's messages are kept for others to send again.
    #[must_use]
    pub fn records(&self) -> bool {
        let mut lies = self.liars.values().flatten();
        lies.any(|lies| matches!(lies, Lies::Replays(_)))
    }
}
