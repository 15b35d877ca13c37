//! Interrupts from the keyboard.

use std::sync::OnceLock;

use marquardt::solver::CancelToken;

static TOKEN: OnceLock<CancelToken> = OnceLock::new();

/// A token that the first interrupt (Ctrl-C) cancels, so that the best point so far is reported. The second one ends the program.
pub fn token() -> CancelToken {
    let install = || {
        let token = CancelToken::new();
        let of_handler = token.clone();
        let handler = move || match of_handler.is_cancelled() {
            true => std::process::exit(130),
            false => of_handler.cancel(),
        };
        // Without a handler, the first interrupt ends the program.
        let _ = ctrlc::set_handler(handler);
        token
    };
    TOKEN.get_or_init(install).clone()
}
