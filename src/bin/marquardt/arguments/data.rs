//! Arguments for the files and columns that are read.

use std::num::NonZeroUsize;
use std::path::PathBuf;

use clap::{Args, ValueEnum};
use marquardt::curve::{DateOrder, Separator};

use crate::assignments::{self, NamedValue};
use crate::condition::Condition;

#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Data")]
pub struct DataArguments {
    /// File with columns, with or without a heading: text, .xlsx, .ods, .json, .npy or .npz; may be compressed by gzip; - is the standard
    /// input. Default: the example data of the program
    pub file: Option<PathBuf>,
    /// Columns of the predictors, by name or number. Default: the columns named in the formula, or the first column
    #[arg(long, value_name = "COLUMN,...", value_delimiter = ',')]
    pub x: Vec<String>,
    /// Column of the response. Default: the first column, from the second on, that is not a predictor. Two columns are the real and the
    /// imaginary part of a complex response; a pattern such as 'rep*' selects columns of replicates
    #[arg(long, value_name = "COLUMN[,COLUMN]", value_delimiter = ',')]
    pub y: Vec<String>,
    /// The formula contains complex numbers, and i is the imaginary unit; its value is complex or, as with abs(z), real
    #[arg(long)]
    pub complex: bool,
    /// Standard deviations of the response: a column, one number for all rows, or a formula of columns and the response y, such as 0.05*y
    #[arg(long, value_name = "COLUMN|NUMBER|FORMULA", allow_negative_numbers = true)]
    pub sigma: Option<String>,
    /// Weights of the response in place of --sigma, a column or a formula such as 1/y^2; rows of weight 0 are left out
    #[arg(long, value_name = "COLUMN|FORMULA", allow_negative_numbers = true, conflicts_with = "sigma")]
    pub weights: Option<String>,
    /// Standard deviations of the predictors: a column, a number or a formula for each predictor; 0 for an exact predictor
    #[arg(long, value_name = "COLUMN|NUMBER|FORMULA,...", value_delimiter = ',', allow_negative_numbers = true)]
    pub sigma_x: Vec<String>,
    /// Numbers of replicates, for responses that are means: a column, one number for all rows, or a formula
    #[arg(long, value_name = "COLUMN|NUMBER|FORMULA", allow_negative_numbers = true, requires = "sd")]
    pub replicates: Option<String>,
    /// Standard deviations of the replicates: a column, a number, or a formula such as sem*sqrt(n)
    #[arg(long, value_name = "COLUMN|NUMBER|FORMULA", allow_negative_numbers = true, requires = "replicates")]
    pub sd: Option<String>,
    /// Adds a column computed from others, such as 'logdose=log10(dose)'; may be repeated, and may use columns added before
    #[arg(long = "let", value_name = "NAME=FORMULA", value_parser = assignments::tie)]
    pub computed: Vec<NamedValue<String>>,
    /// Rows to use, such as 'conc > 0', 'plate == A and conc < 10' or 'abs(x - 3) < 2*width'; may be repeated
    #[arg(long = "where", value_name = "CONDITION")]
    pub conditions: Vec<Condition>,
    /// Leaves out rows with a missing value; default: an error
    #[arg(long)]
    pub omit_missing: bool,
    /// Separator of the columns. Default: detected from the first lines
    #[arg(long, value_enum)]
    pub separator: Option<SeparatorName>,
    /// Reads numbers with a decimal comma, such as 1,5
    #[arg(long)]
    pub decimal_comma: bool,
    /// Separator of thousands, such as , or . or ' or a space
    #[arg(long, value_name = "CHARACTER")]
    pub thousands: Option<char>,
    /// Further texts that mean a missing value, besides NA, N/A, #N/A, null, None, -, . and ?. A number such as -999 matches all its
    /// spellings; <* matches all texts that begin with <
    #[arg(long, value_name = "TEXT,...", value_delimiter = ',', allow_hyphen_values = true)]
    pub missing: Vec<String>,
    /// Order of day and month in dates such as 03/04/2024
    #[arg(long, value_enum, value_name = "ORDER")]
    pub date_order: Option<DateOrderName>,
    /// Origin of dates and times: a date counts days, a date with a time counts seconds. Default: the first date of the file
    #[arg(long, value_name = "DATE")]
    pub since: Option<String>,
    /// Sheet of a spreadsheet. Default: the first. Spreadsheets need the feature excel
    #[arg(long, value_name = "NAME")]
    pub sheet: Option<String>,
    /// The file has no heading: the first line has data, and the columns are named c1, c2, ...
    #[arg(long)]
    pub no_heading: bool,
    /// Number of lines to skip before the table. Default: lines about the instrument are detected and skipped
    #[arg(long, value_name = "LINES", default_value_t = 0, hide_default_value = true)]
    pub skip: usize,
    /// Number of the line with the column names, counted from 1; the lines before it are skipped
    #[arg(long, value_name = "LINE", conflicts_with_all = ["skip", "no_heading"])]
    pub header_row: Option<NonZeroUsize>,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
pub enum DateOrderName {
    /// Day, month, year
    Dmy,
    /// Month, day, year
    Mdy,
}

impl From<DateOrderName> for DateOrder {
    fn from(name: DateOrderName) -> Self {
        match name {
            DateOrderName::Dmy => DateOrder::DayMonthYear,
            DateOrderName::Mdy => DateOrder::MonthDayYear,
        }
    }
}

#[derive(Debug, Clone, Copy, ValueEnum)]
pub enum SeparatorName {
    Comma,
    Semicolon,
    Tab,
    Space,
}

impl From<SeparatorName> for Separator {
    fn from(name: SeparatorName) -> Self {
        match name {
            SeparatorName::Comma => Separator::Comma,
            SeparatorName::Semicolon => Separator::Semicolon,
            SeparatorName::Tab => Separator::Tab,
            SeparatorName::Space => Separator::Whitespace,
        }
    }
}
