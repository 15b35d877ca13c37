//! Values of models in high precision, and at the limits of their domains.

use marquardt::models::Named;
use marquardt::{Dual, Model, Real};

/// The most parameters of a model here.
const MOST: usize = 5;

/// The response and its derivatives.
fn response<T: Real>(name: &str, x: f64, b: &[f64]) -> Dual<T, MOST> {
    let model = Named::of_name(name).unwrap();
    let b: Vec<Dual<T, MOST>> = b.iter().enumerate().map(|(j, &b)| Dual::variable(T::from_f64(b), j)).collect();
    model.response(&[T::from_f64(x)], &b)
}

/// Responses at three places by the formulas of the models in mpmath, with 50 digits.
#[test]
fn responses_are_those_of_high_precision() {
    #[rustfmt::skip]
    let expected = [
        ("substrate_inhibition", vec![4.0, 3.0, 6.0], [0.2, 5.0, 10000.0], [0.2494802494802495, 1.643835616438356, 0.0023985604319999225]),
        ("morrison", vec![4.0, 5.0, 1e-09], [0.5, 4.9990234375, 5000.0], [3.600000000088889, 0.0007853239515641494, 8.008008008006404e-13]),
        ("morrison", vec![4.0, 1e-09, 0.5], [0.2, 0.5, 300.0], [2.8571428583090377, 2.000000001, 0.006655574043283343]),
        ("binding_with_depletion", vec![4.0, 1e-09, 5.0], [0.5, 5.0, 5000.0], [0.3999999999111111, 3.9999434318575036, 3.9999999999991993]),
        ("binding_with_depletion", vec![4.0, 0.5, 1e-12], [0.2, 0.5, 300.0], [1.1428571428559766, 1.999999999999, 3.9933444259567388]),
        ("langmuir", vec![4.0, 0.3], [1e-09, 2.0, 1000000000.0], [1.19999999964e-09, 1.5, 3.999999986666667]),
        ("freundlich", vec![4.0, 2.5], [1e-09, 2.0, 1000000000.0], [0.001004754572603832, 5.278031643091577, 15924.28682213989]),
        ("bet", vec![4.0, 30.0], [0.03, 0.35, 0.999], [1.9846739070511052, 5.79510175922732, 3999.866537653061]),
        ("toth", vec![4.0, 0.8, 0.6], [1e-09, 2.0, 1000000000.0], [3.199981428340877e-09, 1.56758736582713, 3.9999696574474184]),
        ("toth", vec![4.0, 0.8, 40.0], [0.1, 1.25, 1000000000.0], [0.32000000000000006, 3.9312823941810042, 4.0]),
        ("sips", vec![4.0, 0.3, 0.05], [0.1, 3.0, 1000.0], [1.394713760400006e-30, 0.43359195858066674, 4.0]),
        ("herschel_bulkley", vec![10.0, 2.0, 0.6], [1e-06, 5.0, 10000.0], [10.000502377286303, 15.253055608807534, 512.3772863019159]),
        ("bingham", vec![10.0, 0.2], [0.5, 5.0, 10000.0], [10.1, 11.0, 2010.0]),
        ("casson", vec![10.0, 0.2], [1e-06, 5.0, 10000.0], [10.002828627124746, 17.32455532033676, 2292.842712474619]),
        ("carreau", vec![100.0, 1.0, 5.0, 0.3], [1e-06, 0.3, 10000.0], [99.99999999913375, 66.53540961754172, 1.050857638619708]),
        ("cross", vec![100.0, 1.0, 5.0, 0.3], [1e-06, 0.3, 10000.0], [97.52079804694714, 47.49312817535737, 4.7098554192479]),
        ("one_compartment_bolus", vec![5.0, 0.2], [0.5, 3.0, 24.0], [4.524187090179798, 2.744058180470132, 0.04114873524510013]),
        ("one_compartment_oral", vec![5.0, 1.5, 0.2], [0.01, 3.0, 24.0], [0.0743657253707908, 3.1021306128218313, 0.04747930989819112]),
        ("one_compartment_oral", vec![5.0, 0.2, 1.5], [0.01, 3.0, 24.0], [0.009915430049438774, 0.4136174150429109, 0.00633057465309215]),
        ("one_compartment_oral", vec![5.0, 0.7, 0.7], [0.01, 3.0, 24.0], [0.034755855502663226, 1.2857924966563101, 4.247486332601844e-06]),
        ("one_compartment_oral", vec![5.0, 0.7, 0.7000000009999999], [0.01, 3.0, 24.0], [0.03475585550248945, 1.2857924947276214, 4.24748628163201e-06]),
        ("one_compartment_oral", vec![5.0, 300.0, 0.1], [0.01, 3.0, 24.0], [4.747649707229965, 3.7053262121459714, 0.4537410134515463]),
        ("two_compartment_bolus", vec![5.0, 1.0, 3.0, 0.1], [0.5, 3.0, 24.0], [5.886341572065309, 2.471390003884473, 0.2721538600569942]),
        ("modified_gompertz", vec![4.0, 0.6, 5.0], [1.0, 7.0, 40.0], [3.7231998386980524e-06, 1.2016057622539227, 3.999993104807306]),
        ("modified_logistic", vec![4.0, 0.6, 5.0], [1.0, 7.0, 40.0], [0.04851373993709696, 1.2401020754895502, 3.999999977588814]),
        ("baranyi_roberts", vec![5.0, 20.0, 1.2, 4.0], [0.5, 9.0, 40.0], [5.006743042193037, 11.002331936195024, 19.999999999999435]),
        ("baranyi_roberts", vec![5.0, 20.0, 1.2, 0.0], [0.5, 9.0, 40.0], [5.599999748511983, 15.785116046711037, 19.999999999999996]),
        ("baranyi_roberts", vec![5.0, 20.0, 2.0, 2000.0], [0.5, 2003.0, 3000.0], [5.0, 11.002352282948006, 20.0]),
        ("breit_wigner", vec![4.0, 1.0, 1.6, 1.5], [-3.0, 1.0, 7.0], [1.8846153846153846, 9.0, 5.6593886462882095]),
        ("eyring", vec![60000.0, -40.0], [280.0, 310.0, 500.0], [0.30459437754098556, 4.084239636227489, 45752.83802395818]),
        ("vogel_fulcher_tammann", vec![0.001, 800.0, 200.0], [250.0, 310.0, 500.0], [8886.110520507873, 1.4404736653116978, 0.014391916095149894]),
        ("antoine", vec![8.07131, 1730.63, 233.426], [0.0, 37.0, 100.0], [4.542225794593084, 46.95333822686563, 760.0863691649305]),
        ("van_genuchten", vec![0.05, 0.43, 0.02, 1.8], [0.01, 80.0, 15000.0], [0.42999996289307196, 0.27262169527749475, 0.05396350930413794]),
        ("weibull1", vec![1.5, 1.0, 5.0, 3.0], [0.001, 2.5, 1000.0], [4.999975656849296, 2.869308519486905, 1.0]),
        ("weibull1", vec![-1.5, 1.0, 5.0, 3.0], [0.001, 2.5, 1000.0], [1.0, 2.074397697434985, 4.999342786928036]),
        ("weibull2", vec![1.5, 1.0, 5.0, 3.0], [0.001, 2.5, 1000.0], [1.000024343150704, 3.130691480513095, 5.0]),
        ("weibull2", vec![-1.5, 1.0, 5.0, 3.0], [0.001, 2.5, 1000.0], [5.0, 3.925602302565015, 1.0006572130719638]),
        ("logistic5_ec50", vec![1.0, 5.0, 3.0, 1.0, 2.0], [0.001, 2.5, 1000.0], [1.0000025862478774, 2.784776091023153, 4.990077373719895]),
        ("logistic5_ec50", vec![1.0, 5.0, 3.0, -2.0, 0.2], [0.001, 2.5, 1000.0], [4.999997244450139, 3.14543973919783, 1.197077084683956]),
    ];
    for (name, b, x, y) in expected {
        for (x, y) in x.into_iter().zip(y) {
            let double = response::<f64>(name, x, &b);
            let error = (double.value - y).abs() / y.abs();
            assert!(
                error < 2e-14 * y.abs().ln().abs().max(10.0),
                "{name}{b:?} at {x}: {} instead of {y}",
                double.value
            );
            assert!(double.gradient.iter().all(|slope| slope.is_finite()), "{name}{b:?} at {x}: {double:?}");
            let single = response::<f32>(name, x, &b);
            let error = (f64::from(single.value) - y).abs() / y.abs();
            assert!(error < 2e-5 || y.abs() < 1e-20, "{name}{b:?} at {x} in f32: {} instead of {y}", single.value);
            assert!(single.gradient.iter().all(|slope| slope.is_finite()), "{name}{b:?} at {x} in f32: {single:?}");
        }
    }
}

