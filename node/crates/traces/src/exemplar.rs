// SPDX-License-Identifier: Apache-2.0
//! What leads from a measurement to the trace of the block that it was made for.

use crate::ids::TraceId;
use prometheus_client::{
    encoding::{EncodeLabelSet, EncodeLabelValue, EncodeMetric, LabelValueEncoder, MetricEncoder},
    metrics::{MetricType, exemplar::HistogramWithExemplars},
};
use std::{
    fmt::{self, Write as _},
    time::{SystemTime, UNIX_EPOCH},
};

/// What an observation of a traced height is known by.
#[derive(Clone, Debug)]
pub struct Exemplar {
    labels: Labels,
    at: SystemTime,
}

/// At most 66 characters of the 128 that OpenMetrics has room for.
#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Labels {
    trace_id: Hex,
    height: u64,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Hex(TraceId);

impl EncodeLabelValue for Hex {
    fn encode(&self, encoder: &mut LabelValueEncoder<'_>) -> fmt::Result {
        write!(encoder, "{:032x}", u128::from_be_bytes(self.0))
    }
}

impl Exemplar {
    pub(crate) fn new(trace: TraceId, height: u64, now: SystemTime) -> Self {
        let trace_id = Hex(trace);
        Self {
            labels: Labels { trace_id, height },
            // No exemplar can be older, and a clock may be.
            at: now.max(UNIX_EPOCH),
        }
    }
}

/// A histogram that keeps the latest exemplar of each bucket.
#[derive(Clone, Debug)]
pub struct Histogram(HistogramWithExemplars<Labels>);

impl Histogram {
    /// A histogram of buckets up to these, and one more for all else.
    pub fn new(buckets: impl IntoIterator<Item = f64>) -> Self {
        Self(HistogramWithExemplars::new(buckets.into_iter()))
    }

    /// Counts a value; that of a traced height is its bucket's exemplar.
    pub fn observe(&self, value: f64, exemplar: Option<Exemplar>) {
        let (labels, at) = exemplar
            .map(|exemplar| (exemplar.labels, exemplar.at))
            .unzip();
        self.0.observe(value, labels, at);
    }
}

impl EncodeMetric for Histogram {
    fn encode(&self, encoder: MetricEncoder<'_>) -> fmt::Result {
        self.0.encode(encoder)
    }

    fn metric_type(&self) -> MetricType {
        self.0.metric_type()
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use prometheus_client::{
        encoding::text::encode,
        registry::{Registry, Unit},
    };
    use std::time::Duration;

    fn histogram() -> (Histogram, impl Fn() -> String) {
        let mut registry = Registry::default();
        let histogram = Histogram::new([0.1, 1.0]);
        registry.register_with_unit("work", "Work", Unit::Seconds, histogram.clone());
        let exposition = move || {
            let mut text = String::new();
            encode(&mut text, &registry).unwrap();
            text
        };
        (histogram, exposition)
    }

    fn at(seconds: u64) -> SystemTime {
        UNIX_EPOCH + Duration::from_secs(seconds)
    }

    #[test]
    fn exemplars_are_written_as_openmetrics_has_them() {
        let (histogram, exposition) = histogram();
        let trace: TraceId = std::array::from_fn(|byte| u8::try_from(byte).unwrap());
        histogram.observe(0.05, None);
        histogram.observe(0.5, Some(Exemplar::new(trace, u64::MAX, at(12))));
        assert_eq!(
            exposition(),
            "# HELP work_seconds Work.\n\
             # TYPE work_seconds histogram\n\
             # UNIT work_seconds seconds\n\
             work_seconds_sum 0.55\n\
             work_seconds_count 2\n\
             work_seconds_bucket{le=\"0.1\"} 1\n\
             work_seconds_bucket{le=\"1.0\"} 2 # {trace_id=\"000102030405060708090a0b0c0d0e0f\",\
             height=\"18446744073709551615\"} 0.5 12.0\n\
             work_seconds_bucket{le=\"+Inf\"} 2\n\
             # EOF\n"
        );
    }

    #[test]
    fn a_bucket_keeps_the_latest_exemplar_alone() {
        let (histogram, exposition) = histogram();
        for (height, value) in (0..1_000).zip([0.05, 0.5, 5.0].into_iter().cycle()) {
            let exemplar = Exemplar::new([7; 16], height, at(height));
            histogram.observe(value, Some(exemplar));
            histogram.observe(0.05, None);
        }
        let exposition = exposition();
        let exemplars = exposition.lines().filter(|line| line.contains(" # {"));
        let heights: Vec<_> = exemplars
            .filter_map(|line| line.split("height=\"").nth(1)?.split('"').next())
            .collect();
        assert_eq!(heights, ["999", "997", "998"]);
    }

    #[test]
    fn a_clock_before_1970_has_its_exemplars_then() {
        let (histogram, exposition) = histogram();
        let before = UNIX_EPOCH - Duration::from_secs(1);
        histogram.observe(5.0, Some(Exemplar::new([7; 16], 1, before)));
        assert!(exposition().contains("height=\"1\"} 5.0 0.0\n"));
    }
}
