// SPDX-License-Identifier: Apache-2.0
//! When transfers are due, whatever became of those before them.
//!
//! The schedule of a run is one sequence: transfer `n` is due `n * every` after
//! the start. Of `U` users that each send one every `T`, user `n mod U` sends
//! transfer `n`, and `every` is `T / U`: their turns are spread evenly. A fixed
//! rate is that with a user for each connection.
//!
//! A connection has the users whose number is its own modulo the number of
//! connections, so all that one account signs goes one way, in order. What a
//! connection was too late for stays due: latency is counted from when a
//! transfer was due and not from when it was sent.

use std::time::Duration;

/// Between two transfers of a run: so many nanoseconds for so many transfers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Every {
    nanos: u128,
    transfers: u128,
}

impl Every {
    /// Transfers a second.
    #[must_use]
    pub fn at_rate(transfers_per_second: u32) -> Self {
        Self {
            nanos: Duration::from_secs(1).as_nanos(),
            transfers: transfers_per_second.max(1).into(),
        }
    }

    /// So many users, each with one transfer every `every`.
    #[must_use]
    pub fn of_users(users: u32, every: Duration) -> Self {
        Self {
            nanos: every.as_nanos(),
            transfers: users.max(1).into(),
        }
    }
}

/// A transfer that is due.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Due {
    /// Since the start.
    pub at: Duration,
    /// Which of the connection's users sends it.
    pub user: usize,
}

/// What one connection has to send.
#[derive(Clone, Debug)]
pub struct Schedule {
    every: Every,
    users: u64,
    connection: u64,
    connections: u64,
    length: Duration,
    taken: u64,
}

impl Schedule {
    /// The part of a connection in a run of this length. There are at least as
    /// many users as connections.
    #[must_use]
    pub const fn new(
        every: Every,
        users: u32,
        connection: u32,
        connections: u32,
        length: Duration,
    ) -> Self {
        Self {
            every,
            users: users as u64,
            connection: connection as u64,
            connections: connections as u64,
            length,
            taken: 0,
        }
    }

    /// How long the run lasts.
    #[must_use]
    pub const fn length(&self) -> Duration {
        self.length
    }

    /// The next transfer; `None` after the last.
    #[must_use]
    pub fn next(&self) -> Option<Due> {
        let own = self.users.saturating_sub(self.connection);
        let own = own.div_ceil(self.connections.max(1));
        let round = self.taken.checked_div(own)?;
        let user = self.taken % own;
        let number = round * self.users + self.connection + user * self.connections;
        let nanos = u128::from(number) * self.every.nanos / self.every.transfers;
        let at = Duration::from_nanos(u64::try_from(nanos).ok()?);
        let user = usize::try_from(user).ok()?;
        (at < self.length).then_some(Due { at, user })
    }

    /// Takes the next transfer if it is due.
    pub fn take(&mut self, now: Duration) -> Option<Due> {
        let due = self.next().filter(|due| due.at <= now)?;
        self.taken += 1;
        Some(due)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const SECOND: Duration = Duration::from_secs(1);

    fn rate(rate: u32, connection: u32, connections: u32, length: Duration) -> Schedule {
        let every = Every::at_rate(rate);
        Schedule::new(every, connections, connection, connections, length)
    }

    fn all(mut schedule: Schedule) -> Vec<Due> {
        std::iter::from_fn(|| schedule.take(Duration::MAX)).collect()
    }

    #[test]
    fn nothing_is_due_before_its_time() {
        let mut schedule = rate(4, 0, 1, SECOND);
        assert_eq!(schedule.take(Duration::ZERO).unwrap().at, Duration::ZERO);
        assert_eq!(schedule.take(SECOND / 4 - Duration::from_nanos(1)), None);
        assert_eq!(schedule.take(SECOND / 4).unwrap().at, SECOND / 4);
    }

    /// A connection that was held up finds all that became due meanwhile, each
    /// with the time at which it was.
    #[test]
    fn what_was_missed_stays_due_at_its_time() {
        let mut schedule = rate(10, 0, 1, SECOND * 2);
        let late = SECOND + SECOND / 2;
        let found: Vec<_> = std::iter::from_fn(|| schedule.take(late)).collect();
        assert_eq!(found.len(), 16);
        assert_eq!(found[3].at, SECOND * 3 / 10);
        assert_eq!(found[15].at, late);
    }

    #[test]
    fn each_user_sends_once_in_its_time() {
        // Five users every ten seconds, on two connections: 0, 2, 4 and 1, 3.
        let every = Every::of_users(5, SECOND * 10);
        let first = all(Schedule::new(every, 5, 0, 2, SECOND * 20));
        let second = all(Schedule::new(every, 5, 1, 2, SECOND * 20));
        let listed = |dues: &[Due]| -> Vec<_> {
            dues.iter()
                .map(|due| (due.at.as_secs(), due.user))
                .collect()
        };
        assert_eq!(
            listed(&first),
            [(0, 0), (4, 1), (8, 2), (10, 0), (14, 1), (18, 2)]
        );
        assert_eq!(listed(&second), [(2, 0), (6, 1), (12, 0), (16, 1)]);
    }

    proptest! {
        /// Whatever the connections: together they send at the rate, none more
        /// than its share, and none late.
        #[test]
        fn connections_divide_the_rate(per_second in 1u32..5_000, connections in 1u32..20, seconds in 1u64..4) {
            let length = SECOND * u32::try_from(seconds).unwrap();
            let mut ats: Vec<_> = (0..connections)
                .flat_map(|connection| all(rate(per_second, connection, connections, length)))
                .map(|due| due.at)
                .collect();
            ats.sort_unstable();
            prop_assert_eq!(ats.len() as u64, u64::from(per_second) * seconds);
            for (number, at) in (0u128..).zip(ats) {
                prop_assert_eq!(at.as_nanos(), number * 1_000_000_000 / u128::from(per_second));
            }
        }
    }
}
