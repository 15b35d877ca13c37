// The 27 nonlinear regressions of NIST's Statistical Reference Datasets, with their models as formulas.
import { readFileSync } from 'node:fs';

const GAUSS = 'b1*exp(-b2*x) + b3*exp(-(x-b4)^2/b5^2) + b6*exp(-(x-b7)^2/b8^2)';
const LANCZOS = 'b1*exp(-b2*x) + b3*exp(-b4*x) + b5*exp(-b6*x)';
const CUBICS = '(b1+b2*x+b3*x^2+b4*x^3)/(1+b5*x+b6*x^2+b7*x^3)';
const CHWIRUT = 'exp(-b1*x)/(b2+b3*x)';

export const FORMULAS = {
  Bennett5: 'b1*(b2+x)^(-1/b3)', BoxBOD: 'b1*(1-exp(-b2*x))', Chwirut1: CHWIRUT, Chwirut2: CHWIRUT, DanWood: 'b1*x^b2',
  ENSO: 'b1 + b2*cos(2*pi*x/12) + b3*sin(2*pi*x/12) + b5*cos(2*pi*x/b4) + b6*sin(2*pi*x/b4) + b8*cos(2*pi*x/b7) + b9*sin(2*pi*x/b7)',
  Eckerle4: '(b1/b2)*exp(-0.5*((x-b3)/b2)^2)', Gauss1: GAUSS, Gauss2: GAUSS, Gauss3: GAUSS, Hahn1: CUBICS, Kirby2: '(b1+b2*x+b3*x^2)/(1+b4*x+b5*x^2)',
  Lanczos1: LANCZOS, Lanczos2: LANCZOS, Lanczos3: LANCZOS, MGH09: 'b1*(x^2+x*b2)/(x^2+x*b3+b4)', MGH10: 'b1*exp(b2/(x+b3))', MGH17: 'b1+b2*exp(-x*b4)+b3*exp(-x*b5)',
  Misra1a: 'b1*(1-exp(-b2*x))', Misra1b: 'b1*(1-(1+b2*x/2)^(-2))', Misra1c: 'b1*(1-(1+2*b2*x)^(-0.5))', Misra1d: 'b1*b2*x/(1+b2*x)', Nelson: 'b1 - b2*x1*exp(-b3*x2)',
  Rat42: 'b1/(1+exp(b2-b3*x))', Rat43: 'b1/(1+exp(b2-b3*x))^(1/b4)', Roszman1: 'b1 - b2*x - atan(b3/(x-b4))/pi', Thurber: CUBICS,
};

const numbers = text => text.trim().split(/\s+/).filter(Boolean).map(Number);

/** A set: predictors, responses, two starts, certified values and standard deviations. */
export function load(name) {
  const lines = readFileSync(new URL(`../../tests/nist/${name}.dat`, import.meta.url), 'utf8').split(/\r?\n/);
  const parameters = lines.filter(line => /^\s*b\d+\s*=\s*[-\d.]/.test(line)).map(line => numbers(line.split('=')[1]));
  const at = lines.findLastIndex(line => /^Data:\s+y\b/.test(line));
  const rows = lines.slice(at + 1).map(numbers).filter(row => row.length > 1);
  const isNelson = name === 'Nelson';
  return {
    name, formula: FORMULAS[name], x: isNelson ? rows.map(row => row.slice(1)) : rows.map(row => row[1]), y: rows.map(row => (isNelson ? Math.log(row[0]) : row[0])),
    starts: [0, 1].map(k => Object.fromEntries(parameters.map((row, i) => [`b${i + 1}`, row[k]]))), certified: parameters.map(row => row[2]), deviations: parameters.map(row => row[3]),
  };
}

/** Digits of the worst parameter. */
export function digits(values, certified) {
  const of = (value, truth) => (value === truth ? 11 : Math.min(11, -Math.log10(Math.abs(value - truth) / Math.abs(truth))));
  return Math.min(...certified.map((truth, i) => of(values[i], truth)));
}
