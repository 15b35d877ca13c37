//! Interrupts, which JavaScript asks for when it hears of progress.

use std::cell::RefCell;

use marquardt::solver::CancelToken;

thread_local! {
    static TOKEN: RefCell<CancelToken> = RefCell::new(CancelToken::new());
}

/// The token of the request.
pub fn token() -> CancelToken {
    TOKEN.with_borrow(CancelToken::clone)
}

/// Begins a request, which has a token of its own.
pub fn begin() {
    TOKEN.set(CancelToken::new());
}
