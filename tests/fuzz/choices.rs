//! Decisions that bytes stand for.

/// Decisions made by bytes, one after the other; zeros follow the last.
pub struct Choices<'b>(pub &'b [u8]);

/// Numbers that often go wrong.
const EXTREMES: [f64; 20] = [
    0.0,
    -0.0,
    1.0,
    -1.0,
    0.5,
    f64::EPSILON,
    f64::MIN_POSITIVE,
    5e-324,
    1e-310,
    1e-200,
    1e-100,
    1e16,
    1e100,
    1e200,
    -1e300,
    f64::MAX,
    9_007_199_254_740_992.0,
    f64::INFINITY,
    f64::NEG_INFINITY,
    f64::NAN,
];

impl Choices<'_> {
    pub fn byte(&mut self) -> u8 {
        let Some((&first, rest)) = self.0.split_first() else { return 0 };
        self.0 = rest;
        first
    }

    /// From 0 to `count - 1`.
    pub fn below(&mut self, count: usize) -> usize {
        usize::from(u16::from_be_bytes([self.byte(), self.byte()])) % count
    }

    /// One time in so many.
    pub fn one_in(&mut self, count: usize) -> bool {
        self.below(count) == 1
    }

    /// Between −1 and 1.
    pub fn unit(&mut self) -> f64 {
        f64::from(i16::from_be_bytes([self.byte(), self.byte()])) / 32768.0
    }

    /// Any number at all.
    pub fn any(&mut self) -> f64 {
        match self.below(4) {
            0 => f64::from(self.byte()) - 128.0,
            1 => self.scaled(300.0),
            2 => EXTREMES[self.below(EXTREMES.len())],
            _ => f64::from_bits(u64::from_be_bytes(std::array::from_fn(|_| self.byte()))),
        }
    }

    /// A number of at most so many decades, or one over them.
    pub fn scaled(&mut self, decades: f64) -> f64 {
        self.unit() * 10.0_f64.powf(decades * self.unit())
    }
}
