//! The report on a fit, in every form.

use marquardt::curve::{
    CorrelationSummary, DataSummary, FitStatistics, FitSummary, IntervalSummary, LossSummary, ParameterState,
    ParameterSummary, PriorSummary,
};

fn parameter(name: &str, value: f64, standard_error: f64, state: ParameterState) -> ParameterSummary {
    ParameterSummary { name: name.into(), value, standard_error, state, ..Default::default() }
}

/// A fit in which everything occurs.
fn everything() -> FitSummary {
    let interval = |low, high| Some(IntervalSummary { level: 0.95, low, high });
    FitSummary {
        title: Some("Decay".into()),
        model: Some("a * exp(-k * t) + c".into()),
        status: "the gradient vanishes".into(),
        is_converged: true,
        iterations: 7,
        evaluations: 15,
        derivative_evaluations: 7,
        attempts: 1,
        kept_attempt: None,
        data: DataSummary {
            observations: 20,
            omitted: 3,
            noise: "absolute sigma".into(),
            loss: Some(LossSummary { name: "Huber".into(), scale: 1.345 }),
        },
        statistics: FitStatistics {
            degrees_of_freedom: 17,
            residual_sum_of_squares: 12.5,
            residual_standard_deviation: Some(0.857_492_925_712_544_2),
            chi_squared: Some(16.25),
            reduced_chi_squared: Some(16.25 / 17.0),
            r_squared: Some(0.987_5),
            aic: Some(-3.5),
            aicc: None,
            bic: Some(f64::NEG_INFINITY),
        },
        parameters: vec![
            ParameterSummary {
                interval: interval(1.2, 1.8),
                start: Some(1.0),
                lower: Some(0.0),
                prior: Some(PriorSummary { mean: 1.4, standard_deviation: 0.5 }),
                ..parameter("a_1", 1.5, 0.15, ParameterState::Free)
            },
            ParameterSummary {
                start: Some(1e-7),
                upper: Some(5.0),
                ..parameter("k", 5.0, f64::NAN, ParameterState::AtUpperBound)
            },
            ParameterSummary { tie: Some("1 - a_1".into()), ..parameter("c", -0.5, 0.15, ParameterState::Tied) },
            parameter("t|0", 0.0, 0.0, ParameterState::Fixed),
            ParameterSummary {
                interval: interval(f64::NEG_INFINITY, f64::INFINITY),
                ..parameter("lost", 3.0, f64::INFINITY, ParameterState::Undetermined)
            },
        ],
        derived: Vec::new(),
        correlations: vec![CorrelationSummary { first: "a_1".into(), second: "k".into(), correlation: -0.75 }],
        warnings: vec!["the data do not determine lost".into(), "3 rows with missing values were left out".into()],
    }
}

#[test]
fn the_text_says_everything() {
    let expected = "\
Decay
a * exp(-k * t) + c

Converged: the gradient vanishes
7 iterations, 15 evaluations (7 with derivatives)

parameter  value ± standard error  relative   95 % interval  start  note
a_1                 1.500 ± 0.150   10.00 %  [1.200, 1.800]      1  ≥ 0; prior 1.4 ± 0.5
k                               5                             1e-7  at upper bound 5
c                  -0.500 ± 0.150   30.00 %                         = 1 - a_1
t|0                             0                                   fixed
lost             3 ± undetermined               [-inf, inf]

observations                 20
rows left out                3
noise                        absolute sigma
loss                         Huber, scale 1.345
degrees of freedom           17
residual sum of squares      12.5
residual standard deviation  0.857493
χ²                           16.25
reduced χ²                   0.955882
R²                           0.9875
AIC                          -3.50
BIC                          -inf

correlations
  a_1, k: -0.7500

the data do not determine lost
3 rows with missing values were left out";
    assert_eq!(everything().to_string(), expected);
}

