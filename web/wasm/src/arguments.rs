//! Arguments of the command, from options in JSON.

use std::num::NonZeroUsize;
use std::ops::RangeInclusive;
use std::path::PathBuf;

use marquardt::Loss;
use marquardt::curve::{DateOrder, Separator};
use marquardt::solver::damping::{Damping, GainRatio, Multiplicative, TrustRegion};
use marquardt::solver::{Acceleration, Scaling};
use serde_json::Value;

use crate::assignments::{self, NamedValue, Replicates};
use crate::condition::Condition;
use crate::failure::Failure;
use crate::options::Options;
use crate::table::Format;

#[derive(Debug, Clone)]
pub struct DataArguments {
    pub file: Option<PathBuf>,
    pub x: Vec<String>,
    pub y: Vec<String>,
    pub complex: bool,
    pub sigma: Option<String>,
    pub weights: Option<String>,
    pub sigma_x: Vec<String>,
    pub replicates: Option<String>,
    pub sd: Option<String>,
    pub computed: Vec<NamedValue<String>>,
    pub conditions: Vec<Condition>,
    pub omit_missing: bool,
    pub separator: Option<Separator>,
    pub decimal_comma: bool,
    pub thousands: Option<char>,
    pub missing: Vec<String>,
    pub date_order: Option<DateOrder>,
    pub since: Option<String>,
    pub sheet: Option<String>,
    pub no_heading: bool,
    pub skip: usize,
    pub header_row: Option<NonZeroUsize>,
}

impl DataArguments {
    pub fn of(options: &mut Options) -> Result<Self, Failure> {
        let separators = [
            ("comma", Separator::Comma),
            ("semicolon", Separator::Semicolon),
            ("tab", Separator::Tab),
            ("space", Separator::Whitespace),
        ];
        let orders = [("dmy", DateOrder::DayMonthYear), ("mdy", DateOrder::MonthDayYear)];
        Ok(DataArguments {
            file: options.text("file")?.map(PathBuf::from),
            x: options.list("x")?,
            y: options.list("y")?,
            complex: options.switch("complex")?,
            sigma: options.text("sigma")?,
            weights: options.text("weights")?,
            sigma_x: options.list("sigma-x")?,
            replicates: options.text("replicates")?,
            sd: options.text("sd")?,
            computed: options.each("let", false, assignments::tie)?,
            conditions: options.each("where", false, str::parse)?,
            omit_missing: options.switch("omit-missing")?,
            separator: options.choice("separator", "", &separators)?,
            decimal_comma: options.switch("decimal-comma")?,
            thousands: options.value("thousands", "")?,
            missing: options.list("missing")?,
            date_order: options.choice("date-order", "", &orders)?,
            since: options.text("since")?,
            sheet: None,
            no_heading: options.switch("no-heading")?,
            skip: options.value("skip", "")?.unwrap_or_default(),
            header_row: options.value("header-row", "")?,
        })
    }
}

#[derive(Debug, Clone, Default)]
pub struct ParameterArguments {
    pub start: Vec<NamedValue<f64>>,
    pub bounds: Vec<NamedValue<RangeInclusive<f64>>>,
    pub fix: Vec<NamedValue<Option<f64>>>,
    pub tie: Vec<NamedValue<String>>,
    pub constrain: Vec<String>,
    pub prior: Vec<NamedValue<(f64, f64)>>,
}

impl ParameterArguments {
    pub fn of(options: &mut Options) -> Result<Self, Failure> {
        Ok(ParameterArguments {
            start: options.each("start", true, assignments::start)?,
            bounds: options.each("bounds", true, assignments::range)?,
            fix: options.each("fix", true, assignments::fix)?,
            tie: options.each("tie", false, assignments::tie)?,
            constrain: options.repeated("constrain")?,
            prior: options.each("prior", true, assignments::prior)?,
        })
    }
}

#[derive(Debug, Clone)]
pub struct CurveArguments {
    pub model: Option<String>,
    pub formula: Option<String>,
    pub parameters: ParameterArguments,
}

