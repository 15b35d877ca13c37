//! Sums over ranks.

use std::{fmt, mem};

use super::{GradientEntry, GradientKind, Gradients};
use crate::distributed::{Communicator, CommunicatorError, RankError};
use crate::real::Real;

/// Counts are sent as two numbers, so that they are exact in single precision.
const HALF: usize = 1 << 20;

impl<T: Real> Gradients<T> {
    /// Replaces gradients by their sums over all ranks, to the same bits on every rank. Collective.
    ///
    /// Dense gradients are summed in one message. Rows of sparse gradients are concatenated in the order of the ranks; an optimizer sums
    /// repeated rows. A gradient that is dense on any rank becomes dense on all. A [`Network`](crate::nn::Network) that is bound to shards
    /// of a batch does this by itself; a hand-written loop calls it before [`apply_gradients`](crate::optim::Optimizer::apply_gradients),
    /// which clips the sums.
    ///
    /// ```
    /// use marquardt::Variables;
    /// use marquardt::distributed::Communicator;
    /// use marquardt::optim::{Optimizer, Sgd};
    /// use marquardt::variables::Gradients;
    /// use ndarray::array;
    ///
    /// // The mean of these numbers minimises ½ Σ (w − y)².
    /// let ranks = Communicator::world()?;
    /// let y: Vec<f64> = ranks.shard(10).map(|row| row as f64).collect();
    ///
    /// let mut variables = Variables::new();
    /// let w = variables.add("w", array![0.0].view())?;
    /// let mut gradients = Gradients::new(&variables);
    /// let mut optimizer = Sgd::new(0.1);
    /// for _ in 0..10 {
    ///     gradients.clear();
    ///     gradients.dense_mut(w)[0] = y.iter().map(|y| variables.values()[0] - y).sum();
    ///     gradients.all_sum(&ranks)?;
    ///     optimizer.apply_gradients(&gradients, &mut variables)?;
    /// }
    /// assert!((variables.values()[0] - 4.5).abs() < 1e-12);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`CommunicatorError`]; also where ranks have gradients of other variables.
    ///
    /// # Panics
    ///
    /// On all ranks, when a gradient is dense on one and has a row on another that is not in its variable.
    pub fn all_sum(&mut self, ranks: &Communicator) -> Result<(), CommunicatorError> {
        if ranks.size() == 1 {
            return Ok(());
        }
        self.sum_over(ranks, Some(T::ZERO)).map(|_| ())
    }

    /// Sums gradients, and the losses that they are of, if all ranks have come by theirs. Collective.
    ///
    /// # Errors
    ///
    /// The [`RankError`] of the lowest rank that has an error, the same on all ranks; gradients are as they were then.
    pub(crate) fn all_sum_with_loss<E: fmt::Display>(
        &mut self,
        ranks: &Communicator,
        own: Result<T, E>,
    ) -> Result<T, RankError> {
        match self.sum_over(ranks, own.as_ref().ok().copied()) {
            Ok(Some(loss)) => Ok(loss),
            Ok(None) => ranks.agree(own),
            Err(error) => Err(error.into()),
        }
    }

    /// Sums gradients and losses; leaves all as it is, and returns `None`, where a rank has no loss.
    fn sum_over(&mut self, ranks: &Communicator, loss: Option<T>) -> Result<Option<T>, CommunicatorError> {
        let mut message = mem::take(&mut self.message);
        let mut sum = self.exchange_rows(ranks, loss, &mut message);
        if let Ok(Some(_)) = sum
            && let Err(error) = self.sum_dense(ranks, &mut message)
        {
            sum = Err(error);
        }
        self.message = message;
        sum
    }

