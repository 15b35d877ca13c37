//! Complex numbers of a formula: each part is a result of the program.

use super::function::{Call, Function};
use super::program::{Address, Builder, Instruction, Operator};
use super::recorded::Recorded;
use crate::autodiff::Complex;
use crate::number::Number;

/// Results that make the parts of a number. A part that is always zero has none.
#[derive(Debug, Clone, Copy)]
pub(super) struct Parts {
    re: Option<Address>,
    im: Option<Address>,
}

impl Parts {
    pub(super) fn real(re: Address) -> Self {
        Parts { re: Some(re), im: None }
    }

    pub(super) fn is_real(self) -> bool {
        self.im.is_none()
    }

    fn map(self, mut part: impl FnMut(Address) -> Address) -> Self {
        Parts { re: self.re.map(&mut part), im: self.im.map(part) }
    }
}

impl Builder {
    /// The imaginary unit.
    pub(super) fn imaginary_unit(&mut self) -> Parts {
        Parts { re: None, im: Some(self.constant(1.0)) }
    }

    /// The result that makes a real number; none for a complex one.
    pub(super) fn real_number(&mut self, z: Parts) -> Option<Address> {
        z.is_real().then(|| self.part(z.re))
    }

    /// The results that make a number: its real part, and its imaginary part unless it is real.
    pub(super) fn both_parts(&mut self, z: Parts) -> (Address, Option<Address>) {
        (self.part(z.re), z.im)
    }

    fn part(&mut self, part: Option<Address>) -> Address {
        part.unwrap_or_else(|| self.constant(0.0))
    }

    fn sum(&mut self, a: Option<Address>, b: Option<Address>) -> Option<Address> {
        a.zip(b).map(|(a, b)| self.join(Operator::Add, a, b)).or(a).or(b)
    }

    fn difference(&mut self, a: Option<Address>, b: Option<Address>) -> Option<Address> {
        match (a, b) {
            (Some(a), Some(b)) => Some(self.join(Operator::Subtract, a, b)),
            (None, Some(b)) => Some(self.add(Instruction::Negate(b))),
            (a, None) => a,
        }
    }

    fn product(&mut self, a: Option<Address>, b: Option<Address>) -> Option<Address> {
        a.zip(b).map(|(a, b)| self.join(Operator::Multiply, a, b))
    }

    /// The value of one of the four operators.
    pub(super) fn join_parts(&mut self, operator: Operator, a: Parts, b: Parts) -> Parts {
        match (operator, self.real_number(b)) {
            (Operator::Add, _) => Parts { re: self.sum(a.re, b.re), im: self.sum(a.im, b.im) },
            (Operator::Subtract, _) => Parts { re: self.difference(a.re, b.re), im: self.difference(a.im, b.im) },
            (Operator::Divide, Some(b)) => a.map(|part| self.join(Operator::Divide, part, b)),
            (Operator::Divide, None) => {
                let reciprocal = self.reciprocal(b);
                self.join_parts(Operator::Multiply, a, reciprocal)
            }
            _ => {
                let [of_re, of_im] = [(a.re, b.re), (a.im, b.im)].map(|(a, b)| self.product(a, b));
                let [one, other] = [(a.re, b.im), (a.im, b.re)].map(|(a, b)| self.product(a, b));
                Parts { re: self.difference(of_re, of_im), im: self.sum(one, other) }
            }
        }
    }

    fn reciprocal(&mut self, z: Parts) -> Parts {
        match (z.re, z.im) {
            (None, Some(im)) => {
                let reciprocal = self.apply(Function::Recip, im);
                Parts { re: None, im: Some(self.add(Instruction::Negate(reciprocal))) }
            }
            _ => self.complex(z, Complex::recip),
        }
    }

    /// Negates a number.
    pub(super) fn negate_parts(&mut self, z: Parts) -> Parts {
        z.map(|part| self.add(Instruction::Negate(part)))
    }

