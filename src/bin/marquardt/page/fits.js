/** Fits of the page; of many, some are drawn, and of the others there are results alone. */
const fits = data.fits || [];
/** The axis of x that data and residuals share. */
const axes = { logX: data.log && data.log[0] };
/** Names of series and kinds of layers that are not drawn. */
const hidden = new Set();
/** The fit that is shown; -1 for all. */
let selected = fits.length > 1 ? -1 : 0;

const nameOf = (fit, series) => series.name || fit.y_label;
const drawnFits = fits.filter(fit => fit.series);
const shownFits = () => (selected < 0 ? drawnFits : [fits[selected]]);

/** All series that are shown, with their colours and symbols. */
function shownSeries() {
  const all = drawnFits.flatMap(fit => fit.series.map(series => ({ fit, series })));
  return all.map((one, style) => ({ ...one, style })).filter(({ fit }) => shownFits().includes(fit));
}

const KINDS = { data: 'data', weak: 'weight below 50 %', errors: 'error bars, ±1 σ', curve: 'fitted curve', confidence: '95 % confidence band', prediction: '95 % prediction band', outliers: 'outliers, left out' };

/** Layers of points: those that count, and those that a robust loss gives little weight. */
function pointLayers(base, points, y, own) {
  const isWeak = i => points.weights && points.weights[i] < 0.5;
  const all = points.x.map((_, i) => i);
  const layer = (key, indices, more) => {
    const pick = values => values && indices.map(i => values[i]);
    return { ...base, kind: 'points', key, indices, x: pick(points.x), y: pick(y), counts: pick(points.counts), color: color(own), ...more };
  };
  return [layer('data', all.filter(i => !isWeak(i)), {}), layer('weak', all.filter(isWeak), { isRing: true })];
}

/** The layers of a series, the lowest first. */
function layersOf({ fit, series, style }, isSingle, isSmall) {
  const { points } = series;
  const own = isSingle ? 0 : style;
  const curve = isSingle ? 1 : style;
  const name = nameOf(fit, series);
  const base = { fit, series, name, symbol: own };
  const band = (kind, opacity) => ({ ...base, kind: 'band', key: kind, x: series[kind][0], low: series[kind][1], high: series[kind][2], color: color(curve), opacity });
  const line = { ...base, kind: 'line', key: 'curve', x: series.line[0], y: series.line[1], color: color(curve), dash: isSingle ? null : DASHES[Math.floor(style / 7) % 5], thickness: isSmall ? 1.5 : 2.2, hasRim: points.x.length > 1000 };
  const terms = series.terms.map((term, i) => ({ ...base, kind: 'line', key: term.name, x: term.line[0], y: term.line[1], color: color(isSingle ? i + 2 : curve), dash: DASHES[1 + (i % 4)], thickness: 1.6 }));
  const hasBars = !isSmall && (points.errors || points.x_errors);
  const layers = [
    band('prediction', 0.1), band('confidence', 0.25), ...(isSmall ? [] : terms),
    ...(hasBars ? [{ ...base, kind: 'bars', key: 'errors', x: points.x, y: points.y, errors: points.errors, xErrors: points.x_errors, color: color(own) }] : []),
    ...pointLayers(base, points, points.y, own),
    line,
    { ...base, kind: 'points', key: 'outliers', isCross: true, x: series.outliers[0], y: series.outliers[1], color: 'var(--bad)' },
  ];
  return layers.filter(layer => layer.x.length);
}

const isSingle = of => of.length === 1;
const isVisible = layer => !hidden.has(layer.key) && !hidden.has(`series ${layer.name}`);

/** The layers of a picture of series. */
function pictureLayers(series) {
  const single = isSingle(series);
  const diagonal = fit => ({ kind: 'line', key: 'curve', name: fit.y_label, x: fit.series[0].points.x.slice().sort((a, b) => a - b), color: color(1) });
  const lines = view === 'parts' ? shownFits().filter(fit => fit.x_label.startsWith('fitted ') && !fit.series[0].line[0].length).map(diagonal) : [];
  const layers = series.flatMap(one => layersOf(one, single));
  return layers.concat(lines.map(line => ({ ...line, y: line.x }))).filter(isVisible);
}

