//! Fits of groups of rows: each by itself, or with parameters that all share.

use marquardt::GlobalFit;
use marquardt::curve::{FitSummary, ParameterState, Table};
use marquardt::models::AnyModel;

use crate::arguments::FitArguments;
use crate::assignments::NamedValue;
use crate::contours;
use crate::curve::Chosen;
use crate::curve_fit::{self, Solved};
use crate::failure::{Ending, Failure, quoted};
use crate::fit::{outlier_table, places, title, titled};
use crate::group_results::{GroupReport, GroupResults};
use crate::inference::Inference;
use crate::live::{self, LivePicture};
use crate::page::FitOnPage;
use crate::parameter_tests::parameter_tests;
use crate::pictures::Pictures;
use crate::report::FitReport;
use crate::selected_data::SelectedData;
use crate::stored::FitOfColumns;
use crate::terminal::{note, red};

/// A group of rows.
pub struct Group {
    pub name: String,
    pub data: SelectedData,
    /// Parameters found by the group's own fit.
    pub found: Vec<NamedValue<f64>>,
}

/// All groups, and the options of their fits.
pub struct GroupFits<'a> {
    pub arguments: &'a FitArguments,
    pub curve: &'a AnyModel,
    /// The column of their names.
    pub by: &'a str,
    pub groups: Vec<Group>,
}

/// Fits all groups, prints the results, and draws them in one plot. Groups that cannot be fitted are listed.
pub fn run(arguments: &FitArguments, chosen: &Chosen, table: &Table, by: &str) -> Result<Ending, Failure> {
    let (groups, failed) = GroupFits::read(arguments, chosen, table, by)?;
    groups.run(failed)
}

fn of_group(name: &str, by: &str, failure: Failure) -> Failure {
    Failure::new(format!("group {name:?} of {by:?}: {}", failure.one_line()))
}

impl<'a> GroupFits<'a> {
    /// The groups of a table, and those without complete rows where incomplete ones are left out.
    fn read(
        arguments: &'a FitArguments,
        Chosen { curve, x_names, y_names, .. }: &'a Chosen,
        table: &Table,
        by: &'a str,
    ) -> Result<(Self, Vec<Failure>), Failure> {
        let (mut groups, mut failed) = (Vec::new(), Vec::new());
        for (name, rows) in table.group_by(by)? {
            match SelectedData::select(&rows, &arguments.data, x_names.clone(), y_names.clone()) {
                Ok(data) => groups.push(Group { name, data, found: Vec::new() }),
                Err(failure) if arguments.data.omit_missing => failed.push(of_group(&name, by, failure)),
                Err(failure) => return Err(failure),
            }
        }
        Ok((GroupFits::new(arguments, curve, by, groups)?, failed))
    }

    /// These groups, if the parameters that are shared or tested are there.
    pub fn new(
        arguments: &'a FitArguments,
        curve: &'a AnyModel,
        by: &'a str,
        groups: Vec<Group>,
    ) -> Result<Self, Failure> {
        for name in arguments.groups.share.iter().chain(&arguments.groups.test) {
            if !curve.parameters().contains(name) {
                let known = quoted(curve.parameters());
                return Err(Failure::new(format!(
                    "there is no parameter {name:?} to share or test; the parameters are {known}"
                )));
            }
        }
        if let Some(name) = arguments.groups.test.iter().find(|name| arguments.curve.parameters.holds(name)) {
            return Err(Failure::new(format!("--test: {name:?} is fixed or tied, and has nothing to differ in")));
        }
        // Parameters of joint fits have other names.
        if arguments.groups.share.is_empty() {
            contours::pair(&arguments.regions, curve.parameters())?;
        }
        Ok(GroupFits { arguments, curve, by, groups })
    }

