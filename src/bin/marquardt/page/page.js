const data = JSON.parse(document.getElementById('data').textContent);
const { fits, origin } = data;
/** The axis of x that data and residuals share. */
const axes = { logX: data.log[0] };
/** Names of series and kinds of layers that are not drawn. */
const hidden = new Set();
/** The fit that is shown; -1 for all. */
let selected = fits.length > 1 ? -1 : 0;

const color = index => `var(--s${index % 7})`;
const nameOf = (fit, series) => series.name || fit.y_label;
const plural = (count, word) => `${count.toLocaleString('en')} ${word}${count === 1 ? '' : 's'}`;
const shownFits = () => (selected < 0 ? fits : [fits[selected]]);

/** All series that are shown, with their colours and symbols. */
function shownSeries() {
  const all = fits.flatMap(fit => fit.series.map(series => ({ fit, series })));
  return all.map((one, style) => ({ ...one, style })).filter(({ fit }) => shownFits().includes(fit));
}

const KINDS = { data: 'data', curve: 'fitted curve', confidence: '95 % confidence band', prediction: '95 % prediction band', outliers: 'outliers, left out' };

/** The layers of a series, the lowest first. */
function layersOf({ fit, series, style }, isSingle, isSmall) {
  const { points } = series;
  const own = isSingle ? 0 : style;
  const curve = isSingle ? 1 : style;
  const name = nameOf(fit, series);
  const base = { fit, series, name, symbol: own };
  const band = (kind, opacity) => ({ ...base, kind: 'band', key: kind, x: series[kind][0], low: series[kind][1], high: series[kind][2], color: color(curve), opacity });
  const line = { ...base, kind: 'line', key: 'curve', x: series.line[0], y: series.line[1], color: color(curve), dash: isSingle ? null : DASHES[Math.floor(style / 7) % 5], thickness: isSmall ? 1.5 : 2.2, hasRim: points.x.length > 1000 };
  const terms = series.terms.map((term, i) => ({ ...base, kind: 'line', key: `${i + 1}. ${term.name}`, x: term.line[0], y: term.line[1], color: color(i + 2), dash: DASHES[1 + (i % 4)], thickness: 1.6 }));
  const layers = [
    band('prediction', 0.1), band('confidence', 0.25), ...(isSmall ? [] : terms),
    { ...base, kind: 'points', key: 'data', x: points.x, y: points.y, counts: points.counts, color: color(own) },
    line,
    { ...base, kind: 'points', key: 'outliers', isCross: true, x: series.outliers[0], y: series.outliers[1], color: 'var(--bad)' },
  ];
  return layers.filter(layer => layer.x.length);
}

const isSingle = () => shownSeries().length === 1;
const isVisible = layer => !hidden.has(layer.key) && !hidden.has(`series ${layer.name}`);

function pictureLayers() {
  const single = isSingle();
  const diagonal = fit => ({ kind: 'line', key: 'curve', name: fit.y_label, x: fit.series[0].points.x.slice().sort((a, b) => a - b), color: color(1) });
  const lines = shownFits().filter(fit => fit.x_label.startsWith('fitted ') && !fit.series[0].line[0].length).map(diagonal);
  const layers = shownSeries().flatMap(one => layersOf(one, single));
  return layers.concat(lines.map(line => ({ ...line, y: line.x }))).filter(isVisible);
}

function residualLayers() {
  const single = isSingle();
  const strips = [...new Set(shownFits().map(fit => fit.strip))].filter(strip => strip != null);
  const strip = strips.length === 1 ? [{ kind: 'strip', low: [-strips[0]], high: [strips[0]], color: 'var(--muted)', opacity: 0.18 }] : [];
  const points = shownSeries().map(({ fit, series, style }) => ({
    fit, series, kind: 'points', key: 'data', name: nameOf(fit, series), symbol: single ? 0 : style,
    x: series.points.x, y: series.points.residuals, counts: series.points.counts, color: color(single ? 0 : style),
  })).filter(isVisible);
  return [...strip, { kind: 'strip', low: [0], high: [0], color: 'none', stroke: 'var(--muted)' }, ...points];
}

/** A value of a line at `x`, between its points. */
function along([xs, ...values], x) {
  const next = xs.findIndex(other => other >= x);
  if (next < 0) return null;
  const share = next && xs[next] > xs[next - 1] ? (x - xs[next - 1]) / (xs[next] - xs[next - 1]) : 1;
  return values.map(ys => (next ? ys[next - 1] + share * (ys[next] - ys[next - 1]) : ys[0]));
}