function residualLayers() {
  const series = shownSeries();
  const single = isSingle(series);
  const strips = [...new Set(shownFits().map(fit => fit.strip))].filter(strip => strip != null);
  const strip = strips.length === 1 ? [{ kind: 'strip', low: [-strips[0]], high: [strips[0]], color: 'var(--muted)', opacity: 0.18 }] : [];
  const points = series.flatMap(({ fit, series, style }) => {
    const own = single ? 0 : style;
    return pointLayers({ fit, series, name: nameOf(fit, series), symbol: own }, series.points, series.points.residuals, own);
  }).filter(layer => layer.x.length && isVisible({ ...layer, name: view === 'parts' ? layer.name : nameOf(layer.fit, { name: layer.fit.group }) }));
  return [...strip, { kind: 'strip', low: [0], high: [0], color: 'none', stroke: 'var(--muted)' }, ...points];
}

/** A value of a line at `x`, between its points. */
function along([xs, ...values], x) {
  const next = xs.findIndex(other => other >= x);
  if (next < 0) return null;
  const share = next && xs[next] > xs[next - 1] ? (x - xs[next - 1]) / (xs[next] - xs[next - 1]) : 1;
  return values.map(ys => (next ? ys[next - 1] + share * (ys[next] - ys[next - 1]) : ys[0]));
}

function describe(layer, at) {
  const { fit, series } = layer;
  const x = layer.x[at];
  const i = layer.indices ? layer.indices[at] : at;
  if (layer.key === 'outliers') return [['outlier', layer.name], [fit.x_label, number(x)], [fit.y_label, number(layer.y[at])]];
  const { points } = series;
  if (series.parts) return describeComplex(layer, i);
  const rows = [[fit.x_label, number(x)], [series.name || fit.y_label, number(points.y[i])], ['fitted', number(points.fitted[i])],
    ['residual', number(points.y[i] - points.fitted[i], 4)]];
  if (points.errors) rows.push(['σ', number(points.errors[i], 4)]);
  if (points.x_errors) rows.push([`σ of ${fit.x_label}`, number(points.x_errors[i], 4)]);
  if (points.weights) rows.push(['weight in the fit', `${number(100 * points.weights[i], 3)} %`]);
  if (fit.data.noise) rows.push(['residual / σ', number(points.residuals[i], 4)]);
  for (const [kind, name] of [['confidence', 'curve, 95 %'], ['prediction', 'new point, 95 %']]) {
    const ends = along(series[kind], x);
    if (ends) rows.push([name, `${number(ends[0])} … ${number(ends[1])}`]);
  }
  if (points.counts && points.counts[i] > 1) rows.push(['stands for', plural(points.counts[i], 'point')]);
  return rows;
}

const residualLabel = () => (shownFits().some(fit => fit.data.noise) ? 'residual / σ' : 'residual');

function legend(series, redraw) {
  const entries = new Map();
  const single = isSingle(series);
  for (const one of series) {
    const layers = layersOf(one, single);
    if (!single) {
      const points = layers.find(layer => layer.key === 'data');
      const line = layers.find(layer => layer.key === 'curve');
      entries.set(`series ${nameOf(one.fit, one.series)}`, [nameOf(one.fit, one.series), { ...points, dash: line?.dash, withLine: line != null }]);
    }
    for (const layer of layers) entries.has(layer.key) || entries.set(layer.key, [KINDS[layer.key] || layer.key, single ? layer : null]);
  }
  if (single && view === 'parts' && shownFits()[0].x_label.startsWith('fitted ')) entries.set('curve', ['observed = fitted', { kind: 'line', color: color(1) }]);
  const flip = key => {
    hidden.delete(key) || hidden.add(key);
    redraw();
    return !hidden.has(key);
  };
  const kinds = Object.keys(KINDS);
  const order = key => (key.startsWith('series ') ? -1 : kinds.includes(key) ? kinds.indexOf(key) : kinds.length);
  const all = [...entries].sort(([a], [b]) => order(a) - order(b)).map(([key, [text, layer]]) => toggle([layer ? swatch(layer) : null, make('span', { text })].filter(Boolean), !hidden.has(key), () => flip(key)));
  return make('div', { class: 'legend', role: 'group', 'aria-label': 'Legend: shows and hides' }, ...all);
}

