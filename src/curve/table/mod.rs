//! Tables of numbers and texts, read from files of separated values.

mod column;
mod encoding;
mod error;
mod layout;
mod lines;
mod numbers;
mod reader;
mod row;
mod times;
mod units;
mod unpivot;

use std::collections::HashMap;
use std::io::Read;
use std::path::Path;

use column::{Flaw, TableColumn};
pub use error::TableError;
pub use reader::{DateOrder, Separator, TableReader};
pub use row::TableRow;
use times::Moment;

/// Columns of numbers and texts by name, read from a file of separated values. Feature `csv`.
///
/// | in the file | result |
/// |---|---|
/// | a first line without any number | the names of the columns; without it they are `c1`, `c2`, … |
/// | lines about the instrument above the heading, or above the first numbers | skipped, and said in [`notes`](Self::notes) |
/// | a line of units below the heading | part of the [`label`](Self::label)s |
/// | a line that begins with `#`, an empty line | nothing |
/// | a line of another number of fields that begins with `%`, `;`, `//` or `!` | skipped, and said in [`notes`](Self::notes) |
/// | UTF-8, UTF-16 with a byte order mark, Windows-1252 | text; the last is said in [`notes`](Self::notes) |
/// | empty fields beyond the last column | nothing |
/// | comma, semicolon, tab or spaces | the separator, found by looking at the first lines |
/// | an empty field, `NA`, `NaN`, `N/A`, `#N/A`, `null`, `None`, `-`, `.`, `?` and errors of Excel | a missing value, NaN |
/// | `5%`, `−1`, `1.0D+00` | `0.05`, `-1`, `1` |
/// | dates and times such as `2024-05-01`, `1.5.2024 12:30`, `12:30:00.5` | days since the first date, or seconds since the first time |
/// | `<0.5`, `1,234`, `03/04/2024` | errors that name an option of [`TableReader`] |
/// | other text, a number that is not finite such as `1e999` | an error, if the column is read as numbers |
///
/// [`TableReader`] has options for other formats. [`filter`](Self::filter) keeps some of the rows, and [`group_by`](Self::group_by) makes a
/// table for each sample, compound or patient:
///
/// ```
/// use marquardt::CurveFit;
/// use marquardt::curve::Table;
/// use marquardt::models::MichaelisMenten;
///
/// let text = "\
/// compound, conc, rate
/// A, 0.5, 1.2
/// A, 1.0, 2.0
/// A, 4.0, 4.1
/// B, 0.5, 2.1
/// B, 1.0, 2.9
/// B, 2.0, failed
/// B, 4.0, 4.0
/// ";
/// let table = Table::from_reader(text.as_bytes())?;
/// assert_eq!(
///     table.column("rate").unwrap_err().to_string(),
///     "input, line 7, column \"rate\": \"failed\" is not a number"
/// );
/// let measured = table.filter(|row| Ok(row.text("rate")? != "failed"))?;
/// for (compound, rows) in measured.group_by("compound")? {
///     let fit = CurveFit::guessed(MichaelisMenten, rows.column("conc")?, rows.column("rate")?)
///         .fit()?;
///     println!("{compound}: km = {}", fit.parameter("km").unwrap().value);
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Table {
    /// Name of the file in error messages.
    source: String,
    columns: Vec<TableColumn>,
    /// The places of the columns by their names.
    places: HashMap<String, usize>,
    /// The line at which each row ends, counted from 1.
    lines: Vec<usize>,
    /// The file has the names of the columns.
    has_heading: bool,
    /// Lines that were skipped, or taken for something else than a row.
    notes: Vec<String>,
}

impl Table {
    /// Reads a file.
    ///
    /// # Errors
    ///
    /// [`TableError`] says what is wrong, and where.
    pub fn from_csv(path: impl AsRef<Path>) -> Result<Table, TableError> {
        TableReader::new().read_file(path)
    }

    /// Reads from any reader; errors call it `input`.
    ///
    /// # Errors
    ///
    /// [`TableError`] says what is wrong, and where.
    pub fn from_reader(reader: impl Read) -> Result<Table, TableError> {
        TableReader::new().read(reader)
    }

    /// Number of rows, without the heading.
    pub fn rows(&self) -> usize {
        self.lines.len()
    }

