//! Arguments for curves that are solutions of differential equations.

use clap::Args;

use crate::assignments::{self, NamedValue};

#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Differential equations")]
pub struct EquationArguments {
    /// Derivative of a state with respect to time, such as 'A=-k*A'; may be repeated. The time has the name of its column, or t
    #[arg(long, value_name = "STATE=FORMULA", value_parser = assignments::tie,
          conflicts_with_all = ["model", "formula", "group_by", "batch", "derive_all"])]
    pub ode: Vec<NamedValue<String>>,
    /// Initial value of a state, a number or a formula of parameters; may be repeated
    #[arg(long, value_name = "STATE=FORMULA", value_parser = assignments::tie, requires = "ode")]
    pub initial: Vec<NamedValue<String>>,
    /// Response, such as B/volume; may be repeated, one for each column of --y. Default: all states
    #[arg(long, value_name = "FORMULA", requires = "ode", allow_hyphen_values = true)]
    pub observe: Vec<String>,
    /// Time of the initial values
    #[arg(long, value_name = "TIME", requires = "ode", default_value_t = 0.0, allow_negative_numbers = true)]
    pub initial_time: f64,
    /// Uses an implicit integrator, for stiff equations
    #[arg(long, requires = "ode")]
    pub stiff: bool,
}
