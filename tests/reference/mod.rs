//! Numbers of other frameworks, which `generate.py` wrote down.

#![allow(dead_code, reason = "no single suite takes all of it")]

use std::collections::BTreeMap;
use std::path::Path;

use marquardt::Variables;

/// The numbers under `case` and `name`, in order.
pub struct Reference(BTreeMap<(String, String), Vec<f64>>);

impl Reference {
    pub fn read(file: &str) -> Self {
        let mut numbers = BTreeMap::<_, Vec<f64>>::new();
        let path = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/reference")).join(file);
        for record in csv::Reader::from_path(path).unwrap().deserialize() {
            let (case, name, index, value): (String, String, usize, f64) = record.unwrap();
            let list = numbers.entry((case, name)).or_default();
            assert_eq!(index, list.len(), "the file is in order");
            list.push(value);
        }
        Reference(numbers)
    }

    pub fn of(&self, case: &str, name: &str) -> &[f64] {
        &self.0[&(case.to_owned(), name.to_owned())]
    }
}

/// Equal to 1e-12 of the largest number.
#[track_caller]
pub fn assert_equal<'a>(what: &str, found: impl IntoIterator<Item = &'a f64>, expected: &[f64]) {
    let found: Vec<f64> = found.into_iter().copied().collect();
    assert_eq!(found.len(), expected.len(), "{what}");
    let scale = expected.iter().fold(0.0, |scale: f64, value| scale.max(value.abs()));
    for (i, (found, expected)) in found.iter().zip(expected).enumerate() {
        assert!((found - expected).abs() <= 1e-12 * scale, "{what}[{i}]: {found}, {expected}");
    }
}

/// The weights that the networks of all cases have.
pub fn weights(variables: &mut Variables<f64>) {
    for (i, value) in variables.values_mut().iter_mut().enumerate() {
        *value = 0.5 * (1.7 * (i + 1) as f64).sin();
    }
}