/// Values where the plain formula is a quotient of zeros, or a step of it overflows; `part` is the error relative to the expected value.
fn has_limits<T: Real>(part: f64) {
    let (zero, far) = (0.0, 1e30);
    #[rustfmt::skip]
    let limits: [(&str, &[f64], f64, f64); 45] = [
        ("substrate_inhibition", &[4.0, 3.0, 6.0], zero, 0.0),
        ("substrate_inhibition", &[4.0, 3.0, 1e30], 3.0, 2.0),
        ("morrison", &[4.0, 5.0, 0.8], zero, 4.0),
        ("morrison", &[4.0, 0.0, 0.8], 0.8, 2.0),
        ("binding_with_depletion", &[4.0, 0.8, 5.0], zero, 0.0),
        ("binding_with_depletion", &[4.0, 0.8, 0.0], 0.8, 2.0),
        ("langmuir", &[4.0, 0.3], zero, 0.0),
        ("langmuir", &[4.0, 0.3], far, 4.0),
        ("freundlich", &[4.0, 2.5], zero, 0.0),
        ("bet", &[4.0, 30.0], zero, 0.0),
        ("toth", &[4.0, 0.8, 0.6], zero, 0.0),
        ("toth", &[4.0, 0.8, 0.6], far, 4.0),
        ("toth", &[4.0, 0.8, 30.0], far, 4.0),
        ("sips", &[4.0, 0.8, 0.6], zero, 0.0),
        ("sips", &[4.0, 0.8, 0.02], far, 4.0),
        ("sips", &[4.0, 0.8, 0.02], 1e-9, 0.0),
        ("herschel_bulkley", &[10.0, 2.0, 0.6], zero, 10.0),
        ("casson", &[10.0, 0.2], zero, 10.0),
        ("carreau", &[100.0, 1.0, 5.0, 0.3], zero, 100.0),
        ("carreau", &[100.0, 1.0, 5.0, 0.3], far, 1.0),
        ("cross", &[100.0, 1.0, 5.0, 0.8], zero, 100.0),
        ("cross", &[100.0, 1.0, 5.0, 30.0], far, 1.0),
        ("one_compartment_oral", &[5.0, 1.5, 0.2], zero, 0.0),
        ("one_compartment_oral", &[5.0, 0.2, 1e15], 10.0, 1e-15 * (-2.0_f64).exp()),
        ("one_compartment_oral", &[5.0, 1e15, 0.2], 10.0, 5.0 * (-2.0_f64).exp()),
        ("modified_gompertz", &[4.0, 0.6, 5.0], -1e9, 0.0),
        ("modified_gompertz", &[4.0, 0.6, 5.0], 1e9, 4.0),
        ("modified_logistic", &[4.0, 0.6, 5.0], -1e9, 0.0),
        ("modified_logistic", &[4.0, 0.6, 5.0], 1e9, 4.0),
        ("baranyi_roberts", &[5.0, 20.0, 1.2, 4.0], zero, 5.0),
        ("baranyi_roberts", &[5.0, 20.0, 1.2, 4.0], 1e6, 20.0),
        ("baranyi_roberts", &[5.0, 20.0, 1.2, 1e6], 10.0, 5.0),
        ("van_genuchten", &[0.05, 0.43, 0.02, 1.8], zero, 0.43),
        ("van_genuchten", &[0.05, 0.43, 0.02, 30.0], 1e6, 0.05),
        ("weibull1", &[1.5, 1.0, 5.0, 3.0], zero, 5.0),
        ("weibull1", &[-1.5, 1.0, 5.0, 3.0], zero, 1.0),
        ("weibull1", &[30.0, 1.0, 5.0, 3.0], far, 1.0),
        ("weibull1", &[-30.0, 1.0, 5.0, 3.0], 1e-9, 1.0),
        ("weibull2", &[1.5, 1.0, 5.0, 3.0], zero, 1.0),
        ("weibull2", &[-1.5, 1.0, 5.0, 3.0], zero, 5.0),
        ("logistic5_ec50", &[1.0, 5.0, 3.0, 1.5, 2.0], zero, 1.0),
        ("logistic5_ec50", &[1.0, 5.0, 3.0, -1.5, 2.0], zero, 5.0),
        ("logistic5_ec50", &[1.0, 5.0, 3.0, 1.5, 1e-4], 3.0, 3.0),
        ("logistic5_ec50", &[1.0, 5.0, 3.0, 1.5, 1e4], 3.0, 3.0),
        ("logistic5_ec50", &[1.0, 5.0, 3.0, 1.5, 0.3], far, 5.0),
    ];
    for (name, b, x, expected) in limits {
        let found = response::<T>(name, x, b);
        let error = (found.value.to_f64() - expected).abs();
        assert!(error <= part * expected.abs().max(1e-30), "{name}{b:?} at {x}: {found:?} instead of {expected}");
        assert!(found.gradient.iter().all(|slope| slope.is_finite()), "{name}{b:?} at {x}: {found:?}");
    }
}