function pictureSection() {
  if (!shownFits().every(fit => fit.series)) return section('Data and fit', make('p', { text: 'To keep the page small, this fit is not drawn. Its parameters are in the table of all fits.' }));
  const chooser = viewChooser();
  const views = viewOf();
  const charts = views.map(({ series, ...options }) => new Chart({ ...options, layers: () => pictureLayers(series), describe, pick: data.pick }));
  const main = charts[0];
  const residuals = new Chart({ label: `Residuals over ${shownFits()[0].x_label}.`, layers: residualLayers, xLabel: shownFits()[0].x_label, yLabel: residualLabel(), height: 190, axes, describe });
  axes.charts = [...charts.filter(chart => chart.axes === axes), residuals];
  axes.x = null;
  main.axes.charts = main.axes.charts || [main];
  const all = [...new Set([...charts, residuals])];
  const reset = () => { all.forEach(chart => { chart.y = null; }); main.zoom(); if (main.axes !== axes) residuals.zoom(); };
  const flip = (of, key) => () => { of[key] = !of[key]; reset(); return of[key]; };
  const logs = view === 'nyquist' ? [] : [toggle('log x', axes.logX, flip(axes, 'logX')), toggle('log y', main.logY, flip(main, 'logY'))];
  const tools = make('div', { class: 'tools', role: 'group', 'aria-label': 'View' },
    button('+', () => main.zoomCenter(0.8), { 'aria-label': 'Zoom in' }), button('−', () => main.zoomCenter(1.25), { 'aria-label': 'Zoom out' }), button('Reset', reset, { id: 'reset' }), ...logs);
  const hint = make('p', { class: 'hint' });
  const lost = make('p', { class: 'hint lost', role: 'status' });
  main.onDraw = () => {
    hint.textContent = hintText();
    const count = main.lost;
    const text = count ? `${plural(count, 'point')} ${count === 1 ? 'is' : 'are'} not drawn: a logarithmic axis has no place for values of zero or less.` : '';
    if (lost.textContent !== text) lost.textContent = text;
  };
  const redraw = () => all.forEach(chart => chart.draw());
  return section('Data and fit', chooser, make('div', { class: 'bar' }, legend(views[0].series, redraw), tools), ...all.map(chart => chart.host), lost, hint, dataTable());
}

function hintText() {
  const series = shownSeries();
  const total = series.reduce((sum, one) => sum + one.series.points.total, 0);
  const drawn = series.reduce((sum, one) => sum + one.series.points.x.length, 0);
  const thinned = drawn < total ? ` Of ${plural(total, 'point')}, ${drawn.toLocaleString('en')} are drawn, each for its neighbourhood: the stronger, the more points it stands for.` : '';
  const strips = new Set(shownFits().map(fit => fit.strip));
  const strip = strips.size === 1 && !strips.has(null) ? ' The grey strip of the residuals is ±1 standard deviation.' : '';
  return `Drag to zoom, or turn the wheel; double-click to reset.${data.pick ? ' Click a point to leave it out, and again to take it.' : ''}${strip}${thinned}`;
}

/** Observations as a table, made when it is opened. */
function dataTable() {
  const most = 200;
  const single = isSingle(shownSeries());
  const heading = () => [...(single ? [] : ['series']), shownFits()[0].x_label, 'observed', 'fitted', 'residual'];
  const rows = () => shownSeries().flatMap(({ fit, series }) => series.points.x.map((x, i) => {
    const { y, fitted } = series.points;
    return [...(single ? [] : [nameOf(fit, series)]), x, y[i], fitted[i], y[i] - fitted[i]];
  })).slice(0, most);
  const details = make('details', { toggle: () => details.children.length > 1 || details.append(table(`The first ${most} points, at most`, heading(), rows())) }, make('summary', { text: 'Points as a table' }));
  return details;
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
  const interval = p => (p.interval ? `${ending(p.interval.low, p.standard_error)} … ${ending(p.interval.high, p.standard_error)}` : '–');
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
  if (names.length < 2 || !fit.correlation) return null;
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
  if (!fit.series) return [section('Parameters', parameterTable('As they were fitted', fit.parameters))];
  const tables = fit.tables.map(([title, rows]) => ofCommand(title, rows));
  const figures = [quantileFigure(fit), ...fit.profiles.map(profileFigure), correlations(fit)].filter(Boolean);
  return [
    surfaceSection(fit),
    section('Parameters', parameterTable('As they were fitted', fit.parameters), parameterTable('Derived quantities', fit.derived), tables),
    section('Goodness of fit', statistics(fit)),
    section('Diagnostics', make('div', { class: 'figures' }, ...figures)),
    section('Settings', settings(fit)),
  ].filter(Boolean);
}

function select(index) {
  selected = index;
  render();
  document.getElementById('picture').scrollIntoView({ behavior: matchMedia('(prefers-reduced-motion: reduce)').matches ? 'auto' : 'smooth' });
}

