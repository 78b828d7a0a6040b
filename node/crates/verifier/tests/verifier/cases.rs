// SPDX-License-Identifier: Apache-2.0
//! What is proven, and what is refused for which reason.

use crate::fixture::{BLOCK, FINALIZE, Fixture, NEW, OLD, VOTERS, with};
use bytes::Bytes;
use commonware_codec::{Encode as _, EncodeSize as _};
use commonware_cryptography::Digestible as _;
use shardnode_primitives::{AccountId, Digest, Genesis, hash::ZERO};
use shardnode_state::{Account, ProofError};
use shardnode_verifier::{FinalizedBlock, ProvenAccount, Verifier, VerifyError};

/// What is asked about.
#[derive(Clone, Copy)]
pub(crate) enum Subject {
    /// An account, in a block of at least this height.
    Account(AccountId, u64),
    /// A transfer of the signer.
    Outcome(AccountId, Digest),
}

/// What the proof comes to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    Account(u64, Option<Account>),
    Outcome(u64, u8),
    Refused(&'static str),
}

pub(crate) struct Case {
    pub(crate) name: &'static str,
    pub(crate) subject: Subject,
    pub(crate) proof: Bytes,
    pub(crate) verdict: Verdict,
}

/// The name of an error.
fn kind(error: &VerifyError) -> &'static str {
    match error {
        VerifyError::Malformed(_) => "malformed",
        VerifyError::Voters { .. } => "voters",
        VerifyError::Quorum { .. } => "quorum",
        VerifyError::Vote(_) => "vote",
        VerifyError::Block { .. } => "block",
        VerifyError::Old { .. } => "old",
        VerifyError::Uncommitted { .. } => "uncommitted",
        VerifyError::Shard { .. } => "shard",
        VerifyError::Account(ProofError::Index { .. }) => "index",
        VerifyError::Account(ProofError::Path { .. }) => "path",
        VerifyError::Account(ProofError::Unrelated(_)) => "unrelated",
        VerifyError::Account(ProofError::Root { .. }) => "root",
        VerifyError::Outcome { .. } => "outcome",
    }
}

fn judge(verifier: &Verifier, case: &Case) -> Verdict {
    let proof = case.proof.clone();
    let judged = match case.subject {
        Subject::Account(id, least) => verifier
            .account(&id, proof, least)
            .map(|proven| Verdict::Account(proven.at.height, proven.account)),
        Subject::Outcome(signer, transfer) => verifier
            .outcome(&signer, &transfer, proof)
            .map(|proven| Verdict::Outcome(proven.at.height, proven.outcome)),
    };
    judged.unwrap_or_else(|error| Verdict::Refused(kind(&error)))
}

