//! Builder of formulas for front ends without a text.

use std::sync::atomic::{AtomicUsize, Ordering};

use thiserror::Error;

use super::function::Call;
use super::program::{Address, Builder, Instruction, LARGEST_ORDER, LONGEST, Operator, Program};
use crate::curve::Model;
use crate::curve::models::Guess;
use crate::real::Real;

/// Builder of a [`BuiltFormula`]. Its expressions are handles; each may be used many times and is computed once.
///
/// Meant for front ends whose models are not texts, such as a tracer that records the operations of a function in another language.
/// [`finish`](Self::finish) returns the first error, such as an unknown function.
///
/// ```
/// use marquardt::CurveFit;
/// use marquardt::curve::FormulaBuilder;
///
/// // a u / (1 + u) with u = exp(-k x), which is shared.
/// let mut builder = FormulaBuilder::new();
/// let (x, a, k) = (builder.predictor("x"), builder.parameter("a"), builder.parameter("k"));
/// let exponent = builder.multiply(k, x);
/// let exponent = builder.negate(exponent);
/// let u = builder.call("exp", &[exponent]);
/// let one = builder.constant(1.0);
/// let (numerator, denominator) = (builder.multiply(a, u), builder.add(one, u));
/// let response = builder.divide(numerator, denominator);
/// let sigmoid = builder.finish(response)?;
///
/// let x = [-2.0, -1.0, 0.0, 1.0, 2.0];
/// let y = [2.64, 2.19, 1.5, 0.81, 0.36];
/// let fit = CurveFit::model(sigmoid, &x, &y, &[1.0, 0.5]).fit()?;
/// assert!((fit.parameter("k").unwrap().value - 1.0_f64).abs() < 0.05);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct FormulaBuilder {
    /// Number of this builder, which tells its expressions from those of others.
    id: usize,
    builder: Builder,
    predictors: Vec<String>,
    parameters: Vec<String>,
    error: Option<FormulaBuilderError>,
}

/// Handle of an expression of a [`FormulaBuilder`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Expression {
    builder: usize,
    slot: Address,
}

/// Reasons why no formula could be built.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum FormulaBuilderError {
    /// An expression belongs to another builder.
    #[error("an expression belongs to another formula")]
    ForeignExpression,
    /// There is no function of this name.
    #[error("there is no function {name:?}")]
    UnknownFunction {
        /// The name.
        name: String,
    },
    /// A function takes another number of arguments.
    #[error("{name:?} takes {expected} arguments, not {found}")]
    ArgumentCount {
        /// The function.
        name: String,
        /// Number that it takes.
        expected: usize,
        /// Number that was given.
        found: usize,
    },
    /// The order of a Bessel function is no constant integer, or too large.
    #[error("the order of {name:?} is a constant integer, from -{most} to {most}")]
    Order {
        /// The function.
        name: String,
        /// Largest order.
        most: i32,
    },
    /// A parameter and a predictor have the same name.
    #[error("{name:?} is both a predictor and a parameter")]
    NameTwice {
        /// The name.
        name: String,
    },
    /// The formula has too many operations.
    #[error("the formula has more than {most} operations")]
    TooLong {
        /// The most that it may have.
        most: usize,
    },
}

impl Default for FormulaBuilder {
    fn default() -> Self {
        Self::new()
    }
}

impl FormulaBuilder {
    /// A builder without expressions.
    pub fn new() -> Self {
        static NEXT: AtomicUsize = AtomicUsize::new(0);
        let id = NEXT.fetch_add(1, Ordering::Relaxed);
        let builder = Builder::default();
        FormulaBuilder { id, builder, predictors: Vec::new(), parameters: Vec::new(), error: None }
    }

    /// The predictor of this name. Predictors are the columns of the data, in the order in which they are first asked for.
    pub fn predictor(&mut self, name: &str) -> Expression {
        self.refuse_second(self.parameters.iter().any(|known| known == name), name);
        let index = index_of(&mut self.predictors, name);
        self.instruction(Instruction::Predictor(index))
    }

    /// The parameter of this name. Parameters have the order in which they are first asked for.
    pub fn parameter(&mut self, name: &str) -> Expression {
        self.refuse_second(self.predictors.iter().any(|known| known == name), name);
        let index = index_of(&mut self.parameters, name);
        self.instruction(Instruction::Parameter(index))
    }

    /// A constant.
    pub fn constant(&mut self, value: f64) -> Expression {
        let slot = self.builder.constant(value);
        self.expression(slot)
    }

    /// `a + b`.
    pub fn add(&mut self, a: Expression, b: Expression) -> Expression {
        self.join(Operator::Add, a, b)
    }

