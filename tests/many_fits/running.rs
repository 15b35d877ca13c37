//! Fits while they run: how far they are, on how many threads, and until when.

use std::sync::atomic::{AtomicUsize, Ordering};

use marquardt::FitMany;
use marquardt::solver::{CancelToken, FitStatus};

use crate::curves::{LINE, PEAK, assert_identical, line, peak};

/// So many that progress is reported before the last is done.
const MANY: usize = 5_000;

#[test]
fn progress_goes_from_nothing_to_everything() {
    let curves = LINE.draw::<f64>(line(), MANY, 5, 1);
    let (most, calls) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let progress = |done: usize, total: usize| {
        assert!(done <= total && total == MANY);
        most.fetch_max(done, Ordering::Relaxed);
        calls.fetch_add(1, Ordering::Relaxed);
    };
    let fits = FitMany::new(line(), &curves.x, &curves.y).start(&curves.start).progress(progress).fit().unwrap();
    assert_eq!((most.into_inner(), fits.converged()), (MANY, MANY));
    assert!((2..MANY).contains(&calls.into_inner()));
    // Looking on changes nothing.
    assert_identical(&fits, &curves.fit(line()), 0..MANY);
}

#[test]
fn those_that_are_done_stay_when_the_rest_is_cancelled() {
    let curves = LINE.draw::<f64>(line(), MANY, 5, 1);
    let token = CancelToken::new();
    let cancel = |_, _| token.cancel();
    let fit = FitMany::new(line(), &curves.x, &curves.y).start(&curves.start).cancel_token(token.clone());
    let fits = fit.progress(cancel).fit().unwrap();
    let (cancelled, done): (Vec<usize>, Vec<usize>) =
        (0..MANY).partition(|&row| fits.status[row] == FitStatus::Cancelled);
    assert!(!cancelled.is_empty() && !done.is_empty(), "{} of {MANY} cancelled", cancelled.len());
    assert_identical(&fits, &curves.fit(line()), done);
}

#[test]
fn a_token_that_was_used_ends_all() {
    let curves = PEAK.draw::<f64>(peak(), 30, 40, 1);
    let token = CancelToken::new();
    token.cancel();
    let fit = FitMany::new(peak(), &curves.x, &curves.y).start(&curves.start).cancel_token(token);
    let fits = fit.fit().unwrap();
    assert!(fits.status.iter().all(|&status| status == FitStatus::Cancelled));
    assert!(fits.iterations.iter().all(|&iterations| iterations <= 1), "{}", fits.iterations);
}

#[cfg(feature = "rayon")]
#[test]
fn the_number_of_threads_changes_no_bit() {
    let (peaks, lines) = (PEAK.draw::<f64>(peak(), 301, 40, 2), LINE.draw::<f32>(line(), 1_999, 7, 2));
    let fit = || (peaks.fit(peak()), lines.fit(line()));
    let on = |threads| rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap().install(fit);
    let (one_peaks, one_lines) = on(1);
    for threads in [2, 3] {
        let (peaks, lines) = on(threads);
        assert_identical(&one_peaks, &peaks, 0..301);
        assert_identical(&one_lines, &lines, 0..1_999);
    }
}

#[test]
fn neither_order_nor_company_matters() {
    let curves = PEAK.draw::<f64>(peak(), 61, 40, 3);
    let together = curves.fit(peak());
    let (y, start) = (curves.y.slice(ndarray::s![..;-1, ..]), curves.start.slice(ndarray::s![..;-1, ..]));
    let reversed = FitMany::new(peak(), &curves.x, y).start(start).fit().unwrap();
    for row in 0..61 {
        assert_eq!(together.parameters.row(row), reversed.parameters.row(60 - row));
        assert_eq!(together.standard_errors.row(row), reversed.standard_errors.row(60 - row));
        assert_eq!(together.iterations[row], reversed.iterations[60 - row]);
        let range = row..row + 1;
        let (y, start) = (curves.y.slice(ndarray::s![range.clone(), ..]), curves.start.slice(ndarray::s![range, ..]));
        let alone = FitMany::new(peak(), &curves.x, y).start(start).fit().unwrap();
        assert_eq!(together.parameters.row(row), alone.parameters.row(0));
    }
}
