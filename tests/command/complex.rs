//! `marquardt fit` and `predict` with complex responses.

use marquardt::{Complex, CurveFit, Formula};

use super::command::{Folder, assert_close, field, value};

const FORMULA: &str = "r0 + r1/(1 + i*w*tau)";

/// Frequencies, and an impedance with noise.
fn impedance() -> (Vec<f64>, Vec<Complex<f64>>) {
    let w: Vec<f64> = (0..15).map(|k| 10.0_f64.powf(0.25 * f64::from(k))).collect();
    let noise = |k: f64| 0.2 * ((k * 0.618).fract() - 0.5);
    let z = w.iter().enumerate().map(|(k, w)| {
        let noise = Complex::new(noise(k as f64), noise(k as f64 + 0.4));
        20.0 / Complex::new(1.0, 0.01 * w) + 5.0 + noise
    });
    let z = z.collect();
    (w, z)
}

fn folder() -> Folder {
    let (w, z) = impedance();
    let row = |(w, z): (&f64, &Complex<f64>)| format!("{w},{},{},{}\n", z.re, z.im, z.abs());
    Folder::with("w,re,im,modulus\n".to_owned() + &w.iter().zip(&z).map(row).collect::<String>())
}

#[test]
fn complex_responses_are_fitted_drawn_and_predicted() {
    let (folder, (w, z)) = (folder(), impedance());
    let formula = Formula::complex(FORMULA, ["w"]).unwrap();
    let expected = CurveFit::complex_formula(formula, &w, &z, &[1.0, 1.0, 0.1]).weight_by_modulus().fit().unwrap();
    let fit = |more: &[&str]| folder.run(&[&["fit", "data.csv", "--formula", FORMULA, "--json"], more].concat());
    let outputs =
        ["--nyquist", "n.svg", "--bode", "b.svg", "--plot", "p.svg", "--residuals", "r.csv", "--json=fit.json"];
    let arguments = [&["fit", "data.csv", "--formula", FORMULA, "--y", "re,im", "--weight-by-modulus"], &outputs[..]];
    folder.run(&arguments.concat()).solved();
    let found: serde_json::Value = serde_json::from_str(&folder.read("fit.json")).unwrap();
    for name in ["r0", "r1", "tau"] {
        let expected = expected.parameter(name).unwrap();
        assert_close(value(&found, name), expected.value, 1e-7);
        assert_close(field(&found, name, "standard_error"), expected.standard_error, 1e-6);
    }
    assert_eq!((&found["y"][0], &found["y"][1]), (&"re".into(), &"im".into()));
    assert!(folder.read("n.svg").contains("−imaginary part") && folder.read("b.svg").contains("phase"));
    assert!(folder.read("p.svg").contains(">im</text>") || folder.read("p.svg").contains("im"));
    assert!(folder.read("r.csv").starts_with("line,w,re,im,fitted re,fitted im,residual re,residual im\n2,1,"));
    let predicted = folder.run(&["predict", "fit.json", "--at", "100", "--csv"]).solved();
    let mut lines = predicted.lines().map(|line| line.split(',').map(str::to_owned).collect::<Vec<_>>());
    let (heading, row) = (lines.next().unwrap(), lines.next().unwrap());
    assert_eq!(&heading[..3], ["w", "re", "re standard_error"]);
    let at = |name: &str| row[heading.iter().position(|known| known == name).unwrap()].parse::<f64>().unwrap();
    let z = expected.predict_complex(&[100.0]).unwrap()[0];
    assert_close(at("re"), z.re, 1e-7);
    assert_close(at("im"), z.im, 1e-7);
    // Without weights, the columns after the predictor are taken; a sigma of the response is one of each part.
    let plain = fit(&["--complex"]).json();
    let weighted = fit(&["--y", "re,im", "--sigma", "0.1 + 0*y"]).json();
    assert_close(value(&plain, "tau"), value(&weighted, "tau"), 1e-9);
    // The modulus is real.
    let modulus =
        ["fit", "data.csv", "--y", "modulus", "--complex", "--formula", "abs(r0 + r1/(1 + i*w*tau))", "--json"];
    let modulus = folder.run(&[&modulus[..], &["--bounds", "tau=0..,r1=0.."]].concat()).json();
    assert_close(value(&modulus, "tau"), 0.01, 0.01);
}

#[test]
fn wrong_columns_and_plots_are_refused() {
    let folder = folder();
    let fit = |more: &[&str]| folder.run(&[&["fit", "data.csv", "--formula"], more].concat());
    let message = fit(&[FORMULA, "--complex", "--y", "re"]).refused();
    assert!(message.contains("--y names two columns"), "{message}");
    let message = fit(&["r0 + r1*w", "--y", "re,im"]).refused();
    assert_eq!(message, "--y names 2 columns, but the value of r0 + r1*w is real");
    let message = fit(&[FORMULA, "--y", "re,im,modulus"]).refused();
    assert!(message.contains("two columns"), "{message}");
    let message = fit(&["floor(i*w) + a", "--y", "re,im"]).refused();
    assert!(message.contains("floor takes real numbers"), "{message}");
    let message = fit(&["a + b*w", "--y", "re", "--bode", "b.svg"]).refused();
    assert!(message.contains("complex"), "{message}");
    let message = fit(&[FORMULA, "--complex", "--nyquist", "n.pdf"]).refused();
    assert!(message.contains("n.pdf"), "{message}");
    let errors = fit(&["a + i*w", "--y", "re"]).errors;
    assert!(errors.contains("note: \"i\" is a parameter; --complex makes it the imaginary unit"), "{errors}");
}