    /// Tells all ranks the loss, and which gradients there are, with the rows of the sparse ones. Nothing is said without a
    /// loss.
    fn exchange_rows(
        &mut self,
        ranks: &Communicator,
        loss: Option<T>,
        message: &mut Vec<T>,
    ) -> Result<Option<T>, CommunicatorError> {
        message.clear();
        if let Some(loss) = loss {
            message.push(loss);
            self.write(message);
        }
        let messages = ranks.all_gather(message)?;
        let (mut sum, mut said) = (T::ZERO, Vec::with_capacity(messages.len()));
        // Every rank reads the message of every other, and so all come to the same end.
        for (rank, message) in messages.iter().enumerate() {
            let Some((&loss, numbers)) = message.split_first() else { return Ok(None) };
            sum += loss;
            said.push(self.read(numbers).ok_or(CommunicatorError::CollectiveMismatch { rank: 0, other: rank })?);
        }
        for index in 0..self.entries.len() {
            let variable = self.entries[index].variable;
            let of_ranks = || said.iter().map(|given| &given[index]);
            match of_ranks().map(|given| given.kind).max() {
                Some(GradientKind::Dense) => {
                    let mut rows = of_ranks().flat_map(|given| given.rows.iter());
                    assert!(rows.all(|&row| row < variable.rows()), "a row that is not in its variable");
                    self.dense_mut(variable);
                }
                Some(GradientKind::Rows) => {
                    let entry = &mut self.entries[index];
                    entry.kind = GradientKind::Rows;
                    entry.rows.clear();
                    entry.values.clear();
                    for given in of_ranks() {
                        entry.rows.extend_from_slice(&given.rows);
                        entry.values.extend_from_slice(given.values);
                    }
                }
                Some(GradientKind::Absent) | None => {}
            }
        }
        Ok(Some(sum))
    }

    /// Appends the length of every variable, what kind of gradient there is, and its rows if it is sparse.
    fn write(&self, message: &mut Vec<T>) {
        for GradientEntry { variable, kind, rows, values } in &self.entries {
            write_count(variable.len(), message);
            message.push(T::from_f64(f64::from(*kind as u8)));
            if *kind == GradientKind::Rows {
                write_count(rows.len(), message);
                rows.iter().for_each(|&row| write_count(row, message));
                message.extend_from_slice(values);
            }
        }
    }

    /// Gradients of a rank for every variable; `None` where its variables are others.
    fn read<'m>(&self, mut numbers: &'m [T]) -> Option<Vec<Given<'m, T>>> {
        let mut all = Vec::with_capacity(self.entries.len());
        for GradientEntry { variable, .. } in &self.entries {
            if read_count(&mut numbers)? != variable.len() {
                return None;
            }
            let (&kind, rest) = numbers.split_first()?;
            numbers = rest;
            let kind = [GradientKind::Absent, GradientKind::Rows, GradientKind::Dense]
                .into_iter()
                .find(|&k| k as u8 as f64 == kind.to_f64())?;
            let mut given = Given { kind, rows: Vec::new(), values: &[] };
            if kind == GradientKind::Rows {
                let count = read_count(&mut numbers)?;
                given.rows = (0..count).map(|_| read_count(&mut numbers)).collect::<Option<_>>()?;
                (given.values, numbers) = numbers.split_at_checked(count * variable.columns())?;
            }
            all.push(given);
        }
        numbers.is_empty().then_some(all)
    }

    /// Sums the dense gradients, which all ranks have of the same variables.
    fn sum_dense(&mut self, ranks: &Communicator, message: &mut Vec<T>) -> Result<(), CommunicatorError> {
        let Gradients { flat, entries, .. } = self;
        let dense =
            || entries.iter().filter(|entry| entry.kind == GradientKind::Dense).map(|entry| entry.variable.range());
        message.clear();
        dense().for_each(|range| message.extend_from_slice(&flat[range]));
        if message.is_empty() {
            return Ok(());
        }
        ranks.all_sum(message)?;
        let mut sums = message.as_slice();
        for range in dense() {
            let (now, later) = sums.split_at(range.len());
            flat[range].copy_from_slice(now);
            sums = later;
        }
        Ok(())
    }
}

/// Gradient of a rank for a variable.
struct Given<'m, T> {
    kind: GradientKind,
    rows: Vec<usize>,
    values: &'m [T],
}

