const color = index => `var(--s${index % 7})`;
const plural = (count, word) => `${count.toLocaleString('en')} ${word}${count === 1 ? '' : 's'}`;

/** A section with a heading, without those children that are null. */
function section(heading, ...children) {
  return make('section', {}, make('h2', { text: heading }), ...children.flat());
}

/** A button that is pressed or not. */
function toggle(text, isPressed, act) {
  const button = make('button', { type: 'button', 'aria-pressed': String(isPressed), click: () => button.setAttribute('aria-pressed', String(act())) }, ...[text].flat());
  return button;
}

const button = (text, act, attributes = {}) => make('button', { type: 'button', text, click: act, ...attributes });

/** What a layer looks like, in the legend. */
function swatch(layer) {
  const picture = shape('svg', { width: 28, height: 14, 'aria-hidden': 'true' });
  if (layer.kind === 'bars') picture.append(shape('path', { d: 'M14 1V13M11 1h6M11 13h6', stroke: layer.color, fill: 'none', 'stroke-width': 1.4 }));
  if (layer.kind === 'band') picture.append(shape('rect', { width: 28, height: 14, fill: layer.color, opacity: 2 * layer.opacity }));
  if (layer.kind === 'line' || layer.withLine) picture.append(shape('path', { d: 'M0 7h28', stroke: layer.color, class: 'line', 'stroke-width': 2, 'stroke-dasharray': layer.dash }));
  if (layer.kind === 'points') picture.append(shape('path', { d: symbolOf(layer)(14, 7, 4), ...paint(layer, 4) }));
  return picture;
}

const isNumber = value => typeof value === 'number' || ['inf', '-inf', 'NaN'].includes(value);

/** A table; its headings sort it if asked. A cell is a number, a text, or `{ text, sort, act }`. */
function table(caption, heading, rows, isSorting = false) {
  const plain = cell => (cell && typeof cell === 'object' ? cell.sort : cell);
  const content = cell => (cell && cell.act ? button(cell.text, cell.act, { class: 'link' }) : make('span', { text: cell && typeof cell === 'object' ? cell.text : isNumber(cell) ? number(cell) : cell ?? '' }));
  const isRight = column => rows.some(row => isNumber(plain(row[column])));
  const lines = rows.map(row => [row, make('tr', {}, ...row.map((cell, i) => make(i ? 'td' : 'th', { scope: i ? null : 'row', class: isRight(i) && 'number' }, content(cell))))]);
  const body = make('tbody', {}, ...lines.map(line => line[1]));
  const compare = (a, b) => (typeof a === 'number' && typeof b === 'number' ? a - b : String(a).localeCompare(String(b), 'en', { numeric: true }));
  const sort = (chosen, column) => {
    const direction = chosen.getAttribute('aria-sort') === 'ascending' ? -1 : 1;
    heads.forEach(head => head.removeAttribute('aria-sort'));
    chosen.setAttribute('aria-sort', direction > 0 ? 'ascending' : 'descending');
    body.append(...lines.sort(([a], [b]) => direction * compare(plain(a[column]), plain(b[column]))).map(line => line[1]));
  };
  const heads = heading.map((text, column) => {
    const head = make('th', { scope: 'col', class: isRight(column) && 'number' });
    head.append(isSorting ? button(text, () => sort(head, column), { class: 'sort' }) : text);
    return head;
  });
  const whole = make('table', {}, make('caption', { text: caption }), make('thead', {}, make('tr', {}, ...heads)), body);
  return make('div', { class: 'scroll', tabindex: 0, role: 'region', 'aria-label': caption }, whole);
}

/** Formats an end of an interval, to the digits that the standard error leaves. */
function ending(value, error) {
  if (typeof value !== 'number' || !(error > 0)) return number(value);
  const digits = Math.ceil(Math.log10(Math.abs(value) / error)) + 2;
  return number(value, Math.max(2, Math.min(12, Number.isFinite(digits) ? digits : 2)));
}

/** A value and its standard error, to the digits that the error leaves. */
function measured({ value, standard_error: error, state }) {
  if (state === 'undetermined' || error === 'inf') return `${number(value)} ± undetermined`;
  if (typeof error !== 'number' || typeof value !== 'number' || !(error > 0)) return number(value);
  const size = Math.floor(Math.log10(Math.max(Math.abs(value), error)));
  const power = size < -4 || size > 6 ? size : 0;
  const decimals = Math.min(15, Math.max(0, 2 - Math.floor(Math.log10(error)) + power));
  const [v, e] = [value, error].map(one => minus((one / 10 ** power).toFixed(decimals)));
  return power ? `(${v} ± ${e})×10${superscript(power)}` : `${v} ± ${e}`;
}

/** A table of the command, in which names have underscores. */
const ofCommand = (title, { heading, rows }) => table(title, heading.map(text => text.replace(/_/g, ' ')), rows);

function figure(chart, caption) {
  return make('figure', {}, chart.host, make('figcaption', { text: caption }));
}

/** Names and values, without those that are not known. */
function list(entries, kind) {
  const known = entries.filter(([, value]) => value != null && value !== '');
  return make('dl', { class: kind }, ...known.map(([name, value]) => make('div', {}, make('dt', { text: name }), make('dd', { text: Number.isInteger(value) ? value.toLocaleString('en') : isNumber(value) ? number(value) : value }))));
}

/** The options that were in force, and where each was given. */
function optionTable({ options, config }) {
  if (!options.length || !config) return null;
  return table('Options in force', ['option', 'value', 'given by'], options.map(([name, value, isOfFile]) => [name, value, isOfFile ? config : 'the command line']));
}

/** A small picture of a fit, which is a button. */
function smallChart(options, name, isGood, act, index) {
  const chart = new Chart({ ...options, height: 110, isSmall: true });
  chart.svg.setAttribute('aria-hidden', 'true');
  return make('button', { type: 'button', class: 'small', click: act, 'data-index': index, title: name }, chart.host, make('span', { class: isGood ? null : 'bad-name', text: isGood ? name : `✗ ${name}` }));
}

function originSection() {
  const { origin } = data;
  const lines = list([['command', origin.command], ['settings file', origin.config], ['the same without that file', origin.whole_command], ['data', origin.file],
    ['SHA-256 of the data', origin.sha256], ['program', `marquardt ${origin.version}`], ['date', `${new Date(1000 * origin.seconds).toISOString().replace('T', ' ').slice(0, 16)} UTC`]], 'lines');
  return section('Origin', lines, optionTable(origin));
}

/** Light or dark, as the system has it until a button is pressed. */
const theme = {
  system: matchMedia('(prefers-color-scheme: dark)'),
  set(isDark) { document.documentElement.dataset.theme = isDark ? 'dark' : 'light'; },
  flip() { theme.set(document.documentElement.dataset.theme !== 'dark'); },
};
theme.set(theme.system.matches);
theme.system.addEventListener('change', event => theme.set(event.matches));

