// SPDX-License-Identifier: Apache-2.0
//! `shardnode committee`: its answers, what it refuses, and that the document
//! about the protocol shows what it prints.

#![allow(clippy::unwrap_used)]

use serde_json::{Value, json};
use std::process::{Command, Output};

fn committee<'a>(arguments: impl IntoIterator<Item = &'a str>) -> Output {
    Command::new(env!("CARGO_BIN_EXE_shardnode"))
        .arg("committee")
        .args(arguments)
        .output()
        .unwrap()
}

/// What it prints for these arguments, separated by spaces.
fn answer(arguments: &str) -> String {
    let output = committee(arguments.split_whitespace());
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{arguments}: {errors}");
    String::from_utf8(output.stdout).unwrap()
}

fn json_answer(arguments: &str) -> Value {
    serde_json::from_str(&answer(&format!("{arguments} -o json"))).unwrap()
}

#[test]
fn half_the_committees_of_four_validators_wait_for_a_dead_one() {
    let network = "--validators 4 --shards 2 --mandates-per-shard 6 --byzantine-stake 0.25";
    let report = json_answer(&format!("{network} --samples 1000"));
    let stalled = &report["computed"]["stalled"];
    let close = |value: &Value, to: f64| (value.as_f64().unwrap() - to).abs() < 1e-9;
    assert!(close(&stalled["oneShard"], 0.5), "{stalled}");
    assert!(close(&stalled["anyShard"], 1.0), "{stalled}");
    assert!(close(&stalled["meanSecondsBetween"], 0.6), "{stalled}");
    assert_eq!(
        report["computed"]["corrupted"],
        json!({"oneShard": 0.0, "anyShard": 0.0, "meanSecondsBetween": null})
    );
    // The dead one's three mandates are two and one, or three and none.
    assert_eq!(
        report["dealt"],
        json!({
            "heights": 1000, "committees": 2000,
            "stalled": {"committees": 1000, "heights": 1000},
            "corrupted": {"committees": 0, "heights": 0},
        })
    );
    for (field, value) in [
        ("validators", 4),
        ("byzantineValidators", 1),
        ("shards", 2),
        ("mandates", 12),
        ("byzantineMandates", 3),
        ("smallestCommittee", 6),
        ("largestCommittee", 6),
        ("blockTimeMs", 600),
    ] {
        assert_eq!(report[field], value, "{field}");
    }
}

#[test]
fn dealing_is_asked_for_and_seeded() {
    let network = "--validators 12 --shards 4 --mandates-per-shard 5 --byzantine-stake 0.4";
    assert_eq!(json_answer(network)["dealt"], Value::Null);
    let dealt = |seed: &str| {
        let report = json_answer(&format!("{network} --samples 2000 --seed {seed}"));
        report["dealt"].clone()
    };
    assert_eq!(dealt("1"), dealt("1"));
    assert_ne!(dealt("1"), dealt("2"));
    assert_ne!(dealt("1"), dealt("18446744073709551615"));
}

#[test]
fn the_time_between_events_is_counted_in_block_times() {
    let network = "--validators 12 --shards 4 --mandates-per-shard 5 --byzantine-stake 0.4";
    let corrupted = |arguments: &str| json_answer(arguments)["computed"]["corrupted"].clone();
    let slow = corrupted(&format!("{network} --block-time-ms 1500"));
    let seconds = slow["meanSecondsBetween"].as_f64().unwrap();
    let odds = slow["anyShard"].as_f64().unwrap();
    assert!((seconds * odds - 1.5).abs() < 1e-9, "{slow}");
}

#[test]
fn byzantine_validators_are_whole_ones() {
    for (fraction, validators) in [
        ("1/3", 33),
        ("2/3", 66),
        ("0.29", 29),
        ("0.999999999", 99),
        ("0", 0),
        ("1", 100),
        ("1.0", 100),
        ("100/100", 100),
    ] {
        let network = format!(
            "--validators 100 --shards 2 --mandates-per-shard 10 --byzantine-stake {fraction}"
        );
        let report = json_answer(&network);
        assert_eq!(report["byzantineValidators"], validators, "{fraction}");
    }
}