    /// `a − b`.
    pub fn subtract(&mut self, a: Expression, b: Expression) -> Expression {
        self.join(Operator::Subtract, a, b)
    }

    /// `a b`.
    pub fn multiply(&mut self, a: Expression, b: Expression) -> Expression {
        self.join(Operator::Multiply, a, b)
    }

    /// `a / b`.
    pub fn divide(&mut self, a: Expression, b: Expression) -> Expression {
        self.join(Operator::Divide, a, b)
    }

    /// `−a`.
    pub fn negate(&mut self, a: Expression) -> Expression {
        let [a] = self.slots([a]);
        self.instruction(Instruction::Negate(a))
    }

    /// `aᵇ`.
    pub fn power(&mut self, a: Expression, b: Expression) -> Expression {
        self.call("pow", &[a, b])
    }

    /// `then` where `a < b`, and `otherwise` elsewhere. Both are computed.
    pub fn select_less(&mut self, a: Expression, b: Expression, then: Expression, otherwise: Expression) -> Expression {
        self.call("select_less", &[a, b, then, otherwise])
    }

    /// Calls a function of [`Formula`](crate::Formula) by its name. `if` is not available.
    pub fn call(&mut self, name: &str, arguments: &[Expression]) -> Expression {
        let slots: Vec<Address> = arguments.iter().map(|&argument| self.slots([argument])[0]).collect();
        let Some((call, expected)) = Call::of_name(name).filter(|(call, _)| *call != Call::If) else {
            return self.refuse(FormulaBuilderError::UnknownFunction { name: name.to_owned() });
        };
        let found = slots.len();
        if expected != found {
            return self.refuse(FormulaBuilderError::ArgumentCount { name: name.to_owned(), expected, found });
        }
        match self.builder.call(call, &slots) {
            Some(slot) => self.expression(slot),
            None => self.refuse(FormulaBuilderError::Order { name: name.to_owned(), most: LARGEST_ORDER }),
        }
    }

    /// The formula with this response.
    ///
    /// # Errors
    ///
    /// [`FormulaBuilderError`] for the first error of the expressions.
    pub fn finish(mut self, response: Expression) -> Result<BuiltFormula, FormulaBuilderError> {
        let [response] = self.slots([response]);
        if self.builder.len() > LONGEST {
            self.refuse(FormulaBuilderError::TooLong { most: LONGEST });
        }
        let FormulaBuilder { builder, predictors, parameters, error, .. } = self;
        match error {
            Some(error) => Err(error),
            None => Ok(BuiltFormula { program: builder.finish(response), predictors, parameters }),
        }
    }

    fn expression(&self, slot: Address) -> Expression {
        Expression { builder: self.id, slot }
    }

    fn instruction(&mut self, instruction: Instruction) -> Expression {
        let slot = self.builder.add(instruction);
        self.expression(slot)
    }

    fn join(&mut self, operator: Operator, a: Expression, b: Expression) -> Expression {
        let [a, b] = self.slots([a, b]);
        let slot = self.builder.join(operator, a, b);
        self.expression(slot)
    }

    /// The slots of expressions; that of NaN in place of one of another builder, which is an error.
    fn slots<const N: usize>(&mut self, expressions: [Expression; N]) -> [Address; N] {
        expressions.map(|expression| match expression.builder == self.id {
            true => expression.slot,
            false => self.refuse(FormulaBuilderError::ForeignExpression).slot,
        })
    }

    fn refuse_second(&mut self, is_second: bool, name: &str) {
        if is_second {
            self.refuse(FormulaBuilderError::NameTwice { name: name.to_owned() });
        }
    }

    /// Keeps the first error, and returns NaN.
    fn refuse(&mut self, error: FormulaBuilderError) -> Expression {
        self.error.get_or_insert(error);
        self.constant(f64::NAN)
    }
}

/// The index of a name, which is appended if it is new.
pub(super) fn index_of(names: &mut Vec<String>, name: &str) -> usize {
    names.iter().position(|known| known == name).unwrap_or_else(|| {
        names.push(name.to_owned());
        names.len() - 1
    })
}

/// A formula that a [`FormulaBuilder`] has made: a [`Model`] that is evaluated and differentiated as a [`Formula`](crate::Formula) is. It has
/// no text, so a fit of it is stored without its model.
#[derive(Debug, Clone, PartialEq)]
pub struct BuiltFormula {
    program: Program,
    predictors: Vec<String>,
    parameters: Vec<String>,
}

impl BuiltFormula {
    /// The names of the predictors, in the order of their columns.
    pub fn predictors(&self) -> &[String] {
        &self.predictors
    }

