//! Arguments of `marquardt fit`.

use std::path::PathBuf;

use clap::{Args, value_parser};

use super::{ContourArguments, CurveArguments, DataArguments, MethodArguments, OutputArguments, SettingsArguments};
use crate::assignments::{self, NamedValue, Replicates};

#[derive(Debug, Clone, Args)]
#[command(after_help = "Examples:
  marquardt fit
  marquardt fit enzyme.csv --x conc --y rate --model michaelis_menten --plot fit.svg --log-x
  marquardt fit decay.csv --formula 'a*exp(-k*t)+c' --start a=9,k=0.3 --bounds k=0.. --counts
  marquardt fit line.csv --formula 'a + b*concentration' --sigma sd --absolute-sigma --prior b=1~9
  marquardt fit sums.csv --formula 'a*exp(-k*t)+b*exp(-q*t)' --fix q=0.1 --tie 'b=1-a' --profile
  marquardt fit sums.csv --formula 'a*exp(-k*t)+b*exp(-q*t)' --start k=1,q=0.1 --constrain 'q<k' \\
      --constrain 'a+b<=1'
  marquardt fit enzyme.csv --formula 'v*conc/(k+conc)' --y rate --no-retry --variable-projection
  marquardt fit peak.csv --model gaussian+linear --robust=cauchy --f-scale 0.1 --residuals r.csv
  marquardt fit wave.csv --formula 'a*sin(w*x)' --multi-start=64 --range a=0..2,w=0..9 --seed 1
  marquardt fit plate.csv --x dose --y response --model hill --group-by compound --share vmax
  marquardt fit plate.csv --x dose --y response --model hill --group-by compound --test n
  marquardt fit plate.csv --x dose --y response --model hill --where 'compound == A and dose > 0' \\
      --omit-missing --markdown
  marquardt fit messung.txt --no-heading --separator semicolon --decimal-comma --x 1 --y 3 \\
      --model linear --plot fit.png --log-y --title 'A line' --digits 10 --csv=fit.csv
  marquardt fit uv.txt --skip 4 --model gaussian
  marquardt fit uv.txt --header-row 5 --missing '<*,-999' --omit-missing --model gaussian
  marquardt fit rent.csv --date-order dmy --thousands , --model linear
  marquardt fit --batch 'run*.csv' --model linear --csv=results.csv
  marquardt fit book.xlsx --sheet run1 --model linear --omit-missing
  zcat big.csv.gz | marquardt fit - --model voigt --watch --max-iterations 50 --time-limit 10
  marquardt fit small.csv --model linear --bootstrap=500 --json=fit.json
  marquardt fit decay.csv --formula 'a*exp(-k*t)' --derive 'half_life=ln(2)/k' --sigma-x 0.05
  marquardt fit line.csv --model linear --x concentration --sigma sd --sigma-x 0.1 \\
      --effective-variance
  marquardt fit plate.csv --x dose --y response --model hill --weights '1/y^2' --residual-tests
  marquardt fit peak.csv --model gaussian+linear --sigma '0.1+0.02*y' --outliers=0.01
  marquardt fit means.csv --model linear --replicates n --sd 'sem*sqrt(n)' --residual-tests
  marquardt fit wide.csv --x dose --y 'rep*' --model hill --residual-tests
  marquardt fit impedance.csv --x omega --y re,im --weight-by-modulus --nyquist nyquist.svg \\
      --bode bode.svg --formula 'r0 + r1/(1+i*omega*r1*c)'
  marquardt fit impedance.csv --x omega --y modulus --complex \\
      --formula 'abs(r0 + r1/(1+i*omega*r1*c))'
  marquardt fit drug.csv --ode 'gut=-ka*gut' --ode 'blood=ka*gut-ke*blood' --initial gut=100 \\
      --initial blood=0 --observe blood/v --start ke=0.1,v=10 --stiff --initial-time 0
  marquardt fit plate.csv --let 'logdose=log10(dose+1)' --x logdose --y response --model logistic \\
      --where 'dose*2 < 300 and response > 0.1'
  marquardt fit decay.csv --formula 'a*exp(-k*t)+c' --counts --write-config study.toml
  marquardt fit --config study.toml --profile
  marquardt fit enzyme.csv --model michaelis_menten --derive-all --x-for 100,150.2+149.1
  marquardt fit peak.csv --model gaussian+linear --profile --report fit.html
  marquardt fit sums.csv --formula 'a*exp(-k*t)+b*exp(-q*t)' --live
  marquardt fit enzyme.csv --model michaelis_menten --contour vmax,km --contour-plot region.svg \\
      --contour-points region.csv --size 600x500 --profile --profile-plot profiles.svg
  marquardt fit decay.csv --formula 'a*exp(-k*t)+c' --damping delayed-gratification \\
      --acceleration always --scaling marquardt --ftol 1e-12 --xtol 1e-12 --gtol 1e-12 \\
      --max-evaluations 500
  marquardt fit growth.csv --model linear --since 2024-05-01 --plot growth.svg \\
      --x-label 'days of May' --y-label 'height (cm)' --legend lower-right
  marquardt fit line.csv --model linear --sigma sd --x-for 5.5 --x-for-sigma 0.2
  marquardt fit wells.csv --x-from-heading --model hill
  marquardt fit peak.csv --model gaussian+linear --plot peak.svg --size 1200x800 --legend upper-left \\
      --x-label 'energy (keV)' --y-label counts")]