    /// The value of a function of complex numbers.
    fn complex(&mut self, z: Parts, function: impl FnOnce(Complex<Recorded>) -> Complex<Recorded>) -> Parts {
        let z = Complex::new(self.part(z.re), self.part(z.im));
        let Complex { re, im } = self.recorded(|| function(Complex::new(Recorded(z.re), Recorded(z.im))));
        Parts { re: Some(re.0), im: Some(im.0) }
    }

    /// `a` to the power of `b`.
    pub(super) fn power_parts(&mut self, a: Parts, b: Parts) -> Parts {
        let (base, exponent) = (self.real_number(a), self.real_number(b));
        match (base, exponent) {
            (Some(base), Some(exponent)) => Parts::real(self.power(base, exponent)),
            (None, Some(exponent)) => match (self.constant_at(exponent), self.small_integer_at(exponent)) {
                (_, Some(n)) => self.complex(a, |a| a.powi(n)),
                (Some(0.5), _) => self.complex(a, Complex::sqrt),
                _ => self.complex(a, |a| a.powf(Recorded(exponent))),
            },
            (_, None) => {
                let exponent = Complex::new(self.part(b.re), self.part(b.im));
                self.complex(a, |a| a.pow(Complex::new(Recorded(exponent.re), Recorded(exponent.im))))
            }
        }
    }

    /// The value of a call, which has as many arguments as it takes; none where it does not take complex ones, or this order.
    pub(super) fn call_parts(&mut self, call: Call, arguments: &[Parts]) -> Option<Parts> {
        match (call, arguments) {
            (Call::Pow, &[a, b]) => return Some(self.power_parts(a, b)),
            (Call::Re, &[z]) => return Some(Parts { im: None, ..z }),
            (Call::Im, &[z]) => return Some(Parts { re: z.im, im: None }),
            (Call::Conj, &[z]) => return Some(Parts { re: z.re, im: self.difference(None, z.im) }),
            (Call::Arg, &[z]) => {
                let (x, y) = (self.part(z.re), self.part(z.im));
                return Some(Parts::real(self.join(Operator::Atan2, y, x)));
            }
            _ => {}
        }
        let real: Option<Vec<Address>> = arguments.iter().map(|&argument| self.real_number(argument)).collect();
        match (call, arguments, real) {
            (_, _, Some(real)) => self.call(call, &real).map(Parts::real),
            (Call::Function(Function::Abs), &[Parts { re: None, im: Some(im) }], _) => {
                Some(Parts::real(self.apply(Function::Abs, im)))
            }
            (Call::Function(Function::Abs), &[z], _) => {
                let (x, y) = (self.part(z.re), self.part(z.im));
                Some(Parts::real(self.join(Operator::Hypot, x, y)))
            }
            (Call::Function(Function::Recip), &[z], _) => Some(self.reciprocal(z)),
            (Call::Function(function), &[z], _) => of_complex(function).map(|function| self.complex(z, function)),
            _ => None,
        }
    }

    /// One of two numbers by a condition.
    pub(super) fn choose_parts(
        &mut self,
        then: Parts,
        otherwise: Parts,
        mut choose: impl FnMut(&mut Self, Address, Address) -> Address,
    ) -> Parts {
        let mut part = |then: Option<Address>, otherwise: Option<Address>| {
            then.or(otherwise)?;
            let (then, otherwise) = (self.part(then), self.part(otherwise));
            Some(choose(self, then, otherwise))
        };
        Parts { re: part(then.re, otherwise.re), im: part(then.im, otherwise.im) }
    }
}

/// The function of complex numbers, if there is one.
fn of_complex(function: Function) -> Option<fn(Complex<Recorded>) -> Complex<Recorded>> {
    Some(match function {
        Function::Sqrt => Complex::sqrt,
        Function::Exp => Complex::exp,
        Function::Ln => Complex::ln,
        Function::Log10 => |z| z.ln() * Recorded::splat(std::f64::consts::LOG10_E),
        Function::Sin => Complex::sin,
        Function::Cos => Complex::cos,
        Function::Tan => Complex::tan,
        Function::Sinh => Complex::sinh,
        Function::Cosh => Complex::cosh,
        Function::Tanh => Complex::tanh,
        _ => return None,
    })
}