/// What is said of accounts.
fn accounts(fixture: &Fixture) -> Vec<Case> {
    let id = fixture.ids[1];
    let (new, old) = (&fixture.states[0], &fixture.old);
    let honest = fixture.account(NEW, new.prove(&id));
    let by_next = ProvenAccount {
        finalized: fixture.finalized_by_next(),
        ..honest.clone()
    };
    let before = fixture.account(OLD, old.prove(&id));
    let absent = fixture.account(NEW, new.prove(&fixture.nobody));
    let case = |name, subject, proof: Bytes, verdict| Case {
        name,
        subject,
        proof,
        verdict,
    };
    let has = |height, tree: &shardnode_state::StateTree| Verdict::Account(height, tree.get(&id));
    let lie = |name, proof: &ProvenAccount, kind| {
        let subject = Subject::Account(id, 0);
        case(name, subject, proof.encode(), Verdict::Refused(kind))
    };
    let asked = Subject::Account(id, BLOCK);
    // The balance's last byte, counted from the end; the index and the number of
    // leaves begin the proof.
    let proof_len = honest.proof.encode_size();
    let balance = proof_len - 8 - 64 - 7;
    let cases = vec![
        case("account", asked, honest.encode(), has(NEW, new)),
        case("account.byNext", asked, by_next.encode(), has(NEW, new)),
        case("account.before", asked, before.encode(), has(OLD, old)),
        case(
            "account.absent",
            Subject::Account(fixture.nobody, 0),
            absent.encode(),
            Verdict::Account(NEW, None),
        ),
        case(
            "account.lie.balance",
            asked,
            with(&honest.encode(), balance, 0xff),
            Verdict::Refused("root"),
        ),
        case(
            "account.lie.index",
            asked,
            with(&honest.encode(), proof_len - 3, 0xff),
            Verdict::Refused("index"),
        ),
        case(
            "account.lie.path",
            asked,
            with(&honest.encode(), proof_len - 7, 0xff),
            Verdict::Refused("path"),
        ),
        case(
            "account.lie.old",
            Subject::Account(id, BLOCK + 1),
            honest.encode(),
            Verdict::Refused("old"),
        ),
        lie(
            "account.lie.another",
            &fixture.account(NEW, new.prove(&fixture.ids[2])),
            "unrelated",
        ),
        // The leaf before in the order of ids is the one that would have to skip it.
        lie(
            "account.lie.absent",
            &fixture.account(NEW, new.prove(&fixture.ids[0])),
            "unrelated",
        ),
        lie(
            "account.lie.shard",
            &fixture.account(NEW, fixture.states[1].prove(&id)),
            "shard",
        ),
        lie(
            "account.lie.state",
            &fixture.account(NEW, old.prove(&id)),
            "root",
        ),
        lie(
            "account.lie.height",
            &fixture.account(NEW + 1, new.prove(&id)),
            "uncommitted",
        ),
    ];
    let certified = lies_of_consensus(fixture).into_iter();
    let certified = certified.map(|(name, finalized, kind)| {
        let finalized = ProvenAccount {
            finalized,
            ..honest.clone()
        };
        lie(name, &finalized, kind)
    });
    let bytes = malformed(&honest.encode()).into_iter();
    let bytes = bytes.map(|(name, bytes)| case(name, asked, bytes, Verdict::Refused("malformed")));
    cases.into_iter().chain(certified).chain(bytes).collect()
}

/// Blocks that are not final.
fn lies_of_consensus(fixture: &Fixture) -> Vec<(&'static str, FinalizedBlock, &'static str)> {
    let [block, next] = &fixture.blocks;
    let genesis = &fixture.genesis;
    let mut reset = crate::fixture::document();
    reset["createdAtMs"] = 1_790_000_000_001_u64.into();
    let reset: shardnode_primitives::GenesisDocument = serde_json::from_value(reset).unwrap();
    let reset = reset.check().unwrap();
    let by = |genesis: &Genesis, all, voting: &[u32], suffix| FinalizedBlock {
        finalization: Fixture::finalization(genesis, block, all, voting, suffix),
        blocks: vec![block.clone()],
    };
    let mut forged = block.clone();
    forged.chunks[0].content.totals.state_root = ZERO;
    let mut rewritten = fixture.finalized_by_next();
    rewritten.blocks[1] = forged.clone();
    let mut swapped = fixture.finalized();
    swapped.finalization.certificate.signatures.swap(0, 1);
    let mut invented = fixture.finalized();
    invented.finalization.proposal.payload = forged.digest();
    invented.blocks = vec![forged.clone()];
    let mut replaced = fixture.finalized();
    replaced.blocks = vec![forged];
    let mut unrelated = fixture.finalized();
    unrelated.blocks.push(next.clone());
    vec![
        (
            "account.lie.anotherChain",
            by(&reset, VOTERS, &[0, 1, 3], FINALIZE),
            "vote",
        ),
        (
            "account.lie.anotherCommittee",
            by(genesis, 3, &[0, 1, 2], FINALIZE),
            "voters",
        ),
        (
            "account.lie.largerCommittee",
            by(genesis, 5, &[0, 1, 2, 3], FINALIZE),
            "malformed",
        ),
        (
            "account.lie.fewVotes",
            by(genesis, VOTERS, &[0, 3], FINALIZE),
            "quorum",
        ),
        (
            "account.lie.notarised",
            by(genesis, VOTERS, &[0, 1, 3], "_NOTARIZE"),
            "vote",
        ),
        ("account.lie.swappedVotes", swapped, "vote"),
        ("account.lie.inventedBlock", invented, "vote"),
        ("account.lie.forgedBlock", replaced, "block"),
        ("account.lie.forgedParent", rewritten, "block"),
        ("account.lie.noParent", unrelated, "block"),
    ]
}

