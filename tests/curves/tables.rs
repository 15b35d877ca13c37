//! Tables from files: what is read, and what is said about files that cannot be.
#![cfg(feature = "csv")]

use marquardt::curve::{Separator, Table, TableError, TableReader};

fn read(text: &str) -> Result<Table, TableError> {
    Table::from_reader(text.as_bytes())
}

fn message(text: &str) -> String {
    read(text).unwrap_err().to_string()
}

/// Bits, so that NaN equals itself.
fn bits(values: &[f64]) -> Vec<u64> {
    values.iter().map(|value| value.to_bits()).collect()
}

#[test]
fn every_separator_gives_the_same_table() {
    for separator in [",", " , ", ";", "\t", " ", "   "] {
        for end in ["\n", "\r\n", "\r"] {
            let text = ["# measured in May", "x,y,z", "", "1,-2e-3,.5", "  # a pause", "4,5,6"].join(end);
            let table = read(&text.replace(',', separator)).unwrap();
            assert!(table.column_names().eq(["x", "y", "z"]), "{text:?}");
            assert_eq!((table.rows(), table.column("y").unwrap()), (2, &[-2e-3, 5.0][..]), "{text:?}");
        }
    }
}

#[test]
fn without_a_heading_columns_are_numbered() {
    let table = read("1,2\n3,4\n").unwrap();
    assert!(table.column_names().eq(["c1", "c2"]));
    assert_eq!(table.column("c2").unwrap(), [2.0, 4.0]);
    assert_eq!(table.column("2").unwrap(), [2.0, 4.0]);
}

#[test]
fn a_name_goes_before_a_number() {
    let table = TableReader::new().heading(true).read("2,1\n3,4\n".as_bytes()).unwrap();
    assert_eq!(table.column("1").unwrap(), [4.0]);
    assert_eq!(table.column("2").unwrap(), [3.0]);
}

#[test]
fn unnamed_columns_of_a_heading_are_numbered() {
    assert!(read("x,,z\n1,2,3\n").unwrap().column_names().eq(["x", "c2", "z"]));
}

#[test]
fn missing_values_are_nan() {
    let table = read("x;y\n1;\n2;NA\nnan;3\n").unwrap();
    assert_eq!(bits(table.column("x").unwrap()), bits(&[1.0, 2.0, f64::NAN]));
    assert_eq!(bits(table.column("y").unwrap()), bits(&[f64::NAN, f64::NAN, 3.0]));
}

#[test]
fn text_is_an_error_only_where_it_is_asked_for() {
    let table = read("# log\nsample,conc,rate\nA,1,2\n\n\"B, again\",3,high\n").unwrap();
    assert_eq!(table.column("conc").unwrap(), [1.0, 3.0]);
    let error = table.column("rate").unwrap_err().to_string();
    assert_eq!(error, "input, line 5, column \"rate\": \"high\" is not a number");
    let error = table.column("sample").unwrap_err().to_string();
    assert_eq!(error, "input, line 3, column \"sample\": \"A\" is not a number");
}

#[test]
fn numbers_that_are_not_finite_are_errors_where_they_are_asked_for() {
    let table = read("x,y,z\n1,2,3\n4,1e999,-inf\n5,two,6\n").unwrap();
    assert_eq!(table.column("x").unwrap(), [1.0, 4.0, 5.0]);
    let error = table.column("y").unwrap_err().to_string();
    assert_eq!(error, "input, line 3, column \"y\": \"1e999\" is not a finite number");
    let error = table.column("z").unwrap_err().to_string();
    assert_eq!(error, "input, line 3, column \"z\": \"-inf\" is not a finite number");
    // They are numbers all the same, and no heading.
    assert_eq!(read("1e999,Infinity\n1,2\n").unwrap().rows(), 2);
}

