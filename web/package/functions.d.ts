/** An expression that is recorded while a function runs on it. */
export class Expression {
  constructor(text: string);
  plus(other: Value): Expression;
  minus(other: Value): Expression;
  times(other: Value): Expression;
  over(other: Value): Expression;
  to(other: Value): Expression;
  negated(): Expression;
}
export class NotRecorded extends Error {}
export type Value = number | Expression;
type Unary = { (value: number): number; (value: Value): Value };
type Binary = { (a: number, b: number): number; (a: Value, b: Value): Value };
export const add: Binary, sub: Binary, mul: Binary, div: Binary, pow: Binary, atan2: Binary, min: Binary, max: Binary;
export const neg: Unary, exp: Unary, log: Unary, log2: Unary, log10: Unary, sqrt: Unary, abs: Unary, sin: Unary, cos: Unary, tan: Unary, asin: Unary, acos: Unary, atan: Unary, sinh: Unary, cosh: Unary, tanh: Unary;
export function sum(...terms: Value[]): Value;
export function ifLess(a: Value, limit: Value, then: Value, otherwise: Value): Value;