#[derive(Debug, Clone)]
pub struct MethodArguments {
    pub absolute_sigma: bool,
    pub weight_by_modulus: bool,
    pub effective_variance: bool,
    pub counts: bool,
    pub robust: Option<Loss>,
    pub f_scale: Option<f64>,
    pub multi_start: Option<u32>,
    pub range: Vec<NamedValue<RangeInclusive<f64>>>,
    pub seed: u64,
    pub no_retry: bool,
    pub variable_projection: bool,
    pub damping: Option<Damping<f64>>,
    pub acceleration: Option<Acceleration>,
    pub scaling: Option<Scaling>,
    pub ftol: Option<f64>,
    pub xtol: Option<f64>,
    pub gtol: Option<f64>,
    pub max_evaluations: Option<usize>,
    pub max_iterations: Option<usize>,
    pub time_limit: Option<f64>,
    pub watch: bool,
}

impl MethodArguments {
    pub fn of(options: &mut Options) -> Result<Self, Failure> {
        let losses: Vec<(&str, Loss)> = Loss::ALL.iter().map(|loss| (loss.name(), *loss)).collect();
        let rules: [(_, Damping<f64>); 4] = [
            ("gain-ratio", GainRatio::default().into()),
            ("trust-region", TrustRegion::default().into()),
            ("marquardt", Multiplicative::default().into()),
            ("delayed-gratification", Multiplicative::delayed_gratification().into()),
        ];
        let steps =
            [("never", Acceleration::Never), ("curved", Acceleration::WhereCurved), ("always", Acceleration::Always)];
        let scalings = [
            ("identity", Scaling::Identity),
            ("marquardt", Scaling::Marquardt),
            ("running-maximum", Scaling::RunningMaximum),
            ("fading-maximum", Scaling::FadingMaximum),
        ];
        Ok(MethodArguments {
            absolute_sigma: options.switch("absolute-sigma")?,
            weight_by_modulus: options.switch("weight-by-modulus")?,
            effective_variance: options.switch("effective-variance")?,
            counts: options.switch("counts")?,
            robust: options.choice("robust", "tukey", &losses)?,
            f_scale: options.value("f-scale", "")?,
            multi_start: options.value("multi-start", "32")?,
            range: options.each("range", true, assignments::range)?,
            seed: options.value("seed", "")?.unwrap_or_default(),
            no_retry: options.switch("no-retry")?,
            variable_projection: options.switch("variable-projection")?,
            damping: options.choice("damping", "", &rules)?,
            acceleration: options.choice("acceleration", "", &steps)?,
            scaling: options.choice("scaling", "", &scalings)?,
            ftol: options.value("ftol", "")?,
            xtol: options.value("xtol", "")?,
            gtol: options.value("gtol", "")?,
            max_evaluations: options.value("max-evaluations", "")?,
            max_iterations: options.value("max-iterations", "")?,
            time_limit: None,
            watch: false,
        })
    }
}

#[derive(Debug, Clone)]
pub struct ContourArguments {
    pub contour: Vec<String>,
    pub profile_plot: Option<PathBuf>,
}

#[derive(Debug, Clone)]
pub struct GroupArguments {
    pub group_by: Option<String>,
    pub x_from_heading: bool,
    pub batch: Vec<PathBuf>,
    pub share: Vec<String>,
    pub test: Vec<String>,
}

/// Formats of results: a page has the report, in all formats.
#[derive(Debug, Clone, Default)]
pub struct FormatArguments;

impl FormatArguments {
    pub fn all(&self) -> impl Iterator<Item = (Format, &PathBuf)> {
        std::iter::empty()
    }
}

#[derive(Debug, Clone)]
pub struct OutputArguments {
    pub report: Option<PathBuf>,
    pub live: bool,
    pub log_x: bool,
    pub log_y: bool,
    pub x_label: Option<String>,
    pub y_label: Option<String>,
    pub title: Option<String>,
    pub formats: FormatArguments,
    /// The rows with their residuals are part of the answer.
    pub residuals: bool,
    pub digits: Option<u8>,
}

/// The command line of the same run.
#[derive(Debug, Clone, Default)]
pub struct SettingsArguments;

/// Differential equations; `initial` to `stiff` mean something with `ode` alone.
#[derive(Debug, Clone)]
pub struct EquationArguments {
    pub ode: Vec<NamedValue<String>>,
    pub initial: Vec<NamedValue<String>>,
    pub observe: Vec<String>,
    pub initial_time: f64,
    pub stiff: bool,
}