function describe(layer, i) {
  const { fit, series } = layer;
  const x = layer.x[i];
  if (layer.key === 'outliers') return [['outlier', layer.name], [fit.x_label, number(x)], [fit.y_label, number(layer.y[i])]];
  const { points } = series;
  const rows = [[fit.x_label, number(x)], [series.name || fit.y_label, number(points.y[i])], ['fitted', number(points.fitted[i])],
    ['residual', number(points.y[i] - points.fitted[i], 4)]];
  if (fit.data.noise) rows.push(['residual / σ', number(points.residuals[i], 4)]);
  for (const [kind, name] of [['confidence', 'curve, 95 %'], ['prediction', 'new point, 95 %']]) {
    const ends = along(series[kind], x);
    if (ends) rows.push([name, `${number(ends[0])} … ${number(ends[1])}`]);
  }
  if (points.counts && points.counts[i] > 1) rows.push(['stands for', plural(points.counts[i], 'point')]);
  return rows;
}

const residualLabel = () => (shownFits().some(fit => fit.data.noise) ? 'residual / σ' : 'residual');

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
  if (layer.kind === 'band') picture.append(shape('rect', { width: 28, height: 14, fill: layer.color, opacity: 2 * layer.opacity }));
  if (layer.kind === 'line' || layer.withLine) picture.append(shape('path', { d: 'M0 7h28', stroke: layer.color, class: 'line', 'stroke-width': 2, 'stroke-dasharray': layer.dash }));
  if (layer.kind === 'points') picture.append(shape('path', { d: symbolOf(layer)(14, 7, 4), ...paint(layer, 4) }));
  return picture;
}

function legend(redraw) {
  const entries = new Map();
  const single = isSingle();
  for (const one of shownSeries()) {
    const layers = layersOf(one, single);
    if (!single) {
      const points = layers.find(layer => layer.key === 'data');
      const line = layers.find(layer => layer.key === 'curve');
      entries.set(`series ${nameOf(one.fit, one.series)}`, [nameOf(one.fit, one.series), { ...points, dash: line?.dash, withLine: true }]);
    }
    for (const layer of layers) if (single || KINDS[layer.key]) entries.has(layer.key) || entries.set(layer.key, [KINDS[layer.key] || layer.key, single ? layer : null]);
  }
  if (single && shownFits()[0].x_label.startsWith('fitted ')) entries.set('curve', ['observed = fitted', { kind: 'line', color: color(1) }]);
  const flip = key => {
    hidden.delete(key) || hidden.add(key);
    redraw();
    return !hidden.has(key);
  };
  const order = key => (key.startsWith('series ') ? -1 : [...Object.keys(KINDS), key].indexOf(key));
  const all = [...entries].sort(([a], [b]) => order(a) - order(b)).map(([key, [text, layer]]) => toggle([layer ? swatch(layer) : null, make('span', { text })].filter(Boolean), !hidden.has(key), () => flip(key)));
  return make('div', { class: 'legend', role: 'group', 'aria-label': 'Legend: shows and hides' }, ...all);
}

function pictureSection() {
  const labels = shownFits()[0];
  const yLabel = [...new Set(shownFits().map(fit => fit.y_label))].join(', ');
  const about = isSingle() ? `${yLabel} over ${labels.x_label}, with the fitted curve and its bands.` : `${yLabel} over ${labels.x_label}, ${plural(shownSeries().length, 'series')}.`.replace('seriess', 'series');
  const main = new Chart({ label: `Data and fit: ${about}`, layers: pictureLayers, yLabel, height: 400, axes, logY: data.log[1], describe });
  const residuals = new Chart({ label: `Residuals over ${labels.x_label}.`, layers: residualLayers, xLabel: labels.x_label, yLabel: residualLabel(), height: 190, axes, describe });
  axes.charts = [main, residuals];
  axes.x = null;
  const reset = () => { residuals.y = null; main.zoom(); };
  const tools = make('div', { class: 'tools', role: 'group', 'aria-label': 'View' },
    button('+', () => main.zoomCenter(0.8), { 'aria-label': 'Zoom in' }), button('−', () => main.zoomCenter(1.25), { 'aria-label': 'Zoom out' }), button('Reset', reset, { id: 'reset' }),
    toggle('log x', axes.logX, () => { axes.logX = !axes.logX; reset(); return axes.logX; }),
    toggle('log y', main.logY, () => { main.logY = !main.logY; reset(); return main.logY; }));
  const total = shownSeries().reduce((sum, { series }) => sum + series.points.total, 0);
  const drawn = shownSeries().reduce((sum, { series }) => sum + series.points.x.length, 0);
  const thinned = drawn < total ? ` Of ${plural(total, 'point')}, ${drawn.toLocaleString('en')} are drawn, each for its neighbourhood: the stronger, the more points it stands for.` : '';
  const strip = shownFits().some(fit => fit.strip != null) && new Set(shownFits().map(fit => fit.strip)).size === 1 ? ' The grey strip of the residuals is ±1 standard deviation.' : '';
  const hint = make('p', { class: 'hint', text: `Drag to zoom, or turn the wheel; double-click to reset.${strip}${thinned}` });
  return section('Data and fit', make('div', { class: 'bar' }, legend(() => main.redraw()), tools), main.host, residuals.host, hint, dataTable());
}

