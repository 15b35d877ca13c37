//! `--live`: pictures in the terminal.

use super::command::{Folder, decay};

const FIT: [&str; 6] = ["fit", "data.csv", "--formula", "a*exp(-k*t)+c", "--start", "a=30,k=3"];

/// Data of groups, a line each.
fn groups(count: usize) -> Folder {
    let row = |i: usize| format!("g{},{},{}\n", i / 5, i % 5, 2 * (i % 5) + i / 5 + usize::from(i.is_multiple_of(2)));
    Folder::with("group,x,y\n".to_owned() + &(0..5 * count).map(row).collect::<String>())
}

#[test]
fn a_picture_is_plain_text_where_there_is_no_terminal() {
    let folder = Folder::with(decay());
    let run = folder.run(&[&FIT[..], &["--live", "--log-x"]].concat());
    let without = folder.run(&FIT);
    let (picture, notes) = (run.errors.clone(), without.errors.clone());
    assert_eq!(run.solved(), without.solved());
    assert!(!picture.contains('\x1b') && picture.ends_with(&notes), "{picture}");
    assert!(picture.contains("oo y  ⠒⠒ fit") && picture.contains("a = 3.0"), "{picture}");
    assert_eq!(picture.matches(" after ").count(), 1, "{picture}");
    assert!(picture.lines().all(|line| line.chars().count() < 80 || !line.contains('│')), "{picture}");
    let equations = ["fit", "data.csv", "--ode", "y=-k*(y-c)", "--initial", "y=4", "--live"];
    assert!(folder.run(&equations).errors.contains("⠒⠒ fit"));
}

/// Whatever the data are, a picture is drawn within the width.
#[test]
fn unusual_data_have_a_picture() {
    for (data, option) in [
        ("x,y\n1,5\n2,5\n3,5\n", "--log-x"),
        ("x,y\n3,1\n3,2\n3,4\n", "--log-y"),
        ("x,y\n-1,-2\n-2,-3\n-3,-5\n", "--log-y"),
        ("x,y\n-1,2e9\n0,0\n1e-12,3e9\n4e9,5\n", "--log-x"),
    ] {
        let folder = Folder::with(data);
        let run = folder.run(&["fit", "data.csv", "--model", "linear", "--live", option]);
        assert!(run.code < 2 && run.errors.contains("⠒⠒ fit"), "{run:?}");
    }
    let narrow = std::process::Command::new(env!("CARGO_BIN_EXE_marquardt"))
        .args(["fit", "--live"])
        .env("COLUMNS", "40")
        .output()
        .unwrap();
    let picture = String::from_utf8(narrow.stderr).unwrap();
    assert!(picture.contains("└") && picture.lines().all(|line| line.chars().count() < 40), "{picture}");
}

#[test]
fn groups_have_a_picture_each() {
    let fit = ["fit", "data.csv", "--model", "linear", "--x", "x", "--y", "y", "--group-by", "group", "--live"];
    let three = groups(3).run(&fit);
    assert_eq!(three.errors.matches("converged after").count(), 3, "{}", three.errors);
    assert!(three.errors.contains("group g0\n") && three.errors.contains("group g2\n"));
    let eight = groups(8).run(&fit).errors;
    assert!(eight.contains("note: --live draws the first 6 of 8 groups") && !eight.contains("group g6"), "{eight}");
    let shared = groups(3).run(&[&fit[..], &["--share", "slope"]].concat()).errors;
    assert!(shared.matches("└").count() == 3 && shared.contains("group g1\n"), "{shared}");
}

#[test]
fn curves_without_a_picture_are_refused() {
    let folder = Folder::with("a,b,y\n1,2,3\n2,1,4\n3,5,9\n4,4,9\n");
    let message = folder.run(&["fit", "data.csv", "--formula", "p*a + q*b", "--y", "y", "--live"]).refused();
    assert!(message.starts_with("--live draws curves of one predictor, but this one has \"a\", \"b\""), "{message}");
    assert_eq!(folder.run(&["fit", "--live", "--watch"]).code, 2);
}

/// Pictures while the fit runs replace each other, and colours are left out where they are not wanted.
#[cfg(target_os = "linux")]
#[test]
fn a_terminal_is_redrawn() {
    let folder = Folder::with(decay());
    let in_terminal = |environment: &str, size: &str| {
        let command = format!(
            "stty {size}; {environment} '{}' fit data.csv --formula 'a*exp(-k*t)+c' --start a=30,k=3 --live",
            env!("CARGO_BIN_EXE_marquardt")
        );
        let mut script = std::process::Command::new("script");
        let output = script.args(["-qec", &command, "/dev/null"]).current_dir(folder.path(".")).output().unwrap();
        assert!(output.status.success(), "{output:?}");
        String::from_utf8(output.stdout).unwrap()
    };
    let coloured = in_terminal("TERM=xterm", "cols 40 rows 20");
    assert!(coloured.contains("trial 1, cost") && coloured.contains("\x1b[31m"), "{coloured:?}");
    let (first, last) = coloured.rsplit_once("\x1b[0J").unwrap();
    // As many lines are taken back as were written.
    let (written, up) = first.rsplit_once("\x1b[").unwrap();
    let begun = written.rfind("\x1b[0J").unwrap_or_default();
    assert_eq!(up, format!("{}A\r", written[begun..].matches('\n').count()), "{coloured:?}");
    assert!(last.starts_with("data.csv: formula") || last.starts_with("data.csv: a*exp"), "{last:?}");
    let plain = in_terminal("NO_COLOR=1 TERM=xterm", "cols 40 rows 20");
    assert!(!plain.contains("\x1b[3") && plain.contains("trial 1, cost"), "{plain:?}");
    let dumb = in_terminal("TERM=dumb", "cols 40 rows 20");
    assert!(!dumb.contains('\x1b') && !dumb.contains("trial 1, cost"), "{dumb:?}");
}
