// SPDX-License-Identifier: Apache-2.0
//! From how many seeds byzantine producers can choose an epoch's:
//! `seeds PRODUCERS BYZANTINE`.
//!
//! A row is for so many views that end without a block, as [`mod@choices`]
//! counts them over a thousand orders of the leaders: with the turns of byzantine
//! producers alone, with those of so many honest leaders at a height, and with those
//! of all.
//!
//! [`mod@choices`]: shardnode_mandates::security::choices

#![allow(clippy::print_stdout)]

use shardnode_mandates::security::choices::over_orders;
use std::{env, error::Error};

/// Views in vain.
const VIEWS: [usize; 8] = [0, 1, 2, 4, 8, 16, 32, 64];
/// Honest leaders whose views do, at one height.
const VETOES: [usize; 3] = [0, 2, usize::MAX];
/// Orders that are drawn.
const ORDERS: u32 = 1_000;

fn main() -> Result<(), Box<dyn Error>> {
    let counts: Vec<u32> = env::args()
        .skip(1)
        .map(|count| count.parse())
        .collect::<Result<_, _>>()?;
    let [producers, byzantine] = counts[..] else {
        return Err("usage: seeds PRODUCERS BYZANTINE".into());
    };
    if byzantine > producers {
        return Err("there are no more byzantine producers than producers".into());
    }
    println!("| views in vain | own turns only | and two honest ones | and all honest ones |");
    println!("|---|---|---|---|");
    for views in VIEWS
        .into_iter()
        .filter(|views| *views < producers as usize)
    {
        let columns = VETOES.map(|vetoes| {
            let choices = over_orders((producers, byzantine), views, vetoes, ORDERS, 0);
            format!("{}, at most {}", number(choices.mean), number(choices.most))
        });
        println!("| {views} | {} |", columns.join(" | "));
    }
    Ok(())
}

/// One decimal, or three digits of what is large.
fn number(value: f64) -> String {
    match value {
        ..10_000.0 => format!("{value:.1}"),
        _ => format!("{value:.2e}"),
    }
}
