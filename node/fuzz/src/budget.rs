// SPDX-License-Identifier: Apache-2.0
//! What memory an input justifies.

use allocation_counter::measure;

/// The most bytes that may be allocated at any one moment.
///
/// Only what Rust code allocates is counted, on the thread that decodes. The
/// window of a zstd frame, at most 1 MiB, is C's.
#[derive(Clone, Copy, Debug)]
pub struct Budget {
    /// For each byte of the input.
    pub per_byte: usize,
    /// Beside that, whatever the input is.
    pub fixed: usize,
}

impl Budget {
    /// Of binary formats. A value in memory takes little more than its
    /// encoding, but a list that grows is there twice while it moves.
    pub const BINARY: Self = Self {
        per_byte: 8,
        fixed: 16 << 10,
    };

    /// Of what the node does next with what it decoded, such as dividing a
    /// body among all of its owners.
    pub const NEXT: Self = Self {
        per_byte: 16,
        fixed: 64 << 10,
    };

    /// Of JSON, whose shortest values are two bytes and dozens in memory.
    pub const TEXT: Self = Self {
        per_byte: 128,
        fixed: 64 << 10,
    };

    /// Does `work` on an input of `length` bytes.
    ///
    /// # Panics
    ///
    /// If the work takes more memory than this.
    #[track_caller]
    pub fn within<T>(self, what: &str, length: usize, work: impl FnOnce() -> T) -> T {
        let mut done = None;
        let peak = measure(|| done = Some(work())).bytes_max;
        let most = self.per_byte * length + self.fixed;
        assert!(
            peak <= most as u64,
            "{what}: {peak} bytes of memory for {length} bytes of input, at most {most} are justified"
        );
        #[allow(clippy::expect_used)]
        done.expect("the work was done")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_freed_again_counts_while_it_is_there() {
        let budget = Budget {
            per_byte: 1,
            fixed: 1_000,
        };
        let length = budget.within("small", 24, || vec![0u8; 1_024].len());
        assert_eq!(length, 1_024);
    }

    #[test]
    #[should_panic(expected = "1025 bytes of memory for 24 bytes of input")]
    fn more_than_is_justified_panics() {
        let budget = Budget {
            per_byte: 1,
            fixed: 1_000,
        };
        budget.within("large", 24, || drop(std::hint::black_box(vec![0u8; 1_025])));
    }
}
