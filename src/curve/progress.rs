//! A bar on the terminal for many fits.

use indicatif::ProgressBar;

/// An observer of fits that draws a bar.
pub(super) fn bar() -> impl Fn(usize, usize) + Send + Sync + 'static {
    let bar = ProgressBar::new(0);
    move |done, total| {
        bar.set_length(total as u64);
        bar.inc(1);
        if done == total {
            bar.finish();
        }
    }
}