    /// The names of the parameters.
    pub fn parameters(&self) -> &[String] {
        &self.parameters
    }

    fn program(&self) -> &Program {
        &self.program
    }
}

impl<T: Real> Model<T> for BuiltFormula {
    super::program_methods!();
}

/// The start is found by the search that [`Formula`](crate::Formula) makes.
impl<T: Real> Guess<T> for BuiltFormula {
    fn guess(&self, x: &[T], y: &[T]) -> Vec<T> {
        super::start::start(&self.program, self.parameters.len(), x, y)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::curve::Formula;

    #[test]
    fn a_built_formula_is_the_parsed_one() {
        let mut builder = FormulaBuilder::new();
        let (x, a, b) = (builder.predictor("x"), builder.parameter("a"), builder.parameter("b"));
        let product = builder.multiply(b, x);
        let u = builder.call("exp", &[product]);
        let (again, two) = (builder.call("exp", &[product]), builder.constant(2.0));
        assert_eq!(u, again);
        let (square, one) = (builder.power(u, two), builder.constant(1.0));
        let (sum, larger) = (builder.add(square, a), builder.call("max", &[u, one]));
        let quotient = builder.divide(sum, larger);
        let built = builder.finish(quotient).unwrap();
        let parsed = Formula::parse("(exp(b * x)^2 + a) / max(exp(b * x), 1)").unwrap();
        for (x, a, b) in [(0.3, 1.2, -0.7), (2.0, -0.1, 0.4)] {
            let value: f64 = built.response(&[x], &[a, b]);
            // Parameters of a text come in the order in which they occur.
            assert_eq!(value, parsed.response(&[x], &[b, a]));
        }
    }

    #[test]
    fn a_start_is_guessed_as_for_a_text() {
        let mut builder = FormulaBuilder::new();
        let (x, a, k) = (builder.predictor("x"), builder.parameter("a"), builder.parameter("k"));
        let product = builder.multiply(k, x);
        let exponent = builder.negate(product);
        let power = builder.call("exp", &[exponent]);
        let value = builder.multiply(a, power);
        let built = builder.finish(value).unwrap();
        let x: Vec<f64> = (0..40).map(|i| 25.0 * f64::from(i)).collect();
        let y: Vec<f64> = x.iter().map(|x| 3e4 * (-4e-3 * x).exp()).collect();
        let start = built.guess(&x, &y);
        assert_eq!(start, Formula::parse("a * exp(-k * x)").unwrap().guess(&x, &y));
        assert!((start[1] - 4e-3).abs() < 1e-3, "{start:?}");
    }

    /// Chains of shared expressions, which a text would double at each step.
    #[test]
    fn shared_expressions_are_computed_once() {
        let mut builder = FormulaBuilder::new();
        let mut value = builder.parameter("a");
        for _ in 0..200 {
            let half = builder.constant(0.5);
            let sum = builder.add(value, value);
            value = builder.multiply(sum, half);
        }
        let formula = builder.finish(value).unwrap();
        assert_eq!(Model::<f32>::response(&formula, &[], &[3.0_f32]), 3.0);
    }

    #[test]
    fn errors_are_kept_until_the_end() {
        let refused = |build: fn(&mut FormulaBuilder) -> Expression| {
            let mut builder = FormulaBuilder::new();
            let expression = build(&mut builder);
            let sum = builder.add(expression, expression);
            builder.finish(sum).unwrap_err()
        };
        use FormulaBuilderError::*;
        assert_eq!(refused(|_| FormulaBuilder::new().constant(1.0)), ForeignExpression);
        assert_eq!(refused(|builder| builder.call("sine", &[])), UnknownFunction { name: "sine".into() });
        assert_eq!(refused(|builder| builder.call("if", &[])), UnknownFunction { name: "if".into() });
        let count = ArgumentCount { name: "sin".into(), expected: 1, found: 0 };
        assert_eq!(refused(|builder| builder.call("sin", &[])), count);
        let order = refused(|builder| {
            let x = builder.predictor("x");
            builder.call("yn", &[x, x])
        });
        assert_eq!(order, Order { name: "yn".into(), most: LARGEST_ORDER });
        let twice = refused(|builder| {
            builder.predictor("x");
            builder.parameter("x")
        });
        assert_eq!(twice, NameTwice { name: "x".into() });
        let long = refused(|builder| {
            let (mut value, x) = (builder.parameter("a"), builder.predictor("x"));
            (0..LONGEST).for_each(|_| value = builder.add(value, x));
            value
        });
        assert_eq!(long, TooLong { most: LONGEST });
    }
}
