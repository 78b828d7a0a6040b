// SPDX-License-Identifier: Apache-2.0
//! A node without a chain, which takes every transaction.

use axum::body::Bytes;
use shardnode_load::{Target, TargetError};
use shardnode_primitives::{
    AccountId, Block, ChunkBody, ChunkHeader, Digest, Refusal, ShardId, Transaction, hash::ZERO,
};
use shardnode_rpc::{
    AccountReport, ClockFault, DiskFault, LinkFault, LoadStatus, LogLevel, Node, OutcomeReport,
    OutcomeStatus, ProcessFault, ProfileExtent, ProfileKind, ProfileOngoing, ProfileStatus,
    ProofReport, Readiness, Status, Submitted, Unavailable, UnknownPeer,
};
use std::time::SystemTime;

#[derive(Clone, Copy, Debug)]
pub(super) struct EmptyNode;

impl Node for EmptyNode {
    fn status(&self) -> Status {
        unreachable!("no body reaches this endpoint")
    }

    fn readiness(&self) -> Readiness {
        unreachable!("no body reaches this endpoint")
    }

    fn health(&self) -> Result<(), String> {
        unreachable!("no body reaches this endpoint")
    }

    fn now(&self) -> SystemTime {
        unreachable!("no body reaches an endpoint that keeps its answers")
    }

    fn metrics(&self) -> String {
        unreachable!("no body reaches this endpoint")
    }

    fn load(&self) -> Option<LoadStatus> {
        None
    }

    fn set_load(&self, target: Target) -> Option<Result<LoadStatus, TargetError>> {
        Some(Ok(LoadStatus {
            transfers_per_second: target.transfers_per_second,
            workload: target.workload,
            signing: target.signing,
            signed: 0,
            rejected: 0,
            held_back: 0,
            overdue: 0,
            exhausted: 0,
            stock: None,
        }))
    }

    fn link_fault(&self) -> Option<LinkFault> {
        None
    }

    fn begin_link_fault(&self, _: LinkFault) -> Result<(), UnknownPeer> {
        Ok(())
    }

    fn end_link_fault(&self) {}

    fn disk_fault(&self) -> Option<DiskFault> {
        None
    }

    fn begin_disk_fault(&self, _: DiskFault) -> Result<(), Unavailable> {
        Ok(())
    }

    fn end_disk_fault(&self) {}

    fn clock_fault(&self) -> Option<ClockFault> {
        None
    }

    fn begin_clock_fault(&self, _: ClockFault) {}

    fn end_clock_fault(&self) {}

    fn begin_process_fault(&self, _: ProcessFault) -> Result<(), Unavailable> {
        Ok(())
    }

    fn profile(&self) -> Option<ProfileStatus> {
        None
    }

    fn begin_profile(&self, _: ProfileKind, _: ProfileExtent) -> Result<(), ProfileOngoing> {
        Ok(())
    }

    fn end_profile(&self) {}

    fn profile_content(&self) -> Option<Bytes> {
        None
    }

    fn log_level(&self) -> LogLevel {
        LogLevel::Info
    }

    fn set_log_level(&self, _: LogLevel) -> Result<(), Unavailable> {
        Ok(())
    }

    async fn submit(&self, transaction: Transaction) -> Result<Submitted, Refusal> {
        Ok(Submitted {
            hash: transaction.hash(),
            shard: ShardId(0),
        })
    }

    async fn submit_all(
        &self,
        transactions: Vec<Transaction>,
    ) -> Vec<(Submitted, Option<Refusal>)> {
        let submitted = |transaction: &Transaction| Submitted {
            hash: transaction.hash(),
            shard: ShardId(0),
        };
        transactions
            .iter()
            .map(|transaction| (submitted(transaction), None))
            .collect()
    }

    async fn outcomes(
        &self,
        asked: Vec<(AccountId, Digest)>,
    ) -> Result<Vec<OutcomeReport>, Unavailable> {
        let unknown = OutcomeReport {
            status: OutcomeStatus::Unknown,
            height: 0,
            reason: String::new(),
        };
        Ok(vec![unknown; asked.len()])
    }

    async fn outcome(&self, _: AccountId, _: Digest) -> Result<OutcomeReport, Unavailable> {
        Ok(OutcomeReport {
            status: OutcomeStatus::Unknown,
            height: 0,
            reason: String::new(),
        })
    }

    async fn account(&self, id: AccountId) -> Result<AccountReport, Unavailable> {
        Ok(AccountReport {
            id,
            shard: ShardId(0),
            exists: false,
            balance: 0,
            nonce: 0,
            height: 0,
        })
    }

    async fn prove_account(
        &self,
        id: AccountId,
    ) -> Result<ProofReport<AccountReport>, Unavailable> {
        Ok(ProofReport {
            proven: self.account(id).await?,
            block_height: 0,
            block_hash: ZERO,
            proof: String::new(),
        })
    }

    async fn prove_outcome(
        &self,
        signer: AccountId,
        hash: Digest,
    ) -> Result<ProofReport<OutcomeReport>, Unavailable> {
        Ok(ProofReport {
            proven: self.outcome(signer, hash).await?,
            block_height: 0,
            block_hash: ZERO,
            proof: String::new(),
        })
    }

    async fn block(&self, height: u64) -> Result<Block, Unavailable> {
        Err(Unavailable(format!("block {height} is not finalised yet")))
    }

    async fn chunk(
        &self,
        _: u64,
        _: ShardId,
    ) -> Result<Option<(ChunkHeader, ChunkBody)>, Unavailable> {
        Ok(None)
    }
}
