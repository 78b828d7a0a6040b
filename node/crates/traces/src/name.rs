// SPDX-License-Identifier: Apache-2.0
//! The names of spans. They are stable: reports and dashboards know them.

/// What a span is of. The table in the [crate] specifies each.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[allow(missing_docs)]
pub enum Name {
    Block,
    Chunk,
    Gather,
    Execute,
    Record,
    Take,
    Divide,
    RecordHeader,
    RecordBody,
    Distribute,
    WitnessMake,
    WitnessDistribute,
    ReceiveBody,
    ReceivePart,
    WitnessReceive,
    Validate,
    Compare,
    Endorse,
    Endorsed,
    Collect,
    Pace,
    Propose,
    Verify,
    Notarise,
    Finalise,
    RecordBlock,
}

/// What a span is part of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Parent {
    /// Nothing: it is the block itself.
    None,
    /// The block of its height.
    Block,
    /// The chunk of its height and shard.
    Chunk,
}

impl Name {
    /// All of them, in the order of the table.
    pub const ALL: [Self; 26] = [
        Self::Block,
        Self::Chunk,
        Self::Gather,
        Self::Execute,
        Self::Record,
        Self::Take,
        Self::Divide,
        Self::RecordHeader,
        Self::RecordBody,
        Self::Distribute,
        Self::WitnessMake,
        Self::WitnessDistribute,
        Self::ReceiveBody,
        Self::ReceivePart,
        Self::WitnessReceive,
        Self::Validate,
        Self::Compare,
        Self::Endorse,
        Self::Endorsed,
        Self::Collect,
        Self::Pace,
        Self::Propose,
        Self::Verify,
        Self::Notarise,
        Self::Finalise,
        Self::RecordBlock,
    ];

    /// As it is exported.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Block => "block",
            Self::Chunk => "chunk",
            Self::Gather => "gather",
            Self::Execute => "execute",
            Self::Record => "record",
            Self::Take => "take",
            Self::Divide => "divide",
            Self::RecordHeader => "record_header",
            Self::RecordBody => "record_body",
            Self::Distribute => "distribute",
            Self::WitnessMake => "witness_make",
            Self::WitnessDistribute => "witness_distribute",
            Self::ReceiveBody => "receive_body",
            Self::ReceivePart => "receive_part",
            Self::WitnessReceive => "witness_receive",
            Self::Validate => "validate",
            Self::Compare => "compare",
            Self::Endorse => "endorse",
            Self::Endorsed => "endorsed",
            Self::Collect => "collect",
            Self::Pace => "pace",
            Self::Propose => "propose",
            Self::Verify => "verify",
            Self::Notarise => "notarise",
            Self::Finalise => "finalise",
            Self::RecordBlock => "record_block",
        }
    }

    /// What it is part of.
    #[must_use]
    pub const fn parent(self) -> Parent {
        match self {
            Self::Block => Parent::None,
            Self::Chunk
            | Self::Collect
            | Self::Pace
            | Self::Propose
            | Self::Verify
            | Self::Notarise
            | Self::Finalise
            | Self::RecordBlock => Parent::Block,
            Self::Gather
            | Self::Execute
            | Self::Record
            | Self::Take
            | Self::Divide
            | Self::RecordHeader
            | Self::RecordBody
            | Self::Distribute
            | Self::WitnessMake
            | Self::WitnessDistribute
            | Self::ReceiveBody
            | Self::ReceivePart
            | Self::WitnessReceive
            | Self::Validate
            | Self::Compare
            | Self::Endorse
            | Self::Endorsed => Parent::Chunk,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The first cells of the table's rows.
    fn rows(text: &str) -> Vec<&str> {
        let rows = text.lines().skip_while(|line| !line.contains("| span | "));
        let rows = rows.skip(2).map(|line| line.trim_start_matches("//! "));
        let rows = rows.take_while(|line| line.starts_with('|'));
        rows.filter_map(|line| line.split('`').nth(1)).collect()
    }

    #[test]
    fn every_span_is_specified_here_and_in_the_node_contract() {
        let names = Name::ALL.map(Name::as_str);
        assert_eq!(rows(include_str!("lib.rs")), names);
        let contract = include_str!("../../../../docs/node-contract.md");
        assert_eq!(rows(contract), names);
    }
}
