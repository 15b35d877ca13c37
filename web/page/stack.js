/** Columns of numbers without a use, beside a response: those of further compounds or samples, as plate readers write them. */
export function furtherResponses({ table, roles }) {
  if (!table || table.isWide || roles.group || !roles.y || roles.x.length !== 1) return [];
  const used = new Set([...roles.x, ...Object.values(roles)]);
  return table.columns.filter(column => column.numbers && !used.has(column.name));
}

const cell = text => (/[",\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);

/** The table with one response a row, as text, and the uses of its columns: each column of responses becomes a group. */
export function stacked({ table, roles, excluded }) {
  const own = name => table.columns.find(column => column.name === name);
  const x = own(roles.x[0]);
  const responses = [own(roles.y), ...furtherResponses({ table, roles })];
  const taken = new Set(table.columns.map(column => column.name));
  const free = name => (taken.has(name) ? free(`${name}_`) : name);
  const [y, group] = [free('response'), free('column')];
  const rows = responses.flatMap(column => Array.from(table.lines, (line, row) => [line, x.numbers[row], column.numbers[row], column.name])
    .filter(([line, at, value]) => !excluded.has(line) && !Number.isNaN(at) && !Number.isNaN(value)).map(([, ...cells]) => cells.map(String).map(cell).join(',')));
  return { text: [[x.label, y, group].map(cell).join(','), ...rows].join('\n') + '\n', roles: { x: [x.name], y, group, sigma: null, weights: null } };
}

/** True for positive predictors over more than two decades, most of them near the lower end: doses, dilutions, frequencies. */
export function isLogarithmic(numbers) {
  const known = Float64Array.from(numbers).filter(Number.isFinite).sort();
  const [low, middle, high] = [known[0], known[known.length >> 1], known.at(-1)];
  return known.length > 3 && low > 0 && high > 100 * low && middle < 0.15 * high;
}
