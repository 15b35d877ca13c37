//! Fits a curve to data, prints the report, and draws data, curve and residuals.
//!
//! ```text
//! cargo run --release --example fit_curve                    a peak, to measurements by NIST
//! cargo run --release --example fit_curve -- --help          all there is to say, and the names of the curves
//! cargo run --release --example fit_curve -- examples/data/enzyme.csv --x conc --y rate --model michaelis_menten
//! cargo run --release --example fit_curve -- plate.csv --x conc --y rate --model michaelis_menten --by compound
//! cargo run --release --example fit_curve -- data.csv --model gaussian+linear --bounds sigma=0.. --plot fit.png
//! ```

#[path = "../../tests/nist/mod.rs"]
#[allow(dead_code, reason = "one of the sets is enough here")]
mod nist;
mod options;

use std::error::Error;
use std::fs;
use std::io::{self, Write};
use std::ops::Bound;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Parser;
use marquardt::models::{Named, UnknownModel};
use marquardt::{CurveError, CurveFit, FitSummary, NanPolicy, Plot, Table, TableError};
use options::{Bounds, Fix, Options, Start};

fn main() -> ExitCode {
    match run(&Options::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run(options: &Options) -> Result<(), Box<dyn Error>> {
    let fits = match &options.file {
        Some(file) => {
            let table = Table::from_csv(file)?;
            note_of_groups(&table, options).iter().for_each(|note| eprintln!("{note}"));
            fit_groups(&table, file, options)?
        }
        None => vec![(None, fit_peak()?)],
    };
    let mut out = io::stdout();
    let write =
        |path: PathBuf, text: String| fs::write(&path, text).map_err(|error| format!("{}: {error}", path.display()));
    for (group, (summary, plot)) in fits {
        writeln!(out, "{summary}\n")?;
        let of_group = |path: &PathBuf| of_group(path, group.as_deref());
        let drawing = of_group(&options.plot);
        plot.save(&drawing)?;
        writeln!(out, "drawn to {}\n", drawing.display())?;
        options.json.iter().try_for_each(|path| write(of_group(path), summary.to_json()))?;
        options.markdown.iter().try_for_each(|path| write(of_group(path), summary.to_markdown()))?;
    }
    Ok(())
}

/// A report and a plot.
type Fit = (FitSummary, Plot);

/// Fits, with the names of their groups where there are such.
type Fits = Vec<(Option<String>, Fit)>;

/// The file of a group: its name is added to that of the file.
fn of_group(path: &Path, group: Option<&str>) -> PathBuf {
    let Some(group) = group else { return path.to_owned() };
    let stem = path.file_stem().unwrap_or_default().to_string_lossy();
    let group: String = group.chars().map(|c| if c.is_alphanumeric() { c } else { '_' }).collect();
    let extension = path.extension().map_or_else(String::new, |extension| format!(".{}", extension.to_string_lossy()));
    path.with_file_name(format!("{stem}-{group}{extension}"))
}

/// A column of texts that occur again and again says that there are groups, which a single fit takes no notice of.
fn note_of_groups(table: &Table, options: &Options) -> Option<String> {
    let is_text = |name: &&str| matches!(table.column(name), Err(TableError::NotANumber { .. }));
    let name = table.column_names().find(|name| options.by.is_none() && is_text(name))?;
    let groups = table.group_by(name).ok()?.len();
    let note =
        format!("note: the {groups} texts in the column {name} are fitted as one; --by {name} fits each by itself");
    (1 < groups && groups < table.rows()).then_some(note)
}

/// A curve by name, to columns of a file, for each group of its rows.
fn fit_groups(table: &Table, file: &Path, options: &Options) -> Result<Fits, Box<dyn Error>> {
    let Some(by) = &options.by else { return Ok(vec![(None, fit_table(table, file, options)?)]) };
    let fit = |(group, rows): (String, Table)| {
        let (summary, plot) = fit_table(&rows, file, options).map_err(|error| format!("{by} {group}: {error}"))?;
        let title = format!("{}, {by} {group}", summary.title.unwrap_or_default());
        let summary = FitSummary { title: Some(title.clone()), ..summary };
        Ok((Some(group), (summary, plot.title(title))))
    };
    table.group_by(by)?.into_iter().map(fit).collect()
}

/// A peak whose parameters have names, from NIST's far start.
fn fit_peak() -> Result<Fit, Box<dyn Error>> {
    let data = nist::DataSet::load(nist::Model::Eckerle4);
    let wavelength: Vec<f64> = data.x.iter().map(|row| row[0]).collect();
    let fit = CurveFit::new(
        |x, [area, width, center]| area / width * (-0.5 * ((x - center) / width).powi(2)).exp(),
        &wavelength,
        &data.y,
        [1.0, 10.0, 500.0],
    )
    .names(["area", "width", "center"])
    .fit()?;
    let plot = fit.plot()?.title("Transmittance of an interference filter (NIST, Eckerle4)");
    Ok((fit.summary(), plot.x_label("wavelength (nm)").y_label("transmittance")))
}

/// A curve by name, to columns of a file.
fn fit_table(table: &Table, file: &Path, options: &Options) -> Result<Fit, Box<dyn Error>> {
    let model: Named = options.model.as_deref().unwrap_or_default().parse().map_err(with_list)?;
    let [x_name, y_name] = [(&options.x, 1), (&options.y, 2)].map(|(name, number)| column_name(table, name, number));
    let (x, y) = (table.column(&x_name)?, table.column(&y_name)?);
    let mut fit = CurveFit::guessed(model.clone(), x, y);
    for Start { name, value } in &options.start {
        fit = fit.start(name, *value);
    }
    for Bounds { name, low, high } in &options.bounds {
        fit = fit.bounds(name, (Bound::Included(*low), Bound::Included(*high)));
    }
    for Fix { name, value } in &options.fix {
        fit = match *value {
            Some(value) => fit.fix_at(name, value),
            None => fit.fix(name),
        };
    }
    if let Some(sigma) = &options.sigma {
        fit = fit.sigma(table.column(sigma)?).absolute_sigma(options.absolute_sigma);
    }
    if let Some(loss) = options.robust {
        fit = fit.robust(loss);
    }
    if options.counts {
        fit = fit.counts();
    }
    if options.omit_missing {
        fit = fit.nan_policy(NanPolicy::Omit);
    }
    let fit = fit.fit().map_err(with_remedy)?;
    let title = format!("{}: {model}", file.display());
    let formula = Some(format!("{y_name} = {}", model.formula()));
    let summary = FitSummary { title: Some(title.clone()), model: formula, ..fit.summary() };
    Ok((summary, fit.plot()?.title(title).x_label(x_name).y_label(y_name)))
}

/// The name of the column asked for by name or number, or else of this number.
fn column_name(table: &Table, asked: &Option<String>, number: usize) -> String {
    let names: Vec<&str> = table.column_names().collect();
    let of_number =
        |number: usize| number.checked_sub(1).and_then(|index| names.get(index)).map(|name| name.to_string());
    match asked {
        Some(name) if names.contains(&name.as_str()) => name.clone(),
        Some(name) => name.parse().ok().and_then(of_number).unwrap_or_else(|| name.clone()),
        None => of_number(number).unwrap_or_else(|| number.to_string()),
    }
}

fn with_list(unknown: UnknownModel) -> Box<dyn Error> {
    if unknown.near.is_empty() { format!("{unknown}; --help lists them").into() } else { unknown.into() }
}

fn with_remedy(error: CurveError) -> Box<dyn Error> {
    match error {
        CurveError::NonFiniteDatum { .. } => format!("{error}; --omit-missing leaves such rows out").into(),
        error => error.into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TABLE: &str =
        "sample,conc,rate,sd\n1,0.5,1.9,0.1\n2,1,3.1,0.1\n3,2,4.6,0.2\n4,4,5.9,0.2\n5,8,6.8,0.3\n6,,7,0.3\n";

    fn fit(line: &str) -> Result<FitSummary, String> {
        let options = Options::parse_from(["fit_curve", "data.csv"].into_iter().chain(line.split_whitespace()));
        let table = Table::from_reader(TABLE.as_bytes()).unwrap();
        let (summary, plot) = fit_table(&table, Path::new("data.csv"), &options).map_err(|error| error.to_string())?;
        assert!(plot.to_svg().contains("conc"));
        Ok(summary)
    }

    #[test]
    fn the_peak_is_nists() {
        let (summary, plot) = fit_peak().unwrap();
        assert!((summary.parameters[2].value - 451.54121844).abs() < 1e-7);
        assert!(plot.to_svg().contains("wavelength (nm)"));
    }

    #[test]
    fn a_table_is_fitted() {
        let line = "--x conc --y rate --model michaelis_menten --omit-missing";
        let free = fit(line).unwrap();
        assert!(free.is_converged && free.data.observations == 5 && free.data.omitted == 1);
        assert_eq!(free.model.as_deref(), Some("rate = vmax x / (km + x)"));
        // By number, with all that can be set.
        let line = "--x 2 --y 3 --model michaelis_menten --omit-missing --sigma sd --absolute-sigma --start vmax=5 \
                    --bounds vmax=..6,km=0.. --robust huber";
        let bounded = fit(line).unwrap();
        assert_eq!(bounded.parameters[0].value, 6.0);
        assert_eq!((bounded.parameters[0].start, bounded.data.noise.as_str()), (Some(5.0), "absolute sigma"));
        assert_eq!(bounded.data.loss.unwrap().name, "huber");
        let fixed = fit("--x conc --y rate --model michaelis_menten --omit-missing --fix km=1.5 --counts").unwrap();
        assert_eq!((fixed.parameters[1].value, fixed.data.noise.as_str()), (1.5, "Poisson counts"));
    }

    #[test]
    fn groups_are_fitted_each_by_itself() {
        let text = "compound,conc,rate\nA,1,2\nB,1,5\nA,2,4\nB,2,6\nA,3,6.1\nB,3,6.9\n";
        let table = Table::from_reader(text.as_bytes()).unwrap();
        let options =
            |line: &str| Options::parse_from(["fit_curve", "plate.csv"].into_iter().chain(line.split_whitespace()));
        let by = options("--x conc --y rate --model linear --by compound");
        let fits = fit_groups(&table, Path::new("plate.csv"), &by).unwrap();
        let found: Vec<&str> = fits.iter().map(|(group, _)| group.as_deref().unwrap()).collect();
        assert_eq!(found, ["A", "B"]);
        assert_eq!(fits[1].1.0.title.as_deref(), Some("plate.csv: linear, compound B"));
        assert_eq!(fits[0].1.0.data.observations, 3);
        assert_eq!(note_of_groups(&table, &by), None);
        let as_one = options("--x conc --y rate --model linear");
        let note = "note: the 2 texts in the column compound are fitted as one; --by compound fits each by itself";
        assert_eq!(note_of_groups(&table, &as_one).as_deref(), Some(note));
        assert_eq!(of_group(Path::new("out/fit.svg"), Some("A/1")), Path::new("out/fit-A_1.svg"));
        let unknown = options("--x conc --y rate --model linear --by plate");
        let error = fit_groups(&table, Path::new("plate.csv"), &unknown).err().unwrap().to_string();
        assert_eq!(error, "input: there is no column \"plate\", only compound, conc, rate");
        let few = Table::from_reader("compound,conc,rate\nA,1,2\nA,2,3\nB,1,5\n".as_bytes()).unwrap();
        let error = fit_groups(&few, Path::new("plate.csv"), &by).err().unwrap().to_string();
        assert_eq!(error, "compound B: 1 observation cannot determine 2 parameters");
    }

    #[test]
    fn errors_say_what_to_do() {
        let error = |line: &str| fit(line).unwrap_err();
        assert_eq!(
            error("--x time --y rate --model linear"),
            "input: there is no column \"time\", only sample, conc, rate, sd"
        );
        assert_eq!(error("--model gausian"), "there is no model \"gausian\"; did you mean gaussian?");
        assert_eq!(error("--model qqqqqq"), "there is no model \"qqqqqq\"; --help lists them");
        assert_eq!(error("--model linear"), "y is NaN in row 6; --omit-missing leaves such rows out");
        let line = "--x conc --y rate --model michaelis_menten --omit-missing";
        assert_eq!(error(&format!("{line} --fix half=1")), "there is no parameter half; there are vmax, km");
        assert!(error(&format!("{line} --start km=2 --bounds km=3..")).contains("km"));
        assert!(error(&format!("{line} --bounds km=3..1")).contains("the lower bound of km, 3"));
        assert!(error(&format!("{line} --sigma sd --counts")).contains("exclude each other"));
    }
}