fn write_count<T: Real>(count: usize, message: &mut Vec<T>) {
    message.extend([count / HALF, count % HALF].map(|half| T::from_f64(half as f64)));
}

/// Takes a count off the front; `None` where there is none.
fn read_count<T: Real>(numbers: &mut &[T]) -> Option<usize> {
    let (&[high, low], rest) = numbers.split_first_chunk()?;
    *numbers = rest;
    Some(high.to_f64() as usize * HALF + low.to_f64() as usize)
}

#[cfg(test)]
mod tests {
    use ndarray::{Array1, Array2};

    use super::*;
    use crate::distributed::on_threads;
    use crate::variables::{Gradient, Variables};

    fn variables<T: Real>() -> Variables<T> {
        let mut variables = Variables::new();
        variables.add("table", Array2::from_elem((40, 2), T::ZERO).view()).unwrap();
        variables.add("mixed", Array2::from_elem((3, 2), T::ZERO).view()).unwrap();
        variables.add("bias", Array1::from_elem(3, T::ZERO).view()).unwrap();
        variables.add("unused", Array1::from_elem(1, T::ZERO).view()).unwrap();
        variables
    }

    fn kinds_are_agreed<T: Real>() {
        let all = on_threads(3, |ranks| {
            let variables = variables::<T>();
            let [table, mixed, bias, _] = [0, 1, 2, 3].map(|index| variables.iter().nth(index).unwrap());
            let number = |value: usize| T::from_f64(value as f64);
            let mut gradients = Gradients::new(&variables);
            // Rank 1 has no rows.
            if ranks.rank() != 1 {
                gradients.add_row(table, 39 - ranks.rank(), &[number(ranks.rank() + 1), T::ONE]);
                gradients.add_row(table, 7, &[T::ONE, T::ONE]);
                gradients.dense_mut(bias).copy_from_slice(&[T::ONE, number(ranks.rank()), T::ZERO]);
                gradients.add_row(mixed, 2, &[T::ONE, number(2)]);
            } else {
                gradients.dense_mut(mixed).fill(number(10));
            }
            gradients.all_sum(&ranks).unwrap();
            gradients
        });
        let variables = variables::<T>();
        let numbers = |values: &[f64]| -> Vec<T> { values.iter().map(|&value| T::from_f64(value)).collect() };
        for gradients in all {
            let of = |index: usize| gradients.of(variables.iter().nth(index).unwrap());
            let values = numbers(&[1.0, 1.0, 1.0, 1.0, 3.0, 1.0, 1.0, 1.0]);
            assert_eq!(of(0), Gradient::Rows { rows: &[39, 7, 37, 7], values: &values });
            assert_eq!(of(1), Gradient::Dense(&numbers(&[10.0, 10.0, 10.0, 10.0, 12.0, 14.0])));
            assert_eq!(of(2), Gradient::Dense(&numbers(&[2.0, 2.0, 0.0])));
            assert_eq!(of(3), Gradient::Absent);
        }
    }

    #[test]
    fn ranks_agree_on_the_kind_of_every_gradient() {
        kinds_are_agreed::<f64>();
        kinds_are_agreed::<f32>();
    }

    #[test]
    fn gradients_of_other_variables_are_refused_on_all_ranks() {
        let errors = on_threads(3, |ranks| {
            let mut variables = variables::<f64>();
            if ranks.rank() == 2 {
                variables.add("another", Array1::zeros(1).view()).unwrap();
            }
            Gradients::new(&variables).all_sum(&ranks)
        });
        assert!(errors.iter().all(Result::is_err), "{errors:?}");
    }

    #[test]
    fn counts_are_exact_in_single_precision() {
        for count in [0, 1, HALF - 1, HALF, usize::MAX >> (usize::BITS * 5 / 16)] {
            let mut message = Vec::<f32>::new();
            write_count(count, &mut message);
            let mut numbers = message.as_slice();
            assert_eq!((read_count(&mut numbers), numbers.len()), (Some(count), 0));
        }
    }
}
