//! Products with the Jacobian of a network's residuals, from the layers' inputs and sensitivities.

use std::ops::Range;

use super::Network;
use super::loss_sweeps::LossSweeps;
use crate::kernels::vector::dot;
use crate::nn::batch::Share;
use crate::problem::{Evaluated, EvaluationError, JacobianProducts, ProductWork};
use crate::real::Real;

/// Variables are wanted whole or not at all. Of several ranks, each sweeps its rows, and then all have the factors of all
/// rows: products take no exchange.
impl<T: Real> JacobianProducts<T> for Network<T> {
    fn work(&mut self, columns: &[Range<usize>]) -> Option<ProductWork> {
        let Network { sweeps, variables, factors, .. } = self;
        factors.work(sweeps.taped(variables), columns, sweeps.batch.mean_over)
    }

    fn linearize_products(&mut self, x: &[T], columns: &[Range<usize>], r: &mut [T]) -> Evaluated<T> {
        let own = self.sweep(x, columns, r);
        let cost = if self.several_ranks().is_some() { self.gather(own, r)? } else { own? };
        self.factors.finish();
        Ok(if self.is_exact() { T::from_f64(0.5) * dot(r, r) } else { cost })
    }

    fn multiply(&mut self, v: &[T], product: &mut [T]) -> Evaluated<bool> {
        self.factors.multiply(v, product);
        Ok(true)
    }

    fn multiply_transposed(&mut self, u: &[T], product: &mut [T]) -> Evaluated {
        self.factors.multiply_transposed(u, product);
        Ok(())
    }

    fn row_gram(&mut self, gram: &mut [T]) -> Evaluated {
        self.factors.row_gram(gram);
        Ok(())
    }

    fn row_gram_blocks(&mut self, blocks: &mut [T]) -> Evaluated<bool> {
        self.factors.row_gram_blocks(blocks);
        Ok(true)
    }

    fn row_gram_of_residuals(&mut self, blocks: &mut [T]) -> Evaluated<bool> {
        Ok(self.is_exact() && self.factors.row_gram_of_residuals(blocks))
    }

    fn multiply_row_gram(&mut self, u: &[T], product: &mut [T]) -> Evaluated<bool> {
        Ok(self.factors.multiply_row_gram(u, product))
    }
}

impl<T: Real> Network<T> {
    /// Keeps the factors for products with this rank's rows, fills their residuals, and returns their cost, unless that follows
    /// from the residuals.
    fn sweep(&mut self, x: &[T], columns: &[Range<usize>], r: &mut [T]) -> Evaluated<T> {
        self.check_residuals(x)?;
        let (exact, group) = (self.is_exact(), self.rows_per_sample());
        let Network { sweeps, variables, factors, .. } = self;
        let among_all = sweeps.batch.among_all();
        let share = Share { before: among_all.start, total: sweeps.batch.mean_over };
        if !factors.begin(sweeps.taped(variables), columns, share) {
            return Err("a variable is wanted only in part".into());
        }
        let LossSweeps { terms, batch, workspace, .. } = sweeps;
        let widest = terms.iter().map(|term| term.output.width()).max().unwrap_or(0);
        workspace.reserve_stacks(factors.stacked_rows(batch.rows().min(workspace.tile_rows()), widest));
        let r = &mut r[among_all.start * group..among_all.end * group];
        let mut cost = T::ZERO;
        sweeps.tiles(x, 0..among_all.len(), |tile| {
            let r = &mut r[tile.range(0, group)];
            tile.forward_once(true);
            factors.keep_inputs(&tile.tile, tile.workspace, tile.nodes);
            for term in tile.terms() {
                tile.residuals(term, r);
                if !exact {
                    cost += tile.loss_of(term);
                }
                let width = term.output.width();
                let stack = factors.stack(tile.tile.rows.len(), width);
                for first in (0..width).step_by(stack) {
                    let rows = first..width.min(first + stack);
                    for (part, row) in rows.clone().enumerate() {
                        tile.workspace.start_part(part, rows.len());
                        tile.seed_row(term, row);
                    }
                    let residuals = term.first_row + rows.start..term.first_row + rows.end;
                    factors.reverse(&tile.tile, tile.workspace, residuals);
                }
            }
        });
        self.sweeps.workspace.clear_derivatives();
        Ok(cost)
    }

