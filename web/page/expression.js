/** A small parser of formulas, to write them in other languages. Products may be written without a sign. */
const FUNCTIONS = new Set('abs acos acosh arccos arcsin arctan asin asinh atan atan2 atanh cbrt ceil cos cosh erf erfc exp exp2 exp_m1 expm1 floor gamma hypot lgamma ln ln_1p log log10 log1p log2 max min pow recip sign sin sinc sinh sqrt step tan tanh'.split(' '));

function tokens(text) {
  const found = text.match(/\s+|\d+\.?\d*(?:[eE][-+]?\d+)?|\.\d+(?:[eE][-+]?\d+)?|[A-Za-z_]\w*|"[^"]*"|\*\*|[-+*/^(),]|./gsu) ?? [];
  return found.filter(token => token.trim());
}

const isName = token => /^[A-Za-z_"]/.test(token ?? '');
const isNumber = token => /^[\d.]/.test(token ?? '');

/** The tree of a formula: numbers, names, `{ op, args }`; none where it has other parts. */
export function parse(text) {
  const all = tokens(text);
  let at = 0;
  const fail = () => { throw new SyntaxError(text); };
  const take = token => (all[at] === token ? ++at : fail());
  const sum = () => {
    let left = product();
    while (all[at] === '+' || all[at] === '-') left = { op: all[at++], args: [left, product()] };
    return left;
  };
  const product = () => {
    let left = signed();
    for (;;) {
      if (all[at] === '*' || all[at] === '/') left = { op: all[at++], args: [left, signed()] };
      else if (isName(all[at]) || isNumber(all[at]) || all[at] === '(') left = { op: '*', args: [left, power()] };
      else return left;
    }
  };
  const signed = () => {
    if (all[at] === '-') return at++, { op: 'neg', args: [signed()] };
    if (all[at] === '+') return at++, signed();
    return power();
  };
  const power = () => {
    const base = atom();
    if (all[at] !== '^' && all[at] !== '**') return base;
    at++;
    return { op: '^', args: [base, signed()] };
  };
  const atom = () => {
    const token = all[at++];
    if (token === '(') { const inner = sum(); take(')'); return inner; }
    if (isNumber(token)) return Number(token);
    if (!isName(token)) fail();
    if (all[at] !== '(' || !FUNCTIONS.has(token)) return token.replace(/"/g, '');
    at++;
    const args = [sum()];
    while (all[at] === ',') { at++; args.push(sum()); }
    take(')');
    return { op: token, args };
  };
  try {
    const tree = sum();
    return at === all.length ? tree : null;
  } catch (error) {
    if (error instanceof SyntaxError) return null;
    throw error;
  }
}

/** The tree with numbers in place of parameters. */
export const substituted = (tree, values) => (typeof tree === 'string' && Object.hasOwn(values, tree) ? values[tree] : tree?.op ? { op: tree.op, args: tree.args.map(one => substituted(one, values)) } : tree);

const RANK = { '+': 1, '-': 1, '*': 2, '/': 2, neg: 2.5, '^': 3 };
const rankOf = tree => (tree?.op ? RANK[tree.op] ?? 9 : typeof tree === 'number' && tree < 0 ? 2.5 : 9);

/** Names of functions in languages. */
const CALLS = {
  excel: { ln: 'LN', log: 'LN', log10: 'LOG10', arctan: 'ATAN', arcsin: 'ASIN', arccos: 'ACOS', lgamma: 'GAMMALN', log2: 'LOG2' },
  python: { ln: 'np.log', log: 'np.log', arctan: 'np.arctan', atan: 'np.arctan', asin: 'np.arcsin', acos: 'np.arccos', atan2: 'np.arctan2', abs: 'np.abs', erf: 'special.erf', erfc: 'special.erfc', gamma: 'special.gamma', lgamma: 'special.gammaln', max: 'np.maximum', min: 'np.minimum' },
  r: { ln: 'log', arctan: 'atan', arcsin: 'asin', arccos: 'acos', erf: '(function(z) 2*pnorm(z*sqrt(2)) - 1)', erfc: '(function(z) 2*pnorm(-z*sqrt(2)))', max: 'pmax', min: 'pmin' },
  latex: { ln: '\\ln', log: '\\ln', exp: '\\exp', sin: '\\sin', cos: '\\cos', tan: '\\tan', sinh: '\\sinh', cosh: '\\cosh', tanh: '\\tanh', atan: '\\arctan', arctan: '\\arctan', asin: '\\arcsin', acos: '\\arccos', max: '\\max', min: '\\min' },
};

function numberText(value, style) {
  const text = String(Number(value.toPrecision(10)));
  if (!text.includes('e')) return text;
  const [mantissa, exponent] = text.split('e');
  if (style === 'latex') return `${mantissa} \\cdot 10^{${Number(exponent)}}`;
  return style === 'excel' ? `${mantissa}E${exponent}` : text;
}

/** What a term that begins with a negative number is the negative of; none for another one. */
function opposite(tree) {
  if (typeof tree === 'number') return tree < 0 ? -tree : null;
  if (tree?.op !== '*' && tree?.op !== '/') return null;
  const first = opposite(tree.args[0]);
  return first == null ? null : { op: tree.op, args: [first, tree.args[1]] };
}

/** The formula in a style: `text`, `latex`, `excel`, `python` or `r`. */
export function print(tree, style) {
  const within = (one, least) => (rankOf(one) < least ? (style === 'latex' ? `\\left(${print(one, style)}\\right)` : `(${print(one, style)})`) : print(one, style));
  if (typeof tree === 'number') return numberText(tree, style);
  if (typeof tree === 'string') {
    if (style !== 'latex') return style === 'excel' || /^\w+$/.test(tree) ? tree : style === 'r' ? `\`${tree}\`` : tree.replace(/\W/g, '_');
    const [first, ...rest] = tree.split('_');
    const name = first.length > 1 ? `\\mathrm{${first}}` : first;
    return rest.length ? `${name}_{\\mathrm{${rest.join(' ')}}}` : name;
  }
  const [a, b] = tree.args;
  if (tree.op === 'neg') return `-${within(a, 2.5)}`;
  if (tree.op === '+' || tree.op === '-') {
    const positive = opposite(b);
    return `${print(a, style)} ${positive == null ? tree.op : tree.op === '+' ? '-' : '+'} ${within(positive ?? b, tree.op === '-' || positive != null ? 2 : 1)}`;
  }
  if (style === 'latex') {
    if (tree.op === '/') return `\\frac{${print(a, style)}}{${print(b, style)}}`;
    if (tree.op === '*') return `${within(a, 2)} ${typeof b === 'number' || rankOf(b) === 2.5 ? '\\cdot ' : '\\, '}${within(b, 2)}`;
    if (tree.op === '^') return `${rankOf(a) < 9 || a?.op ? `\\left(${print(a, style)}\\right)` : print(a, style)}^{${print(b, style)}}`;
    if (tree.op === 'sqrt') return `\\sqrt{${print(a, style)}}`;
    return `${CALLS.latex[tree.op] ?? `\\operatorname{${tree.op}}`}\\left(${tree.args.map(one => print(one, style)).join(', ')}\\right)`;
  }
  if (tree.op === '*') return `${within(a, 2)}*${within(b, 2.1)}`;
  if (tree.op === '/') return `${within(a, 2)}/${within(b, 2.6)}`;
  // In Excel, a sign binds more tightly than a power.
  if (tree.op === '^') return `${within(a, 3.5)}${style === 'python' ? '**' : '^'}${within(b, 3)}`;
  const named = CALLS[style]?.[tree.op] ?? (style === 'excel' ? tree.op.toUpperCase() : style === 'python' ? `np.${tree.op}` : tree.op);
  return `${named}(${tree.args.map(one => print(one, style)).join(', ')})`;
}

/** Highlighting of a formula: pairs of a class and a text. */
export function colored(text, parameters, predictors) {
  const parts = text.match(/\s+|\d+\.?\d*(?:[eE][-+]?\d+)?|\.\d+|[A-Za-z_]\w*|"[^"]*"|./gsu) ?? [];
  return parts.map((part, i) => {
    const name = part.replace(/"/g, '');
    const next = parts.slice(i + 1).find(other => other.trim());
    if (next === '(' && FUNCTIONS.has(part)) return ['function', part];
    return [predictors.includes(name) ? 'predictor' : parameters.includes(name) ? 'parameter' : isNumber(part) ? 'numeral' : '', part];
  });
}

/** Returns true if a formula has columns by their names; otherwise, x stands for the only one. */
export const namesColumns = (formula, x) => x.some(name => (formula ?? '').match(/"[^"]*"|[\p{L}_][\p{L}\p{N}_]*/gu)?.some(word => word.replace(/"/g, '') === name));