#[test]
fn wrong_arguments_are_named() {
    let right = [
        ("--validators", "4"),
        ("--shards", "2"),
        ("--mandates-per-shard", "6"),
        ("--byzantine-stake", "0.25"),
        ("--block-time-ms", "600"),
        ("--samples", "10"),
        ("--seed", "7"),
    ];
    let fraction = "must be from 0 to 1 with at most 9 decimals";
    for (argument, value, reason) in [
        ("--validators", "0", "0 is not in 1..=50000"),
        ("--shards", "1025", "1025 is not in 1..=1024"),
        ("--mandates-per-shard", "0", "0 is not in 1..=50000"),
        // In range by itself, and too many for two shards.
        (
            "--mandates-per-shard",
            "25001",
            "50004 mandates are more than 50000",
        ),
        ("--byzantine-stake", "1.1", fraction),
        ("--byzantine-stake", "4/3", fraction),
        ("--byzantine-stake", "1/0", fraction),
        ("--byzantine-stake", "+1/3", fraction),
        ("--byzantine-stake", ".5", fraction),
        ("--byzantine-stake", "0.0000000001", fraction),
        ("--byzantine-stake", "5000000000", fraction),
        ("--byzantine-stake", "a third", fraction),
        ("--block-time-ms", "0", "0 is not in 1.."),
        ("--samples", "0", "0 is not in 1..=10000000"),
        ("--seed", "seven", "invalid digit"),
    ] {
        let arguments = right.iter().flat_map(|(name, given)| {
            let wrong = *name == argument;
            [*name, if wrong { value } else { *given }]
        });
        let output = committee(arguments);
        let errors = String::from_utf8_lossy(&output.stderr);
        assert_eq!(
            output.status.code(),
            Some(2),
            "{argument} {value}: {errors}"
        );
        assert!(output.stdout.is_empty(), "{argument} {value}");
        let named = errors.contains(&format!("'{argument} <"));
        assert!(
            named && errors.contains(reason),
            "{argument} {value}: {errors}"
        );
    }
}

#[test]
fn a_seed_without_anything_to_deal_is_refused() {
    let network = "--validators 4 --shards 2 --mandates-per-shard 6 --byzantine-stake 0.25";
    let output = committee(network.split(' ').chain(["--seed", "7"]));
    let errors = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2));
    assert!(errors.contains("--samples <HEIGHTS>"), "{errors}");
}

const DOCUMENT: &str = include_str!("../../../../docs/protocol.md");
const PROMPT: &str = "$ shardnode committee ";

#[test]
fn the_document_shows_what_the_command_prints() {
    let blocks: Vec<&str> = DOCUMENT
        .split("```console\n")
        .skip(1)
        .map(|rest| rest.split_once("\n```").unwrap().0)
        .collect();
    assert!(
        blocks.len() >= 2,
        "the document shows {} runs",
        blocks.len()
    );
    for block in blocks {
        let (command, shown) = block.split_once('\n').unwrap();
        let arguments = command.strip_prefix(PROMPT).unwrap();
        assert_eq!(answer(arguments).trim_end(), shown, "{arguments}");
    }
}

/// Each row of the table of odds is the last lines of a run with the
/// arguments that the row and the line above the table say.
#[test]
fn the_table_of_the_document_is_what_the_command_computes() {
    const HEADER: &str = "| validators | shards | mandates | byzantine stake \
                          | can stall | can corrupt | once in |";
    let (_, table) = DOCUMENT.split_once(HEADER).unwrap();
    let rows: Vec<Vec<&str>> = table
        .lines()
        .skip(2)
        .take_while(|line| line.starts_with('|'))
        .map(|line| line.trim_matches('|').split('|').map(str::trim).collect())
        .collect();
    assert!(rows.len() >= 5, "the table has {} rows", rows.len());
    for row in rows {
        let [validators, shards, mandates, stake, stall, corrupt, once_in] = row[..] else {
            panic!("{row:?} is not a row of seven");
        };
        let printed = answer(&format!(
            "--validators {validators} --shards {shards} --mandates-per-shard {mandates} \
             --byzantine-stake {stake}"
        ));
        let columns = |name: &str| -> Vec<String> {
            let line = printed.lines().find(|line| line.starts_with(name)).unwrap();
            let columns = line.split("  ").map(str::trim);
            columns
                .filter(|column| !column.is_empty())
                .map(str::to_owned)
                .collect()
        };
        // Of any shard.
        assert_eq!(columns("can stall")[2], stall, "{row:?}");
        assert_eq!(columns("can corrupt")[2..], [corrupt, once_in], "{row:?}");
    }
}