#[test]
fn limits_are_reached_in_either_precision() {
    has_limits::<f64>(1e-12);
    has_limits::<f32>(1e-4);
}

/// Derivatives of Bateman's curve at and near equal rates; the first are `(1 − k x / 2) x exp(−k x)` and `−k x² / 2 exp(−k x)`.
#[test]
fn bateman_is_smooth_where_the_rates_are_equal() {
    let (k, x) = (0.7_f64, 3.0);
    let decayed = 5.0 * (-k * x).exp();
    let expected = [k * x * decayed / 5.0, (1.0 - k * x / 2.0) * x * decayed, -k * x * x / 2.0 * decayed];
    for difference in [0.0, 1e-14, -1e-14, 1e-9, -1e-9] {
        let found = response::<f64>("one_compartment_oral", x, &[5.0, k + difference, k]);
        for (found, expected) in found.gradient.iter().zip(expected) {
            assert!((found - expected).abs() < 1e-14 + 20.0 * difference.abs(), "{difference}: {found} and {expected}");
        }
    }
}

/// Antoine's parameters of water are for degrees Celsius and mmHg.
#[test]
fn water_boils_at_100_degrees() {
    let pressure = response::<f64>("antoine", 100.0, &[8.07131, 1730.63, 233.426]).value;
    assert!((pressure - 760.0).abs() < 0.1, "{pressure}");
}
