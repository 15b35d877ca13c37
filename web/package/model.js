import { FitError } from './errors.js';
import { Expression, NotRecorded } from './functions.js';

/** Longer formulas of functions are not made. */
const LONGEST = 4000;

/** Functions of formulas that `Math` has by the same name, or another one. */
const OF_MATH = { abs: 'abs', acos: 'acos', acosh: 'acosh', asin: 'asin', asinh: 'asinh', atan: 'atan', atanh: 'atanh', atan2: 'atan2', cbrt: 'cbrt', ceil: 'ceil', cos: 'cos', cosh: 'cosh', exp: 'exp', expm1: 'expm1', floor: 'floor', hypot: 'hypot', log: 'ln', log10: 'log10', log1p: 'log1p', log2: 'log2', max: 'max', min: 'min', pow: 'pow', sign: 'sign', sin: 'sin', sinh: 'sinh', sqrt: 'sqrt', tan: 'tan', tanh: 'tanh' };

/** Names of the arguments in the text of a function; none if they are more than names. */
function argumentsOf(text) {
  const list = /^(?:async\s+)?(?:function\b[^(]*)?\(([^()]*)\)|^([A-Za-z_$][\w$]*)\s*=>/.exec(text);
  const names = (list?.[1] ?? list?.[2] ?? '').split(',').map(name => name.trim()).filter(Boolean);
  return names.length && names.every(name => /^[A-Za-z_][\w]*$/.test(name)) ? names : null;
}

/** The expression that an arrow function or a function with nothing but `return` has. */
function bodyOf(text) {
  const arrow = text.indexOf('=>');
  const body = (arrow >= 0 && !text.startsWith('function') ? text.slice(arrow + 2) : text.slice(text.indexOf('{'))).trim();
  const returned = /^\{\s*return\s+([^;{}]+);?\s*\}$/.exec(body);
  return returned ? returned[1].trim() : body.startsWith('{') ? null : body;
}

/** The text of a function of numbers as a formula; none where it is more than operators, `Math` and its arguments. */
function formulaOfSource(text, names) {
  const body = bodyOf(text.replace(/\/\*.*?\*\/|\/\/[^\n]*/gs, ''));
  if (!body || body.length > LONGEST) return null;
  const tokens = body.match(/Math\.\w+|[A-Za-z_]\w*|\d[\d_]*\.?\d*(?:[eE][-+]?\d+)?|\.\d+(?:[eE][-+]?\d+)?|\*\*|\s+|\S/g);
  const made = [];
  for (const token of tokens) {
    if (token.startsWith('Math.')) {
      const name = token.slice(5);
      if (name === 'PI') made.push(String(Math.PI));
      else if (name === 'E') made.push(String(Math.E));
      else if (Object.hasOwn(OF_MATH, name)) made.push(OF_MATH[name]);
      else return null;
    } else if (token === '**') made.push('^');
    else if (/^[A-Za-z_]/.test(token) ? names.includes(token) : /^[\d.\s]|^[-+*/(),]$/.test(token)) made.push(token.replace(/_(?=\d)/g, ''));
    else return null;
  }
  return made.join('').replace(/\s+/g, ' ');
}

/** The formula that a function records if it is called with expressions; none if it uses operators of JavaScript on them. */
function formulaOfCall(of, width, parameters) {
  const names = predictorNames(width);
  const x = names.map(name => new Expression(name));
  try {
    const value = of(width === 1 ? x[0] : x, ...parameters.map(name => new Expression(name)));
    return value instanceof Expression && value.text.length <= LONGEST ? value.text : null;
  } catch (error) {
    if (error instanceof NotRecorded || error instanceof TypeError) return null;
    throw error;
  }
}

/** Names of predictors in formulas. */
export const predictorNames = width => (width === 1 ? ['x'] : Array.from({ length: width }, (_, i) => `x${i + 1}`));

/** Values of a formula are those of the function, at some points. */
function agrees(engine, of, request, x, width, parameters) {
  const rows = x.length / width;
  const taken = Array.from({ length: Math.min(rows, 16) }, (_, i) => Math.floor((i * rows) / Math.min(rows, 16)));
  const points = Float64Array.from(taken.flatMap(row => Array.from(x.subarray(row * width, (row + 1) * width))));
  // Numbers without a pattern, and the same each time.
  const at = shift => parameters.map((_, i) => 0.3 + (((i + 1) * 0.6180339887 + shift) % 1) * 1.4);
  for (const b of [at(0.1), at(0.57), at(0.83).map((value, i) => (i % 2 ? -value : value))]) {
    const values = engine.request({ do: 'curve', ...request, parameters: b }, [points]).result(0);
    for (let row = 0; row < taken.length; row++) {
      const own = of(width === 1 ? points[row] : points.subarray(row * width, (row + 1) * width), ...b);
      if (Number.isNaN(own) && Number.isNaN(values[row])) continue;
      if (!(own === values[row] || Math.abs(own - values[row]) <= 1e-9 * Math.max(1, Math.abs(own)))) return false;
    }
  }
  return true;
}

/** What a function becomes: a formula with exact derivatives if it is one, else itself, which is differentiated by differences. */
export function ofFunction(engine, of, options, x, width) {
  const text = Function.prototype.toString.call(of);
  const listed = argumentsOf(text);
  const start = options.start;
  const named = start && !Array.isArray(start) && !ArrayBuffer.isView(start) ? Object.keys(start) : null;
  const count = start && !named ? start.length : null;
  const parameters = options.parameters ?? (listed && (count == null || listed.length === count + 1) ? listed.slice(1) : named ?? (count == null ? null : Array.from({ length: count }, (_, i) => `p${i + 1}`)));
  if (!parameters?.length) throw new FitError('the parameters of the function are not known: give "parameters", their names, or "start"');
  const predictors = predictorNames(width);
  const isSound = name => !predictors.includes(name);
  const candidates = [];
  if (parameters.every(isSound)) {
    candidates.push(['recorded', () => formulaOfCall(of, width, parameters)]);
    if (listed && width === 1 && listed.length === parameters.length + 1) {
      const rename = name => (name === listed[0] ? 'x' : parameters[listed.indexOf(name) - 1]);
      candidates.push(['source', () => formulaOfSource(text, listed)?.replace(/[A-Za-z_]\w*(?!\w*\()/g, name => (listed.includes(name) ? rename(name) : name))]);
    }
  }
  for (const [way, make] of candidates) {
    const formula = make();
    if (!formula) continue;
    const request = { formula, predictors };
    let answer;
    try {
      answer = engine.request({ do: 'formula', formula, predictors }).answer;
      // Constants of names that are no parameters, or parameters that do not occur.
      if (answer.problem || answer.parameters.length !== parameters.length || !parameters.every(name => answer.parameters.includes(name))) continue;
      const order = { ...request, parameters: undefined };
      const sorted = (...values) => of(values[0], ...parameters.map(name => values[1 + answer.parameters.indexOf(name)]));
      if (!agrees(engine, sorted, order, x, width, answer.parameters)) continue;
    } catch (error) {
      if (error instanceof FitError) continue;
      throw error;
    }
    return { how: way, request, formula, parameters };
  }
  return { how: 'differences', request: { function: { parameters } }, formula: null, parameters };
}
