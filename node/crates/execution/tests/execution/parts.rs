// SPDX-License-Identifier: Apache-2.0
//! A part of the state is as good as all of it.

use crate::{Case, case};
use proptest::prelude::*;
use shardnode_execution::{ApplyError, ExecutionError, State, StateView, apply, execute, touched};
use shardnode_primitives::{AccountId, Digest};
use shardnode_state::{Account, StateError, StateTree};
use std::{
    cell::RefCell,
    collections::{BTreeMap, BTreeSet},
};

/// Notes every account that is asked for or changed.
struct Recorder<'a> {
    state: &'a mut StateTree,
    asked: RefCell<BTreeSet<AccountId>>,
}

impl StateView for Recorder<'_> {
    fn account(&self, id: &AccountId) -> Result<Option<Account>, StateError> {
        self.asked.borrow_mut().insert(*id);
        Ok(self.state.get(id))
    }

    fn leaf_count(&self) -> u32 {
        self.state.leaf_count()
    }
}

impl State for Recorder<'_> {
    fn apply(&mut self, changes: &BTreeMap<AccountId, Account>) -> Result<Digest, StateError> {
        self.asked.get_mut().extend(changes.keys());
        self.state.apply(changes)
    }
}

/// The part that the chunk touches, with one account of it left out.
fn without(case: &Case, left_out: &AccountId) -> shardnode_state::PartialTree {
    let mut ids = touched(&case.input());
    ids.remove(left_out);
    let partial = case.state.partial(&ids);
    partial.verify(&case.state.root()).unwrap()
}

proptest! {
    #[test]
    fn it_comes_to_the_same(mut case in case()) {
        let totals = case.totals();
        let partial = case.state.partial(&touched(&case.input()));
        let mut partial = partial.verify(&case.state.root()).unwrap();
        prop_assert_eq!(execute(&partial, case.input()), execute(&case.state, case.input()));

        let by_part = apply(&mut partial, case.input(), &totals);
        let mut state = std::mem::take(&mut case.state);
        let by_all = apply(&mut state, case.input(), &totals);
        prop_assert_eq!(&by_part, &by_all);
        prop_assert_eq!(partial.root(), state.root());
        prop_assert_eq!(by_all.unwrap().totals.balance, state.balance());
    }

    #[test]
    fn no_other_account_is_asked_for(mut case in case()) {
        let totals = case.totals();
        let touched = touched(&case.input());
        let mut state = std::mem::take(&mut case.state);
        let mut recorder = Recorder { state: &mut state, asked: RefCell::default() };
        apply(&mut recorder, case.input(), &totals).unwrap();
        let asked = recorder.asked.into_inner();
        prop_assert!(asked.is_subset(&touched), "{:?}", asked.difference(&touched));
    }

    #[test]
    fn what_is_missing_is_an_error_or_makes_no_difference(case in case(), at in any::<prop::sample::Index>()) {
        let touched = touched(&case.input());
        prop_assume!(!touched.is_empty());
        let left_out = at.get(&touched.iter().copied().collect::<Vec<_>>()).to_owned();
        let mut partial = without(&case, &left_out);
        let before = partial.root();
        match apply(&mut partial, case.input(), &case.totals()) {
            Ok(applied) => {
                let whole = apply(&mut case.state.clone(), case.input(), &case.totals()).unwrap();
                prop_assert_eq!(applied, whole);
            }
            Err(
                ApplyError::Execution(ExecutionError::State(StateError::NotCovered(_)))
                | ApplyError::State(StateError::NotCovered(_)),
            ) => prop_assert_eq!(partial.root(), before),
            Err(error) => prop_assert!(false, "{}", error),
        }
    }
}
