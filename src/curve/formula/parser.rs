//! Parser from a text to a [`Program`], by recursive descent.
//!
//! ```text
//! expression = any [ "?" expression ":" expression ]
//! any        = all { ( "||" | "or" ) all }
//! all        = negated { ( "&&" | "and" ) negated }
//! negated    = { "!" | "not" } comparison
//! comparison = sum [ ( "<" | "<=" | ">" | ">=" | "==" | "!=" ) sum ]
//! sum        = product { ( "+" | "-" ) product }
//! product    = signed { ( "*" | "/" ) signed }
//! signed     = { "+" | "-" } power
//! power      = atom [ ( "^" | "**" ) signed ]
//! atom       = number | name | name "(" expression { "," expression } ")" | "(" expression ")"
//! ```
//!
//! A name is a word, or anything between quotes.

use super::builder::index_of;
use super::error::{FormulaError, FormulaProblem};
use super::function::Call;
use super::parts::Parts;
use super::program::{Address, Builder, Instruction, LONGEST, Operator, Program};
use super::token::{Token, Word, Words, is_name};
use crate::curve::near_names::near_names;

/// Parentheses, powers and conditions within each other.
const DEEPEST: usize = 40;

/// Functions that are suggested instead of an unknown one.
const MOST_NEAR: usize = 2;

/// A parsed formula: the program of its value, or of its real part, and that of its imaginary part unless it is real.
pub(super) struct Parsed {
    pub(super) program: Program,
    pub(super) imaginary: Option<Program>,
    pub(super) parameters: Vec<String>,
}

/// Parses a formula over these predictors, of complex numbers if so. All other names are parameters, in the order in which they occur.
pub(super) fn parse(text: &str, predictors: &[String], is_complex: bool) -> Result<Parsed, FormulaError> {
    for (index, name) in predictors.iter().enumerate() {
        if !is_name(name) || predictors[..index].contains(name) {
            return Err(FormulaError::new(FormulaProblem::Predictor { name: name.clone() }, text, 0));
        }
    }
    let mut words = Words::of(text);
    let word = next(&mut words, text)?;
    let mut parser = Parser {
        text,
        predictors,
        is_complex,
        words,
        word,
        builder: Builder::default(),
        parameters: Vec::new(),
        depth: 0,
    };
    let result = parser.number()?;
    if parser.word.token != Token::End {
        return Err(parser.unexpected("an operator"));
    }
    let Parser { mut builder, parameters, .. } = parser;
    let (re, im) = builder.both_parts(result);
    Ok(Parsed { program: builder.finish(re), imaginary: im.map(|im| builder.finish(im)), parameters })
}

fn next<'t>(words: &mut Words<'t>, text: &str) -> Result<Word<'t>, FormulaError> {
    words.next().map_err(|(found, at)| {
        FormulaError::new(FormulaProblem::Unexpected { expected: "a number, a name or an operator", found }, text, at)
    })
}

/// Result of an expression.
#[derive(Debug, Clone)]
enum Value {
    Number(Parts),
    Condition(Condition),
}

/// Condition by which one of two numbers is chosen.
#[derive(Debug, Clone)]
enum Condition {
    /// The first is less than the second.
    Less(Address, Address),
    Equal(Address, Address),
    Not(Box<Condition>),
    All(Vec<Condition>),
    Any(Vec<Condition>),
}

impl Condition {
    fn negated(self) -> Self {
        Condition::Not(Box::new(self))
    }

    /// One of two results.
    fn choose(&self, builder: &mut Builder, then: Address, otherwise: Address) -> Address {
        match self {
            Condition::Less(a, b) => builder.add(Instruction::SelectLess([*a, *b, then, otherwise])),
            Condition::Equal(a, b) => builder.choose_equal(*a, *b, then, otherwise),
            Condition::Not(condition) => condition.choose(builder, otherwise, then),
            Condition::All(all) => all.iter().rev().fold(then, |then, by| by.choose(builder, then, otherwise)),
            Condition::Any(any) => {
                any.iter().rev().fold(otherwise, |otherwise, by| by.choose(builder, then, otherwise))
            }
        }
    }
}

