//! Prints what a contest measured.

use std::time::Duration;

/// One contestant's line.
pub struct Row {
    /// Who it is.
    pub name: &'static str,
    /// Median time of a fit.
    pub median: Duration,
    /// Shortest time of a fit.
    pub best: Duration,
    /// Median time in that of the best peer, where one solved it.
    pub ratio: Option<f64>,
    /// Correct digits of the worst parameter.
    pub digits: f64,
    /// Relative excess of the sum of squares over the least that any contestant found.
    pub excess: f64,
    /// Residual evaluations, where reported.
    pub evaluations: Option<usize>,
}

/// The line of one contestant that fits many curves.
pub struct ManyRow {
    /// Who it is.
    pub name: &'static str,
    /// Median time of all fits.
    pub median: Duration,
    /// Shortest time of all fits.
    pub best: Duration,
    /// Shortest time in that of the best peer.
    pub ratio: Option<f64>,
    /// Fits at the least cost that is known.
    pub solved: usize,
    /// Largest relative excess over it.
    pub excess: f64,
}

/// The line of one contestant that solves a graph.
pub struct GraphRow {
    /// Who it is.
    pub name: &'static str,
    /// What it measured, unless it failed.
    pub solve: Option<GraphSolve>,
}

/// The solve of a graph.
pub struct GraphSolve {
    /// `½‖r‖²` at the solution.
    pub cost: f64,
    /// Relative excess of the cost over the least that any contestant found.
    pub excess: f64,
    /// Iterations, where reported.
    pub iterations: Option<usize>,
    /// Time of the solve.
    pub elapsed: Duration,
    /// CPU time of the solve.
    pub cpu: Duration,
    /// CPU time in that of the best peer, where there is one.
    pub ratio: Option<f64>,
}

/// Prints a title and the rows of a graph as a Markdown table.
pub fn print_graph(title: &str, rows: impl Iterator<Item = GraphRow>) {
    println!("\n{title}\n");
    println!(
        "| {:<50} | {:>14} | {:>8} | {:>10} | {:>9} | {:>9} | {:>6} |",
        "peer", "cost", "excess", "iterations", "time", "CPU time", "ratio"
    );
    println!("|{:-<52}|{:->15}:|{:->9}:|{:->11}:|{:->10}:|{:->10}:|{:->7}:|", "", "", "", "", "", "", "");
    for GraphRow { name, solve } in rows {
        let Some(GraphSolve { cost, excess, iterations, elapsed, cpu, ratio }) = solve else {
            println!("| {name:<50} | {:>14} |{:10}|{:12}|{:11}|{:11}|{:8}|", "failed", "", "", "", "", "");
            continue;
        };
        let iterations = iterations.map_or_else(|| "–".to_owned(), |count| count.to_string());
        let ratio = readable_ratio(ratio);
        let (elapsed, cpu) = (readable(elapsed), readable(cpu));
        println!(
            "| {name:<50} | {cost:>14.8e} | {excess:>8.1e} | {iterations:>10} | {elapsed:>9} | {cpu:>9} | {ratio:>6} |"
        );
    }
}

/// Prints a title and the rows of many fits as a Markdown table.
pub fn print_many(title: &str, rows: impl Iterator<Item = ManyRow>) {
    println!("\n{title}\n");
    println!(
        "| {:<50} | {:>9} | {:>9} | {:>6} | {:>6} | {:>12} |",
        "peer", "median", "best", "ratio", "solved", "worst excess"
    );
    println!("|{:-<52}|{:->10}:|{:->10}:|{:->7}:|{:->7}:|{:->13}:|", "", "", "", "", "", "");
    for ManyRow { name, median, best, ratio, solved, excess } in rows {
        let (median, best, ratio) = (readable(median), readable(best), readable_ratio(ratio));
        println!("| {name:<50} | {median:>9} | {best:>9} | {ratio:>6} | {solved:>6} | {excess:>12.1e} |");
    }
}

/// Prints a title and the rows as a Markdown table.
pub fn print(title: &str, rows: impl Iterator<Item = Row>) {
    println!("\n{title}\n");
    println!(
        "| {:<50} | {:>9} | {:>9} | {:>6} | {:>6} | {:>10} | {:>5} |",
        "peer", "median", "best", "ratio", "digits", "RSS excess", "evals"
    );
    println!("|{:-<52}|{:->10}:|{:->10}:|{:->7}:|{:->7}:|{:->11}:|{:->6}:|", "", "", "", "", "", "", "");
    for row in rows {
        print_row(&row);
    }
}

fn print_row(row: &Row) {
    let Row { name, digits, excess, .. } = row;
    let (median, best, ratio) = (readable(row.median), readable(row.best), readable_ratio(row.ratio));
    let evaluations = row.evaluations.map_or_else(|| "–".to_owned(), |count| count.to_string());
    println!(
        "| {name:<50} | {median:>9} | {best:>9} | {ratio:>6} | {digits:>6.1} | {excess:>10.1e} | {evaluations:>5} |"
    );
}

/// Two decimals; a dash for none.
fn readable_ratio(ratio: Option<f64>) -> String {
    ratio.map_or_else(|| "–".to_owned(), |ratio| format!("{ratio:.2}"))
}

/// Three digits or more, in the unit that suits.
fn readable(time: Duration) -> String {
    let seconds = time.as_secs_f64();
    let (value, unit) = match seconds {
        1.0.. => (seconds, "s"),
        1e-3..1.0 => (seconds * 1e3, "ms"),
        _ => (seconds * 1e6, "µs"),
    };
    let decimals = if value < 100.0 { 2 } else { 0 };
    format!("{value:.decimals$} {unit}")
}