/** Observations as a table, made when it is opened. */
function dataTable() {
  const most = 200;
  const heading = () => [...(isSingle() ? [] : ['series']), shownFits()[0].x_label, 'observed', 'fitted', 'residual'];
  const rows = () => shownSeries().flatMap(({ fit, series }) => series.points.x.map((x, i) => {
    const { y, fitted } = series.points;
    return [...(isSingle() ? [] : [nameOf(fit, series)]), x, y[i], fitted[i], y[i] - fitted[i]];
  })).slice(0, most);
  const details = make('details', { toggle: () => details.children.length > 1 || details.append(table(`The first ${most} points, at most`, heading(), rows())) }, make('summary', { text: 'Points as a table' }));
  return details;
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

function note(p) {
  const within = { fixed: 'fixed', tied: `= ${p.tie}`, at_lower_bound: `at its lower bound, ${number(p.lower)}`, at_upper_bound: `at its upper bound, ${number(p.upper)}`, undetermined: 'not determined by the data' }[p.state];
  const bounds = p.lower != null || p.upper != null ? `within ${number(p.lower ?? '-inf')} … ${number(p.upper ?? 'inf')}` : '';
  const prior = p.prior ? `prior ${number(p.prior.mean)} ± ${number(p.prior.standard_deviation)}` : '';
  return [within || bounds, prior].filter(Boolean).join('; ');
}

function parameterTable(caption, parameters) {
  if (!parameters || !parameters.length) return null;
  const relative = p => (typeof p.standard_error === 'number' && p.value && p.state !== 'fixed' ? `${number(Math.abs((100 * p.standard_error) / p.value), 3)} %` : '–');
  const interval = p => (p.interval ? `${number(p.interval.low)} … ${number(p.interval.high)}` : '–');
  const start = parameters.some(p => p.start != null);
  const heading = ['name', 'value ± standard error', 'relative', '95 % interval', ...(start ? ['start'] : []), 'note'];
  return table(caption, heading, parameters.map(p => [p.name, ...[measured(p), relative(p), interval(p), ...(start ? [number(p.start)] : [])].map(text => ({ text, sort: 0 })), note(p)]));
}

function statusWords(fit) {
  if (fit.is_unusable) return ['bad', 'Nothing can be concluded from this fit.'];
  if (!fit.is_converged) return ['bad', 'The fit has not converged.'];
  return fit.warnings.length ? ['care', 'The fit has converged, with warnings.'] : ['good', 'The fit has converged.'];
}

function status(fit) {
  const [kind, words] = statusWords(fit);
  const steps = `It ended after ${plural(fit.iterations, 'step')}: ${fit.status}.`;
  const warnings = fit.warnings.map(text => make('li', { text: `Warning: ${text}.` }));
  return make('div', { class: `status ${kind}` }, make('p', {}, make('strong', { text: `${{ good: '✓', care: '⚠', bad: '✗' }[kind]} ${words}` }), ` ${steps}`), warnings.length ? make('ul', {}, ...warnings) : null);
}

/** A table of the command, in which names have underscores. */
const ofCommand = (title, { heading, rows }) => table(title, heading.map(text => text.replace(/_/g, ' ')), rows);

function figure(chart, caption) {
  return make('figure', {}, chart.host, make('figcaption', { text: caption }));
}

function quantileFigure(fit) {
  const [x, y] = fit.quantiles;
  if (x.length < 3) return null;
  const unit = fit.strip ?? 1;
  const layers = () => [
    { kind: 'line', x: [x[0], x.at(-1)], y: [x[0] * unit, x.at(-1) * unit], color: color(1) },
    { kind: 'points', x, y, color: color(0), symbol: 0 }];
  const label = 'Normal quantiles of the residuals: points near the line mean normal residuals.';
  return figure(new Chart({ label, layers, xLabel: 'normal quantile', yLabel: residualLabel(), height: 240 }), label);
}

function profileFigure({ name, line: [x, tau], interval: [low, high] }) {
  const y = tau.map(root => root * root);
  const level = Math.max(...y);
  const layers = () => [
    { kind: 'band', x: [low ?? x[0], high ?? x.at(-1)], low: [0, 0], high: [level, level], color: color(1), opacity: 0.12 },
    { kind: 'line', x: [x[0], x.at(-1)], y: [level, level], color: 'var(--muted)', dash: '5 4', thickness: 1.2 },
    { kind: 'line', x, y, color: color(1) }, { kind: 'points', x, y, color: color(0), symbol: 0 }];
  const words = `Profile of ${name}: the 95 % interval is ${number(low)} … ${number(high)}.`;
  return figure(new Chart({ label: words, layers, xLabel: name, yLabel: 'rise of χ² / s²', height: 220 }), words);
}

function correlations(fit) {
  const names = fit.parameters.map(p => p.name);
  if (names.length < 2 || names.length > 40) return null;
  const isKnown = i => fit.parameters[i].standard_error > 0;
  const cell = (value, i, j) => {
    const td = make('td', { text: isKnown(i) && isKnown(j) ? minus((Math.round(100 * value) / 100 + 0).toFixed(2)) : '–' });
    td.style.setProperty('--share', `${Math.round(45 * Math.abs(value || 0))}%`);
    td.className = !isKnown(i) || !isKnown(j) ? '' : value < 0 ? 'negative' : 'positive';
    return td;
  };
  const rows = fit.correlation.map((row, i) => make('tr', {}, make('th', { scope: 'row', text: names[i] }), ...row.map((value, j) => cell(value, i, j))));
  const head = make('tr', {}, make('td'), ...names.map(text => make('th', { scope: 'col', text })));
  const isTall = names.some(name => name.length > 8);
  const heat = make('table', { class: isTall ? 'heat tall' : 'heat' }, make('caption', { text: 'Correlations of the parameters' }), make('thead', {}, head), make('tbody', {}, ...rows));
  return make('div', { class: names.length > 5 ? 'scroll whole' : 'scroll', tabindex: 0, role: 'region', 'aria-label': 'Correlations' }, heat);
}

/** Names and values, without those that are not known. */
function list(entries, kind) {
  const known = entries.filter(([, value]) => value != null && value !== '');
  return make('dl', { class: kind }, ...known.map(([name, value]) => make('div', {}, make('dt', { text: name }), make('dd', { text: Number.isInteger(value) ? value.toLocaleString('en') : isNumber(value) ? number(value) : value }))));
}

function statistics(fit) {
  const s = fit.statistics;
  return list([['observations', fit.data.observations], ['rows left out', fit.data.omitted || null], ['degrees of freedom', s.degrees_of_freedom],
    ['residual sum of squares', s.residual_sum_of_squares], ['residual standard deviation', s.residual_standard_deviation], ['χ²', s.chi_squared],
    ['reduced χ²', s.reduced_chi_squared], ['R²', s.r_squared], ['AIC', s.aic], ['AICc', s.aicc], ['BIC', s.bic]], 'close');
}

function settings(fit) {
  const loss = fit.data.loss && `${fit.data.loss.name}, scale ${number(fit.data.loss.scale)}`;
  return list([['noise', fit.data.noise || 'the same for all points, from the residuals'], ['loss', loss || 'least squares'], ['steps', fit.iterations],
    ['evaluations', `${fit.evaluations}, ${fit.derivative_evaluations} of them with derivatives`], ['attempts', fit.attempts > 1 ? `${fit.attempts}; kept: ${fit.kept_attempt}` : null]]);
}

function details(fit) {
  const tables = fit.tables.map(([title, rows]) => ofCommand(title, rows));
  const figures = [quantileFigure(fit), ...fit.profiles.map(profileFigure), correlations(fit)].filter(Boolean);
  return [
    section('Parameters', parameterTable('As they were fitted', fit.parameters), parameterTable('Derived quantities', fit.derived), tables),
    section('Goodness of fit', statistics(fit)),
    section('Diagnostics', make('div', { class: 'figures' }, ...figures)),
    section('Settings', settings(fit)),
  ];
}

function select(index) {
  selected = index;
  render();
  document.getElementById('picture').scrollIntoView({ behavior: matchMedia('(prefers-reduced-motion: reduce)').matches ? 'auto' : 'smooth' });
}

/** All groups: a table that sorts, and a small picture of each. */
function overview() {
  const heading = [data.group_by, 'points', ...fits[0].parameters.map(p => p.name), 'residual sd', 'R²', 'status'];
  const rows = fits.map((fit, i) => [
    { text: fit.group, sort: fit.group, act: () => select(i) }, fit.data.observations, ...fit.parameters.map(p => ({ text: measured(p), sort: p.value })),
    fit.statistics.residual_standard_deviation, fit.statistics.r_squared, statusWords(fit)[1].replace('The fit has ', '').replace('.', ''),
  ]);
  const small = fits.map((fit, i) => {
    const layers = () => fit.series.flatMap(series => layersOf({ fit, series, style: 0 }, fit.series.length === 1, true));
    const chart = new Chart({ label: `${data.group_by} ${fit.group}`, layers, height: 110, isSmall: true, axes: { logX: data.log[0] }, logY: data.log[1] });
    chart.svg.setAttribute('aria-hidden', 'true');
    return make('button', { type: 'button', class: 'small', click: () => select(i) }, chart.host, make('span', { text: fit.group }));
  });
  return section('Groups', table(`A fit for each ${data.group_by}`, heading, rows, true), make('div', { class: 'multiples' }, ...small));
}

function originSection() {
  return section('Origin', list([['command', origin.command], ['data', origin.file], ['SHA-256 of the data', origin.sha256], ['program', `marquardt ${origin.version}`],
    ['date', `${new Date(1000 * origin.seconds).toISOString().replace('T', ' ').slice(0, 16)} UTC`]], 'lines'));
}

/** Light or dark, as the system has it until a button is pressed. */
const theme = {
  system: matchMedia('(prefers-color-scheme: dark)'),
  set(isDark) { document.documentElement.dataset.theme = isDark ? 'dark' : 'light'; },
  flip() { theme.set(document.documentElement.dataset.theme !== 'dark'); },
};
theme.set(theme.system.matches);
theme.system.addEventListener('change', event => theme.set(event.matches));

function chooser() {
  const options = [make('option', { value: -1, text: 'all groups' }), ...fits.map((fit, i) => make('option', { value: i, text: fit.group }))];
  const choice = make('select', { change: () => select(Number(choice.value)) }, ...options);
  choice.value = selected;
  return make('label', { class: 'choose' }, `Shown: `, choice);
}

const main = make('main');
const picture = make('div', { id: 'picture' });
const rest = make('div');

/** Shows the selected fit. */
function render() {
  const fit = fits[selected];
  const count = shownSeries().length;
  hidden.clear();
  // The bands of many series would hide the curves.
  if (count > 1) hidden.add('prediction');
  if (count > 4) hidden.add('confidence');
  const tests = data.tests ? section('Is a parameter the same in all groups?', ofCommand('Tests', data.tests)) : null;
  picture.replaceChildren(...[fits.length > 1 ? chooser() : null, fit && fits.length > 1 ? status(fit) : null, pictureSection()].filter(Boolean));
  rest.replaceChildren(...[...(fit ? details(fit) : []), tests, originSection()].filter(Boolean));
  main.querySelectorAll('.small').forEach((one, i) => one.setAttribute('aria-pressed', String(i === selected)));
}

function begin() {
  document.title = data.title;
  document.body.append(make('header', {}, make('div', {}, make('h1', { text: data.title }), make('p', { class: 'formula', text: fits[0]?.model || '' })),
    make('div', { class: 'tools' }, button('Light / dark', theme.flip), button('Print', () => print()))), main);
  if (fits.length === 1) main.append(status(fits[0]));
  else main.append(overview());
  main.append(picture, rest);
  render();
}

begin();
