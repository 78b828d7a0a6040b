// SPDX-License-Identifier: Apache-2.0
//! The log: one line an event, on standard error.

use shardnode_config::{Log, LogFormat, LogLevel};
use std::{
    any::Any,
    backtrace::{Backtrace, BacktraceStatus},
    io::{self, IsTerminal as _},
    panic::{self, PanicHookInfo},
};
use tracing::{Subscriber, error};
use tracing_subscriber::{EnvFilter, fmt::MakeWriter};

/// Starts logging, for the rest of the process. Panics are events like others.
pub fn init(log: Log) {
    let subscriber = subscriber(log, io::stderr, io::stderr().is_terminal());
    // Fails only if the process already logs.
    let _ = tracing::subscriber::set_global_default(subscriber);
    panic::set_hook(Box::new(log_panic));
}

fn log_panic(info: &PanicHookInfo<'_>) {
    let location = info.location().map(tracing::field::display);
    let message = panic_message(info.payload());
    let backtrace = Backtrace::capture();
    let backtrace = (backtrace.status() == BacktraceStatus::Captured)
        .then(|| tracing::field::display(backtrace));
    error!(location, backtrace, "panicked: {message}");
}

/// What a panic says, in one line.
#[must_use]
pub fn panic_message(payload: &(dyn Any + Send)) -> String {
    let text = payload
        .downcast_ref::<&str>()
        .copied()
        .or_else(|| payload.downcast_ref::<String>().map(String::as_str));
    let lines = text.unwrap_or("a panic without a message").lines();
    lines.map(str::trim).collect::<Vec<_>>().join(" ")
}

fn subscriber<W>(log: Log, writer: W, colours: bool) -> Box<dyn Subscriber + Send + Sync>
where
    W: for<'a> MakeWriter<'a> + Send + Sync + 'static,
{
    let builder = tracing_subscriber::fmt()
        .with_env_filter(filter(log.level))
        .with_writer(writer);
    match log.format {
        LogFormat::Text => Box::new(builder.with_ansi(colours).finish()),
        LogFormat::Json => Box::new(builder.json().flatten_event(true).finish()),
    }
}

/// What is logged. The libraries underneath tell of each step they take, which
/// is for debugging; short of that only their warnings are news.
fn filter(level: LogLevel) -> EnvFilter {
    EnvFilter::new(match level {
        LogLevel::Error => "error",
        LogLevel::Warn => "warn",
        LogLevel::Info => "info,commonware=warn",
        LogLevel::Debug => "debug",
        LogLevel::Trace => "trace",
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::Value;
    use std::sync::{Arc, Mutex};

    #[derive(Clone, Default)]
    struct Buffer(Arc<Mutex<Vec<u8>>>);

    impl io::Write for Buffer {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.lock().unwrap().extend_from_slice(bytes);
            Ok(bytes.len())
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    /// What is written for one warning and one debug message.
    fn written(level: LogLevel, format: LogFormat) -> String {
        let buffer = Buffer::default();
        let writer = buffer.clone();
        let log = Log { level, format };
        let subscriber = subscriber(log, move || writer.clone(), false);
        tracing::subscriber::with_default(subscriber, || {
            tracing::warn!(height = 7, "disk is slow");
            tracing::debug!("detail");
        });
        let bytes = buffer.0.lock().unwrap().clone();
        String::from_utf8(bytes).unwrap()
    }

    #[test]
    fn text_is_one_line_an_event() {
        let log = written(LogLevel::Info, LogFormat::Text);
        assert_eq!(log.lines().count(), 1);
        assert!(log.contains(" WARN "), "{log}");
        assert!(log.ends_with("disk is slow height=7\n"), "{log}");
    }

    #[test]
    fn json_is_one_object_an_event() {
        let log = written(LogLevel::Debug, LogFormat::Json);
        let events: Vec<Value> = log
            .lines()
            .map(|line| serde_json::from_str(line).unwrap())
            .collect();
        assert_eq!(events.len(), 2);
        assert_eq!(events[0]["level"], "WARN");
        assert_eq!(events[0]["message"], "disk is slow");
        assert_eq!(events[0]["height"], 7);
        assert_eq!(events[1]["message"], "detail");
    }

    #[test]
    fn a_panic_is_one_line() {
        let message = |panicking: fn()| {
            let payload = panic::catch_unwind(panicking).unwrap_err();
            panic_message(&*payload)
        };
        assert_eq!(message(|| panic!("disk\n  is {}", "full")), "disk is full");
        assert_eq!(message(|| panic!("as it is")), "as it is");
        let other = message(|| panic::panic_any(7));
        assert_eq!(other, "a panic without a message");
    }

    #[test]
    fn levels_below_are_silent() {
        assert_eq!(written(LogLevel::Error, LogFormat::Text), "");
        assert_eq!(written(LogLevel::Trace, LogFormat::Text).lines().count(), 2);
    }
}
