// SPDX-License-Identifier: Apache-2.0
//! What is wrong with a file.

use std::{fmt, path::PathBuf};

/// A file that cannot be used. Its text is one line.
#[derive(Debug)]
pub struct ConfigError {
    /// The file.
    pub file: PathBuf,
    /// The path of the field, unless the whole file is wrong.
    pub field: Option<String>,
    /// What is wrong with it.
    pub reason: String,
}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: ", self.file.display())?;
        if let Some(field) = &self.field {
            write!(f, "{field}: ")?;
        }
        f.write_str(&self.reason)
    }
}

impl std::error::Error for ConfigError {}
