import { engine, prepare, setModule } from './engine.js';
import { EngineError, FitError, FormulaError } from './errors.js';
import { ofFunction, predictorNames } from './model.js';
import { settings } from './settings.js';

export { EngineError, FitError, FormulaError, prepare, setModule };

const isList = value => Array.isArray(value) || ArrayBuffer.isView(value);

/** Numbers of a column, or of rows of columns, as one array; `width` columns to a row. */
function numbers(values, name) {
  if (values instanceof Float64Array) return [values, 1];
  if (!isList(values)) throw new FitError(`${name} is no array of numbers`);
  const isWide = values.length > 0 && isList(values[0]);
  const width = isWide ? values[0].length : 1;
  const made = new Float64Array(values.length * width);
  for (let row = 0; row < values.length; row++) {
    if (isWide && values[row]?.length !== width) throw new FitError(`${name}: row ${row} has ${values[row]?.length} numbers, and row 0 has ${width}`);
    for (let column = 0; column < width; column++) {
      const value = isWide ? values[row][column] : values[row];
      if (typeof value !== 'number') throw new FitError(`${name}: ${JSON.stringify(value) ?? value} in row ${row} is no number`);
      made[row * width + column] = value;
    }
  }
  return [made, width];
}

/** An error of the module, with its place if it is one of a formula. */
function raised(current, error, formula, predictors) {
  if (!(error instanceof FitError) || formula == null) return error;
  const { answer } = current.request({ do: 'formula', formula, predictors });
  return answer.problem ? new FormulaError(error.message, answer.position) : error;
}

/** Runs a request with progress and a signal. The module works on this thread: a signal is looked at when it reports. */
function run(current, { signal, onProgress }, request, slots) {
  signal?.throwIfAborted();
  current.progress = signal || onProgress ? (done, total, cost) => {
    const isOver = onProgress?.({ done, total: Number.isNaN(total) ? undefined : total, cost: Number.isNaN(cost) ? undefined : cost }) === false;
    return isOver || Boolean(signal?.aborted);
  } : null;
  try {
    const found = current.request(request, slots);
    signal?.throwIfAborted();
    return found;
  } finally {
    current.progress = null;
  }
}

/** The model of the options as part of a request: named, a formula, or a function. */
function modelOf(current, { model, formula, function: given, ...options }, x, width) {
  const of = typeof model === 'function' ? model : given;
  if ([typeof model === 'string', formula != null, of != null].filter(Boolean).length !== 1) throw new FitError('one of "model", "formula" and "function" is needed; models() lists the models');
  if (of) return { of, ...ofFunction(current, of, options, x, width) };
  if (formula != null) {
    if (typeof formula !== 'string') throw new FitError('"formula" is no text');
    return { how: 'formula', request: { formula, predictors: options.predictors ?? predictorNames(width) }, formula };
  }
  return { how: 'model', request: { model } };
}

const MODEL_OPTIONS = ['model', 'formula', 'function', 'parameters', 'predictors'];
const without = (options, ...names) => Object.fromEntries(Object.entries(options).filter(([name]) => !names.includes(name)));

const released = new FinalizationRegistry(({ current, handle }) => { try { current.request({ do: 'release', handle }); } catch { /* The instance has ended. */ } });

/** The result of a fit. */
export class Fit {
  #current;
  #handle;
  #width;
  #summary = null;
  #covariance = null;
  #residuals = null;

