// SPDX-License-Identifier: Apache-2.0
//! What a node says of its formats, on standard output or in a file.

#![allow(clippy::unwrap_used)]

use shardnode_primitives::namespace::FORMATS;
use std::{
    fs,
    process::{Command, Output},
};

fn formats(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_shardnode"))
        .arg("formats")
        .args(arguments)
        .output()
        .unwrap()
}

#[test]
fn prints_the_number() {
    let output = formats(&[]);
    assert!(output.status.success(), "{output:?}");
    assert_eq!(
        String::from_utf8(output.stdout).unwrap(),
        format!("{FORMATS}\n")
    );
}

#[test]
fn writes_the_number_into_a_file() {
    let path = std::env::temp_dir().join(format!("shardnode-formats-of-{}", std::process::id()));
    let output = formats(&["--file", path.to_str().unwrap()]);
    assert!(output.status.success(), "{output:?}");
    assert_eq!(fs::read_to_string(&path).unwrap(), format!("{FORMATS}\n"));
    fs::remove_file(path).unwrap();
}

#[test]
fn names_a_file_that_cannot_be_written() {
    let output = formats(&["--file", "/absent/formats"]);
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    let message = String::from_utf8(output.stderr).unwrap();
    assert!(message.starts_with("/absent/formats: "), "{message}");
}