    /// Fits, tests, prints and draws. Groups that cannot be fitted are listed with those that failed before, and the exit code is that of
    /// the worst.
    pub fn run(mut self, mut failed: Vec<Failure>) -> Result<Ending, Failure> {
        let arguments = self.arguments;
        let fits = if arguments.groups.share.is_empty() { self.groups.len() } else { 1 };
        let mut pictures = Pictures::of(arguments, fits);
        let mut results = GroupResults { by: self.by, reports: Vec::new(), shared: None, tests: None };
        if arguments.groups.share.is_empty() {
            failed.append(&mut self.fit_each(&mut results, &mut pictures));
        }
        let ending = match (self.groups.is_empty(), failed.len()) {
            (true, 1) => return Err(failed.swap_remove(0)),
            (true, _) => Ending::BadInput,
            (false, _) => self.finish(results, pictures, &failed)?,
        };
        for failure in &failed {
            note(format_args!("{} {}", red("error:"), failure.one_line()));
        }
        Ok(if failed.is_empty() { ending } else { Ending::BadInput })
    }

    /// Fits all groups together if they share parameters, tests, prints and draws.
    /// Groups that have `failed` are on the page.
    fn finish(
        mut self,
        mut results: GroupResults<'_>,
        mut pictures: Pictures<'_>,
        failed: &[Failure],
    ) -> Result<Ending, Failure> {
        let GroupFits { arguments, curve, .. } = self;
        if !arguments.groups.share.is_empty() {
            self.look_for_starts();
            self.fit_together(&mut results, &mut pictures)?;
        }
        results.tests = parameter_tests(&self)?;
        if arguments.output.live && self.groups.len() > live::MOST_GROUPS {
            let (drawn, all) = (live::MOST_GROUPS, self.groups.len());
            note(format_args!("note: --live draws the first {drawn} of {all} groups"));
        }
        let first = &self.groups[0].data;
        pictures.write(&title(arguments, curve.name(), first), first, results.tests.as_ref(), failed)?;
        results.print(arguments)?;
        results.note_warnings();
        Ok(results.ending())
    }

    /// Fits each group by itself. Keeps those that can be fitted, and returns why the others cannot.
    fn fit_each(&mut self, results: &mut GroupResults<'_>, pictures: &mut Pictures<'_>) -> Vec<Failure> {
        let mut failed = Vec::new();
        for mut group in std::mem::take(&mut self.groups) {
            match self.fit_alone(&mut group, results, pictures) {
                Ok(()) => self.groups.push(group),
                Err(failure) => failed.push(of_group(&group.name, self.by, failure)),
            }
        }
        failed
    }

    /// Fits one group.
    fn fit_alone(
        &self,
        group: &mut Group,
        results: &mut GroupResults<'_>,
        pictures: &mut Pictures<'_>,
    ) -> Result<(), Failure> {
        let GroupFits { arguments, curve, by, .. } = *self;
        let fit = curve_fit::build_with_quantities(curve, &group.data, arguments)?;
        let live = live_of(arguments, by, group).filter(|_| results.reports.len() < live::MOST_GROUPS);
        let Solved { fit, minima, outliers } = curve_fit::solve_asked(fit, arguments, live.as_ref())
            .map_err(|error| curve_fit::explain(error, &group.data))?;
        live.iter().for_each(|picture| picture.finish(&fit));
        let summary = titled(fit.summary(), &format!("{by} {}", group.name), curve.formula(), &group.data);
        let inference = Inference::of(&fit, arguments, &group.data)?;
        group.found = ends(&summary);
        let stored = FitOfColumns::new(fit.to_stored_without_data(), &group.data);
        let found = arguments.outliers.map(|_| outlier_table(&group.data, &outliers));
        let fitted = Ending::of_fit(&fit);
        let report = FitReport { summary, inference, minima, outliers: found, stored: None, fitted };
        let shown = FitOnPage {
            name: Some(&group.name),
            fit: &fit,
            report: &report,
            data: &[group.data.without(fit.omitted_rows())],
            is_complex: curve.response_count() == 2,
            outliers: &places(&group.data, &outliers),
        };
        pictures.add(by, &shown)?;
        results.reports.push(GroupReport { name: group.name.clone(), report: Some(report), stored });
        Ok(())
    }

