//! An allocator that counts.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

/// What one thread has allocated.
#[derive(Clone, Copy)]
pub struct Account {
    pub allocations: usize,
    pub bytes: usize,
    pub peak: usize,
}

const EMPTY: Account = Account { allocations: 0, bytes: 0, peak: 0 };

thread_local! {
    static ACCOUNT: Cell<Account> = const { Cell::new(EMPTY) };
}

/// The system's allocator, with an account for each thread, as tests run side by side.
struct Counting;

#[global_allocator]
static ALLOCATOR: Counting = Counting;

fn enter(change: impl Fn(&mut Account)) {
    // A thread allocates after its account is gone, too.
    let _ = ACCOUNT.try_with(|account| {
        let mut balance = account.get();
        change(&mut balance);
        balance.peak = balance.peak.max(balance.bytes);
        account.set(balance);
    });
}

// SAFETY: every call goes on to the system's allocator unchanged.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        enter(|account| {
            account.allocations += 1;
            account.bytes += layout.size();
        });
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // What was allocated before the account was opened may be given back after.
        enter(|account| account.bytes = account.bytes.saturating_sub(layout.size()));
        unsafe { System.dealloc(pointer, layout) }
    }
}

/// What `work` allocates.
pub fn account<R>(work: impl FnOnce() -> R) -> (R, Account) {
    ACCOUNT.set(EMPTY);
    let result = work();
    (result, ACCOUNT.get())
}