/// By time quadratic in the columns this would take minutes.
#[test]
fn many_columns_take_as_long_as_as_many_rows() {
    let names: Vec<String> = (0..100_000).map(|column| format!("a{column}")).collect();
    let numbers: Vec<String> = (0..100_000).map(|column| column.to_string()).collect();
    let begun = std::time::Instant::now();
    let table = read(&format!("{}\n{}\n", names.join(","), numbers.join(","))).unwrap();
    for (number, name) in names.iter().enumerate() {
        assert_eq!(table.column(name).unwrap(), [number as f64]);
    }
    assert!(begun.elapsed().as_secs() < 20, "{:?}", begun.elapsed());
}

#[test]
fn a_ragged_row_is_named_by_its_line() {
    assert_eq!(message("x,y\n1,2\n\n# three\n3\n"), "input, line 5: 2 fields expected, 1 found");
    assert_eq!(message("x y\n1 2\n3 4 5\n"), "input, line 3: 2 fields expected, 3 found");
    // A field in quotes goes on over lines; the next row is still at its line.
    assert_eq!(message("x,y\r\n\"a\r\nb\",2\r\n1,2,3"), "input, line 4: 2 fields expected, 3 found");
}

#[test]
fn what_is_not_there_is_named() {
    let table = read("conc,rate\n1,2\n").unwrap();
    assert_eq!(
        table.column("time").unwrap_err().to_string(),
        "input: there is no column \"time\", only \"conc\", \"rate\""
    );
    assert_eq!(table.column("3").unwrap_err().to_string(), "input: there is no column \"3\", only \"conc\", \"rate\"");
    assert!(table.column("0").is_err());
    for text in ["", "\n\n", "# nothing\n", "x,y\n"] {
        assert_eq!(message(text), "input: there are no data", "{text:?}");
    }
    assert_eq!(message("x,y,x\n1,2,3\n"), "input: columns 1 and 3 are both named \"x\"");
}

#[test]
fn files_are_named_in_errors() {
    let path = std::env::temp_dir().join(format!("marquardt-table-{}.csv", std::process::id()));
    let name = path.display();
    assert!(Table::from_csv(&path).unwrap_err().to_string().starts_with(&format!("{name}: ")));
    std::fs::write(&path, "x,y\n1,two\n").unwrap();
    let table = Table::from_csv(&path);
    std::fs::remove_file(&path).unwrap();
    let error = table.unwrap().column("y").unwrap_err().to_string();
    assert_eq!(error, format!("{name}, line 2, column \"y\": \"two\" is not a number"));
}

#[test]
fn one_column_needs_no_separator() {
    let table = read("rate of flow (l/min)\n1.5\n2.5\n").unwrap();
    assert_eq!(table.column("rate of flow (l/min)").unwrap(), [1.5, 2.5]);
}

#[test]
fn decimal_commas_and_given_separators() {
    let reader = TableReader::new().decimal_comma(true);
    assert_eq!(reader.read("x;y\n0,5;1,25\n".as_bytes()).unwrap().column("y").unwrap(), [1.25]);
    assert_eq!(reader.read("x y\n0,5 1,25\n".as_bytes()).unwrap().column("y").unwrap(), [1.25]);
    let reader = TableReader::new().separator(Separator::Comma).heading(true);
    assert_eq!(reader.read("1 2,3 4\n5,6\n".as_bytes()).unwrap().column("3 4").unwrap(), [6.0]);
}

#[test]
fn strange_bytes_do_no_harm() {
    let table = Table::from_reader(&b"\xef\xbb\xbfx,y (\xb5M)\n1,2\n"[..]).unwrap();
    assert_eq!(table.column("x").unwrap(), [1.0]);
    assert_eq!(table.column("y (µM)").unwrap(), [2.0]);
}

const COMPOUNDS: &str =
    "# plate 7\nid,compound,conc,rate\n007,B,1,2\n1.0,A,2,high\n1,B,4,1e999\n,A,8,3\n2,\"B, new\",16,5\n";