    /// Starts each group where its fit by itself ends, if it can be fitted by itself.
    fn look_for_starts(&mut self) {
        for group in &mut self.groups {
            let fit = curve_fit::build_with_quantities(self.curve, &group.data, self.arguments);
            let solved = fit.ok().and_then(|fit| curve_fit::solve(fit, &self.arguments.method).ok());
            group.found = solved.map(|solved| ends(&solved.fit.summary())).unwrap_or_default();
        }
    }

    /// Fits all groups, which share the parameters that the arguments name.
    fn fit_together(&self, results: &mut GroupResults<'_>, pictures: &mut Pictures<'_>) -> Result<(), Failure> {
        let GroupFits { arguments, curve, by, .. } = *self;
        let shared = &arguments.groups.share;
        let first = &self.groups[0].data;
        let Solved { fit, .. } = curve_fit::solve(self.joined(shared)?.curve_fit()?, &arguments.method)?;
        for group in self.groups.iter().take(live::MOST_GROUPS) {
            if let Some(picture) = live_of(arguments, by, group) {
                picture.finish_by(&fit, |x| fit.predict_data_set(&group.name, x).ok());
            }
        }
        for group in &self.groups {
            let stored =
                fit.data_set_to_stored(&group.name).map(|stored| FitOfColumns::new(stored.without_data(), &group.data));
            let stored = stored.expect("each group is a data set");
            results.reports.push(GroupReport { name: group.name.clone(), report: None, stored });
        }
        let inference = Inference::of(&fit, arguments, first)?;
        let mut summary = FitSummary { title: Some(title(arguments, curve.name(), first)), ..fit.summary() };
        summary.model = Some(format!("{} = {}", first.response(), curve.formula()));
        let fitted = Ending::of_fit(&fit);
        let report = FitReport { summary, inference, minima: None, outliers: None, stored: None, fitted };
        let shown = FitOnPage {
            name: None,
            fit: &fit,
            report: &report,
            data: &self.used(fit.omitted_rows()),
            is_complex: curve.response_count() == 2,
            outliers: &[],
        };
        pictures.add(by, &shown)?;
        results.shared = Some(report);
        Ok(())
    }

    /// The data of the groups without some rows, which are counted from group to group.
    fn used(&self, omitted: &[usize]) -> Vec<SelectedData> {
        let (mut first, mut used) = (0, Vec::new());
        for Group { data, .. } in &self.groups {
            let rows = first..first + data.y.nrows();
            let own = omitted.iter().filter(|row| rows.contains(row)).map(|row| row - first).collect::<Vec<_>>();
            used.push(data.without(&own));
            first = rows.end;
        }
        used
    }

    /// One fit of all groups, in which they share these parameters, from where the fits of the groups ended.
    pub fn joined(&self, shared: &[String]) -> Result<GlobalFit<'_, f64>, Failure> {
        let mut global = GlobalFit::new();
        for group in &self.groups {
            let mut fit = curve_fit::build_with_quantities(self.curve, &group.data, self.arguments)?;
            for NamedValue { name, value } in &group.found {
                fit = fit.start(name, *value);
            }
            global = global.data_set(&group.name, fit);
        }
        Ok(global.shared(shared.iter().cloned()).retry(!self.arguments.method.no_retry))
    }
}

/// The picture of a group in the terminal, if it is asked for.
fn live_of(arguments: &FitArguments, by: &str, group: &Group) -> Option<LivePicture> {
    LivePicture::asked(&arguments.output, &group.data, &format!("{by} {}", group.name))
}

/// Returns the parameters that a fit ended at, as starts.
fn ends(summary: &FitSummary) -> Vec<NamedValue<f64>> {
    let is_found = |state| !matches!(state, ParameterState::Fixed | ParameterState::Tied);
    let found = summary.parameters.iter().filter(|parameter| is_found(parameter.state));
    found.map(|found| NamedValue { name: found.name.clone(), value: found.value }).collect()
}
