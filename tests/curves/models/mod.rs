//! The library of models: each is what its formula says, and its guess is where a fit finds the best parameters from.

mod cases;
mod derived;
mod formulas;
mod guesses;
mod stack;
mod together;
mod values;
