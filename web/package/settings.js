import { FitError } from './errors.js';

const isList = value => Array.isArray(value) || ArrayBuffer.isView(value);
const pairs = (value, names, option) => {
  if (value == null) return [];
  if (typeof value === 'string') return value.split(',').map(part => part.split('=').map(text => text.trim()));
  if (!isList(value)) return Object.entries(value);
  if (Array.from(value).every(one => typeof one === 'string')) return Array.from(value, one => { const at = one.indexOf('='); return at < 0 ? [one] : [one.slice(0, at), one.slice(at + 1)]; });
  if (!names) throw new FitError(`${option}: names of parameters are needed, such as { a: 1 }`);
  if (value.length !== names.length) throw new FitError(`${option} has ${value.length} values for the parameters ${names.map(name => JSON.stringify(name)).join(', ')}`);
  return names.map((name, i) => [name, value[i]]);
};
const number = value => (value === Infinity ? 'inf' : value === -Infinity ? '-inf' : String(value));
const range = value => (typeof value === 'string' ? value : `${value[0] == null || value[0] === -Infinity ? '' : number(value[0])}..${value[1] == null || value[1] === Infinity ? '' : number(value[1])}`);

/** Options that have several values for a parameter each, as those of the command write them. */
const OF_PARAMETERS = {
  start: value => number(value),
  bounds: range,
  fix: value => (value === undefined || value === true || value === null ? null : number(value)),
  tie: String,
  prior: value => (isList(value) ? `${number(value[0])}~${number(value[1])}` : String(value)),
  range,
  derive: String,
  ode: String,
  initial: value => number(value),
};

/** Names of options in other packages, and here. */
const ALIASES = { fixed: 'fix', ties: 'tie', constraints: 'constrain', priors: 'prior', loss: 'robust', maxNfev: 'maxEvaluations', weightsBy: 'weights' };

/** Options in camel case as the command has them; `names` are those of the parameters, for lists. */
export function settings(options, names) {
  const made = {};
  for (let [name, value] of Object.entries(options)) {
    if (value === undefined || value === null) continue;
    name = ALIASES[name] ?? name;
    if (name === 'retry') { if (value === false) made['no-retry'] = true; continue; }
    const key = name.replace(/[A-Z]/g, letter => `-${letter.toLowerCase()}`);
    if (key === 'robust' && value === 'linear') continue;
    if (Object.hasOwn(OF_PARAMETERS, key)) {
      made[key] = pairs(value, names, name).map(([parameter, one]) => { const text = OF_PARAMETERS[key](one); return text == null ? parameter : `${parameter}=${text}`; });
    } else if (isList(value)) made[key] = Array.from(value, one => (typeof one === 'number' ? number(one) : one));
    else made[key] = typeof value === 'number' ? number(value) : value;
  }
  return made;
}
