// SPDX-License-Identifier: Apache-2.0
//! Who keeps a connection when there are too many.

use std::{collections::BTreeMap, net::IpAddr};
use tokio::{sync::oneshot, time::Instant};

/// All open connections.
#[derive(Debug)]
pub(crate) struct Connections {
    most: usize,
    most_per_address: usize,
    next_place: u64,
    open: BTreeMap<u64, Connection>,
}

#[derive(Debug)]
struct Connection {
    address: IpAddr,
    /// What it does, and since when.
    doing: Doing,
    since: Instant,
    /// When an answer that is being sent has to be.
    sent_by: Option<Instant>,
    /// Dropped, it closes the connection.
    _close: oneshot::Sender<()>,
}

/// In the order in which connections make room for others.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Doing {
    /// It waits for its client.
    Waiting,
    /// Its client waits for the answer to a request.
    Answering,
}

/// The place of a new connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Admitted {
    /// What it is called from now on.
    pub(crate) place: u64,
    /// Whether another one was closed for it.
    pub(crate) displaced: bool,
}

/// Addresses that count as one: whoever has one IPv6 address has its /64.
pub(crate) fn group(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(address) => IpAddr::V6((address.to_bits() & !u128::from(u64::MAX)).into()),
        address @ IpAddr::V4(_) => address,
    }
}

impl Connections {
    /// None yet, and never more than these.
    pub(crate) const fn new(most: usize, most_per_address: usize) -> Self {
        Self {
            most,
            most_per_address,
            next_place: 0,
            open: BTreeMap::new(),
        }
    }

    /// Takes in a connection, which waits for its client from now on. It closes
    /// when `close` is dropped.
    pub(crate) fn admit(
        &mut self,
        address: IpAddr,
        now: Instant,
        close: oneshot::Sender<()>,
    ) -> Admitted {
        let of_address = self
            .open
            .values()
            .filter(|connection| connection.address == address)
            .count();
        let displaced = if of_address >= self.most_per_address {
            self.first_to_go(Some(address))
        } else if self.open.len() >= self.most {
            self.first_to_go(None)
        } else {
            None
        };
        if let Some(place) = displaced {
            self.remove(place);
        }
        let place = self.next_place;
        self.next_place += 1;
        let connection = Connection {
            address,
            doing: Doing::Waiting,
            since: now,
            sent_by: None,
            _close: close,
        };
        self.open.insert(place, connection);
        Admitted {
            place,
            displaced: displaced.is_some(),
        }
    }

    /// The one that waits for its client for the longest; if none does, the one
    /// whose client waits for the longest.
    fn first_to_go(&self, address: Option<IpAddr>) -> Option<u64> {
        self.open
            .iter()
            .filter(|(_, connection)| address.is_none_or(|address| connection.address == address))
            .map(|(place, connection)| (connection.doing, connection.since, *place))
            .min()
            .map(|(_, _, place)| place)
    }

    /// A request is whole, and is being answered.
    pub(crate) fn begin(&mut self, place: u64, now: Instant) {
        self.turn_to(place, Doing::Answering, now);
    }

    /// The client sent or read something, and has to go on with that.
    pub(crate) fn heard(&mut self, place: u64, now: Instant) {
        self.turn_to(place, Doing::Waiting, now);
    }

    /// The client has until then to read an answer, or as long as it likes.
    pub(crate) fn send_by(&mut self, place: u64, end: Option<Instant>) {
        if let Some(connection) = self.open.get_mut(&place) {
            connection.sent_by = end;
        }
    }

    /// When an answer that is being sent has to be.
    pub(crate) fn sent_by(&self, place: u64) -> Option<Instant> {
        self.open.get(&place)?.sent_by
    }

    fn turn_to(&mut self, place: u64, doing: Doing, now: Instant) {
        if let Some(connection) = self.open.get_mut(&place) {
            connection.doing = doing;
            connection.since = now;
        }
    }

