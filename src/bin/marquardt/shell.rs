//! Shell completions and manual pages, from the definition of the command line.

use std::io::{self, Write};

use clap::{Command, CommandFactory};
use clap_complete::Shell;
use clap_mangen::Man;

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
    let command = Arguments::command().disable_help_subcommand(true);
    let man = Man::new(command.clone());
    man.render_title(&mut page)?;
    man.render_name_section(&mut page)?;
    man.render_synopsis_section(&mut page)?;
    man.render_description_section(&mut page)?;
    write_examples(&mut page, &command)?;
    for subcommand in command.get_subcommands() {
        writeln!(page, ".SH MARQUARDT {}", subcommand.get_name().to_uppercase())?;
        if let Some(about) = subcommand.get_about() {
            writeln!(page, "{}.", escaped(&about.to_string()))?;
        }
        Man::new(subcommand.clone().disable_help_flag(true)).render_options_section(&mut page)?;
        write_examples(&mut page, subcommand)?;
    }
    man.render_version_section(&mut page)?;
    io::stdout().write_all(&page)?;
    Ok(Ending::Solved)
}

/// Writes what follows the help of a command, line by line.
fn write_examples(page: &mut Vec<u8>, command: &Command) -> io::Result<()> {
    let Some(text) = command.get_after_help() else { return Ok(()) };
    writeln!(page, ".PP\n.nf\n{}\n.fi", escaped(&text.to_string()))
}

/// The text, for the formatter of manual pages.
fn escaped(text: &str) -> String {
    let text = text.replace('\\', "\\\\").replace('-', "\\-");
    // A dot or an apostrophe at the beginning of a line would be a command.
    let line = |line: &str| if line.starts_with(['.', '\'']) { format!("\\&{line}") } else { line.to_owned() };
    text.lines().map(line).collect::<Vec<_>>().join("\n")
}
