//! Memory that curve fits take from the heap.

use marquardt::CurveFit;

use crate::allocator::account;

/// Data are borrowed: neither the fit nor its report keeps as much as a tenth of them.
#[test]
fn data_are_not_copied() {
    const ROWS: usize = 400_000;
    let x: Vec<f64> = (0..ROWS).map(|i| 5.0 * i as f64 / ROWS as f64).collect();
    let y: Vec<f64> = x.iter().map(|x| 2.0 * (-0.8 * x).exp() + 0.5 + 0.01 * (700.0 * x).sin()).collect();
    let data = 2 * ROWS * size_of::<f64>();
    let ((fit, report), taken) = account(|| {
        let decay = CurveFit::new(|x, [a, k, c]| a * (-k * x).exp() + c, &x, &y, [1.0, 1.0, 0.0]);
        let fit = decay.fit().unwrap();
        let report = fit.to_string();
        (fit, report)
    });
    assert!((fit.parameters()[1].value - 0.8).abs() < 1e-2 && report.contains("Converged"), "{report}");
    assert!(taken.peak < data / 10, "{} bytes, where the data have {data}", taken.peak);
}
