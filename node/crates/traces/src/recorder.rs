// SPDX-License-Identifier: Apache-2.0
//! Takes spans from the actors of a node.

use crate::{
    exemplar::Exemplar,
    ids,
    metrics::Metrics,
    name::Name,
    sampling::Sampling,
    span::{Detail, Place, Span},
};
use commonware_runtime::Clock;
use commonware_utils::channel::mpsc;
use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, PoisonError},
    time::SystemTime,
};

/// Spans that wait to be exported, at most. A node of a network of 70 shards
/// records a few hundred for each block.
const WAITING: usize = 16_384;

/// Heights of which it is known when they became final, and not yet asked for.
const FINALISED: usize = 64;

#[derive(Debug)]
struct Inner {
    sampling: Sampling,
    spans: mpsc::Sender<Span>,
    metrics: Metrics,
    finalised: Mutex<BTreeMap<u64, SystemTime>>,
}

/// Takes spans, unless tracing is off. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Recorder(Option<Arc<Inner>>);

impl Recorder {
    /// Records nothing.
    pub const OFF: Self = Self(None);

    /// Records the heights of `sampling`; whoever exports reads the other end.
    #[must_use]
    pub fn new(sampling: Sampling, metrics: Metrics) -> (Self, mpsc::Receiver<Span>) {
        let (spans, recorded) = mpsc::channel(WAITING);
        let inner = Inner {
            sampling,
            spans,
            metrics,
            finalised: Mutex::default(),
        };
        (Self(Some(Arc::new(inner))), recorded)
    }

    /// Whether any height is traced.
    #[must_use]
    pub const fn is_on(&self) -> bool {
        self.0.is_some()
    }

    fn at(&self, height: u64) -> Option<&Arc<Inner>> {
        let inner = self.0.as_ref()?;
        inner.sampling.traces(height).then_some(inner)
    }

    /// Whether a height is traced.
    #[must_use]
    pub fn traces(&self, height: u64) -> bool {
        self.at(height).is_some()
    }

    /// Something begins now. What is dropped before its end is not recorded.
    pub fn begin(&self, clock: &impl Clock, name: Name, place: Place, detail: Detail) -> Begun {
        Begun(self.at(place.height).map(|inner| {
            let begin = clock.current();
            let span = Span {
                name,
                place,
                detail,
                begin,
                end: begin,
            };
            (inner.clone(), span)
        }))
    }

    /// Something began at `begin` and ends now.
    pub fn end(
        &self,
        clock: &impl Clock,
        name: Name,
        place: Place,
        detail: Detail,
        begin: SystemTime,
    ) {
        if let Some(inner) = self.at(place.height) {
            let end = clock.current();
            inner.take(Span {
                name,
                place,
                detail,
                begin,
                end,
            });
        }
    }

    /// What a measurement of this height, made now, is known by; `None` if the
    /// height is not traced.
    #[must_use]
    pub fn exemplar(&self, clock: &impl Clock, height: u64) -> Option<Exemplar> {
        let inner = self.at(height)?;
        let trace = ids::trace(inner.sampling.genesis(), height);
        Some(Exemplar::new(trace, height, clock.current()))
    }

    /// The block of this height became final now, by the certificate that this
    /// node has.
    pub fn finalised(&self, clock: &impl Clock, height: u64) {
        if let Some(inner) = self.at(height) {
            let mut finalised = inner.finalised();
            finalised.entry(height).or_insert_with(|| clock.current());
            if finalised.len() > FINALISED {
                finalised.pop_first();
            }
        }
    }

    /// When the block of this height became final, of a height that is traced;
    /// once.
    #[must_use]
    pub fn when_finalised(&self, height: u64) -> Option<SystemTime> {
        self.at(height)?.finalised().remove(&height)
    }
}

impl Inner {
    fn finalised(&self) -> std::sync::MutexGuard<'_, BTreeMap<u64, SystemTime>> {
        self.finalised
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    fn take(&self, mut span: Span) {
        // A clock that was set back makes no span that ends before it begins.
        span.end = span.end.max(span.begin);
        self.metrics.recorded();
        if self.spans.try_send(span).is_err() {
            self.metrics.overran();
        }
    }
}

