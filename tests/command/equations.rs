//! `marquardt fit` with differential equations.

use marquardt::CurveFit;

use super::command::{Folder, assert_close, field, value};

const HOURS: [f64; 7] = [0.5, 1.0, 2.0, 4.0, 6.0, 9.0, 12.0];
const CONCENTRATIONS: [f64; 7] = [2.13, 2.99, 3.28, 2.26, 1.42, 0.66, 0.32];

fn folder() -> Folder {
    let rows = HOURS.iter().zip(CONCENTRATIONS).map(|(hour, concentration)| format!("{hour},{concentration}\n"));
    Folder::with("hours,conc\n".to_owned() + &rows.collect::<String>())
}

const EQUATIONS: [&str; 6] = ["fit", "data.csv", "--ode", "gut=-ka*gut", "--ode", "blood = ka*gut - ke*blood"];
const REST: [&str; 6] = ["--initial", "gut=100", "--initial", "blood=0", "--observe", "blood/v"];

#[test]
fn equations_are_fitted() {
    let expected = CurveFit::differential_equations(
        |_, [gut, blood], [ka, ke, _]| [-ka * gut, ka * gut - ke * blood],
        |_| [100.0, 0.0],
        &HOURS,
        &CONCENTRATIONS,
        [1.0, 0.1, 10.0],
    );
    let expected = expected.observed(|_, [_, blood], [_, _, v]| [blood / v]).names(["ka", "ke", "v"]).fit().unwrap();
    let folder = folder();
    let more = ["--start", "ke=0.1,v=10", "--derive", "half_life=ln(2)/ke", "--plot", "p.svg", "--json"];
    for stiff in [&[][..], &["--stiff"]] {
        let found = folder.run(&[&EQUATIONS[..], &REST, &more, stiff].concat()).json();
        for name in ["ka", "ke", "v"] {
            let expected = expected.parameter(name).unwrap();
            assert_close(value(&found, name), expected.value, 1e-6);
            assert_close(field(&found, name, "standard_error"), expected.standard_error, 1e-5);
        }
        assert_eq!(found["model"], "conc = blood/v with gut' = -ka*gut, blood' = ka*gut - ke*blood");
        assert!(found["derived"][0]["value"].as_f64().is_some_and(|half_life| (half_life - 2.78).abs() < 0.01));
    }
    // Two states are two columns, and the time is called as its column; the initial values hold at its first row.
    folder.write("two.csv", "year,a,b\n2000,4.0,1.0\n2001,2.4,1.9\n2002,1.5,2.3\n2003,0.9,2.5\n");
    let two = ["fit", "two.csv", "--ode", "A=-k*A + 0*year", "--ode", "B=k*A - q*B", "--initial", "A=4"];
    let found = folder.run(&[&two[..], &["--initial", "B=1", "--initial-time", "2000", "--json"]].concat()).json();
    assert_close(value(&found, "k"), 0.5, 0.05);
    assert_eq!(found["data"]["observations"], 8);
}

#[test]
fn wrong_equations_are_refused() {
    let folder = folder();
    let refused = |more: &[&str]| folder.run(&[&EQUATIONS[..], more].concat()).refused();
    assert_eq!(refused(&["--initial", "gut=1"]), "--ode: the state \"blood\" has no initial value");
    let message = refused(&[&REST[..], &["--y", "conc,hours"]].concat());
    assert_eq!(message, "--y names 2 columns, but the equations have 1 responses; --observe says which");
    assert_eq!(refused(&REST[..4]), "there are too few columns for 2 responses; --observe says which");
    assert_eq!(
        refused(&[&REST[..4], &["--observe", "blood/conc"]].concat()),
        "--ode: \"conc\" is a column, but only that of the time may occur"
    );
    assert!(refused(&[&REST[..], &["--start", "x=1"]].concat()).contains("no parameter \"x\""));
    let conflict = folder.run(&[&EQUATIONS[..], &["--formula", "a*x"]].concat());
    assert!(conflict.code == 2 && conflict.errors.contains("cannot be used with"), "{conflict:?}");
}
