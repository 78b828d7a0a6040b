// SPDX-License-Identifier: Apache-2.0
//! What a node that is built for it gets wrong or delays on purpose.

use clap::Args;
use shardnode_execution::planted::{Fault, plant_everywhere};
use shardnode_production::planted::delay_witnesses;
use std::time::Duration;

/// Options that come before the command.
#[derive(Debug, Args)]
pub(crate) struct PlantedArgs {
    /// What every execution gets wrong, that of a state witness as well.
    #[arg(long, value_name = "FAULT", value_parser = fault)]
    planted_fault: Option<Fault>,
    /// How long every state witness waits before its parts go out.
    #[arg(long, value_name = "MILLISECONDS")]
    planted_witness_delay: Option<u64>,
}

impl PlantedArgs {
    /// Plants what is wanted, for as long as this process runs.
    pub(crate) fn plant(&self) {
        if let Some(fault) = self.planted_fault {
            plant_everywhere(fault);
        }
        if let Some(delay) = self.planted_witness_delay {
            delay_witnesses(Duration::from_millis(delay));
        }
    }
}

fn fault(name: &str) -> Result<Fault, String> {
    Fault::named(name).ok_or_else(|| {
        let names = Fault::ALL.map(|fault| format!("{fault:?}"));
        format!("must be one of {}", names.join(", "))
    })
}