/// Something that has begun; nothing if its height is not traced.
#[derive(Debug)]
#[must_use = "what does not end is not recorded"]
pub struct Begun(Option<(Arc<Inner>, Span)>);

impl Begun {
    /// It ends now.
    pub fn end(self, clock: &impl Clock) {
        if let Some((inner, mut span)) = self.0 {
            span.end = clock.current();
            inner.take(span);
        }
    }

    /// It ends now, and what is said of it is known only now.
    pub fn end_as(mut self, clock: &impl Clock, detail: Detail) {
        if let Some((_, span)) = &mut self.0 {
            span.detail = detail;
        }
        self.end(clock);
    }

    /// It ends now, and `next` of the same begins.
    pub fn then(self, clock: &impl Clock, next: Name) -> Self {
        let Some((inner, mut span)) = self.0 else {
            return Self(None);
        };
        span.end = clock.current();
        let following = Span {
            name: next,
            begin: span.end,
            ..span
        };
        inner.take(span);
        Self(Some((inner, following)))
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::sampling::BasisPoints;
    use commonware_runtime::{Runner as _, deterministic};
    use prometheus_client::{encoding::text::encode, registry::Registry};
    use shardnode_primitives::Digest;
    use std::time::Duration;

    fn recorder(basis_points: u16) -> (Recorder, mpsc::Receiver<Span>, Registry) {
        let mut registry = Registry::default();
        let metrics = Metrics::new(&mut registry);
        let rate = BasisPoints::new(basis_points).unwrap();
        let sampling = Sampling::new(Digest([1; 32]), rate);
        let (recorder, spans) = Recorder::new(sampling, metrics);
        (recorder, spans, registry)
    }

    #[test]
    fn what_follows_begins_where_the_last_one_ends() {
        deterministic::Runner::default().start(|clock| async move {
            let (recorder, mut spans, _) = recorder(10_000);
            let begun = recorder.begin(&clock, Name::Take, Place::block(1), Detail::None);
            clock.sleep(Duration::from_millis(5)).await;
            let begun = begun.then(&clock, Name::Divide);
            clock.sleep(Duration::from_millis(7)).await;
            begun.end(&clock);
            let (take, divide) = (spans.try_recv().unwrap(), spans.try_recv().unwrap());
            assert_eq!(take.name, Name::Take);
            assert_eq!(divide.name, Name::Divide);
            assert_eq!(take.end, divide.begin);
            let lasted = |span: &Span| span.end.duration_since(span.begin).unwrap();
            assert!(lasted(&take) >= Duration::from_millis(5));
            assert!(lasted(&divide) >= Duration::from_millis(7));
        });
    }

    #[test]
    fn nothing_is_recorded_of_other_heights_or_by_one_that_is_off() {
        deterministic::Runner::default().start(|clock| async move {
            let (recorder, mut spans, _) = recorder(1_000);
            for height in 0..1_000 {
                let place = Place::block(height);
                let begun = recorder.begin(&clock, Name::Verify, place, Detail::None);
                begun.end(&clock);
                Recorder::OFF.end(&clock, Name::Verify, place, Detail::None, clock.current());
            }
            let mut traced = 0;
            while let Ok(span) = spans.try_recv() {
                assert!(recorder.traces(span.place.height));
                traced += 1;
            }
            assert!((50..150).contains(&traced), "{traced}");
        });
    }

    #[test]
    fn who_is_behind_loses_spans_and_nobody_waits() {
        deterministic::Runner::default().start(|clock| async move {
            let (recorder, mut spans, registry) = recorder(10_000);
            for height in 0..WAITING as u64 + 3 {
                let place = Place::block(height);
                recorder.end(&clock, Name::Verify, place, Detail::None, clock.current());
            }
            let mut text = String::new();
            encode(&mut text, &registry).unwrap();
            assert!(text.contains("spans_recorded_total 16387\n"), "{text}");
            assert!(
                text.contains("spans_dropped_total{cause=\"full\"} 3\n"),
                "{text}"
            );
            assert_eq!(spans.len(), WAITING);
            assert_eq!(spans.try_recv().unwrap().place.height, 0);
        });
    }
}
