//! Tables whose headings are predictors, as those of plates.

use std::collections::HashMap;

use super::column::TableColumn;
use super::{Table, TableError};

/// Numbers in a heading that are plainly predictors.
const ENOUGH: usize = 3;

/// Names of the columns of predictors and responses.
const NAMES: [&str; 2] = ["x", "y"];

/// Heading with the columns that have predictors and the others.
struct WideHeading {
    names: Vec<String>,
    /// Places of the columns that have the names of rows.
    others: Vec<usize>,
    /// Places and predictors of the other columns.
    predictors: Vec<(usize, f64)>,
    /// First row below the heading.
    first_row: usize,
}

impl Table {
    /// Returns true if the heading plainly has predictors, as in `well,0.1,0.3,1,3,10`: columns of texts come first, of which the heading is
    /// a word or empty, and at least three numbers, which ascend or descend, follow.
    pub fn has_predictors_in_heading(&self) -> bool {
        let WideHeading { names, others, predictors, first_row } = self.wide_heading();
        let is_text = |&place: &usize| {
            let column = &self.columns[place];
            let rows = first_row..self.rows();
            let is_text = |row: usize| column.flaw_of(row).is_some() && !column.field(row).is_empty();
            let is_word = names[place].chars().count() > 1 && !names[place].contains(|c: char| c.is_ascii_digit());
            column.is_kept && (is_word || names[place] == column.name) && rows.into_iter().all(is_text)
        };
        let values: Vec<f64> = predictors.iter().map(|&(_, value)| value).collect();
        let is_sorted = values.is_sorted() || values.iter().rev().is_sorted();
        let is_first = !others.is_empty() && others.iter().copied().eq(0..others.len());
        is_first
            && others.iter().all(is_text)
            && values.len() >= ENOUGH
            && is_sorted
            && values[0] != values[values.len() - 1]
    }

    /// The table with a row for each field below a number in the heading: that number is in the first column, `x`, the field in
    /// the second, `y`, and the other columns are repeated.
    ///
    /// ```
    /// let text = "well,0.1,1,10\nA1,5.1,6.2,7.0\nA2,4.9,5.3,6.1\n";
    /// let wide = marquardt::curve::Table::from_reader(text.as_bytes())?;
    /// assert!(wide.has_predictors_in_heading());
    /// let long = wide.unpivoted()?;
    /// assert_eq!(long.text_column("well")?, ["A1", "A1", "A1", "A2", "A2", "A2"]);
    /// assert_eq!(long.column("x")?, [0.1, 1.0, 10.0, 0.1, 1.0, 10.0]);
    /// assert_eq!(long.column("y")?, [5.1, 6.2, 7.0, 4.9, 5.3, 6.1]);
    /// # Ok::<(), marquardt::curve::TableError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`TableError::NoNumberInHeading`], and [`TableError::DuplicateName`] if another column is called `x` or `y`.
    pub fn unpivoted(&self) -> Result<Table, TableError> {
        let WideHeading { names, others, predictors, first_row } = self.wide_heading();
        let source_name = || self.source.clone();
        let Some(&(first, _)) = predictors.first() else {
            return Err(TableError::NoNumberInHeading { source_name: source_name() });
        };
        let all = NAMES.into_iter().chain(others.iter().map(|&place| names[place].as_str()));
        let (mut columns, mut places): (Vec<TableColumn>, HashMap<String, usize>) = Default::default();
        for name in all {
            if let Some(first) = places.insert(name.to_owned(), columns.len()) {
                let (first, second) = (first + 1, columns.len() + 1);
                return Err(TableError::DuplicateName {
                    source_name: source_name(),
                    name: name.to_owned(),
                    first,
                    second,
                });
            }
            columns.push(TableColumn::new(name.to_owned()));
        }
        let mut lines = Vec::new();
        for row in first_row..self.rows() {
            for &(place, predictor) in &predictors {
                let (of_points, of_names) = columns.split_at_mut(NAMES.len());
                for (column, &other) in of_names.iter_mut().zip(&others) {
                    column.push_row(&self.columns[other], row);
                }
                of_points[0].push(&predictor.to_string(), Some(predictor));
                of_points[1].push_row(&self.columns[place], row);
                lines.push(self.lines[row]);
            }
        }
        let last = predictors.last().map_or(first, |&(place, _)| place);
        let mut notes = self.notes.clone();
        let ends = format!("{} to {}", names[first], names[last]);
        notes.push(format!("the headings from {ends} are predictors \"x\", and the fields below are responses \"y\""));
        Ok(Table { columns, places, lines, notes, ..self.clone() })
    }

