//! Counts of fits, and the claims that are false.

use std::collections::BTreeMap;
use std::fmt::{self, Debug};

use crate::attempt::Attempt;
use crate::first_order::Finding;

/// Fits of one sort.
#[derive(Debug, Clone, Copy, Default)]
struct Count {
    fits: usize,
    converged: usize,
    false_claims: usize,
    gross: usize,
    vanished: usize,
    /// Claims that rounding alone excuses, and those of them whose cost plain steps lower.
    excused: usize,
    lowered: usize,
}

/// All fits.
#[derive(Default)]
pub struct Tally {
    total: Count,
    /// By what they have in common.
    sorts: BTreeMap<String, Count>,
    /// By how they ended.
    endings: BTreeMap<String, usize>,
    pub panics: Vec<usize>,
    /// False claims, each with the number of its random fit.
    pub offenders: Vec<(usize, String)>,
    /// Outcomes that no fit may end with, each with the number of its random fit.
    pub defects: Vec<(usize, String)>,
}

impl Count {
    fn add(&mut self, other: Count) {
        self.fits += other.fits;
        self.converged += other.converged;
        self.false_claims += other.false_claims;
        self.gross += other.gross;
        self.vanished += other.vanished;
        self.excused += other.excused;
        self.lowered += other.lowered;
    }
}

impl Tally {
    pub fn false_claims(&self) -> usize {
        self.total.false_claims
    }

    /// Claims that rounding excuses, though plain steps lower the cost.
    pub fn lowered(&self) -> usize {
        self.total.lowered
    }

    pub fn add(&mut self, number: usize, attempt: &Attempt) {
        let mut count = Count { fits: 1, ..Count::default() };
        self.defects.extend(attempt.defect.iter().map(|defect| (number, format!("{:?} {defect}", attempt.way))));
        let ending = match &attempt.claim {
            Ok(claim) => {
                if claim.is_converged {
                    let finding = claim.examine();
                    let [is_false, is_gross] = claim.is_false(finding);
                    count.converged = 1;
                    count.false_claims = usize::from(is_false);
                    count.gross = usize::from(is_gross);
                    count.vanished = usize::from(is_false && finding.is_vanished());
                    let is_excused = claim.largest_cosine() > claim.precision.thresholds()[0];
                    let fall = if is_excused { claim.fall() } else { 0.0 };
                    let is_lowered = fall > claim.precision.largest_fall();
                    count.excused = usize::from(is_excused);
                    count.lowered = usize::from(is_lowered);
                    if is_false || is_lowered {
                        self.offenders.push((number, offence(attempt, finding, fall)));
                    }
                }
                claim.status.clone()
            }
            Err(_) => "refused".to_owned(),
        };
        *self.endings.entry(ending).or_default() += 1;
        let sample = &attempt.sample;
        self.total.add(count);
        for sort in [
            name("way", attempt.way),
            name("curve", sample.family),
            name("data", sample.data),
            name("start", sample.distance),
        ] {
            self.sorts.entry(sort).or_default().add(count);
        }
    }

    pub fn merge(mut self, other: Tally) -> Tally {
        self.total.add(other.total);
        other.sorts.into_iter().for_each(|(sort, count)| self.sorts.entry(sort).or_default().add(count));
        other.endings.into_iter().for_each(|(ending, count)| *self.endings.entry(ending).or_default() += count);
        self.panics.extend(other.panics);
        self.offenders.extend(other.offenders);
        self.defects.extend(other.defects);
        self
    }
}

fn name(sort: &str, of: impl Debug) -> String {
    format!("{sort} {of:?}")
}

fn offence(attempt: &Attempt, finding: Finding, fall: f64) -> String {
    let (sample, claim) = (&attempt.sample, attempt.claim.as_ref().expect("only claims are false"));
    let (points, start) = (sample.x.len(), &sample.start);
    let finding = match finding {
        Finding::NotFinite => "not finite".to_owned(),
        Finding::Steepest { parameter, cosine, excess, is_vanished } => {
            let vanished = if is_vanished { ", vanished" } else { "" };
            format!("parameter {parameter}, cosine {cosine:.1e}, {excess:.1e} beyond rounding{vanished}")
        }
    };
    let (way, family, data, distance) = (attempt.way, sample.family, sample.data, sample.distance);
    format!(
        "{way:?} {family:?} {data:?} {distance:?}, {points} points: {}; {finding}; falls by {fall:.1e}\n    from {start:?}\n    to   {:?}",
        claim.status, claim.x
    )
}

impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "{:<28} {:>8} {:>10} {:>8} {:>8} {:>9} {:>8}",
            "", "fits", "converged", "false", "gross", "vanished", "lowered"
        )?;
        let total = [("all".to_owned(), self.total)];
        for (sort, count) in total.iter().map(|(sort, count)| (sort, count)).chain(&self.sorts) {
            let Count { fits, converged, false_claims, gross, vanished, excused, lowered } = count;
            writeln!(
                f,
                "{sort:<28} {fits:>8} {converged:>10} {false_claims:>8} {gross:>8} {vanished:>9} {excused:>8} {lowered:>8}"
            )?;
        }
        writeln!(f, "\nendings")?;
        self.endings.iter().try_for_each(|(ending, count)| writeln!(f, "{count:>8}  {ending}"))?;
        writeln!(f, "\ndefects")?;
        let mut kinds = BTreeMap::<String, usize>::new();
        for (_, defect) in &self.defects {
            *kinds.entry(defect.replace(|c: char| c.is_ascii_digit(), "_")).or_default() += 1;
        }
        kinds.iter().try_for_each(|(kind, count)| writeln!(f, "{count:>8}  {kind}"))?;
        write!(f, "{:>8}  panicked {:?}", self.panics.len(), self.panics)
    }
}
