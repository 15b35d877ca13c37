//! Shell completions and manual pages, from the definition of the command line.

use std::io::{self, Write};

use clap::CommandFactory;
use clap_complete::Shell;

use crate::arguments::Arguments;
use crate::failure::{Ending, Failure};

/// Prints completions for a shell.
pub fn completions(shell: Shell) -> Result<Ending, Failure> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Arguments::command(), "marquardt", &mut script);
    io::stdout().write_all(&script)?;
    Ok(Ending::Solved)
}

/// Prints the manual page: the command, and then each subcommand.
pub fn man_page() -> Result<Ending, Failure> {
    let mut page = Vec::new();
    let command = Arguments::command();
    clap_mangen::Man::new(command.clone()).render(&mut page)?;
    for subcommand in command.get_subcommands() {
        writeln!(page, ".SH MARQUARDT {}", subcommand.get_name().to_uppercase())?;
        let man = clap_mangen::Man::new(subcommand.clone().disable_help_flag(true));
        man.render_description_section(&mut page)?;
        man.render_options_section(&mut page)?;
    }
    io::stdout().write_all(&page)?;
    Ok(Ending::Solved)
}