/** All groups: a table that sorts, and a small picture of each. */
function overview() {
  const names = [...new Set(fits.flatMap(fit => fit.parameters.map(p => p.name)))];
  const heading = [data.group_by, 'points', ...names, 'residual sd', 'R²', 'status'];
  const cell = (fit, name) => {
    const p = fit.parameters.find(one => one.name === name);
    return p ? { text: measured(p), sort: p.value } : '';
  };
  const rows = fits.map((fit, i) => [
    { text: fit.group, sort: fit.group, act: () => select(i) }, fit.data.observations, ...names.map(name => cell(fit, name)),
    fit.statistics.residual_standard_deviation, fit.statistics.r_squared, statusWords(fit)[1].replace('The fit has ', '').replace('.', ''),
  ]);
  const small = drawnFits.map(fit => {
    const layers = () => fit.series.flatMap(series => layersOf({ fit, series, style: 0 }, fit.series.length === 1, true));
    return smallChart({ label: `${data.group_by} ${fit.group}`, layers, axes: { logX: data.log[0] }, logY: data.log[1] }, fit.group, fit.is_converged, () => select(fits.indexOf(fit)), fits.indexOf(fit));
  });
  const left = fits.length - drawnFits.length;
  const kept = left ? `Of ${plural(fits.length, 'fit')}, ${drawnFits.length} are drawn, spread evenly, with some that did not converge.` : '';
  const missing = data.missing_fits ? ` ${plural(data.missing_fits, 'further fit')} ${data.missing_fits === 1 ? 'is' : 'are'} left out here to keep the page small.` : '';
  const hint = kept || missing ? make('p', { class: 'hint', text: kept + missing }) : null;
  return section('Groups', groupStatus(), table(`A fit for each ${data.group_by}`, heading, rows, true), make('div', { class: 'multiples' }, ...small), hint);
}

/** How many fits have ended well. */
function groupStatus() {
  const { total, bad, warned, failed_total: failed } = data;
  const ended = bad ? `${plural(bad, 'fit')} of ${total.toLocaleString('en')} did not end well.` : `All ${total.toLocaleString('en')} fits have converged${warned ? `, ${warned.toLocaleString('en')} with warnings` : ''}.`;
  const words = failed ? `${plural(failed, 'further fit')} could not be made. ${ended}` : ended;
  const kind = bad || failed ? 'bad' : warned ? 'care' : 'good';
  return make('p', { class: `summary ${kind}` }, make('strong', { text: `${{ good: '✓', care: '⚠', bad: '✗' }[kind]} ${words}` }));
}

/** Fits that could not be made, and why. */
function failedFitsSection() {
  const { failed, failed_total: total } = data;
  if (!total) return null;
  const title = failed.length < total ? `The first ${failed.length} of ${total.toLocaleString('en')}` : `${plural(total, 'fit')} could not be made`;
  return section('Failed fits', table(title, ['reason'], failed.map(reason => [reason])));
}

function chooser() {
  const options = [make('option', { value: -1, text: 'all groups' }), ...fits.map((fit, i) => make('option', { value: i, text: fit.group }))];
  const choice = make('select', { change: () => select(Number(choice.value)) }, ...options);
  choice.value = selected;
  return make('label', { class: 'choose' }, `Shown: `, choice);
}

const picture = make('div', { id: 'picture' });
const rest = make('div');

/** Shows the selected fit. */
function render() {
  const fit = fits[selected];
  const count = shownFits().reduce((sum, one) => sum + (one.series || []).length, 0);
  hidden.clear();
  // The bands of many series would hide the curves.
  if (count > 1) hidden.add('prediction');
  if (count > 4) ['confidence', 'errors'].forEach(key => hidden.add(key));
  if (count > 1) shownFits().flatMap(one => one.series || []).flatMap(series => series.terms).forEach(term => hidden.add(term.name));
  const tests = data.tests ? section('Is a parameter the same in all groups?', ofCommand('Tests', data.tests)) : null;
  picture.replaceChildren(...[fits.length > 1 ? chooser() : null, fit && fits.length > 1 ? status(fit) : null, pictureSection()].filter(Boolean));
  rest.replaceChildren(...[...(fit ? details(fit) : []), tests, originSection()].filter(Boolean));
  document.querySelectorAll('.small').forEach(one => one.setAttribute('aria-pressed', String(Number(one.dataset.index) === selected)));
}

/** The page of a fit, or of the fits of groups. */
function pageOfFits() {
  const first = fits.length === 1 ? status(fits[0]) : overview();
  const names = fits[0].parameters.map(p => p.name);
  const values = fits.map(fit => (fit.is_converged ? [...names.map(name => fit.parameters.find(p => p.name === name)?.value), fit.statistics.residual_standard_deviation] : []));
  const plate = fits.length > 1 ? plateSection(fits.map(fit => fit.group), [...names, 'residual sd'], values, select) : null;
  return { formula: drawnFits[0]?.model || '', content: [first, failedFitsSection(), plate, picture, rest].filter(Boolean), render };
}