pub struct FitArguments {
    #[command(flatten)]
    pub data: DataArguments,
    #[command(flatten)]
    pub curve: CurveArguments,
    #[cfg(feature = "ode")]
    #[command(flatten)]
    pub equations: super::EquationArguments,
    #[command(flatten)]
    pub method: MethodArguments,
    /// Leaves out outliers, at this false discovery rate between 0 and 1; 0.01 if no rate is given
    #[arg(long, value_name = "RATE", num_args = 0..=1, require_equals = true, default_missing_value = "0.01",
          conflicts_with_all = ["robust", "counts", "multi_start", "share"], help_heading = "Method")]
    pub outliers: Option<f64>,
    /// Profile-likelihood intervals of the parameters and the derived quantities at 95 %
    #[arg(long, help_heading = "Inference")]
    pub profile: bool,
    /// Tests of the residuals: runs, serial correlation, normality and, with replicates, lack of fit
    #[arg(long, help_heading = "Inference")]
    pub residual_tests: bool,
    /// Bootstrap: standard errors and intervals of the parameters from fits of this number of resampled data sets; 1000 if no number is
    /// given
    #[arg(long, value_name = "REPLICATES", num_args = 0..=1, require_equals = true, default_missing_value = "1000",
          value_parser = value_parser!(u32).range(1..=10_000_000), help_heading = "Inference")]
    pub bootstrap: Option<u32>,
    /// Quantity that is computed from parameters, such as 'half_life=ln(2)/k', with its standard error and interval; may be repeated
    #[arg(long, value_name = "NAME=FORMULA", value_parser = assignments::tie, help_heading = "Inference")]
    pub derive: Vec<NamedValue<String>>,
    /// Computes the usual derived quantities of the model, such as half-lives, widths and areas of peaks
    #[arg(long, help_heading = "Inference")]
    pub derive_all: bool,
    /// Responses whose unknown predictors are computed from the curve, with intervals at 95 %; + joins replicates of one response, as in
    /// 4.1+4.3
    #[arg(long, value_name = "RESPONSE,...", value_delimiter = ',', allow_hyphen_values = true, conflicts_with = "share",
          value_parser = assignments::replicates, help_heading = "Inference")]
    pub x_for: Vec<Replicates>,
    /// Standard deviation of each response of --x-for, needed if --sigma or --weights differ from row to row and are not a formula of the
    /// response
    #[arg(long, value_name = "NUMBER", requires = "x_for", allow_negative_numbers = true, help_heading = "Inference")]
    pub x_for_sigma: Option<f64>,
    #[command(flatten)]
    pub regions: ContourArguments,
    #[command(flatten)]
    pub groups: GroupArguments,
    #[command(flatten)]
    pub output: OutputArguments,
    #[command(flatten)]
    pub settings: SettingsArguments,
}

#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Groups")]
pub struct GroupArguments {
    /// Column with the names of the groups, such as a compound; each group of rows is fitted by itself
    #[arg(long, value_name = "COLUMN", group = "grouping")]
    pub group_by: Option<String>,
    /// The headings are the predictors x, and each row has the responses y of a group. Detected if the heading has a word and at least 3
    /// numbers, and the rows begin with a text
    #[arg(long, conflicts_with_all = ["batch", "no_heading"])]
    pub x_from_heading: bool,
    /// Files that are fitted one after the other, with a row of results for each; patterns such as 'runs/*.csv' are expanded
    #[arg(long, value_name = "FILE", num_args = 1.., group = "grouping", conflicts_with = "file")]
    pub batch: Vec<PathBuf>,
    /// Parameters shared by all groups, which are then fitted together
    #[arg(long, value_name = "NAME,...", value_delimiter = ',', requires = "grouping")]
    pub share: Vec<String>,
    /// Parameters tested for a difference between the groups. Default: all, for up to 12 groups
    #[arg(long, value_name = "NAME,...", value_delimiter = ',', requires = "grouping")]
    pub test: Vec<String>,
}
