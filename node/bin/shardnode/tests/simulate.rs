// SPDX-License-Identifier: Apache-2.0
//! `shardnode simulate`: what it prints, what it refuses, and that its guide
//! shows the scenarios that there are.

#![allow(clippy::unwrap_used)]

use std::process::{Command, Output};

fn simulate(arguments: &str) -> Output {
    Command::new(env!("CARGO_BIN_EXE_shardnode"))
        .arg("simulate")
        .args(arguments.split_whitespace())
        .output()
        .unwrap()
}

#[test]
fn the_guide_shows_the_list() {
    let guide = include_str!("../../../../docs/guides/simulator.md");
    let output = simulate("--list");
    assert!(output.status.success());
    let list = String::from_utf8(output.stdout).unwrap();
    assert!(list.lines().count() > 10, "{list}");
    assert!(
        guide.contains(&list),
        "docs/guides/simulator.md must hold\n{list}"
    );
}

#[test]
fn one_seed_runs() {
    let output = simulate("--scenario calm --seed 3");
    let printed = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success(), "{printed}");
    assert!(
        printed.starts_with("calm: holds; 1 seeds, 0 violated, "),
        "{printed}"
    );
}

#[test]
fn what_makes_no_sense_is_refused() {
    for (arguments, named) in [
        ("--scenario nonsense", "--scenario <NAME>"),
        ("--scenario calm --seeds 5..5", "--seeds <FIRST..LAST>"),
        ("--scenario calm --seeds 5", "--seeds <FIRST..LAST>"),
        (
            "--scenario calm --seed 1 --seeds 0..2",
            "--seeds <FIRST..LAST>",
        ),
        ("--seed 1", "--scenario <NAME>"),
        ("--list --seed 1", "--list"),
        ("--costs --scenario calm", "--costs"),
    ] {
        let output = simulate(arguments);
        let errors = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{arguments}: {errors}");
        assert!(errors.contains(named), "{arguments}: {errors}");
        assert!(output.stdout.is_empty(), "{arguments}");
    }
}

#[test]
fn work_is_measured() {
    let output = simulate("--costs");
    let printed = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success(), "{printed}");
    let rows: Vec<_> = printed.lines().skip(2).collect();
    assert_eq!(rows.len(), 6, "{printed}");
    for row in rows {
        let mut cells = row.trim_matches(['|', ' ']).split(" | ").skip(1);
        let (here, simulated) = (cells.next().unwrap(), cells.next().unwrap());
        let (here, simulated): (f64, f64) = (here.parse().unwrap(), simulated.parse().unwrap());
        assert!(here > 0.0 && simulated > here / 10.0, "{printed}");
    }
}
