//! Images of digits.

use std::error::Error;
use std::io::Read;

use chacha20::ChaCha8Rng;
use chacha20::rand_core::SeedableRng;
use ndarray::{Array2, ArrayView2, Axis, s};

use crate::random::shuffle;

/// Where the images are: the test set of E. Alpaydin & C. Kaynak, Optical Recognition of Handwritten Digits, UCI Machine
/// Learning Repository 1998, doi 10.24432/C50P49, under CC BY 4.0.
pub const FILE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/examples/classify/digits.csv");

/// Images that networks are trained with; all others test them.
pub const TRAINING: usize = 1437;

pub const CLASSES: usize = 10;
pub const PIXELS: usize = 64;
/// Grey values are from 0 to this.
const BLACK: f64 = 16.0;

/// Images and what they show.
pub struct Digits {
    /// A row for each image, from 0 to 1.
    pub pixels: Array2<f64>,
    /// The digit of each.
    pub labels: Array2<f64>,
}

impl Digits {
    /// Reads lines of 64 grey values and the digit.
    pub fn read(source: impl Read) -> Result<Digits, Box<dyn Error>> {
        let mut reader = csv::ReaderBuilder::new().has_headers(false).from_reader(source);
        let mut numbers = Vec::new();
        for row in reader.deserialize() {
            let row: Vec<u8> = row?;
            let line = numbers.len() / (PIXELS + 1) + 1;
            match *row {
                [ref pixels @ .., digit] if pixels.len() == PIXELS && usize::from(digit) < CLASSES => {
                    numbers.extend(pixels.iter().map(|&grey| f64::from(grey) / BLACK));
                    numbers.push(f64::from(digit));
                }
                _ => return Err(format!("line {line} is not {PIXELS} grey values and a digit").into()),
            }
        }
        let rows = numbers.len() / (PIXELS + 1);
        if rows <= TRAINING {
            return Err(format!("more than {TRAINING} images are needed, not {rows}").into());
        }
        let table = Array2::from_shape_vec((rows, PIXELS + 1), numbers)?;
        Ok(Digits {
            pixels: table.slice(s![.., ..PIXELS]).to_owned(),
            labels: table.slice(s![.., PIXELS..]).to_owned(),
        })
    }

    /// The same in a random order.
    pub fn shuffled(&self, seed: u64) -> Digits {
        let mut order: Vec<usize> = (0..self.pixels.nrows()).collect();
        shuffle(&mut order, &mut ChaCha8Rng::seed_from_u64(seed));
        Digits { pixels: self.pixels.select(Axis(0), &order), labels: self.labels.select(Axis(0), &order) }
    }

    /// One for an image's digit and zero for the others.
    pub fn one_hot(&self) -> Array2<f64> {
        Array2::from_shape_fn((self.labels.nrows(), CLASSES), |(row, class)| {
            f64::from(u8::from(self.labels[[row, 0]] == class as f64))
        })
    }
}

/// The rows for training, and those for the test.
pub fn split(rows: &Array2<f64>) -> (ArrayView2<'_, f64>, ArrayView2<'_, f64>) {
    rows.view().split_at(Axis(0), TRAINING)
}

#[cfg(test)]
mod tests {
    use std::fs::File;

    use super::*;

    #[test]
    fn the_file_holds_all_digits() -> Result<(), Box<dyn Error>> {
        let digits = Digits::read(File::open(FILE)?)?;
        assert_eq!(digits.pixels.shape(), [TRAINING + 360, PIXELS]);
        assert!(digits.pixels.iter().all(|grey| (0.0..=1.0).contains(grey)));
        assert!(digits.pixels.iter().any(|&grey| grey == 1.0));
        let one_hot = digits.one_hot();
        assert!(one_hot.rows().into_iter().all(|row| row.sum() == 1.0));
        assert!(one_hot.columns().into_iter().all(|column| (170.0..190.0).contains(&column.sum())));
        Ok(())
    }

    #[test]
    fn a_seed_decides_on_the_split_and_loses_no_image() -> Result<(), Box<dyn Error>> {
        let digits = Digits::read(File::open(FILE)?)?;
        let [first, again, other] = [3, 3, 4].map(|seed| digits.shuffled(seed));
        assert_eq!(first.pixels, again.pixels);
        assert_ne!(first.labels, other.labels);
        // Images stay with their digits.
        let sorted = |digits: &Digits| {
            let mut rows: Vec<Vec<u64>> = (digits.pixels.rows().into_iter().zip(&digits.labels))
                .map(|(pixels, label)| pixels.iter().chain([label]).map(|number| number.to_bits()).collect())
                .collect();
            rows.sort_unstable();
            rows
        };
        assert_eq!(sorted(&first), sorted(&digits));
        let (training, test) = split(&first.pixels);
        assert_eq!((training.nrows(), test.nrows()), (TRAINING, 360));
        Ok(())
    }

    #[test]
    fn lines_that_are_no_images_are_refused() {
        let image = |digit: &str| ["7,"; PIXELS].concat() + digit + "\n";
        let refusal = |text: String| Digits::read(text.as_bytes()).err().map(|error| error.to_string());
        let found = refusal(image("3") + &image("10"));
        assert_eq!(found.as_deref(), Some("line 2 is not 64 grey values and a digit"));
        assert_eq!(refusal("1,2,3\n".to_owned()).as_deref(), Some("line 1 is not 64 grey values and a digit"));
        assert_eq!(refusal(image("3")).as_deref(), Some("more than 1437 images are needed, not 1"));
        assert!(refusal(image("three")).is_some_and(|error| error.contains("line: 1")));
    }
}
