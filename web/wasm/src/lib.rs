//! Fits for pages and node: the command `marquardt` without files, terminal and command line.
//!
//! Files of the command are compiled here a second time, so that options, choices, reports and messages are the same. What a page has not is
//! replaced by modules of the same names: arguments come as JSON with the names of the options, files from memory, and outputs go there.
//!
//! A request is a text in JSON, with arrays and bytes in numbered slots; so is its answer. See [`call`].

// The files of the command.
#[path = "../../../src/bin/marquardt/assignments.rs"]
mod assignments;
#[path = "../../../src/bin/marquardt/compare.rs"]
mod compare;
#[path = "../../../src/bin/marquardt/condition.rs"]
mod condition;
#[path = "../../../src/bin/marquardt/contours.rs"]
mod contours;
#[path = "../../../src/bin/marquardt/curve.rs"]
mod curve;
#[path = "../../../src/bin/marquardt/curve_fit.rs"]
mod curve_fit;
#[path = "../../../src/bin/marquardt/data.rs"]
mod data;
#[path = "../../../src/bin/marquardt/equations.rs"]
mod equations;
#[path = "../../../src/bin/marquardt/failure.rs"]
mod failure;
#[path = "../../../src/bin/marquardt/fit.rs"]
mod fit;
#[path = "../../../src/bin/marquardt/group_results.rs"]
mod group_results;
#[path = "../../../src/bin/marquardt/groups.rs"]
mod groups;
#[path = "../../../src/bin/marquardt/inference.rs"]
mod inference;
#[path = "../../../src/bin/marquardt/needed_columns.rs"]
mod needed_columns;
#[path = "../../../src/bin/marquardt/option_texts.rs"]
mod option_texts;
#[path = "../../../src/bin/marquardt/parameter_options.rs"]
mod parameter_options;
#[path = "../../../src/bin/marquardt/parameter_tests.rs"]
mod parameter_tests;
#[path = "../../../src/bin/marquardt/report.rs"]
mod report;
#[path = "../../../src/bin/marquardt/row_formula.rs"]
mod row_formula;
#[path = "../../../src/bin/marquardt/row_values.rs"]
mod row_values;
#[path = "../../../src/bin/marquardt/selected_data.rs"]
mod selected_data;
#[path = "../../../src/bin/marquardt/stored.rs"]
mod stored;
#[path = "../../../src/bin/marquardt/table.rs"]
mod table;
#[path = "../../../src/bin/marquardt/wildcard.rs"]
mod wildcard;

mod arguments;
mod bars;
mod batch;
mod conversion;
mod host;
mod interrupt;
mod live;
mod memory;
mod options;
mod output;
mod page;
mod pictures;
mod requests;
mod source;
mod terminal;

pub use memory::{answer, answer_length, call, result, result_length, slot};