    /// The names of the columns, in order.
    pub fn column_names(&self) -> impl ExactSizeIterator<Item = &str> + '_ {
        self.columns.iter().map(|column| column.name.as_str())
    }

    /// Line of the file at which each row ends, counted from 1.
    pub fn lines(&self) -> &[usize] {
        &self.lines
    }

    /// Notes on skipped lines and conversions: lines above the heading, units, comments. One sentence each; empty if there were none.
    ///
    /// ```
    /// let table = marquardt::curve::Table::from_reader(
    ///     "Instrument: UV-1800\n\ntime,signal\ns,mV\n0,1.5\n1,2.5\n".as_bytes(),
    /// )?;
    /// assert_eq!(table.column("signal")?, [1.5, 2.5]);
    /// assert_eq!(table.label("signal")?, "signal (mV)");
    /// let expected =
    ///     ["the lines above line 3, the heading, were skipped", "line 4 has the units s, mV"];
    /// assert_eq!(table.notes(), expected);
    /// # Ok::<(), marquardt::curve::TableError>(())
    /// ```
    pub fn notes(&self) -> &[String] {
        &self.notes
    }

    /// Notes on how the fields of a column were read: dates, percentages, texts that mean a missing value.
    ///
    /// ```
    /// let table =
    ///     marquardt::curve::Table::from_reader("day,share\n2024-02-28,5%\n2024-03-01,-\n".as_bytes())?;
    /// assert_eq!(table.column("day")?, [0.0, 2.0]);
    /// assert_eq!(table.column_notes("day")?, ["it has times, in days since 2024-02-28"]);
    /// # Ok::<(), marquardt::curve::TableError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`TableError::NoSuchColumn`] lists the columns that there are.
    pub fn column_notes(&self, name: &str) -> Result<Vec<String>, TableError> {
        Ok(self.find(name)?.notes().collect())
    }

    /// Name of the column with its unit if the file has a row of units, `time (s)`, or the origin of its times.
    ///
    /// # Errors
    ///
    /// [`TableError::NoSuchColumn`] lists the columns that there are.
    pub fn label(&self, name: &str) -> Result<String, TableError> {
        Ok(self.find(name)?.label())
    }

    /// Origin of the times of a column. Times count days from a date, `2024-05-01`; they count seconds from a date with a time of day,
    /// `2024-05-01T12:30:00`, or from a time of day. `None` for a column without times.
    ///
    /// # Errors
    ///
    /// [`TableError::NoSuchColumn`] lists the columns that there are.
    pub fn origin(&self, name: &str) -> Result<Option<String>, TableError> {
        Ok(self.find(name)?.origin().map(|origin| origin.to_string()))
    }

    /// Counts the times of a column from another [`origin`](Self::origin), so that those of several files agree: in days if that is a date,
    /// and in seconds if it has a time of day.
    ///
    /// ```
    /// let text = "day,yield\n2024-05-03,5.1\n2024-05-06,5.9\n";
    /// let mut table = marquardt::curve::Table::from_reader(text.as_bytes())?;
    /// assert_eq!((table.column("day")?, table.origin("day")?.unwrap()), (&[0.0, 3.0][..], "2024-05-03".into()));
    /// table.count_since("day", "2024-05-01")?;
    /// assert_eq!(table.column("day")?, [2.0, 5.0]);
    /// assert_eq!(table.label("day")?, "day (days since 2024-05-01)");
    /// # Ok::<(), marquardt::curve::TableError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`TableError::Origin`] for another text, and for a column without times of its kind.
    pub fn count_since(&mut self, name: &str, origin: &str) -> Result<(), TableError> {
        let column = self.find(name)?.name.clone();
        let refuse = |problem| TableError::Origin {
            source_name: self.source.clone(),
            column: column.clone(),
            origin: origin.to_owned(),
            problem,
        };
        let moment = Moment::parse(origin, None);
        let moment =
            moment.ok_or_else(|| refuse("it is no origin of times, such as 2024-05-01 or 2024-05-01T12:30"))?;
        match (self.columns[self.places[&column]].count_since(moment, origin), moment.has_date()) {
            (true, _) => Ok(()),
            (false, true) => Err(refuse("the column has no dates")),
            (false, false) => Err(refuse("the column has no times of day without a date")),
        }
    }

    /// Name of the file in error messages.
    pub fn source_name(&self) -> &str {
        &self.source
    }

    /// The numbers of the column of that name, or else of that number, counted from 1; NaN where values are missing.
    ///
    /// # Errors
    ///
    /// [`TableError::NoSuchColumn`] lists the columns that there are; [`TableError::NotANumber`] and
    /// [`TableError::NotFinite`] say where there is text, or a number too large for a float.
    pub fn column(&self, name: &str) -> Result<&[f64], TableError> {
        let column = self.find(name)?;
        match column.flaw() {
            Some(flaw) => Err(self.refuse(column, flaw)),
            None => Ok(&column.values),
        }
    }

    /// The texts of the column of that name, or else of that number, counted from 1: the fields as they are in the file, without
    /// the spaces and quotes around them, empty where there is nothing.
    ///
    /// ```
    /// let table =
    ///     marquardt::curve::Table::from_reader("sample, dose\nA-01, 1.50\nA-02, 3\n".as_bytes())?;
    /// assert_eq!(table.text_column("sample")?, ["A-01", "A-02"]);
    /// assert_eq!(table.text_column("dose")?, ["1.50", "3"]);
    /// # Ok::<(), marquardt::curve::TableError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`TableError::NoSuchColumn`] lists the columns that there are.
    pub fn text_column(&self, name: &str) -> Result<Vec<&str>, TableError> {
        let column = self.find(name)?;
        Ok((0..self.rows()).map(|row| column.field(row)).collect())
    }

    /// The rows for which `keep` returns `true`, which may be none, in their order. They keep their line numbers, so that later
    /// errors name the line of the file.
    ///
    /// ```
    /// let table = marquardt::curve::Table::from_reader("run, x\na, 1\nb, 2\na, 3\n".as_bytes())?;
    /// let rows = table.filter(|row| Ok(row.text("run")? == "a" && row.number("x")? > 1.0))?;
    /// assert_eq!(rows.column("x")?, [3.0]);
    /// # Ok::<(), marquardt::curve::TableError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// The first error that `keep` returns.
    pub fn filter(&self, keep: impl Fn(TableRow<'_>) -> Result<bool, TableError>) -> Result<Table, TableError> {
        let mut kept = Vec::new();
        for row in 0..self.rows() {
            if keep(TableRow { table: self, row })? {
                kept.push(row);
            }
        }
        Ok(self.select(&kept))
    }

    /// The rows of each text in a column, by that text, in the order in which the texts first appear. Texts are compared letter by
    /// letter: `1` and `1.0` are two groups, and rows in which the field is empty are a group of their own, named by the empty text.
    /// For groups by two columns, group each group again.
    ///
    /// # Errors
    ///
    /// [`TableError::NoSuchColumn`] lists the columns that there are.
    pub fn group_by(&self, name: &str) -> Result<Vec<(String, Table)>, TableError> {
        let column = self.find(name)?;
        let mut places: HashMap<&str, usize> = HashMap::new();
        let mut groups: Vec<(&str, Vec<usize>)> = Vec::new();
        for row in 0..self.rows() {
            let text = column.field(row);
            let place = *places.entry(text).or_insert(groups.len());
            if place == groups.len() {
                groups.push((text, Vec::new()));
            }
            groups[place].1.push(row);
        }
        Ok(groups.into_iter().map(|(text, rows)| (text.to_owned(), self.select(&rows))).collect())
    }

    /// Adds a column of numbers, one for each row, which are NaN where they are missing.
    ///
    /// ```
    /// let table = marquardt::curve::Table::from_reader("dose,rate\n1,3.1\n10,4.2\n".as_bytes())?;
    /// let logarithms: Vec<f64> = table.column("dose")?.iter().map(|dose| dose.log10()).collect();
    /// let table = table.with_column("logdose", &logarithms)?;
    /// assert_eq!(table.column("logdose")?, [0.0, 1.0]);
    /// # Ok::<(), marquardt::curve::TableError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`TableError::DuplicateName`] and [`TableError::ColumnLength`].
    pub fn with_column(mut self, name: &str, values: &[f64]) -> Result<Table, TableError> {
        let (source_name, second, name) = (self.source.clone(), self.columns.len(), name.to_owned());
        if let Some(&first) = self.places.get(&name) {
            return Err(TableError::DuplicateName { source_name, name, first, second });
        }
        let (expected, found) = (self.rows(), values.len());
        if found != expected {
            return Err(TableError::ColumnLength { source_name, name, expected, found });
        }
        let mut column = TableColumn::new(name.clone());
        for &value in values {
            let text = if value.is_nan() { String::new() } else { value.to_string() };
            column.push(&text, Some(value));
        }
        self.columns.push(column);
        self.places.insert(name, second);
        Ok(self)
    }

    /// Selects rows.
    fn select(&self, rows: &[usize]) -> Table {
        Table {
            source: self.source.clone(),
            columns: self.columns.iter().map(|column| column.select(rows)).collect(),
            places: self.places.clone(),
            lines: rows.iter().map(|&row| self.lines[row]).collect(),
            has_heading: self.has_heading,
            notes: self.notes.clone(),
        }
    }

    /// The column of that name, or else of that number.
    fn find(&self, name: &str) -> Result<&TableColumn, TableError> {
        let place = self.place(name).ok_or_else(|| TableError::NoSuchColumn {
            source_name: self.source.clone(),
            name: name.to_owned(),
            columns: self.column_names().map(str::to_owned).collect(),
        })?;
        let column = &self.columns[place];
        match column.is_kept {
            true => Ok(column),
            false => Err(TableError::NotKept { source_name: self.source.clone(), column: column.name.clone() }),
        }
    }

    /// The place of the column of that name, or else of that number.
    fn place(&self, name: &str) -> Option<usize> {
        let of_number = || name.parse::<usize>().ok()?.checked_sub(1).filter(|&place| place < self.columns.len());
        self.places.get(name).copied().or_else(of_number)
    }

    /// Keeps these columns alone, before there are rows.
    fn keep(&mut self, names: &[String]) {
        self.columns.iter_mut().for_each(|column| column.is_kept = false);
        for name in names {
            if let Some(place) = self.place(name) {
                self.columns[place].is_kept = true;
            }
        }
    }

    /// Says where a column has a field that is no finite number.
    fn refuse(&self, column: &TableColumn, flaw: Flaw) -> TableError {
        let (source_name, line, text) = (self.source.clone(), self.lines[flaw.row], column.field(flaw.row).to_owned());
        let column = column.name.clone();
        match flaw.is_number {
            true => TableError::NotFinite { source_name, line, column, text },
            false => TableError::NotANumber { source_name, line, column, text },
        }
    }
}
