// SPDX-License-Identifier: Apache-2.0
//! Makes a profile of stacks of addresses: names their functions, and adds up what
//! is alike.

use crate::MEAN_INTERVAL_BYTES;
use pprof::protos::{Function, Label, Line, Location, Profile, Sample, ValueType};
use std::{collections::HashMap, ptr};

/// What a stack has of its own innermost functions, up to the one that allocates, is
/// among so many.
const MOST_MACHINERY: usize = 16;

/// What was allocated.
#[derive(Clone, Copy, Default)]
pub(crate) struct Weight {
    pub(crate) objects: f64,
    pub(crate) bytes: f64,
}

#[derive(Default)]
pub(crate) struct Table {
    texts: HashMap<String, i64>,
    functions: HashMap<String, u64>,
    addresses: HashMap<usize, Address>,
    /// By the name of the thread and the functions.
    weights: HashMap<(i64, Vec<u64>), Weight>,
    profile: Profile,
}

/// What is at an address.
#[derive(Clone)]
struct Address {
    /// The functions, those that the compiler has put into others first.
    functions: Vec<u64>,
    /// Whether they allocate and take samples, for whoever called them.
    machinery: bool,
}

impl Table {
    pub(crate) fn add(&mut self, thread: &str, stack: &[usize], weight: Weight) {
        let stack: Vec<Address> = stack.iter().map(|at| self.address(*at)).collect();
        let innermost = &stack[..stack.len().min(MOST_MACHINERY)];
        let machinery = innermost.iter().rposition(|address| address.machinery);
        let callers = stack.into_iter().skip(machinery.map_or(0, |last| last + 1));
        let functions = callers.flat_map(|address| address.functions).collect();
        let key = (self.text(thread), functions);
        let sum = self.weights.entry(key).or_default();
        sum.objects += weight.objects;
        sum.bytes += weight.bytes;
    }

    pub(crate) fn finish(mut self) -> Profile {
        let [space, objects, thread] =
            ["alloc_space", "alloc_objects", "thread"].map(|name| self.text(name));
        let [bytes, count] = ["bytes", "count"].map(|name| self.text(name));
        let kind = |ty, unit| ValueType {
            ty,
            unit,
            ..ValueType::default()
        };
        let samples = self
            .weights
            .into_iter()
            .map(|((name, functions), weight)| Sample {
                location_id: functions,
                value: vec![rounded(weight.objects), rounded(weight.bytes)],
                label: vec![Label {
                    key: thread,
                    str: name,
                    ..Label::default()
                }],
                ..Sample::default()
            });
        self.profile.sample = samples.collect();
        self.profile.sample_type = vec![kind(objects, count), kind(space, bytes)];
        self.profile.default_sample_type = space;
        self.profile.period_type = Some(kind(space, bytes)).into();
        self.profile.period = i64::from(MEAN_INTERVAL_BYTES);
        self.profile
    }

    fn address(&mut self, at: usize) -> Address {
        if let Some(known) = self.addresses.get(&at) {
            return known.clone();
        }
        let mut names = Vec::new();
        backtrace::resolve(ptr::without_provenance_mut(at), |symbol| {
            names.extend(symbol.name().map(|name| format!("{name:#}")));
        });
        let address = Address {
            machinery: names.iter().any(|name| is_machinery(name)),
            functions: names.into_iter().map(|name| self.function(name)).collect(),
        };
        self.addresses.insert(at, address.clone());
        address
    }

    /// A function, and the location of the same number that it is at.
    fn function(&mut self, name: String) -> u64 {
        if let Some(known) = self.functions.get(&name) {
            return *known;
        }
        let text = self.text(&name);
        let id = self.functions.len() as u64 + 1;
        self.profile.function.push(Function {
            id,
            name: text,
            system_name: text,
            ..Function::default()
        });
        self.profile.location.push(Location {
            id,
            line: vec![Line {
                function_id: id,
                ..Line::default()
            }],
            ..Location::default()
        });
        self.functions.insert(name, id);
        id
    }

    fn text(&mut self, text: &str) -> i64 {
        let table = &mut self.profile.string_table;
        if table.is_empty() {
            // The format wants this one first.
            table.push(String::new());
            self.texts.insert(String::new(), 0);
        }
        if let Some(known) = self.texts.get(text) {
            return *known;
        }
        let index = i64::try_from(table.len()).unwrap_or_default();
        table.push(text.into());
        self.texts.insert(text.into(), index);
        index
    }
}

fn is_machinery(name: &str) -> bool {
    ["shardnode_profiles::", "__rust_alloc", "__rust_realloc"]
        .iter()
        .any(|part| name.contains(part))
}

#[allow(clippy::cast_possible_truncation, reason = "it is far below the limit")]
fn rounded(value: f64) -> i64 {
    value.round() as i64
}