/// A text of which part has been read.
struct Parser<'t> {
    text: &'t str,
    predictors: &'t [String],
    /// Names of complex numbers and functions are known.
    is_complex: bool,
    words: Words<'t>,
    /// The next word.
    word: Word<'t>,
    builder: Builder,
    parameters: Vec<String>,
    depth: usize,
}

impl<'t> Parser<'t> {
    fn error(&self, problem: FormulaProblem, at: usize) -> FormulaError {
        FormulaError::new(problem, self.text, at)
    }

    fn unexpected(&self, expected: &'static str) -> FormulaError {
        self.error(FormulaProblem::Unexpected { expected, found: self.word.token.to_string() }, self.word.at)
    }

    /// The next word, which is left behind.
    fn take(&mut self) -> Result<Word<'t>, FormulaError> {
        let following = next(&mut self.words, self.text)?;
        Ok(std::mem::replace(&mut self.word, following))
    }

    /// Leaves one of these symbols behind, if it is next.
    fn take_symbol(&mut self, symbols: &[&'static str]) -> Result<Option<&'static str>, FormulaError> {
        match self.word.token {
            Token::Symbol(symbol) if symbols.contains(&symbol) => self.take().map(|_| Some(symbol)),
            _ => Ok(None),
        }
    }

    /// Leaves this symbol behind, which has to come next.
    fn expect(&mut self, symbol: &'static str, expected: &'static str) -> Result<(), FormulaError> {
        self.take_symbol(&[symbol])?.map(|_| ()).ok_or_else(|| self.unexpected(expected))
    }

    /// Reads a nested part of the formula.
    fn deeper<R>(&mut self, read: impl FnOnce(&mut Self) -> Result<R, FormulaError>) -> Result<R, FormulaError> {
        if self.depth == DEEPEST {
            return Err(self.error(FormulaProblem::TooDeep { most: DEEPEST }, self.word.at));
        }
        if self.builder.len() > LONGEST {
            return Err(self.error(FormulaProblem::TooLong { most: LONGEST }, self.word.at));
        }
        self.depth += 1;
        let found = read(self)?;
        self.depth -= 1;
        Ok(found)
    }

    /// An expression that is a number.
    fn number(&mut self) -> Result<Parts, FormulaError> {
        let at = self.word.at;
        match self.expression()? {
            Value::Number(number) => Ok(number),
            _ => Err(self.error(FormulaProblem::Comparison, at)),
        }
    }

    fn expression(&mut self) -> Result<Value, FormulaError> {
        self.deeper(|parser| {
            let at = parser.word.at;
            let value = parser.logical(["||", "or"], Self::all, Condition::Any)?;
            if parser.take_symbol(&["?"])?.is_none() {
                return Ok(value);
            }
            let condition = parser.as_condition(value, at)?;
            let then = parser.number()?;
            parser.expect(":", "a colon, and what holds otherwise,")?;
            let otherwise = parser.number()?;
            Ok(Value::Number(parser.choose(&condition, then, otherwise)))
        })
    }

    fn all(&mut self) -> Result<Value, FormulaError> {
        self.logical(["&&", "and"], Self::negated, Condition::All)
    }

    /// Conditions with one of these words between them.
    fn logical(
        &mut self,
        [symbol, name]: [&'static str; 2],
        part: fn(&mut Self) -> Result<Value, FormulaError>,
        join: fn(Vec<Condition>) -> Condition,
    ) -> Result<Value, FormulaError> {
        let at = self.word.at;
        let first = part(self)?;
        let is_joined = |parser: &Self| [Token::Symbol(symbol), Token::Name(name)].contains(&parser.word.token);
        if !is_joined(self) {
            return Ok(first);
        }
        let mut conditions = vec![self.as_condition(first, at)?];
        while is_joined(self) {
            self.take()?;
            let at = self.word.at;
            let next = part(self)?;
            conditions.push(self.as_condition(next, at)?);
        }
        Ok(Value::Condition(join(conditions)))
    }

    fn negated(&mut self) -> Result<Value, FormulaError> {
        let (mut has_sign, mut is_negated) = (false, false);
        while matches!(self.word.token, Token::Symbol("!") | Token::Name("not")) && !self.is_predictor("not") {
            self.take()?;
            (has_sign, is_negated) = (true, !is_negated);
        }
        let at = self.word.at;
        let value = self.comparison()?;
        if !has_sign {
            return Ok(value);
        }
        let condition = self.as_condition(value, at)?;
        Ok(Value::Condition(if is_negated { condition.negated() } else { condition }))
    }

    /// One of two numbers, by a condition.
    fn choose(&mut self, by: &Condition, then: Parts, otherwise: Parts) -> Parts {
        self.builder.choose_parts(then, otherwise, |builder, then, otherwise| by.choose(builder, then, otherwise))
    }

    fn comparison(&mut self) -> Result<Value, FormulaError> {
        let at = self.word.at;
        let first = self.sum()?;
        let Some(symbol) = self.take_symbol(&["<", "<=", ">", ">=", "==", "!="])? else { return Ok(first) };
        let first = self.as_real(first, at)?;
        let at = self.word.at;
        let second = self.sum()?;
        let second = self.as_real(second, at)?;
        Ok(Value::Condition(match symbol {
            "<" => Condition::Less(first, second),
            ">" => Condition::Less(second, first),
            "<=" => Condition::Less(second, first).negated(),
            "==" => Condition::Equal(first, second),
            "!=" => Condition::Equal(first, second).negated(),
            _ => Condition::Less(first, second).negated(),
        }))
    }

    fn as_number(&self, value: Value, at: usize) -> Result<Parts, FormulaError> {
        match value {
            Value::Number(number) => Ok(number),
            Value::Condition(_) => Err(self.error(FormulaProblem::Comparison, at)),
        }
    }

    /// A side of a comparison.
    fn as_real(&mut self, value: Value, at: usize) -> Result<Address, FormulaError> {
        let number = self.as_number(value, at)?;
        let place = "a comparison".to_owned();
        self.builder.real_number(number).ok_or_else(|| self.error(FormulaProblem::ComplexNumber { place }, at))
    }

    fn as_condition(&self, value: Value, at: usize) -> Result<Condition, FormulaError> {
        match value {
            Value::Number(_) => Err(self.error(FormulaProblem::NoComparison, at)),
            Value::Condition(condition) => Ok(condition),
        }
    }

    fn sum(&mut self) -> Result<Value, FormulaError> {
        self.chain([("+", Operator::Add), ("-", Operator::Subtract)], Self::product)
    }

    fn product(&mut self) -> Result<Value, FormulaError> {
        self.chain([("*", Operator::Multiply), ("/", Operator::Divide)], Self::signed)
    }

    /// Terms with operators between them, from left to right.
    fn chain(
        &mut self,
        operators: [(&'static str, Operator); 2],
        term: fn(&mut Self) -> Result<Value, FormulaError>,
    ) -> Result<Value, FormulaError> {
        let at = self.word.at;
        let mut value = term(self)?;
        while let Some(symbol) = self.take_symbol(&operators.map(|(symbol, _)| symbol))? {
            let first = self.as_number(value, at)?;
            let at = self.word.at;
            let second = term(self)?;
            let second = self.as_number(second, at)?;
            let operator = if symbol == operators[0].0 { operators[0].1 } else { operators[1].1 };
            value = Value::Number(self.builder.join_parts(operator, first, second));
            if self.builder.len() > LONGEST {
                return Err(self.error(FormulaProblem::TooLong { most: LONGEST }, at));
            }
        }
        Ok(value)
    }

    fn signed(&mut self) -> Result<Value, FormulaError> {
        let (mut has_sign, mut is_negative) = (false, false);
        while let Some(sign) = self.take_symbol(&["+", "-"])? {
            has_sign = true;
            is_negative ^= sign == "-";
        }
        let at = self.word.at;
        let value = self.power()?;
        if !has_sign {
            return Ok(value);
        }
        let number = self.as_number(value, at)?;
        Ok(Value::Number(if is_negative { self.builder.negate_parts(number) } else { number }))
    }

    fn power(&mut self) -> Result<Value, FormulaError> {
        let at = self.word.at;
        let base = self.atom()?;
        if self.take_symbol(&["^", "**"])?.is_none() {
            return Ok(base);
        }
        let base = self.as_number(base, at)?;
        let at = self.word.at;
        let exponent = self.deeper(Self::signed)?;
        let exponent = self.as_number(exponent, at)?;
        Ok(Value::Number(self.builder.power_parts(base, exponent)))
    }

    fn atom(&mut self) -> Result<Value, FormulaError> {
        match self.word.token {
            Token::Number(value) => {
                self.take()?;
                Ok(Value::Number(Parts::real(self.builder.constant(value))))
            }
            Token::Name(name) => {
                let at = self.take()?.at;
                if self.word.token == Token::Symbol("(") {
                    return self.call(name, at).map(Value::Number);
                }
                if self.call_of_name(name).is_some() && !self.is_predictor(name) {
                    return Err(self.error(FormulaProblem::BareFunction { name: name.to_owned() }, at));
                }
                Ok(Value::Number(self.named(name)))
            }
            Token::Quoted(name) => {
                self.take()?;
                Ok(Value::Number(Parts::real(self.variable(name))))
            }
            Token::Symbol("(") => {
                self.take()?;
                let inner = self.expression()?;
                self.expect(")", "a closing parenthesis")?;
                Ok(inner)
            }
            _ => Err(self.unexpected("a number, a name or a parenthesis")),
        }
    }

    fn is_predictor(&self, name: &str) -> bool {
        self.predictors.iter().any(|predictor| predictor == name)
    }

    fn call_of_name(&self, name: &str) -> Option<(Call, usize)> {
        if self.is_complex { Call::of_complex_name(name) } else { Call::of_name(name) }
    }

    /// A predictor, a constant, or a parameter.
    fn named(&mut self, name: &str) -> Parts {
        match name {
            _ if self.is_predictor(name) => Parts::real(self.variable(name)),
            "pi" => Parts::real(self.builder.constant(std::f64::consts::PI)),
            "i" | "j" if self.is_complex => self.builder.imaginary_unit(),
            _ => Parts::real(self.variable(name)),
        }
    }

    /// A predictor, or else a parameter.
    fn variable(&mut self, name: &str) -> Address {
        if let Some(index) = self.predictors.iter().position(|predictor| predictor == name) {
            return self.builder.add(Instruction::Predictor(index));
        }
        let index = index_of(&mut self.parameters, name);
        self.builder.add(Instruction::Parameter(index))
    }

    /// The value of a function, from its parenthesis on.
    fn call(&mut self, name: &str, at: usize) -> Result<Parts, FormulaError> {
        let Some((call, expected)) = self.call_of_name(name) else {
            let near = near_names(name, Call::names()).into_iter().take(MOST_NEAR).collect();
            return Err(self.error(FormulaProblem::UnknownFunction { name: name.to_owned(), near }, at));
        };
        self.take()?;
        let mut arguments = Vec::new();
        let mut places = Vec::new();
        if self.take_symbol(&[")"])?.is_none() {
            loop {
                places.push(self.word.at);
                arguments.push(self.expression()?);
                if self.take_symbol(&[","])?.is_none() {
                    break;
                }
            }
            self.expect(")", "a comma or a closing parenthesis")?;
        }
        if arguments.len() != expected {
            let problem = FormulaProblem::Arguments { name: name.to_owned(), expected, found: arguments.len() };
            return Err(self.error(problem, at));
        }
        let mut numbers = Vec::new();
        for (value, &at) in arguments.iter().zip(&places).skip(usize::from(call == Call::If)) {
            numbers.push(self.as_number(value.clone(), at)?);
        }
        match (call, &numbers[..]) {
            (Call::If, &[then, otherwise]) => {
                let condition = self.as_condition(arguments.swap_remove(0), places[0])?;
                Ok(self.choose(&condition, then, otherwise))
            }
            _ => self
                .builder
                .call_parts(call, &numbers)
                .ok_or_else(|| self.error(FormulaProblem::ComplexNumber { place: name.to_owned() }, at)),
        }
    }
}
