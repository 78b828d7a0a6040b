// SPDX-License-Identifier: Apache-2.0
//! Counts what this process allocates.

use crate::allocations::{self, Course};
use std::{
    alloc::{GlobalAlloc, Layout},
    cell::Cell,
    sync::atomic::{AtomicU64, Ordering::Relaxed},
};

/// How many bytes a thread allocates before it tells.
const STEP_BYTES: u64 = 64 << 10;

/// What all threads told.
static ALLOCATED: AtomicU64 = AtomicU64::new(0);

/// Bytes that this process has allocated in all, as far as its threads told: each
/// of them keeps less than 64 KiB to itself. 0 in a process whose allocator is not
/// [`Counting`].
#[must_use]
pub fn allocated_bytes() -> u64 {
    ALLOCATED.load(Relaxed)
}

/// An allocator that counts what another one allocates, and samples it while a
/// profile of allocations is taken.
#[derive(Debug)]
pub struct Counting<A>(pub A);

// SAFETY: all that is asked is asked of another allocator, as it was asked. What is
// done besides does not unwind, does not know the memory, and, where it allocates
// itself, does not come here a second time.
unsafe impl<A: GlobalAlloc> GlobalAlloc for Counting<A> {
    #[inline]
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(layout.size());
        // SAFETY: the caller promised of the layout what the other allocator asks.
        unsafe { self.0.alloc(layout) }
    }

    #[inline]
    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        count(layout.size());
        // SAFETY: as above.
        unsafe { self.0.alloc_zeroed(layout) }
    }

    #[inline]
    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: the pointer is the other allocator's, for this layout.
        unsafe { self.0.dealloc(pointer, layout) }
    }

    #[inline]
    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, bytes: usize) -> *mut u8 {
        count(bytes);
        // SAFETY: the pointer is the other allocator's, for this layout, and the
        // caller promised of the size what it asks.
        unsafe { self.0.realloc(pointer, layout, bytes) }
    }
}

/// What one thread has allocated since it told.
struct Tally {
    /// What it may allocate before it tells, when it last told.
    granted: Cell<u64>,
    /// What is left of that.
    left: Cell<u64>,
    /// How far it is from its next sample.
    course: Cell<Course>,
    /// Whether it takes a sample: what it allocates for that is in none.
    sampling: Cell<bool>,
}

thread_local! {
    // It needs no initialization and no destructor, so it is there for what a
    // thread allocates first and last as well.
    static TALLY: Tally = const {
        Tally {
            granted: Cell::new(0),
            left: Cell::new(0),
            course: Cell::new(Course::NONE),
            sampling: Cell::new(false),
        }
    };
}

#[inline]
fn count(bytes: usize) {
    let bytes = bytes as u64;
    TALLY.with(|tally| match tally.left.get().checked_sub(bytes) {
        Some(left) => tally.left.set(left),
        None => tally.tell(bytes),
    });
}

impl Tally {
    /// Tells of all so far, and of an allocation that was not granted.
    #[cold]
    #[inline(never)]
    fn tell(&self, bytes: u64) {
        let passed = self.settle(bytes, STEP_BYTES);
        if !allocations::are_sampled() || self.sampling.replace(true) {
            return;
        }
        let next = allocations::pass(&self.course, passed, bytes);
        self.settle(0, next.min(STEP_BYTES));
        self.sampling.set(false);
    }

    /// Tells of all so far and of `more`, and grants what may be allocated next.
    fn settle(&self, more: u64, grant: u64) -> u64 {
        let granted = self.granted.replace(grant);
        let passed = granted
            .wrapping_sub(self.left.replace(grant))
            .wrapping_add(more);
        ALLOCATED.fetch_add(passed, Relaxed);
        passed
    }
}
