//! Tables from files: what is read, and what is said about files that cannot be.
#![cfg(feature = "csv")]

use marquardt::{Separator, Table, TableError, TableReader};

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
    assert_eq!(error, "input, line 5, column rate: \"high\" is not a number");
    let error = table.column("sample").unwrap_err().to_string();
    assert_eq!(error, "input, line 3, column sample: \"A\" is not a number");
}

#[test]
fn numbers_that_are_not_finite_are_errors_where_they_are_asked_for() {
    let table = read("x,y,z\n1,2,3\n4,1e999,-inf\n5,two,6\n").unwrap();
    assert_eq!(table.column("x").unwrap(), [1.0, 4.0, 5.0]);
    let error = table.column("y").unwrap_err().to_string();
    assert_eq!(error, "input, line 3, column y: \"1e999\" is not a finite number");
    let error = table.column("z").unwrap_err().to_string();
    assert_eq!(error, "input, line 3, column z: \"-inf\" is not a finite number");
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
    assert_eq!(table.column("time").unwrap_err().to_string(), "input: there is no column \"time\", only conc, rate");
    assert_eq!(table.column("3").unwrap_err().to_string(), "input: there is no column \"3\", only conc, rate");
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
    assert_eq!(error, format!("{name}, line 2, column y: \"two\" is not a number"));
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
    assert_eq!(table.column("y (\u{fffd}M)").unwrap(), [2.0]);
}
