//! Fits in JSON, with the columns that they are of.

use std::collections::BTreeMap;

use marquardt::curve::StoredFit;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::failure::{Failure, quoted};
use crate::selected_data::SelectedData;

/// Columns of a response: a text, or the texts of both parts of a complex one.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(untagged)]
enum Columns {
    One(String),
    Parts(Vec<String>),
}

impl From<Vec<String>> for Columns {
    fn from(mut names: Vec<String>) -> Self {
        if names.len() == 1 { Columns::One(names.remove(0)) } else { Columns::Parts(names) }
    }
}

/// A fit, and the columns of its predictors and of its response.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct FitOfColumns {
    pub x: Vec<String>,
    y: Columns,
    /// Origins of times, by columns.
    #[serde(default)]
    pub origins: BTreeMap<String, String>,
    pub fit: StoredFit<f64>,
}

impl FitOfColumns {
    pub fn new(fit: StoredFit<f64>, data: &SelectedData) -> Self {
        let (x, y, origins) = (data.x_names.clone(), data.y_names.clone().into(), data.origins.clone());
        FitOfColumns { x, y, origins, fit }
    }

    /// The columns of the response.
    pub fn y(&self) -> &[String] {
        match &self.y {
            Columns::One(name) => std::slice::from_ref(name),
            Columns::Parts(names) => names,
        }
    }

    /// Adds the fit to a report.
    pub fn write(&self, report: &mut Value) -> Result<(), Failure> {
        report["x"] = Value::from(self.x.clone());
        report["y"] = serde_json::to_value(&self.y)?;
        if !self.origins.is_empty() {
            report["origins"] = serde_json::to_value(&self.origins)?;
        }
        report["fit"] = serde_json::to_value(&self.fit)?;
        Ok(())
    }

    /// Reads the fit of a report, or of a group of one.
    pub fn read(report: &Value, group: Option<&str>) -> Result<Self, Failure> {
        let report = match (group, report.get("groups").and_then(Value::as_array)) {
            (None, None) => report,
            (Some(group), Some(groups)) => groups
                .iter()
                .find(|report| report["group"] == group)
                .ok_or_else(|| Failure::new(format!("there is no group {group:?}; {}", known(groups))))?,
            (Some(_), None) => return Err(Failure::new("the fit has no groups")),
            (None, Some(groups)) => return Err(Failure::new(format!("--group is needed; {}", known(groups)))),
        };
        if report.get("fit").is_none() {
            return Err(Failure::new("it is no fit that `marquardt fit --json` wrote"));
        }
        Ok(serde_json::from_value(report.clone())?)
    }
}

fn known(groups: &[Value]) -> String {
    let names: Vec<&str> = groups.iter().filter_map(|report| report["group"].as_str()).collect();
    format!("the groups are {}", quoted(&names))
}
