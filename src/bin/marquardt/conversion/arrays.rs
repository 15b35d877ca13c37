//! Arrays of NumPy.

use marquardt::npy;
use ndarray::{Array2, Ix2, IxDyn};

use super::Fields;
use crate::failure::Failure;

/// Rows of arrays side by side, below the names of the columns; one array without a name has none.
pub fn rows(entries: &[(String, Vec<u8>)]) -> Result<Vec<Fields>, Failure> {
    let mut arrays: Vec<(&str, Array2<f64>)> = Vec::new();
    for (name, bytes) in entries {
        let name = name.trim_end_matches(".npy");
        let error = |error: &dyn std::fmt::Display| Failure::new(format!("array {name:?}: {error}"));
        let array = npy::from_bytes::<f64, IxDyn>(bytes).map_err(|reason| error(&reason))?;
        let axes = array.ndim();
        let columns = array.clone().into_dimensionality::<Ix2>().ok();
        let columns =
            columns.or_else(|| Some(array.into_dimensionality::<ndarray::Ix1>().ok()?.insert_axis(ndarray::Axis(1))));
        let Some(columns) = columns else {
            return Err(error(&format!(
                "it has {axes} axes; a table has rows and columns, and `marquardt many` fits stacks"
            )));
        };
        if let Some((first, before)) = arrays.first().filter(|(_, before)| before.nrows() != columns.nrows()) {
            let (rows, others) = (columns.nrows(), before.nrows());
            return Err(error(&format!("it has {rows} rows, but {first:?} has {others}")));
        }
        arrays.push((name, columns));
    }
    let names = arrays.iter().flat_map(|(name, array)| match array.ncols() {
        1 => vec![(*name).to_owned()],
        count => (1..=count).map(|column| format!("{name}{column}")).collect(),
    });
    let heading = (entries.len() > 1).then(|| names.collect());
    let count = arrays.first().map_or(0, |(_, array)| array.nrows());
    let row = |row| {
        arrays.iter().flat_map(move |(_, array)| array.row(row).to_vec()).map(|value| value.to_string()).collect()
    };
    Ok(heading.into_iter().chain((0..count).map(row)).collect())
}
