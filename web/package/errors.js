/** An error of the data, the model or the options; the message names what is wrong. */
export class FitError extends Error {
  name = 'FitError';
}

/** A text is no formula. `position` is the number of the character, counted from 1. */
export class FormulaError extends FitError {
  name = 'FormulaError';

  constructor(message, position) {
    super(message);
    this.position = position;
  }
}

/** A fault of the engine itself, which begins anew with the next call. */
export class EngineError extends Error {
  name = 'EngineError';
}
