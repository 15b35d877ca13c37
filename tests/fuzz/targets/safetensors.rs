//! Variables in the safetensors format. By the first byte the rest is a whole file, or a header that is given its length and
//! some numbers, or choices that a header is made of.

use marquardt::{Real, Variables};
use ndarray::{Array1, Array2};

use crate::choices::Choices;

pub const WORDS: &[&str] = &[
    "F64",
    "F32",
    "BF16",
    "dtype",
    "shape",
    "data_offsets",
    "__metadata__",
    "18446744073709551615",
    "4611686018427387904",
    "[0,8]",
    "[8,40]",
    "[2,2]",
    "[]",
    "null",
    "1e5",
    "-1",
    "\\ud800",
    "0.weight",
    "\"a\":{\"dtype\":\"F64\",\"shape\":[1],\"data_offsets\":[0,8]},",
];

pub fn run(bytes: &[u8]) -> bool {
    let mut choices = Choices(bytes);
    let file = match choices.byte() % 4 {
        0 => choices.0.to_vec(),
        1 => file(choices.0, &[1.5, -2.0, 0.0, 1e300, 5e-324].map(f64::to_le_bytes).concat()),
        _ => made(&mut choices),
    };
    loads_into_a_model(&file);
    is_read_again::<f32>(&file) | is_read_again::<f64>(&file)
}

/// A file of a header and data.
fn file(header: &[u8], data: &[u8]) -> Vec<u8> {
    [&(header.len() as u64).to_le_bytes(), header, data].concat()
}

/// A file of a few tensors, which mostly fit their places.
fn made(choices: &mut Choices) -> Vec<u8> {
    let (mut entries, mut data) = (Vec::new(), Vec::new());
    for _ in 0..choices.below(4) {
        let name = ["a", "b", "0.weight", "10.bias", "", "ü", "2"][choices.below(7)];
        let (dtype, size) = [("F64", 8), ("F64", 8), ("F32", 4), ("F32", 4), ("F16", 2)][choices.below(5)];
        let mut shape: Vec<usize> = (0..choices.below(4)).map(|_| choices.below(4)).collect();
        let bytes = size * shape.iter().product::<usize>();
        if let Some(side) = shape.last_mut().filter(|_| choices.one_in(8)) {
            *side = [usize::MAX, usize::MAX / 8, 1 << 32, 1 << 61][choices.below(4)];
        }
        let start = data.len();
        data.extend((0..bytes).map(|_| choices.byte()));
        let end = data.len() + usize::from(choices.one_in(32));
        entries.push(format!(r#""{name}":{{"dtype":"{dtype}","shape":{shape:?},"data_offsets":[{start},{end}]}}"#));
    }
    file(format!("{{{}}}", entries.join(",")).as_bytes(), &data)
}

fn is_read_again<T: Real>(file: &[u8]) -> bool {
    let variables = match Variables::<T>::from_safetensors(file) {
        Ok(variables) => variables,
        Err(error) => {
            assert!(!error.to_string().is_empty());
            return false;
        }
    };
    assert!(variables.values().iter().all(|value| value.is_finite()));
    let again = Variables::<T>::from_safetensors(&variables.to_safetensors().expect("what was read can be written"));
    assert_eq!(again.expect("what was written can be read"), variables);
    true
}

fn loads_into_a_model(file: &[u8]) {
    let mut model = Variables::<f64>::new();
    model.add("a", Array2::zeros((2, 2)).view()).unwrap();
    model.add("b", Array1::zeros(1).view()).unwrap();
    let before = model.clone();
    if model.load_safetensors_bytes(file).is_err() {
        assert_eq!(model, before);
    }
    assert!(model.values().iter().all(|value| value.is_finite()));
}