#[test]
fn what_is_not_there_is_left_out() {
    let summary = FitSummary {
        status: "too many iterations".into(),
        parameters: vec![parameter("b1", 2.0, 1e3, ParameterState::Free)],
        ..Default::default()
    };
    let expected = "\
Not converged: too many iterations
0 iterations, 0 evaluations (0 with derivatives)

parameter  value ± standard error  relative
b1                       2 ± 1000  > 1000 %

observations                 0
degrees of freedom           0
residual sum of squares      0
residual standard deviation  unknown (no degrees of freedom)";
    assert_eq!(summary.to_string(), expected);
    assert!(FitSummary::default().to_string().contains("parameter  value ± standard error\n"));
}

/// One is no plural, and twelve digits are twelve digits.
#[test]
fn numbers_are_those_of_people_unless_more_digits_are_asked_for() {
    let one = FitSummary { iterations: 1, evaluations: 1, ..everything() };
    assert!(one.to_string().contains("\n1 iteration, 1 evaluation (7 with derivatives)\n"));
    let mut summary = everything();
    summary.parameters[0].value = 1.500_123_456_789_123;
    summary.statistics.r_squared = Some(0.999_999_998_761_23);
    let (brief, full) = (summary.to_string(), format!("{summary:.12}"));
    assert!(
        brief.contains(" 1.500 ± 0.150 ") && brief.contains("R²                           0.99999999876"),
        "{brief}"
    );
    for text in
        [" 1.50012345679 ± 0.15 ", "[1.2, 1.8]", "0.857492925713", "R²                           0.999999998761"]
    {
        assert!(full.contains(text), "{text} is not in\n{full}");
    }
}

#[test]
fn markdown_tables_are_rectangular() {
    let markdown = everything().to_markdown();
    let tables: Vec<&str> = markdown.split("\n\n").filter(|block| block.starts_with('|')).collect();
    assert_eq!(tables.len(), 3, "{markdown}");
    for table in &tables {
        let cells = |line: &str| line.replace("\\|", "").matches('|').count();
        let counts: Vec<usize> = table.lines().map(cells).collect();
        assert!(counts.iter().all(|&count| count == counts[0]), "{table}");
        assert!(table.lines().nth(1).unwrap().chars().all(|c| "|-:".contains(c)), "{table}");
    }
    assert_eq!(tables[0].lines().count(), 2 + 5);
    for line in [
        "## Decay",
        "`a * exp(-k * t) + c`",
        "**Converged**: the gradient vanishes; 7 iterations, 15 evaluations (7 with derivatives)",
        "| parameter | value ± standard error | relative | 95 % interval | start | note |",
        "|---|--:|--:|--:|--:|---|",
        "| a\\_1 | 1.500 ± 0.150 | 10.00 % | [1.200, 1.800] | 1 | ≥ 0; prior 1.4 ± 0.5 |",
        "| t\\|0 | 0 |  |  |  | fixed |",
        "| χ² | 16.25 |",
        "| a\\_1 | k | -0.7500 |",
        "> **Warning:** the data do not determine lost",
    ] {
        assert!(markdown.lines().any(|found| found == line), "{line}\nis not in\n{markdown}");
    }
}

#[cfg(feature = "json")]
mod json {
    use super::*;

    /// NaN is not equal to itself, but is written alike.
    fn told(summary: &FitSummary) -> String {
        format!("{summary:?}")
    }

    #[test]
    fn comes_back_as_it_was() {
        for summary in [everything(), FitSummary::default()] {
            let text = summary.to_json();
            let read: FitSummary = serde_json::from_str(&text).unwrap();
            assert_eq!(told(&read), told(&summary), "{text}");
        }
    }

    #[test]
    fn has_words_for_what_is_not_finite() {
        let value: serde_json::Value = serde_json::from_str(&everything().to_json()).unwrap();
        assert_eq!(value["parameters"][1]["standard_error"], "NaN");
        assert_eq!(value["parameters"][4]["interval"]["low"], "-inf");
        assert_eq!(value["parameters"][4]["standard_error"], "inf");
        assert_eq!(value["parameters"][1]["state"], "at_upper_bound");
        assert_eq!(value["statistics"]["aicc"], serde_json::Value::Null);
        assert_eq!(value["statistics"]["residual_standard_deviation"], 0.857_492_925_712_544_2);
        assert_eq!(value["data"]["omitted"], 3);
    }
}
