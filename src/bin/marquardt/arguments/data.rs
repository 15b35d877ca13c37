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
    /// File of columns, with a heading or without: text, .xlsx, .ods, .json, .npy or .npz; - for the standard input; may be compressed by
    /// gzip. Data that come with the program unless given
    pub file: Option<PathBuf>,
    /// Columns of the predictors, by name or number; those that the formula names, or else the first, unless given
    #[arg(long, value_name = "COLUMN,...", value_delimiter = ',')]
    pub x: Vec<String>,
    /// Column of the response; the second unless given, or the first after it that is no predictor. Two are the real and the imaginary
    /// part of a complex response; 'rep*' stands for all columns of such names, which are replicates
    #[arg(long, value_name = "COLUMN[,COLUMN]", value_delimiter = ',')]
    pub y: Vec<String>,
    /// The formula is one of complex numbers, in which i is the imaginary unit; its value is complex or, as abs(z), real
    #[arg(long)]
    pub complex: bool,
    /// Standard deviations of the response: a column, one number for all rows, or a formula of columns and the response y, as 0.05*y
    #[arg(long, value_name = "COLUMN|NUMBER|FORMULA", allow_negative_numbers = true)]
    pub sigma: Option<String>,
    /// Weights of the response instead, a column or a formula, as 1/y^2; rows of weight 0 are left out
    #[arg(long, value_name = "COLUMN|FORMULA", allow_negative_numbers = true, conflicts_with = "sigma")]
    pub weights: Option<String>,
    /// Standard deviations of the predictors, columns, numbers or formulas, one for each predictor; 0 for exact ones
    #[arg(long, value_name = "COLUMN|NUMBER|FORMULA,...", value_delimiter = ',', allow_negative_numbers = true)]
    pub sigma_x: Vec<String>,
    /// Responses are means of replicates: their numbers, a column, one number for all rows, or a formula
    #[arg(long, value_name = "COLUMN|NUMBER|FORMULA", allow_negative_numbers = true, requires = "sd")]
    pub replicates: Option<String>,
    /// Standard deviations of the replicates, a column or a formula, as sem*sqrt(n)
    #[arg(long, value_name = "COLUMN|NUMBER|FORMULA", allow_negative_numbers = true, requires = "replicates")]
    pub sd: Option<String>,
    /// Column that is computed from others, such as 'logdose=log10(dose)'; may be repeated, and later ones may have earlier ones in them
    #[arg(long = "let", value_name = "NAME=FORMULA", value_parser = assignments::tie)]
    pub computed: Vec<NamedValue<String>>,
    /// Rows to use, such as 'conc > 0', 'plate == A and conc < 10' or 'abs(x - 3) < 2*width'; may be repeated
    #[arg(long = "where", value_name = "CONDITION")]
    pub conditions: Vec<Condition>,
    /// Leaves out rows in which a number is missing
    #[arg(long)]
    pub omit_missing: bool,
    /// Separator of the columns; found by looking at the first lines unless given
    #[arg(long, value_enum)]
    pub separator: Option<SeparatorName>,
    /// Reads numbers such as 1,5
    #[arg(long)]
    pub decimal_comma: bool,
    /// Separator of thousands, such as , or . or ' or a space
    #[arg(long, value_name = "CHARACTER")]
    pub thousands: Option<char>,
    /// Texts that mean a missing value besides NA, N/A, #N/A, null, None, -, . and ?; -999 for a number, <* for any text after <
    #[arg(long, value_name = "TEXT,...", value_delimiter = ',', allow_hyphen_values = true)]
    pub missing: Vec<String>,
    /// Order of day and month in dates such as 03/04/2024
    #[arg(long, value_enum, value_name = "ORDER")]
    pub date_order: Option<DateOrderName>,
    /// Origin of dates and times: a date for days since then, or one with a time for seconds; the first one in the file unless given
    #[arg(long, value_name = "DATE")]
    pub since: Option<String>,
    /// Sheet of a spreadsheet; the first unless given. Spreadsheets need the feature excel
    #[arg(long, value_name = "NAME")]
    pub sheet: Option<String>,
    /// The first line has data, too: columns are called c1, c2, ...
    #[arg(long)]
    pub no_heading: bool,
    /// Lines to skip before the table; lines about the instrument are found and skipped unless given
    #[arg(long, value_name = "LINES", default_value_t = 0, hide_default_value = true)]
    pub skip: usize,
    /// Line of the names of the columns, counted from 1; the lines before it are skipped
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
