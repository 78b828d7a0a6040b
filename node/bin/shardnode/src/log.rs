// SPDX-License-Identifier: Apache-2.0
//! The log: one line an event, on standard error.

use shardnode_config::{Log, LogFormat};
use shardnode_rpc::LogLevel;
use std::{
    any::Any,
    backtrace::{Backtrace, BacktraceStatus},
    io::{self, IsTerminal as _},
    panic::{self, PanicHookInfo},
    sync::{Arc, Mutex, PoisonError},
};
use tracing::{Subscriber, error, info};
use tracing_subscriber::{EnvFilter, fmt::MakeWriter, reload};

/// Starts logging, for the rest of the process. Panics are events like others.
pub fn init(log: Log) -> Levels {
    let (subscriber, levels) = subscriber(log, io::stderr, io::stderr().is_terminal());
    // Fails only if the process already logs.
    let _ = tracing::subscriber::set_global_default(subscriber);
    panic::set_hook(Box::new(log_panic));
    levels
}

/// Which events are logged, which can be set while the node runs. A clone is of the
/// same log.
#[derive(Clone)]
pub struct Levels {
    current: Arc<Mutex<LogLevel>>,
    reload: Arc<Reload>,
}

type Reload = dyn Fn(EnvFilter) -> Result<(), reload::Error> + Send + Sync;

impl Levels {
    fn new(
        level: LogLevel,
        reload: impl Fn(EnvFilter) -> Result<(), reload::Error> + Send + Sync + 'static,
    ) -> Self {
        Self {
            current: Arc::new(Mutex::new(level)),
            reload: Arc::new(reload),
        }
    }

    /// The least severe events that are logged.
    #[must_use]
    pub fn current(&self) -> LogLevel {
        *self.current.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Sets them, from now on.
    ///
    /// # Errors
    /// If there is no log any more.
    pub fn set(&self, level: LogLevel) -> Result<(), reload::Error> {
        let mut current = self.current.lock().unwrap_or_else(PoisonError::into_inner);
        (self.reload)(filter(level))?;
        let before = std::mem::replace(&mut *current, level);
        info!(?before, now = ?level, "the level of the log was set");
        Ok(())
    }
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

fn subscriber<W>(log: Log, writer: W, colours: bool) -> (Box<dyn Subscriber + Send + Sync>, Levels)
where
    W: for<'a> MakeWriter<'a> + Send + Sync + 'static,
{
    let builder = tracing_subscriber::fmt()
        .with_env_filter(filter(log.level))
        .with_writer(writer);
    match log.format {
        LogFormat::Text => {
            let builder = builder.with_ansi(colours).with_filter_reloading();
            let handle = builder.reload_handle();
            let levels = Levels::new(log.level, move |filter| handle.reload(filter));
            (Box::new(builder.finish()), levels)
        }
        LogFormat::Json => {
            let builder = builder.json().flatten_event(true).with_filter_reloading();
            let handle = builder.reload_handle();
            let levels = Levels::new(log.level, move |filter| handle.reload(filter));
            (Box::new(builder.finish()), levels)
        }
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
        let (subscriber, _) = subscriber(log, move || writer.clone(), false);
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
    fn a_level_is_set_while_it_logs() {
        for format in [LogFormat::Text, LogFormat::Json] {
            let buffer = Buffer::default();
            let writer = buffer.clone();
            let level = LogLevel::Info;
            let (subscriber, levels) =
                subscriber(Log { level, format }, move || writer.clone(), false);
            let written = |level: LogLevel| {
                levels.set(level).unwrap();
                assert_eq!(levels.current(), level);
                buffer.0.lock().unwrap().clear();
                tracing::info!("news");
                tracing::debug!("detail");
                tracing::info!(target: "commonware_p2p", "step");
                let bytes = buffer.0.lock().unwrap().clone();
                let text = String::from_utf8(bytes).unwrap();
                ["news", "detail", "step"].map(|word| text.contains(word))
            };
            tracing::subscriber::with_default(subscriber, || {
                assert_eq!(levels.current(), LogLevel::Info);
                assert_eq!(written(LogLevel::Debug), [true; 3]);
                assert_eq!(written(LogLevel::Warn), [false; 3]);
                assert_eq!(written(LogLevel::Info), [true, false, false]);
            });
            assert!(levels.set(LogLevel::Debug).is_err());
            assert_eq!(levels.current(), LogLevel::Info);
        }
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
