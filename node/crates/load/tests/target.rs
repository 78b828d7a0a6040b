// SPDX-License-Identifier: Apache-2.0
//! Which loads can be taken from a stock, and what is said of the others.

use shardnode_load::{Signing, Stock, Target, TargetError, Workload, WorkloadError};

fn stock() -> Stock {
    Stock {
        transfers: 10,
        workload: Workload::default(),
        signed: 10,
        left: 3,
        failure: None,
    }
}

#[test]
fn a_stock_that_is_whole_is_for_its_workload() {
    let workload = Workload::default();
    assert_eq!(stock().check(&workload), Ok(()));
    let used_up = Stock { left: 0, ..stock() };
    assert_eq!(used_up.check(&workload), Ok(()), "what is due is counted");
    let other = Workload {
        within_shard_percent: Some(10),
        ..workload
    };
    assert_eq!(stock().check(&other), Err(TargetError::OtherWorkload));
    let unfinished = Stock {
        signed: 9,
        ..stock()
    };
    let refusal = TargetError::Unfinished {
        signed: 9,
        transfers: 10,
    };
    assert_eq!(unfinished.check(&workload), Err(refusal));
    let failed = Stock {
        failure: Some("no room".into()),
        ..stock()
    };
    let refusal = TargetError::Failed("no room".into());
    assert_eq!(failed.check(&workload), Err(refusal));
}

/// What is said begins with the field that it is about.
#[test]
fn refusals_name_the_field() {
    for (refusal, words) in [
        (
            TargetError::Workload(WorkloadError::Percent),
            "workload.withinShardPercent: must be at most 100",
        ),
        (TargetError::Size, "stock: must be from 1 to 100000000"),
        (
            TargetError::Unfinished {
                signed: 9,
                transfers: 10,
            },
            "signing: 9 of 10 transfers are signed yet",
        ),
    ] {
        assert_eq!(refusal.to_string(), words);
    }
}

#[test]
fn a_target_is_read_with_its_defaults() {
    let read = |text| serde_json::from_str::<Target>(text);
    let least = read(r#"{"transfersPerSecond": 5}"#).unwrap();
    let expected = Target {
        transfers_per_second: 5,
        ..Target::default()
    };
    assert_eq!((least, least.signing), (expected, Signing::Live));
    let whole = read(
        r#"{"transfersPerSecond": 0, "workload": {"withinShardPercent": 7}, "signing": "Before", "stock": 8}"#,
    );
    let whole = whole.unwrap();
    assert_eq!(whole.workload.within_shard_percent, Some(7));
    assert_eq!((whole.signing, whole.stock), (Signing::Before, Some(8)));
    for wrong in [
        "{}",
        r#"{"transfersPerSecond": 5, "burst": 1}"#,
        r#"{"transfersPerSecond": 5, "signing": "before"}"#,
        r#"{"transfersPerSecond": 5, "stock": 4294967296}"#,
    ] {
        assert!(read(wrong).is_err(), "{wrong}");
    }
}
