// SPDX-License-Identifier: Apache-2.0
//! A part of the state is as good as all of it.

use crate::{Case, HEIGHT, case};
use proptest::prelude::*;
use shardnode_execution::{
    Applied, ApplyError, ExecutionError, State, StateView, apply, execute, touched,
};
use shardnode_primitives::{AccountId, Digest};
use shardnode_state::{Account, Changes, PartialTree, StateError, StateTree};
use std::{cell::RefCell, collections::BTreeSet};

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
    fn apply(&mut self, changes: &Changes) -> Result<Digest, StateError> {
        self.asked.get_mut().extend(changes.keys());
        self.state.apply(changes)
    }
}

fn run(case: &Case, state: &mut impl State) -> Result<Applied, ApplyError> {
    let execution = execute(state, case.input())?;
    apply(state, execution, HEIGHT, &case.totals())
}

/// What executing the chunk takes of the state, but for one account.
fn part(case: &Case, left_out: Option<&AccountId>) -> PartialTree {
    let mut ids = touched(&case.input());
    let mut changes = execute(&case.state, case.input()).unwrap().changes;
    if let Some(left_out) = left_out {
        ids.remove(left_out);
        changes.remove(left_out);
    }
    let partial = case.state.partial(&ids, &changes);
    partial.verify(&case.state.root()).unwrap()
}

proptest! {
    #[test]
    fn it_comes_to_the_same(case in case()) {
        let mut partial = part(&case, None);
        let execution = execute(&case.state, case.input()).unwrap();
        prop_assert_eq!(execute(&partial, case.input()), Ok(execution.clone()));
        prop_assert_eq!(partial.leaf_count() as usize, case.state.leaves().len());
        prop_assert_eq!(partial.leaf_count(), case.state.leaf_count());
        prop_assert_eq!(partial.check_cover(&touched(&case.input()), &execution.changes), Ok(()));

        let by_part = run(&case, &mut partial);
        let mut state = case.state.clone();
        let by_all = run(&case, &mut state);
        prop_assert_eq!(&by_part, &by_all);
        prop_assert_eq!(partial.root(), state.root());
        prop_assert_eq!(by_all.unwrap().totals.balance, state.balance());
    }

    #[test]
    fn no_other_account_is_asked_for(case in case()) {
        let touched = touched(&case.input());
        let mut state = case.state.clone();
        let mut recorder = Recorder { state: &mut state, asked: RefCell::default() };
        run(&case, &mut recorder).unwrap();
        let asked = recorder.asked.into_inner();
        prop_assert!(asked.is_subset(&touched), "{:?}", asked.difference(&touched));
    }

    #[test]
    fn what_is_missing_is_an_error_or_makes_no_difference(case in case(), at in any::<prop::sample::Index>()) {
        let touched = touched(&case.input());
        prop_assume!(!touched.is_empty());
        let left_out = at.get(&touched.iter().copied().collect::<Vec<_>>()).to_owned();
        let mut partial = part(&case, Some(&left_out));
        let before = partial.root();
        match run(&case, &mut partial) {
            Ok(applied) => prop_assert_eq!(applied, run(&case, &mut case.state.clone()).unwrap()),
            Err(
                ApplyError::Execution(ExecutionError::State(StateError::NotCovered(_)))
                | ApplyError::State(StateError::NotCovered(_)),
            ) => prop_assert_eq!(partial.root(), before),
            Err(error) => prop_assert!(false, "{}", error),
        }
    }

    /// Whatever a chunk does, value goes from one place to another, and no
    /// account is left with too little.
    #[test]
    fn value_is_conserved(case in case()) {
        let mut state = case.state.clone();
        let before = u128::from(state.balance());
        let execution = execute(&state, case.input()).unwrap();
        state.apply(&execution.changes).unwrap();
        let after = [state.balance(), execution.sent, execution.burnt];
        let after: u128 = after.into_iter().map(u128::from).sum();
        prop_assert_eq!(before + u128::from(execution.received), after);
        let least = case.protocol.least_balance;
        for leaf in &state.leaves()[1..] {
            prop_assert!(leaf.account.balance >= least, "{leaf:?}");
        }
    }
}
