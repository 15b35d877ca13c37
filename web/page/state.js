/** What the page knows before a table is read. */
export const fresh = () => ({
  source: null, table: null, excluded: new Set(), roles: { x: [], y: null, sigma: null, weights: null, group: null },
  model: null, formula: '', formulaProblem: null, starts: {}, guesses: null, fixed: {}, bounds: {}, shared: [], options: {}, log: [false, false], reading: {}, found: null,
});

/** Options of how the table is read. */
export const tableOptions = ({ reading }) => ({ ...reading });

/** The text of the table without the lines that were left out. */
export function textOf({ source, excluded }) {
  if (!excluded.size) return source.text;
  return source.text.split(/\r\n|\n|\r/).map((line, i) => (excluded.has(i + 1) ? '' : line)).join('\n');
}

/** The options of the command. */
export function settingsOf(state) {
  const { roles, model, formula, starts, fixed, bounds, shared, options, log, table, guesses } = state;
  const made = { ...tableOptions(state) };
  if (!table?.isWide) {
    made.x = roles.x;
    made.y = [roles.y];
  }
  for (const key of ['sigma', 'weights']) if (roles[key]) made[key] = roles[key];
  if (model) made.model = model;
  else made.formula = formula;
  const known = guesses?.parameters.map(parameter => parameter.name);
  const own = entries => Object.entries(entries).filter(([name, value]) => value != null && value !== '' && (!known || known.includes(name)));
  const free = own(starts).filter(([name]) => fixed[name] == null);
  if (free.length) made.start = free.map(([name, value]) => `${name}=${value}`);
  if (own(fixed).length) made.fix = own(fixed).map(([name, value]) => `${name}=${value}`);
  const limited = own(bounds).filter(([, range]) => range !== '..');
  if (limited.length) made.bounds = limited.map(([name, range]) => `${name}=${range}`);
  if (roles.group && !table?.isWide) made['group-by'] = roles.group;
  const sharing = shared.filter(name => !known || known.includes(name));
  if ((roles.group || table?.isWide) && sharing.length) made.share = sharing;
  for (const [name, value] of Object.entries(options)) if (value !== false && value !== '' && value != null && !(Array.isArray(value) && !value.length)) made[name] = value;
  if (log[0]) made['log-x'] = true;
  if (log[1]) made['log-y'] = true;
  return made;
}
