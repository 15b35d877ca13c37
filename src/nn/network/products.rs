//! Products with the Jacobian of a network's residuals, from the layers' inputs and sensitivities.

use std::ops::Range;

use super::Network;
use crate::kernels::vector::dot;
use crate::nn::sweep::Tile;
use crate::{EvaluationError, JacobianProducts, ProductWork, Real};

/// Variables are wanted whole or not at all.
impl<T: Real> JacobianProducts<T> for Network<T> {
    fn work(&mut self, columns: &[Range<usize>]) -> Option<ProductWork> {
        let Network { tape, variables, terms, batch, factors, .. } = self;
        let outputs = terms.iter().map(|term| term.output);
        factors.work(tape, variables.iter(), outputs, columns, batch.rows())
    }

    fn linearize_products(&mut self, x: &[T], columns: &[Range<usize>], r: &mut [T]) -> Result<T, EvaluationError> {
        self.check_residuals(x)?;
        let (exact, group) = (self.is_exact(), self.rows_per_sample());
        let Network { tape, variables, terms, batch, factors, workspace, buffers, loss_nodes, masks, .. } = self;
        let outputs = terms.iter().map(|term| term.output);
        if !factors.begin(tape, variables.iter(), outputs, columns, batch.rows()) {
            return Err("a variable is wanted only in part".into());
        }
        let widest = terms.iter().map(|term| term.output.width()).max().unwrap_or(0);
        workspace.reserve_stacks(factors.stacked_rows(batch.rows().min(workspace.tile_rows()), widest));
        let mut cost = T::ZERO;
        for rows in workspace.tiles(0..batch.rows()) {
            let r = &mut r[rows.start * group..rows.end * group];
            let tile = Tile { tape, x, batch, rows, masks: Some(*masks) };
            workspace.forward(&tile, loss_nodes);
            factors.keep_inputs(&tile, workspace);
            for term in &*terms {
                term.residuals(&tile, workspace, buffers, r, group);
                if !exact {
                    cost += term.loss(&tile, workspace, buffers);
                }
                let width = term.output.width();
                let stack = factors.stack(tile.rows.len(), width);
                for first in (0..width).step_by(stack) {
                    let rows = first..width.min(first + stack);
                    for (part, row) in rows.clone().enumerate() {
                        workspace.start_part(part, rows.len());
                        term.seed_row(&tile, workspace, buffers, row);
                    }
                    factors.reverse(&tile, workspace, term.first_row + rows.start..term.first_row + rows.end);
                }
            }
        }
        workspace.clear_derivatives();
        factors.finish();
        Ok(if exact { T::from_f64(0.5) * dot(r, r) } else { cost })
    }

    fn row_gram(&mut self, gram: &mut [T]) {
        self.factors.row_gram(gram);
    }

    fn row_gram_blocks(&mut self, blocks: &mut [T]) {
        self.factors.row_gram_blocks(blocks);
    }

    fn multiply(&mut self, v: &[T], product: &mut [T]) {
        self.factors.multiply(v, product);
    }

    fn multiply_transposed(&mut self, u: &[T], product: &mut [T]) {
        self.factors.multiply_transposed(u, product);
    }
}