    /// Exchanges the kept factors with all ranks, in one message, and sums the cost.
    fn gather(&mut self, own: Evaluated<T>, r: &mut [T]) -> Evaluated<T> {
        let group = self.rows_per_sample();
        let Network { sweeps: LossSweeps { batch, .. }, factors, ranks, message, .. } = self;
        message.clear();
        if let Ok(cost) = own {
            let samples = batch.among_all();
            message.push(cost);
            message.extend_from_slice(&r[samples.start * group..samples.end * group]);
            factors.send(&samples, message);
        }
        let said = ranks.try_all_gather(own.map(|_| message.as_slice())).map_err(EvaluationError::new)?;
        let per_sample = group + factors.sent_per_sample();
        if said.iter().map(|numbers| (numbers.len() - 1) / per_sample).sum::<usize>() != batch.mean_over {
            return Err("the ranks have not bound the same batch".into());
        }
        let (mut cost, mut samples) = (T::ZERO, 0..0);
        factors.begin_receiving();
        for numbers in &said {
            samples = samples.end..samples.end + (numbers.len() - 1) / per_sample;
            let (residuals, kept) = numbers[1..].split_at(samples.len() * group);
            cost += numbers[0];
            r[samples.start * group..samples.end * group].copy_from_slice(residuals);
            factors.receive(&samples, kept);
        }
        Ok(cost)
    }
}

#[cfg(test)]
mod tests {
    use ndarray::{Array1, Array2};

    use super::*;
    use crate::distributed::{Communicator, on_threads};
    use crate::nn::{MeanSquaredError, Tape};
    use crate::variables::Variables;

    /// Numbers that a rank sends for a linearisation, with its share of 12 samples.
    fn sent(ranks: Communicator) -> (usize, usize) {
        let mut variables = Variables::<f64>::new();
        let table = variables.add("table", Array2::zeros((500, 2)).view()).unwrap();
        let first = variables.add("first", Array2::zeros((30, 10)).view()).unwrap();
        let bias = variables.add("bias", Array1::zeros(30).view()).unwrap();
        let last = variables.add("last", Array2::zeros((2, 30)).view()).unwrap();
        let curve = variables.add("curve", Array1::zeros(2).view()).unwrap();
        let mut tape = Tape::new();
        let (x, names) = (tape.input(4), tape.input(3));
        let looked_up = tape.embedding(names, table).unwrap();
        let all = tape.concat(&[x, looked_up]).unwrap();
        let hidden = tape.dense(all, first, Some(bias)).unwrap();
        let hidden = tape.tanh(hidden);
        let y = tape.dense(hidden, last, None).unwrap();
        let curve = tape.variable(curve);
        let y = tape.mul(y, curve).unwrap();
        let network = Network::new(tape, &variables).unwrap().with_loss(y, MeanSquaredError).unwrap();
        let mut network = network.with_communicator(&ranks);
        let rows = ranks.shard(12).len();
        let zeros = |width: usize| Array2::zeros((rows, width));
        network.batch(&[zeros(4).view(), zeros(3).view()], &[zeros(2).view()]).unwrap();
        let columns = variables.trainable_ranges();
        network.linearize_products(variables.values(), &columns, &mut [0.0; 24]).unwrap();
        (rows, network.message.len())
    }

    #[test]
    fn factors_are_sent_and_no_rows_of_the_jacobian() {
        // Inputs of the layers and row numbers; of each of the two residuals, the sensitivities of layers and looked-up rows,
        // the columns of the curve, and itself.
        let per_sample = (10 + 30 + 3) + 2 * ((30 + 2 + 6) + 2 + 1);
        for (rows, numbers) in on_threads(5, sent) {
            assert_eq!(numbers, 1 + rows * per_sample);
        }
        // One rank sends nothing.
        assert_eq!(sent(Communicator::single()), (12, 0));
    }
}
