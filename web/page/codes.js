import { namesColumns, parse, print } from './expression.js';

const isPlain = word => /^[\p{L}\p{N}\-_=+,.:/@%]+$/u.test(word);
const quoted = word => (isPlain(word) ? word : `'${word.replace(/'/g, "'\\''")}'`);

/** The command line that does the same. */
export function commandLine(settings, file, command = 'fit') {
  const words = ['marquardt', command, quoted(file)];
  const given = (name, value) => {
    const [key, text] = [`--${name}`, String(value)];
    // Values of these options may be left out, and are joined to their names.
    const isJoined = ['robust', 'multi-start', 'bootstrap', 'outliers'].includes(name) || text.startsWith('-');
    words.push(...(isJoined ? [`${key}=${quoted(text)}`] : [key, quoted(text)]));
  };
  const LISTS = ['x', 'y', 'start', 'bounds', 'fix', 'prior', 'share', 'test', 'models', 'x-for', 'contour', 'missing', 'range', 'sigma-x'];
  for (const [name, value] of Object.entries(settings)) {
    if (value === true) words.push(`--${name}`);
    else if (Array.isArray(value) && LISTS.includes(name)) { if (value.length) given(name, value.join(',')); } else if (Array.isArray(value)) value.forEach(one => given(name, one));
    else if (value !== false && value != null && value !== '') given(name, value);
  }
  const isPictured = settings['log-x'] || settings['log-y'];
  return words.join(' ') + (isPictured ? ' --report fit.html' : '');
}

const text = value => JSON.stringify(value);

/** A program in Rust that does the same for the curve and its parameters. */
export function rustCode({ model, formula, x, y, sigma, weights, file }, settings) {
  const predictors = namesColumns(formula, x) ? x : ['x'];
  const curve = model ? `${text(model)}.parse::<Named>()?` : `Formula::with_predictors(${text(formula)}, [${predictors.map(text).join(', ')}])?`;
  const calls = [];
  for (const one of settings.start ?? []) { const [name, value] = one.split('='); calls.push(`.start(${text(name)}, ${Number(value)}_f64)`); }
  for (const one of settings.bounds ?? []) {
    const [name, range] = one.split('=');
    const [low, high] = range.split('..').map(end => (end ? `${Number(end)}_f64` : null));
    calls.push(`.bounds(${text(name)}, ${low ?? 'f64::NEG_INFINITY'}..=${high ?? 'f64::INFINITY'})`);
  }
  for (const one of settings.fix ?? []) { const [name, value] = one.split('='); calls.push(value == null ? `.fix(${text(name)})` : `.fix_at(${text(name)}, ${Number(value)}_f64)`); }
  for (const one of settings.tie ?? []) { const at = one.indexOf('='); calls.push(`.tie(${text(one.slice(0, at))}, Tie::parse(${text(one.slice(at + 1))})?)`); }
  for (const one of settings.derive ?? []) { const at = one.indexOf('='); calls.push(`.derive(${text(one.slice(0, at))}, Tie::parse(${text(one.slice(at + 1))})?)`); }
  if (sigma) calls.push(/^[\d.]/.test(sigma) ? `.sigma(&vec![${Number(sigma)}; y.len()])` : `.sigma(table.column(${text(sigma)})?)`);
  if (weights) calls.push(`.weights(table.column(${text(weights)})?)`);
  if (settings['absolute-sigma']) calls.push('.absolute_sigma(true)');
  if (settings.counts) calls.push('.counts()');
  if (settings.robust) calls.push(`.robust(Loss::${settings.robust.replace(/(^|_)(\w)/g, (_, __, letter) => letter.toUpperCase())})`);
  const imports = ['CurveFit', ...(calls.some(call => call.includes('Tie::')) ? ['Tie'] : []), ...(settings.robust ? ['Loss'] : []), ...(model ? [] : ['Formula'])].sort();
  const columns = x.length === 1 ? `let x = table.column(${text(x[0])})?;` : `let columns = [${x.map(name => `table.column(${text(name)})?`).join(', ')}];\n    let x = ndarray::Array2::from_shape_fn((table.rows(), ${x.length}), |(row, column)| columns[column][row]);`;
  return `use marquardt::curve::Table;
${model ? 'use marquardt::models::Named;\n' : ''}use marquardt::{${imports.join(', ')}};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let table = Table::from_csv(${text(file)})?;
    ${columns}
    let y = table.column(${text(y)})?;
    let fit = CurveFit::guessed(${curve}, ${x.length === 1 ? 'x' : '&x'}, y)${calls.map(call => `\n        ${call}`).join('')}
        .fit()?;
    println!("{}", fit.summary());
    Ok(())
}
`;
}

/** A program in Python that does the same. */
export function pythonCode({ model, formula, x, y, sigma, file }, settings) {
  const dictionary = (entries, value) => `{${entries.map(one => { const at = one.indexOf('='); return `${text(one.slice(0, at))}: ${value(one.slice(at + 1))}`; }).join(', ')}}`;
  const options = [];
  const end = value => (value ? String(Number(value)) : null);
  if (settings.start?.length) options.push(`p0=${dictionary(settings.start, value => Number(value))}`);
  if (settings.bounds?.length) options.push(`bounds=${dictionary(settings.bounds, range => { const [low, high] = range.split('..').map(end); return `(${low ?? '-np.inf'}, ${high ?? 'np.inf'})`; })}`);
  if (settings.fix?.length) options.push(`fixed=${dictionary(settings.fix.filter(one => one.includes('=')), value => Number(value))}`);
  if (settings.tie?.length) options.push(`ties=${dictionary(settings.tie, text)}`);
  if (settings.derive?.length) options.push(`derive=${dictionary(settings.derive, text)}`);
  if (sigma) options.push(`sigma=${/^[\d.]/.test(sigma) ? Number(sigma) : `table[${text(sigma)}].to_numpy()`}`);
  if (settings['absolute-sigma']) options.push('absolute_sigma=True');
  if (settings.counts) options.push('counts=True');
  if (settings.robust) options.push(`loss=${text(settings.robust)}`);
  const tree = model ? null : parse(formula);
  const curve = tree && !x.some(name => /\W/.test(name)) ? `"${print(tree, 'text').replace(/"/g, '\\"')}"` : text(model ?? formula);
  const predictors = !model && namesColumns(formula, x) ? `table[[${x.map(text).join(', ')}]]` : `table[${text(x[0])}].to_numpy()`;
  return `import numpy as np
import pandas as pd
import marquardt

table = pd.read_csv(${text(file)}, sep=None, engine="python", comment="#")
x, y = ${predictors}, table[${text(y)}].to_numpy()
fit = marquardt.fit(${curve}, x, y${options.map(option => `, ${option}`).join('')})
print(fit)
`;
}