    /// Since when a connection waits for its client.
    pub(crate) fn waiting_since(&self, place: u64) -> Option<Instant> {
        let connection = self.open.get(&place)?;
        (connection.doing == Doing::Waiting).then_some(connection.since)
    }

    /// A connection is closed.
    pub(crate) fn remove(&mut self, place: u64) {
        self.open.remove(&place);
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use std::time::Duration;

    struct Test {
        start: Instant,
        connections: Connections,
    }

    impl Test {
        fn new(most: usize, most_per_address: usize) -> Self {
            Self {
                start: Instant::now(),
                connections: Connections::new(most, most_per_address),
            }
        }

        fn at(&self, second: u64) -> Instant {
            self.start + Duration::from_secs(second)
        }

        /// The place of a connection, whether it is another one's, and what tells
        /// that it was closed.
        fn admit(&mut self, from: u8, second: u64) -> (u64, bool, oneshot::Receiver<()>) {
            let (close, closed) = oneshot::channel();
            let (address, now) = (IpAddr::from([10, 0, 0, from]), self.at(second));
            let Admitted { place, displaced } = self.connections.admit(address, now, close);
            (place, displaced, closed)
        }
    }

    fn is_closed(closed: &mut oneshot::Receiver<()>) -> bool {
        closed.try_recv() == Err(oneshot::error::TryRecvError::Closed)
    }

    #[test]
    fn addresses_that_somebody_has_together_count_as_one() {
        let group = |text: &str| group(text.parse().unwrap());
        assert_eq!(group("2001:db8:0:1::1"), group("2001:db8:0:1:ffff::2"));
        assert_ne!(group("2001:db8:0:1::1"), group("2001:db8:0:2::1"));
        assert_ne!(group("10.0.0.1"), group("10.0.0.2"));
        // As a socket for both families shows it.
        assert_eq!(group("::ffff:10.0.0.1"), group("10.0.0.1"));
        assert_ne!(group("::ffff:10.0.0.1"), group("::ffff:10.0.0.2"));
    }

    #[test]
    fn the_longest_waiting_makes_room() {
        let mut test = Test::new(2, 2);
        let (first, _, mut first_closed) = test.admit(1, 1);
        let (_, _, mut second_closed) = test.admit(2, 2);
        // The first has just been answered.
        let (begun, answered) = (test.at(2), test.at(3));
        test.connections.begin(first, begun);
        test.connections.heard(first, answered);
        let (_, displaced, _third) = test.admit(3, 4);
        assert!(displaced);
        assert!(!is_closed(&mut first_closed));
        assert!(is_closed(&mut second_closed));
    }

    #[test]
    fn an_address_makes_room_for_itself() {
        let mut test = Test::new(8, 2);
        let (_, _, mut other) = test.admit(1, 1);
        let mut own: Vec<_> = (2..6).map(|second| test.admit(2, second)).collect();
        let displaced: Vec<_> = own.iter().map(|(_, displaced, _)| *displaced).collect();
        assert_eq!(displaced, [false, false, true, true]);
        let closed: Vec<_> = own
            .iter_mut()
            .map(|(_, _, closed)| is_closed(closed))
            .collect();
        assert_eq!(closed, [true, true, false, false]);
        assert!(!is_closed(&mut other));
    }

    #[test]
    fn who_is_being_answered_goes_last() {
        let mut test = Test::new(2, 2);
        let (first, _, mut first_closed) = test.admit(1, 1);
        let begun = test.at(2);
        test.connections.begin(first, begun);
        assert_eq!(test.connections.waiting_since(first), None);
        let (second, _, mut second_closed) = test.admit(2, 3);
        let (third, displaced, mut third_closed) = test.admit(3, 4);
        assert!(displaced);
        assert!(is_closed(&mut second_closed));
        assert_eq!(test.connections.waiting_since(second), None);
        let begun = test.at(5);
        test.connections.begin(third, begun);
        let (_, displaced, _fourth) = test.admit(4, 6);
        assert!(displaced);
        assert!(is_closed(&mut first_closed));
        assert!(!is_closed(&mut third_closed));
    }
}
