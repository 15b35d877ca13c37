//! Robust losses and linear forms by the names that they have on the command line.

use clap::builder::{PossibleValuesParser, TypedValueParser};
use marquardt::Loss;
use marquardt::linear::LinearForm;

/// Forms for Jacobians of blocks, with their names.
const FORMS: [(&str, LinearForm); 4] = [
    ("sparse-cholesky", LinearForm::SparseCholesky),
    ("schur", LinearForm::Schur),
    ("iterative-schur", LinearForm::IterativeSchur),
    ("cgnr", LinearForm::Cgnr),
];

/// Names of robust losses.
pub fn losses() -> impl TypedValueParser<Value = Loss> {
    let of_name = |name: String| Loss::ALL.iter().copied().find(|loss| loss.name() == name);
    PossibleValuesParser::new(Loss::ALL.iter().map(|loss| loss.name()))
        .map(move |name| of_name(name).expect("it is one of the names"))
}

/// Names of forms for Jacobians of blocks.
pub fn forms() -> impl TypedValueParser<Value = LinearForm> {
    let of_name = |name: String| FORMS.into_iter().find(|form| form.0 == name);
    let names = PossibleValuesParser::new(FORMS.map(|form| form.0));
    names.map(move |name| of_name(name).expect("it is one of the names").1)
}
