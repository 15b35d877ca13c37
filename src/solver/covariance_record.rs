//! Saved form of covariances: the root, from which all else is computed again.

use ndarray::Array2;
use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::Covariance;
use super::covariance::square;
use crate::real::Real;
use crate::serial::Exact;

#[derive(Serialize, Deserialize)]
struct CovarianceRecord {
    root: Vec<Vec<Exact>>,
    is_undetermined: Vec<bool>,
    undetermined: Vec<String>,
    held: Vec<String>,
    sum_of_squares: Exact,
    degrees_of_freedom: usize,
    variance: Option<Exact>,
    is_absolute: bool,
}

fn exact<T: Real>(value: T) -> Exact {
    Exact(value.to_f64())
}

fn real<T: Real>(Exact(value): Exact) -> T {
    T::from_f64(value)
}

impl<T: Real> Serialize for Covariance<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let row = |row: ndarray::ArrayView1<'_, T>| row.iter().copied().map(exact).collect();
        let record = CovarianceRecord {
            root: self.root.rows().into_iter().map(row).collect(),
            is_undetermined: self.is_undetermined.clone(),
            undetermined: self.undetermined.clone(),
            held: self.held.clone(),
            sum_of_squares: exact(self.sum_of_squares),
            degrees_of_freedom: self.degrees_of_freedom,
            variance: self.variance.map(exact),
            is_absolute: self.absolute,
        };
        record.serialize(serializer)
    }
}

impl<'de, T: Real> Deserialize<'de> for Covariance<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let record = CovarianceRecord::deserialize(deserializer)?;
        let (n, rank) = (record.root.len(), record.root.first().map_or(0, Vec::len));
        if record.is_undetermined.len() != n || record.root.iter().any(|row| row.len() != rank) {
            return Err(D::Error::custom("the root of a covariance has a row for each parameter, all of one length"));
        }
        let root: Vec<T> = record.root.into_iter().flatten().map(real).collect();
        let root = Array2::from_shape_vec((n, rank), root).map_err(D::Error::custom)?;
        Ok(Covariance {
            unscaled: square(&root, &record.is_undetermined),
            root,
            sum_of_squares: real(record.sum_of_squares),
            degrees_of_freedom: record.degrees_of_freedom,
            undetermined: record.undetermined,
            is_undetermined: record.is_undetermined,
            held: record.held,
            variance: record.variance.map(real),
            absolute: record.is_absolute,
        })
    }
}
