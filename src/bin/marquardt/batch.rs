//! Fits of several files, each of which is a group.

use std::fs;
use std::path::{Path, PathBuf};

use marquardt::models::AnyModel;

use crate::arguments::FitArguments;
use crate::curve::{self, Chosen};
use crate::data;
use crate::failure::{Ending, Failure};
use crate::fit;
use crate::groups::{Group, GroupFits};
use crate::output;
use crate::selected_data::SelectedData;
use crate::terminal::note;
use crate::wildcard::matches;

/// Name of the column of the files.
const BY: &str = "file";

/// Fits all files and prints a row for each. Files that cannot be fitted are listed, and the exit code is that of the worst.
pub fn run(arguments: &FitArguments) -> Result<Ending, Failure> {
    let mut failed = Vec::new();
    let (mut groups, mut curve) = (Vec::new(), None);
    for file in files(&arguments.groups.batch)? {
        let name = file.display().to_string();
        match read(arguments, file) {
            Ok((chosen, data)) => {
                let first = curve.get_or_insert_with(|| chosen.clone());
                match chosen.parameters() == first.parameters() {
                    true => groups.push(Group { name, data, found: Vec::new() }),
                    false => {
                        failed.push(Failure::new(format!("{name}: its columns give the formula other parameters")))
                    }
                }
            }
            Err(failure) => failed.push(failure),
        }
    }
    let Some(curve) = curve else { return Err(failed.swap_remove(0)) };
    GroupFits::new(arguments, &curve, BY, groups)?.run(failed)
}

/// The curve and the data of a file.
fn read(arguments: &FitArguments, file: PathBuf) -> Result<(AnyModel, SelectedData), Failure> {
    let mut arguments = arguments.clone();
    arguments.data.file = Some(file);
    output::check(&arguments)?;
    let (table, chosen, _) = fit::read(&arguments)?;
    let left_out = curve::note_of_response(&table, &chosen, &arguments.data, None);
    let Chosen { curve, x_names, y_names, .. } = chosen;
    let data = SelectedData::select(&table, &arguments.data, x_names, y_names)?;
    data::note_of_reading(&table, &data.columns)?;
    left_out.into_iter().for_each(|left_out| note(format_args!("{}: {left_out}", table.source_name())));
    Ok((curve, data))
}

/// The files that patterns such as `data/*.csv` match, in the order of their names; a name without an asterisk is a file.
fn files(patterns: &[PathBuf]) -> Result<Vec<PathBuf>, Failure> {
    let mut files = Vec::new();
    for path in patterns {
        let pattern = path.file_name().unwrap_or_default().to_string_lossy();
        if !pattern.contains('*') || path.exists() {
            files.push(path.clone());
            continue;
        }
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
        let refuse = |error| Failure::new(format!("--batch {}: {error}", path.display()));
        let entries = fs::read_dir(folder.unwrap_or(Path::new("."))).map_err(|error| refuse(error.to_string()))?;
        let names = entries.filter_map(|entry| Some(entry.ok()?.file_name()));
        let mut found: Vec<PathBuf> = names
            .filter(|name| matches(&pattern, &name.to_string_lossy()))
            .map(|name| folder.map_or_else(|| PathBuf::from(&name), |folder| folder.join(&name)))
            .collect();
        if found.is_empty() {
            return Err(refuse("no file has such a name".to_owned()));
        }
        found.sort();
        files.append(&mut found);
    }
    Ok(files)
}
