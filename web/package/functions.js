/** An expression that is recorded while a function runs on it. */
export class Expression {
  constructor(text) { this.text = text; }
  valueOf() { throw new NotRecorded('an operator of JavaScript is not recorded'); }
  toString() { return this.text; }
  plus(other) { return add(this, other); }
  minus(other) { return sub(this, other); }
  times(other) { return mul(this, other); }
  over(other) { return div(this, other); }
  to(other) { return pow(this, other); }
  negated() { return neg(this); }
}

/** A function does something to its arguments that is no formula. */
export class NotRecorded extends Error {}

const written = value => {
  if (value instanceof Expression) return value.text;
  if (typeof value !== 'number' || !Number.isFinite(value)) throw new NotRecorded(`${value} is no number of a formula`);
  return value < 0 ? `(${value})` : String(value);
};
const recorded = (of, text) => (...values) => (values.some(value => value instanceof Expression) ? new Expression(text(...values.map(written))) : of(...values));
const operator = (sign, of) => recorded(of, (a, b) => `(${a}${sign}${b})`);
const called = (name, of) => recorded(of, (...values) => `${name}(${values.join(',')})`);

export const add = operator('+', (a, b) => a + b);
export const sub = operator('-', (a, b) => a - b);
export const mul = operator('*', (a, b) => a * b);
export const div = operator('/', (a, b) => a / b);
export const pow = operator('^', Math.pow);
export const neg = recorded(a => -a, a => `(-${a})`);
/** Sum of several terms. */
export const sum = (...terms) => terms.reduce((one, other) => add(one, other));
/** `b` where `a < limit`, else `c`. */
export const ifLess = recorded((a, limit, b, c) => (a < limit ? b : c), (a, limit, b, c) => `if(${a} < ${limit}, ${b}, ${c})`);
export const exp = called('exp', Math.exp);
export const log = called('ln', Math.log);
export const log2 = called('log2', Math.log2);
export const log10 = called('log10', Math.log10);
export const sqrt = called('sqrt', Math.sqrt);
export const abs = called('abs', Math.abs);
export const sin = called('sin', Math.sin);
export const cos = called('cos', Math.cos);
export const tan = called('tan', Math.tan);
export const asin = called('asin', Math.asin);
export const acos = called('acos', Math.acos);
export const atan = called('atan', Math.atan);
export const atan2 = called('atan2', Math.atan2);
export const sinh = called('sinh', Math.sinh);
export const cosh = called('cosh', Math.cosh);
export const tanh = called('tanh', Math.tanh);
export const min = called('min', Math.min);
export const max = called('max', Math.max);