  /** @internal */
  constructor(current, { answer, result }, model, width) {
    [this.#current, this.#width] = [current, width];
    const facts = result(2);
    this.#handle = facts[7];
    this.names = answer.names;
    this.values = result(0);
    this.standardErrors = result(1);
    this.states = answer.states;
    this.converged = facts[0] === 1;
    this.unusable = facts[1] === 1;
    [this.iterations, this.evaluations, this.jacobianEvaluations, this.degreesOfFreedom, this.chiSquare] = facts.subarray(2, 7);
    this.status = answer.status;
    this.how = model.how;
    this.formula = model.formula ?? null;
    released.register(this, { current, handle: this.#handle }, this);
  }

  #ask(what, more = {}, slots = []) {
    if (this.#handle == null) throw new FitError('the fit was freed');
    return this.#current.request({ do: 'of', what, handle: this.#handle, ...more }, slots);
  }

  /** The parameters by name. */
  get parameters() {
    return Object.fromEntries(this.names.map((name, i) => [name, { value: this.values[i], standardError: this.standardErrors[i], state: this.states[i] }]));
  }

  /** The value of a parameter. */
  value(name) {
    const index = this.names.indexOf(name);
    if (index < 0) throw new FitError(`there is no parameter ${JSON.stringify(name)}; the parameters are ${this.names.map(known => JSON.stringify(known)).join(', ')}`);
    return this.values[index];
  }

  /** The report as the command writes it in JSON. */
  get summary() { return (this.#summary ??= this.#ask('summary').answer); }
  get warnings() { return this.summary.warnings; }
  get rSquared() { return this.summary.statistics.r_squared ?? null; }
  get residualStandardDeviation() { return this.summary.statistics.residual_standard_deviation ?? null; }
  get derived() { return this.summary.derived; }
  get criteria() { return this.#ask('criteria').answer; }

  #matrices() {
    if (!this.#covariance) {
      const { result } = this.#ask('covariance');
      const rows = values => this.names.map((_, i) => Array.from(values.subarray(i * this.names.length, (i + 1) * this.names.length)));
      this.#covariance = [rows(result(0)), rows(result(1))];
    }
    return this.#covariance;
  }

  get covariance() { return this.#matrices()[0]; }
  get correlation() { return this.#matrices()[1]; }

  #rows() {
    if (!this.#residuals) {
      const { result } = this.#ask('residuals');
      this.#residuals = [result(0), result(1), result(2)];
    }
    return this.#residuals;
  }

  get fitted() { return this.#rows()[0]; }
  /** Fitted responses minus observed ones. */
  get residuals() { return this.#rows()[1]; }
  get whitenedResiduals() { return this.#rows()[2]; }

  #at(x) {
    const list = typeof x === 'number' ? [x] : x;
    const [values, width] = numbers(this.#width > 1 && list.length && !isList(list[0]) ? [list] : list, 'x');
    if (width !== this.#width) throw new FitError(`x has ${width} columns, and the curve ${this.#width} predictors`);
    return values;
  }

  /** Values of the curve at predictors. */
  predict(x) { return this.#ask('predict', { width: this.#width }, [this.#at(x)]).result(0); }

  #band(kind, x, level) {
    const { result } = this.#ask(kind, { width: this.#width, level }, [this.#at(x)]);
    return { value: result(0), standardError: result(1), low: result(2), high: result(3) };
  }

  confidenceBand(x, level = 0.95) { return this.#band('confidence', x, level); }
  predictionBand(x, level = 0.95) { return this.#band('prediction', x, level); }
  interval(name, level = 0.95) { return this.#ask('interval', { name, level }).answer.map(Number); }

  /** The profile-likelihood interval of a parameter, and points of the profile if `points` of them are asked for. */
  profile(name, { level = 0.95, points = 0 } = {}) {
    const { answer, result } = this.#ask('profile', { name, level, points });
    return { ...answer, low: Number(answer.low), high: Number(answer.high), values: result(0), tau: result(1) };
  }

  /** Standard errors and intervals by fits of resampled data. */
  bootstrap(replicates = 1000, { seed = 0, level = 0.95 } = {}) { return this.#ask('bootstrap', { replicates, seed, level }).answer; }
  /** A quantity that is computed from the parameters, such as `ln(2)/k`. */
  derive(formula, level = 0.95) { return this.#ask('derive', { formula, level }).answer; }
  /** Predictors at which the curve has a response; several responses are replicates of one unknown. */
  xFor(responses, level = 0.95) { return this.#ask('unknowns', { level }, [numbers(typeof responses === 'number' ? [responses] : responses, 'responses')[0]]).answer; }
  /** The stored fit, which `marquardt predict` and the library read. */
  toJSON() { return this.#ask('json').answer; }
  /** The report as text. */
  toString() { return this.#ask('text').answer; }

  /** Frees the memory of the module that the fit has; what is left does so by itself, later. */
  free() {
    if (this.#handle == null) return;
    released.unregister(this);
    this.#current.request({ do: 'release', handle: this.#handle });
    this.#handle = null;
  }
}

const parametersOf = new Map();

/** Names of the parameters in the order of the model. */
function namesOf(current, model) {
  if (model.parameters) return model.parameters;
  const key = model.formula == null ? `model ${model.request.model}` : JSON.stringify(model.request);
  if (!parametersOf.has(key)) {
    if (parametersOf.size > 500) parametersOf.clear();
    const names = model.formula == null
      ? current.request({ do: 'names', ...model.request }).answer
      : current.request({ do: 'formula', ...model.request }).answer.parameters;
    parametersOf.set(key, names);
  }
  return parametersOf.get(key);
}

/** Fits a curve to arrays. */
export async function fit(options) {
  const current = await engine();
  const { x: givenX, y: givenY, sigma, weights, sigmaX, signal, onProgress, ...rest } = options;
  const [x, width] = numbers(givenX, 'x');
  const [y, columns] = numbers(givenY, 'y');
  if (columns !== 1) throw new FitError('y has several columns');
  const rows = y.length;
  if (x.length !== rows * width) throw new FitError(`x has ${x.length / width} rows, and y has ${rows}`);
  const ofRows = (value, name, count = 1) => {
    if (value == null) return null;
    if (typeof value === 'number') return new Float64Array(rows * count).fill(value);
    const [made, own] = numbers(value, name);
    if (made.length !== rows * count) throw new FitError(`${name} has ${made.length / own} rows, and y has ${rows}`);
    return made;
  };
  const model = modelOf(current, rest, x, width);
  const isListed = name => rest[name] != null && isList(rest[name]);
  const names = ['start', 'bounds'].some(isListed) ? namesOf(current, model) : null;
  const request = { do: 'arrays', ...model.request, rows, width, settings: settings(without(rest, ...MODEL_OPTIONS), names) };
  if (model.how === 'differences') {
    const { of } = model;
    current.width = width;
    current.evaluate = (at, b, values) => {
      for (let row = 0; row < values.length; row++) {
        const value = of(width === 1 ? at[row] : at.subarray(row * width, (row + 1) * width), ...b);
        if (typeof value !== 'number') throw new FitError(`the function returned ${value}, which is no number`);
        values[row] = value;
      }
    };
  }
  try {
    const found = run(current, { signal, onProgress }, request, [x, y, ofRows(sigma, 'sigma'), ofRows(weights, 'weights'), ofRows(sigmaX, 'sigmaX', width)]);
    return new Fit(current, found, model, width);
  } catch (error) {
    throw raised(current, error, model.how === 'formula' ? model.formula : null, model.request.predictors);
  } finally {
    current.evaluate = null;
  }
}

/** Fits a curve to each row of `y`. */
export async function fitMany(options) {
  const current = await engine();
  const { x: givenX, y: givenY, fits: givenFits, start, sigma, signal, onProgress, ...rest } = options;
  const [x, width] = numbers(givenX, 'x');
  const points = x.length / width;
  const [y, columns] = numbers(givenY, 'y');
  const fits = givenFits ?? (columns > 1 ? y.length / columns : y.length / points);
  if (!Number.isInteger(fits) || y.length !== fits * points) throw new FitError(`y has ${y.length} numbers, which are no whole number of rows of ${points} points`);
  const model = modelOf(current, rest, x, width);
  if (model.how === 'differences') throw new FitError('many fits take a model or a formula; this function is none that can be written as a formula');
  const isNamed = start && !isList(start);
  const all = isNamed ? namesOf(current, model) : null;
  const isWhole = all?.every(name => start[name] != null);
  const starts = start == null || (isNamed && !isWhole) ? null : isWhole ? Float64Array.from(all, name => start[name]) : numbers(start, 'start')[0];
  const request = { do: 'many', ...model.request, points, fits, settings: settings({ ...without(rest, ...MODEL_OPTIONS), ...(isNamed && !isWhole ? { start } : {}) }) };
  const sigmas = sigma == null ? null : typeof sigma === 'number' ? new Float64Array(points).fill(sigma) : numbers(sigma, 'sigma')[0];
  try {
    const { answer, result } = run(current, { signal, onProgress }, request, [x, y, starts, sigmas]);
    const count = answer.names.length;
    const rowsOf = values => index => values.subarray(index * count, (index + 1) * count);
    const [parameters, standardErrors, cost, converged, iterations, degreesOfFreedom] = [0, 1, 2, 3, 4, 5].map(result);
    return {
      names: answer.names, count: fits, parameters, standardErrors, cost, converged: Array.from(converged, one => one === 1), iterations, degreesOfFreedom,
      failures: answer.failed.map(([index, reason]) => ({ index, reason })), parametersOf: rowsOf(parameters), standardErrorsOf: rowsOf(standardErrors),
      convergedCount: converged.reduce((total, one) => total + one, 0),
    };
  } catch (error) {
    throw raised(current, error, model.how === 'formula' ? model.formula : null, model.request.predictors);
  }
}

/** Fits several models to the same data and ranks them by AICc, the best first; those that could not be fitted have an `error`. */
export async function compare({ models: given, ...options }) {
  const named = given ?? (await models()).filter(model => model.predictors.length === 1 && !model.isReparameterized).map(model => model.name);
  const rows = [];
  for (const one of named) {
    const choice = typeof one === 'string' ? { model: one } : typeof one === 'function' ? { function: one } : one;
    const name = choice.name ?? choice.model ?? choice.formula ?? choice.function?.name ?? 'function';
    try {
      const found = await fit({ ...options, ...without(choice, 'name') });
      rows.push({ name, fit: found, converged: found.converged, aicc: Number(found.criteria.aicc), bic: Number(found.criteria.bic), parameters: found.criteria.parameters });
    } catch (error) {
      if (!(error instanceof FitError)) throw error;
      rows.push({ name, error });
    }
  }
  const isRanked = row => row.fit && row.converged && !row.fit.unusable && Number.isFinite(row.aicc);
  const ranked = rows.filter(isRanked).sort((a, b) => a.aicc - b.aicc);
  const weights = ranked.map(row => Math.exp((ranked[0].aicc - row.aicc) / 2));
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  ranked.forEach((row, i) => Object.assign(row, { difference: row.aicc - ranked[0].aicc, weight: weights[i] / total }));
  return [...ranked, ...rows.filter(row => !isRanked(row))];
}

/** The models of the library. */
export async function models() {
  return (await engine()).request({ do: 'models' }).answer;
}

/** Parameters and predictors of a formula; throws a `FormulaError` where it is wrong. */
export async function parseFormula(formula, predictors = ['x']) {
  const { answer } = (await engine()).request({ do: 'formula', formula, predictors });
  if (answer.problem) throw new FormulaError(answer.problem, answer.position);
  return answer;
}

/** Values of a model or a formula at predictors. */
export async function evaluate({ model, formula, predictors, x, parameters }) {
  const current = await engine();
  const [values, width] = numbers(typeof x === 'number' ? [x] : x, 'x');
  const of = modelOf(current, { model, formula, predictors }, values, width);
  const b = isList(parameters) ? Array.from(parameters) : namesOf(current, of).map(name => parameters[name]);
  return current.request({ do: 'curve', ...of.request, parameters: b }, [values]).result(0);
}

/** Keeps a table in the module, and returns its name. */
function keep(current, data, name) {
  const bytes = typeof data === 'string' ? new TextEncoder().encode(data) : data instanceof ArrayBuffer ? new Uint8Array(data) : data;
  if (!ArrayBuffer.isView(bytes)) throw new FitError('the table is neither text nor bytes');
  current.request({ do: 'file', name }, [bytes]);
  return name;
}

/** Reads a table of separated values as the command does. */
export async function parseTable(data, options = {}) {
  const current = await engine();
  const { name = 'data.csv', ...rest } = options;
  const { answer, result } = current.request({ do: 'table', settings: { ...settings(rest), file: keep(current, data, name) } });
  const columns = answer.columns.map(column => ({ ...column, numbers: column.numbers == null ? null : result(column.numbers) }));
  return { ...answer, lines: result(0), columns };
}

/** An answer whose parts in JSON are texts. */
function read(answer) {
  for (const name of ['json', 'page']) if (name in answer) answer[name] = JSON.parse(answer[name]);
  return answer;
}

/**
 * Fits columns of a table with the options of `marquardt fit`; the answer has the data of its page, and its report in `formats`: `json`, `text`,
 * `markdown` and `csv`, all of them by default.
 */
export async function fitTable(data, options = {}) {
  const current = await engine();
  const { name = 'data.csv', formats, signal, onProgress, ...rest } = options;
  const file = data == null ? {} : { file: keep(current, data, name) };
  return read(run(current, { signal, onProgress }, { do: 'fit', formats, settings: { ...settings(rest), ...file } }).answer);
}

/** Compares models of columns of a table, as `marquardt compare` does. */
export async function compareTable(data, options = {}) {
  const current = await engine();
  const { name = 'data.csv', formats, signal, onProgress, ...rest } = options;
  return read(run(current, { signal, onProgress }, { do: 'compare', formats, settings: { ...settings(rest), file: keep(current, data, name) } }).answer);
}

/** The curve and the columns that options mean, with starts of the parameters. */
export async function guessTable(data, options = {}) {
  const current = await engine();
  const { name = 'data.csv', ...rest } = options;
  return current.request({ do: 'guess', settings: { ...settings(rest), file: keep(current, data, name) } }).answer;
}