#[derive(Debug, Clone)]
pub struct FitArguments {
    pub data: DataArguments,
    pub curve: CurveArguments,
    pub equations: EquationArguments,
    pub method: MethodArguments,
    pub outliers: Option<f64>,
    pub profile: bool,
    pub residual_tests: bool,
    pub bootstrap: Option<u32>,
    pub derive: Vec<NamedValue<String>>,
    pub derive_all: bool,
    pub x_for: Vec<Replicates>,
    pub x_for_sigma: Option<f64>,
    pub regions: ContourArguments,
    pub groups: GroupArguments,
    pub output: OutputArguments,
    pub settings: SettingsArguments,
}

impl FitArguments {
    /// Options by their names, all of which are known.
    pub fn of(value: Value) -> Result<Self, Failure> {
        let mut options = Options::of(value)?;
        let arguments = FitArguments {
            data: DataArguments::of(&mut options)?,
            curve: CurveArguments {
                model: options.text("model")?,
                formula: options.text("formula")?,
                parameters: ParameterArguments::of(&mut options)?,
            },
            equations: EquationArguments {
                ode: options.each("ode", false, assignments::tie)?,
                initial: options.each("initial", false, assignments::tie)?,
                observe: options.repeated("observe")?,
                initial_time: options.value("initial-time", "")?.unwrap_or_default(),
                stiff: options.switch("stiff")?,
            },
            method: MethodArguments::of(&mut options)?,
            outliers: options.value("outliers", "0.01")?,
            profile: options.switch("profile")?,
            residual_tests: options.switch("residual-tests")?,
            bootstrap: options.value("bootstrap", "1000")?,
            derive: options.each("derive", false, assignments::tie)?,
            derive_all: options.switch("derive-all")?,
            x_for: options.each("x-for", true, assignments::replicates)?,
            x_for_sigma: options.value("x-for-sigma", "")?,
            regions: ContourArguments { contour: options.list("contour")?, profile_plot: None },
            groups: GroupArguments {
                group_by: options.text("group-by")?,
                x_from_heading: options.switch("x-from-heading")?,
                batch: Vec::new(),
                share: options.list("share")?,
                test: options.list("test")?,
            },
            output: OutputArguments {
                report: Some(PathBuf::from("fit.html")),
                live: true,
                log_x: options.switch("log-x")?,
                log_y: options.switch("log-y")?,
                x_label: options.text("x-label")?,
                y_label: options.text("y-label")?,
                title: options.text("title")?,
                formats: FormatArguments,
                residuals: options.switch("residuals")?,
                digits: options.value("digits", "")?,
            },
            settings: SettingsArguments,
        };
        options.finish()?;
        let equations = &arguments.equations;
        let has_ode = !equations.ode.is_empty();
        if !has_ode && (!equations.initial.is_empty() || !equations.observe.is_empty() || equations.stiff) {
            return Err(Failure::new("\"initial\", \"observe\" and \"stiff\" need \"ode\""));
        }
        let conflicts = [
            ("ode", has_ode, "model", arguments.curve.model.is_some()),
            ("ode", has_ode, "formula", arguments.curve.formula.is_some()),
            ("ode", has_ode, "group-by", arguments.groups.group_by.is_some()),
            ("ode", has_ode, "derive-all", arguments.derive_all),
            ("model", arguments.curve.model.is_some(), "formula", arguments.curve.formula.is_some()),
            ("sigma", arguments.data.sigma.is_some(), "weights", arguments.data.weights.is_some()),
            ("outliers", arguments.outliers.is_some(), "robust", arguments.method.robust.is_some()),
            ("outliers", arguments.outliers.is_some(), "counts", arguments.method.counts),
        ];
        match conflicts.into_iter().find(|(_, has_one, _, has_other)| *has_one && *has_other) {
            Some((one, _, other, _)) => Err(Failure::new(format!("{one:?} and {other:?} exclude each other"))),
            None => Ok(arguments),
        }
    }
}

#[derive(Debug)]
pub struct CompareArguments {
    pub data: DataArguments,
    pub models: Vec<String>,
    pub formula: Vec<String>,
    pub start: Vec<NamedValue<f64>>,
    pub method: MethodArguments,
    pub formats: FormatArguments,
}

impl CompareArguments {
    /// Options by their names, all of which are known.
    pub fn of(value: Value) -> Result<Self, Failure> {
        let mut options = Options::of(value)?;
        let arguments = CompareArguments {
            data: DataArguments::of(&mut options)?,
            models: options.list("models")?,
            formula: options.repeated("formula")?,
            start: options.each("start", true, assignments::start)?,
            method: MethodArguments::of(&mut options)?,
            formats: FormatArguments,
        };
        options.finish()?;
        Ok(arguments)
    }
}
