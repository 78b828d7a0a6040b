// SPDX-License-Identifier: Apache-2.0
//! The order in which an actor takes up what is ready.
//!
//! `select!` prefers what comes first in it, always: an input that is always
//! ready keeps an actor from all that follow. So an actor has its inputs in this
//! order:
//!
//! 1. What it has under way and is done, such as a check that it started.
//! 2. What other actors of this node tell or ask it.
//! 3. What peers send, with every channel in its turn ([`Turns`]).
//!
//! The first two need no turns. They are bounded by what the third was let in
//! for, and by what this node itself does for a block, and end therefore; while
//! they are in front, whatever peers send only waits in its own channel, where
//! it costs nobody else anything. The third never ends, if a peer wants that, so
//! that nothing may come after it, and none of its channels before another.
//!
//! What is due at a time is looked for after every message, whatever it is: no
//! input can keep the time from passing.

use std::{
    future::{Future, poll_fn},
    pin::Pin,
    task::Poll,
};

/// An input: the next message of it, as all inputs have them.
pub type Input<'a, T> = Pin<&'a mut (dyn Future<Output = T> + Send)>;

/// Whose turn it is among some inputs.
#[derive(Clone, Copy, Debug, Default)]
pub struct Turns(usize);

impl Turns {
    /// The next message of any input: of the first that has one, beginning with
    /// the one after that which had the last turn. An input waits for no more
    /// than one message of each other one.
    pub async fn next<T, const N: usize>(&mut self, mut inputs: [Input<'_, T>; N]) -> T {
        let first = self.0;
        let (place, message) = poll_fn(|context| {
            for place in (first..first + N).map(|place| place % N) {
                if let Poll::Ready(message) = inputs[place].as_mut().poll(context) {
                    return Poll::Ready((place, message));
                }
            }
            Poll::Pending
        })
        .await;
        self.0 = (place + 1) % N;
        message
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use futures::{FutureExt as _, future::pending};
    use std::pin::pin;

    /// The next message, when the inputs named are the ones that have some.
    fn next(turns: &mut Turns, ready: [bool; 3]) -> Option<usize> {
        let input = |place: usize| async move {
            if !ready[place] {
                pending::<()>().await;
            }
            place
        };
        let (a, b, c) = (pin!(input(0)), pin!(input(1)), pin!(input(2)));
        turns.next([a, b, c]).now_or_never()
    }

    #[test]
    fn every_input_has_its_turn() {
        let mut turns = Turns::default();
        let taken = [(); 7].map(|()| next(&mut turns, [true; 3]).unwrap());
        assert_eq!(taken, [0, 1, 2, 0, 1, 2, 0]);
    }

    #[test]
    fn an_input_without_messages_is_passed_over() {
        let mut turns = Turns::default();
        let taken = [(); 4].map(|()| next(&mut turns, [true, false, true]).unwrap());
        assert_eq!(taken, [0, 2, 0, 2]);
        assert_eq!(next(&mut turns, [false; 3]), None);
        assert_eq!(next(&mut turns, [false, true, false]), Some(1));
        // It had a turn just now.
        assert_eq!(next(&mut turns, [true; 3]), Some(2));
    }
}
