//! The summary as a table.

use std::fmt;

use super::units::{bytes, flops, with_commas};
use super::{Cost, Summary};
use crate::nn::Shape;
use crate::solver::Curvature;

/// Columns of text: the first to the left, a given number of others, too, and the rest to the right.
struct SummaryTable {
    rows: Vec<Vec<String>>,
    /// Columns to the left.
    left: usize,
}

impl SummaryTable {
    fn new(heads: &[&str], left: usize) -> Self {
        SummaryTable { rows: vec![heads.iter().map(|&head| head.to_owned()).collect()], left }
    }

    /// Width of every column.
    fn widths(&self) -> Vec<usize> {
        let width = |column: usize| self.rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
        (0..self.rows[0].len()).map(width).collect()
    }

    /// Writes the rows, with lines under the head and under the last.
    fn write(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let widths = self.widths();
        let line = "─".repeat(widths.iter().sum::<usize>() + 3 * (widths.len() - 1));
        for (place, row) in self.rows.iter().enumerate() {
            let mut text = String::new();
            for (column, (cell, &width)) in row.iter().zip(&widths).enumerate() {
                let gap = if column > 0 { "   " } else { "" };
                let is_left = column < self.left;
                text += &if is_left { format!("{gap}{cell:<width$}") } else { format!("{gap}{cell:>width$}") };
            }
            writeln!(f, "{}", text.trim_end())?;
            if place == 0 {
                writeln!(f, "{line}")?;
            }
        }
        writeln!(f, "{line}")
    }
}

impl fmt::Display for Summary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.layer_table().write(f)?;
        self.write_parameters(f)?;
        writeln!(f)?;
        self.cost_table().write(f)?;
        match &self.not_least_squares {
            Some(reason) => writeln!(f, "No LM step: {reason}"),
            None => Ok(()),
        }
    }
}

impl Summary {
    fn layer_table(&self) -> SummaryTable {
        let mut table = SummaryTable::new(&["Layer (type)", "Output shape", "Param #"], 2);
        for layer in &self.layers {
            let name = format!("{}{} ({})", "  ".repeat(layer.depth), layer.name, layer.kind);
            let shared = if layer.shares_parameters { "shared + " } else { "" };
            let parameters = format!("{shared}{}", with_commas(layer.parameters));
            table.rows.push(vec![name, batch_shape(layer.output), parameters]);
        }
        table
    }

    fn write_parameters(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let counts = [
            ("Total", self.parameters, true),
            ("Trainable", self.trainable_parameters, true),
            ("Non-trainable", self.frozen_parameters(), true),
            ("Unused", self.unused_parameters, self.unused_parameters > 0),
        ];
        for (name, count, _) in counts.into_iter().filter(|(_, _, is_shown)| *is_shown) {
            let memory = bytes(count as f64 * self.number_size as f64);
            writeln!(f, "{name} params: {} ({memory})", with_commas(count))?;
        }
        Ok(())
    }

    fn cost_table(&self) -> SummaryTable {
        let batch = format!("Batch of {}, {} residuals", with_commas(self.rows), with_commas(self.residuals));
        let mut table = SummaryTable::new(&[&batch, "Work", "Moved", "Memory"], 1);
        let mut add = |name: String, Cost { flops: work, bytes: moved, .. }: Cost, memory: String| {
            table.rows.push(vec![name, flops(work), bytes(moved), memory]);
        };
        add("Forward pass".to_owned(), self.forward, String::new());
        if let Some(backward) = self.backward {
            add("Backward pass".to_owned(), backward, String::new());
        }
        for step in &self.steps {
            let mark = if step.is_chosen { " ← chosen" } else { "" };
            let memory = bytes(step.memory as f64);
            match step.iterative {
                Some(iterative) => {
                    add(format!("LM step, {}", step.form), step.cost, memory.clone());
                    add(format!("  in training, conjugate gradients{mark}"), iterative, memory);
                }
                None => add(format!("LM step, {}{mark}", step.form), step.cost, memory),
            }
        }
        if let Some((cost, memory)) = self.kronecker {
            let mark = if self.curvature == Curvature::Kronecker { " ← chosen for training" } else { "" };
            add(format!("LM step, Kronecker factors{mark}"), cost, bytes(memory as f64));
        }
        table
    }
}

/// A shape with the batch in front: `(batch, 8, 12, 12)`.
fn batch_shape(shape: Shape) -> String {
    match shape {
        Shape::Row { width } => format!("(batch, {width})"),
        Shape::Sequence { steps, features } => format!("(batch, {steps}, {features})"),
        Shape::Image { channels, height, width } => format!("(batch, {channels}, {height}, {width})"),
    }
}
