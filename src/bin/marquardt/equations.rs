//! Fits of differential equations.

use marquardt::CurveFit;
use marquardt::curve::{EquationFormulas, Integrator};

use crate::arguments::FitArguments;
use crate::assignments::NamedValue;
use crate::curve;
use crate::curve_fit;
use crate::data::{self, column_name};
use crate::failure::{Ending, Failure};
use crate::fit::{Titles, finish, title};
use crate::live::LivePicture;
use crate::needed_columns::Needs;
use crate::output;
use crate::selected_data::SelectedData;

/// Name of the time, unless it is called as its column.
const TIME: &str = "t";

/// Fits, prints the report, and draws.
pub fn run(arguments: &FitArguments) -> Result<Ending, Failure> {
    output::check(arguments)?;
    let equations = &arguments.equations;
    let outputs = if equations.observe.is_empty() { equations.ode.len() } else { equations.observe.len() };
    let columns: Vec<String> = (1..=1 + outputs).map(|number| number.to_string()).collect();
    let columns: Vec<&str> = columns.iter().map(String::as_str).collect();
    let table = data::read(&arguments.data, &Needs { columns: &columns, ..Needs::default() })?;
    let x_name = match &arguments.data.x[..] {
        [] => column_name(&table, None, 1),
        [name] => column_name(&table, Some(name), 1),
        several => return Err(Failure::new(format!("--x names {} columns, but the time is one", several.len()))),
    };
    let system = system(arguments, &x_name)?;
    if let Some(name) = system.parameters().iter().find(|name| table.column_names().any(|column| column == *name)) {
        return Err(Failure::new(format!("--ode: {name:?} is a column, but only that of the time may occur")));
    }
    let y_names = curve::response_columns(outputs, &table, &arguments.data, &[&x_name], |asked| match asked {
        Some(asked) => {
            format!("--y names {asked} columns, but the equations have {outputs} responses; --observe says which")
        }
        None => format!("there are too few columns for {outputs} responses; --observe says which"),
    })?;
    let data = SelectedData::select(&table, &arguments.data, vec![x_name], y_names)?;
    data::note_of_reading(&table, &data.columns)?;
    drop(table);
    let responses = if equations.observe.is_empty() { system.states() } else { &equations.observe }.join(", ");
    let right_sides = equations.ode.iter().map(|NamedValue { name, value }| format!("{name}' = {value}"));
    let formula = format!("{responses} with {}", right_sides.collect::<Vec<_>>().join(", "));
    let titles = Titles { name: "differential equations".to_owned(), formula };
    let start = vec![1.0; system.parameters().len()];
    let integrator = if equations.stiff { Integrator::Radau } else { Integrator::Dop853 };
    let fit = CurveFit::differential_formulas(system, &data.x, &data.y, &start);
    let fit = fit.initial_time(equations.initial_time).integrator(integrator);
    let fit = curve_fit::with_options(fit, &data, &arguments.curve.parameters, &arguments.method)?;
    let fit = curve_fit::with_quantities(fit, Vec::new(), arguments)?;
    let live = LivePicture::asked(&arguments.output, &data, &title(arguments, &titles.name, &data));
    let solved = curve_fit::solve_asked(fit, arguments, live.as_ref());
    finish(arguments, &data, solved, &titles, None, live)
}

/// The equations, in which the time is called as its column or [`TIME`].
fn system(arguments: &FitArguments, x_name: &str) -> Result<EquationFormulas, Failure> {
    let pairs = |given: &[NamedValue<String>]| -> Vec<(String, String)> {
        given.iter().map(|NamedValue { name, value }| (name.clone(), value.clone())).collect()
    };
    let equations = &arguments.equations;
    let (ode, initial) = (pairs(&equations.ode), pairs(&equations.initial));
    let system = |time: &str| {
        EquationFormulas::parse(time, &ode, &initial, &equations.observe)
            .map_err(|error| Failure::new(format!("--ode: {error}")))
    };
    let own = system(x_name)?;
    if own.parameters().iter().any(|name| name == TIME) { system(TIME) } else { Ok(own) }
}