    fn wide_heading(&self) -> WideHeading {
        let first_row = usize::from(!self.has_heading && self.rows() > 0);
        let name = |column: &TableColumn| match first_row {
            0 => (column.name.clone(), column.name.parse().ok()),
            _ => match column.field(0) {
                "" => (column.name.clone(), None),
                field => (field.to_owned(), Some(column.values[0])),
            },
        };
        let kept = self.columns.iter().enumerate().filter(|(_, column)| column.is_kept);
        let named = kept.map(|(place, column)| (place, name(column)));
        let (mut names, mut others, mut predictors) = (vec![String::new(); self.columns.len()], Vec::new(), Vec::new());
        for (place, (name, value)) in named {
            names[place] = name;
            match value.filter(|value: &f64| value.is_finite()) {
                Some(value) => predictors.push((place, value)),
                None => others.push(place),
            }
        }
        WideHeading { names, others, predictors, first_row }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(text: &str) -> Table {
        Table::from_reader(text.as_bytes()).unwrap()
    }

    #[test]
    fn plain_headings_are_found() {
        for text in [
            "well,0.1,0.3,1\nA,1,2,3\nB,2,3,4\n",
            ",10,3,1\nA1,1,2,3\nB1,2,3,4\n",
            "plate;well;1;2;2;3\np;A;1;2;2;3\np;B;2;3;3;4\n",
        ] {
            assert!(table(text).has_predictors_in_heading(), "{text}");
        }
        for text in [
            "time,0.1,0.3,1\n1,1,2,3\n2,2,3,4\n",
            "well,1,2\nA,1,2\nB,2,3\n",
            "well,1,3,2\nA,1,2,3\nB,2,3,4\n",
            "well,1,1,1\nA,1,2,3\nB,2,3,4\n",
            "x,y\n1,2\n2,3\n",
            "c1,c2,c3,c4\nA,1,2,3\nB,2,3,5\n",
            "A,1,2,3\nB,2,3,4\n",
            "sample1,1,2,3\nsample2,2,3,4\n",
        ] {
            assert!(!table(text).has_predictors_in_heading(), "{text}");
        }
    }

    #[test]
    fn plates_below_other_lines_are_found() {
        let plate = table("Plate 7, run by Bob\nread,2024-05-01\n\nwell,0.1,0.3,1,3\nA1,5,12,,68\nA2,3,9,22,51\n");
        assert!(plate.has_predictors_in_heading());
        assert_eq!(plate.unpivoted().unwrap().lines(), [5, 5, 5, 5, 6, 6, 6, 6]);
        // Whatever stands in a well.
        let plate = table("Plate 7\n\nwell,0.1,0.3,1\nA1,5,12,68\nA2,over,above,beyond\nA3,3,9,51\nA4,3,9,51\n");
        assert!(plate.has_predictors_in_heading() && plate.lines() == [3, 4, 5, 6, 7]);
        // A heading of words is one.
        let words = table("Sheet 7\n\nsample,a,b,c\nA,1,2,3\nB,2,3,4\n");
        assert!(!words.has_predictors_in_heading() && words.column("b").unwrap() == [2.0, 3.0]);
    }

    #[test]
    fn fields_keep_lines_texts_and_gaps() {
        let long = table("\nwell,note,0.1,1,10\nA1,ok,5,,7\nA2,bad,4,failed,6\n").unpivoted().unwrap();
        assert_eq!(long.lines(), [3, 3, 3, 4, 4, 4]);
        assert_eq!(long.column_names().collect::<Vec<_>>(), ["x", "y", "well", "note"]);
        assert_eq!(long.text_column("y").unwrap(), ["5", "", "7", "4", "failed", "6"]);
        assert_eq!(
            long.column("y").unwrap_err().to_string(),
            "input, line 4, column \"y\": \"failed\" is not a number"
        );
        let error = table("a,b\n1,2\n").unpivoted().unwrap_err().to_string();
        assert_eq!(error, "input: no heading is a number");
        assert!(table("x,1,2,3\nA,1,2,3\nB,1,2,4\n").unpivoted().is_err());
    }
}