/// Bytes that are no proof.
fn malformed(honest: &Bytes) -> Vec<(&'static str, Bytes)> {
    let mut version = honest.to_vec();
    version[0] = 2;
    let mut longer = honest.to_vec();
    longer.push(0);
    vec![
        ("account.lie.version", version.into()),
        ("account.lie.longer", longer.into()),
        ("account.lie.shorter", honest.slice(..honest.len() - 1)),
        ("account.lie.half", honest.slice(..honest.len() / 2)),
        ("account.lie.garbage", Bytes::from_static(&[0xa5; 200])),
        ("account.lie.nothing", Bytes::new()),
    ]
}

/// What is said of transfers.
fn outcomes(fixture: &Fixture) -> Vec<Case> {
    let signer = fixture.ids[1];
    let honest = fixture.outcome(0);
    let (hash, other) = (fixture.transfers[0].0, fixture.transfers[2].0);
    let stranger = (0..)
        .map(|index| fixture.genesis.account(index).id)
        .find(|id| fixture.genesis.layout.shard_of(id).0 == 1)
        .unwrap();
    let mut failed = honest.clone();
    failed.outcome = 2;
    let mut before = honest.clone();
    before.height = OLD;
    let mut later = honest.clone();
    later.height = NEW + 1;
    let case = |name, signer, hash, proof: Bytes, verdict| Case {
        name,
        subject: Subject::Outcome(signer, hash),
        proof,
        verdict,
    };
    vec![
        case(
            "outcome",
            signer,
            hash,
            honest.encode(),
            Verdict::Outcome(NEW, 0),
        ),
        case(
            "outcome.failed",
            signer,
            fixture.transfers[1].0,
            fixture.outcome(1).encode(),
            Verdict::Outcome(NEW, 2),
        ),
        case(
            "outcome.lie.another",
            signer,
            other,
            honest.encode(),
            Verdict::Refused("outcome"),
        ),
        case(
            "outcome.lie.failed",
            signer,
            hash,
            failed.encode(),
            Verdict::Refused("outcome"),
        ),
        case(
            "outcome.lie.shard",
            stranger,
            hash,
            honest.encode(),
            Verdict::Refused("outcome"),
        ),
        case(
            "outcome.lie.before",
            signer,
            hash,
            before.encode(),
            Verdict::Refused("outcome"),
        ),
        case(
            "outcome.lie.later",
            signer,
            hash,
            later.encode(),
            Verdict::Refused("uncommitted"),
        ),
        case(
            "outcome.lie.account",
            signer,
            hash,
            fixture
                .account(NEW, fixture.states[0].prove(&signer))
                .encode(),
            Verdict::Refused("malformed"),
        ),
    ]
}

/// All cases.
pub(crate) fn all(fixture: &Fixture) -> Vec<Case> {
    let mut cases = accounts(fixture);
    cases.extend(outcomes(fixture));
    cases
}

#[test]
fn every_lie_is_refused_for_what_it_is() {
    let fixture = Fixture::new();
    let verifier = Verifier::new(&fixture.genesis);
    for case in all(&fixture) {
        assert_eq!(judge(&verifier, &case), case.verdict, "{}", case.name);
    }
}

#[test]
fn a_proof_says_where_it_is_from() {
    let fixture = Fixture::new();
    let verifier = Verifier::new(&fixture.genesis);
    let id = fixture.ids[1];
    let proof = fixture.account(NEW, fixture.states[0].prove(&id)).encode();
    let at = verifier.account(&id, proof, 0).unwrap().at;
    assert_eq!(at.block, BLOCK);
    assert_eq!(at.digest, fixture.blocks[0].digest());
    assert_eq!(at.timestamp_ms, fixture.blocks[0].timestamp_ms);
    assert_eq!((at.shard.0, at.height), (0, NEW));
}

/// No byte of a proof can be another one.
#[test]
fn no_byte_of_a_proof_is_free() {
    let fixture = Fixture::new();
    let verifier = Verifier::new(&fixture.genesis);
    let id = fixture.ids[1];
    let proof = fixture.account(NEW, fixture.states[0].prove(&id)).encode();
    for from_end in 1..=proof.len() {
        let byte = proof[proof.len() - from_end];
        let judged = verifier.account(&id, with(&proof, from_end, byte ^ 1), 0);
        assert!(judged.is_err(), "byte {from_end} from the end");
    }
}