#[test]
fn texts_are_those_of_the_file() {
    let table = read(COMPOUNDS).unwrap();
    assert_eq!(table.text_column("id").unwrap(), ["007", "1.0", "1", "", "2"]);
    assert_eq!(table.text_column("compound").unwrap(), ["B", "A", "B", "A", "B, new"]);
    assert_eq!(table.text_column("4").unwrap(), ["2", "high", "1e999", "3", "5"]);
    assert!(table.text_column("name").unwrap_err().to_string().starts_with("input: there is no column \"name\""));
}

#[test]
fn rows_are_filtered_and_keep_their_lines() {
    let table = read(COMPOUNDS).unwrap();
    let kept = table.filter(|row| Ok(row.line() > 3 && row.text("compound")? != "A")).unwrap();
    assert_eq!((kept.rows(), kept.column("conc").unwrap()), (2, &[4.0, 16.0][..]));
    assert_eq!(
        kept.column("rate").unwrap_err().to_string(),
        "input, line 5, column \"rate\": \"1e999\" is not a finite number"
    );
    let sound = table.filter(|row| Ok(!["high", "1e999"].contains(&row.text("rate")?))).unwrap();
    assert_eq!(sound.column("rate").unwrap(), [2.0, 3.0, 5.0]);
    assert!(sound.column("id").unwrap()[1].is_nan(), "what is missing stays missing");
    // As text, as NaN equals nothing.
    let parts = |table: &Table| {
        let lines: Vec<String> = table.column_names().map(|name| table.text_column(name).unwrap().join("|")).collect();
        (lines, bits(table.column("id").unwrap()))
    };
    assert_eq!(parts(&table.filter(|_| Ok(true)).unwrap()), parts(&table));
    let none = table.filter(|_| Ok(false)).unwrap();
    assert_eq!((none.rows(), none.column("rate").unwrap().len(), none.column_names().len()), (0, 0, 4));
}

#[test]
fn a_filter_says_what_it_cannot_read() {
    let table = read(COMPOUNDS).unwrap();
    let refused = |keep: fn(marquardt::curve::TableRow<'_>) -> Result<bool, TableError>| {
        table.filter(keep).unwrap_err().to_string()
    };
    assert_eq!(
        refused(|row| Ok(row.number("rate")? > 1.0)),
        "input, line 4, column \"rate\": \"high\" is not a number"
    );
    let by_number = refused(|row| Ok(row.line() > 4 && row.number("4")? > 1.0));
    assert_eq!(by_number, "input, line 5, column \"rate\": \"1e999\" is not a finite number");
    let unknown = "input: there is no column \"dose\", only \"id\", \"compound\", \"conc\", \"rate\"";
    assert_eq!(refused(|row| Ok(row.number("dose")? > 1.0)), unknown);
    assert_eq!(refused(|row| Ok(row.text("dose")? == "A")), unknown);
}

#[test]
fn groups_come_in_the_order_of_the_file_and_lose_no_row() {
    let table = read(COMPOUNDS).unwrap();
    let groups = table.group_by("compound").unwrap();
    let names: Vec<&str> = groups.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["B", "A", "B, new"]);
    assert_eq!(groups.iter().map(|(_, rows)| rows.rows()).sum::<usize>(), table.rows());
    assert_eq!(groups[1].1.column("conc").unwrap(), [2.0, 8.0]);
    assert_eq!(
        groups[1].1.column("rate").unwrap_err().to_string(),
        "input, line 4, column \"rate\": \"high\" is not a number"
    );
    assert_eq!(groups[2].1.column("rate").unwrap(), [5.0]);
    // Letter by letter, and where nothing is written, too.
    let ids: Vec<String> = table.group_by("id").unwrap().into_iter().map(|(name, _)| name).collect();
    assert_eq!(ids, ["007", "1.0", "1", "", "2"]);
    assert!(table.group_by("plate").is_err());
}
