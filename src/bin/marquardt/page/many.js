/** Shows the larger part of the predictors, which lie close together on a linear axis, by a logarithmic one. */
function isLogarithmic(x) {
  const sorted = [...x].sort((a, b) => a - b);
  const [low, middle, high] = [sorted[0], sorted[Math.floor(sorted.length / 2)], sorted.at(-1)];
  return low > 0 && high / low >= 30 && middle < 0.2 * high;
}

/** Histogram of a quantity. */
function distributionFigure({ name, count, quantiles: [low, first, median, third, high], bins, outside }) {
  const beyond = outside[0] + outside[1];
  const words = `${name}: median ${number(median, 4)}, half of the fits from ${number(first, 4)} to ${number(third, 4)}${beyond ? `; ${plural(beyond, 'value')} beyond the axis` : ''}.`;
  if (!(high > low)) return make('figure', {}, make('figcaption', { text: `${name}: ${number(median, 6)} in ${count === 1 ? 'the fit' : `all ${count.toLocaleString('en')} fits`}.` }));
  const edges = Array.from({ length: bins.length + 1 }, (_, i) => low + ((high - low) * i) / bins.length);
  const layers = () => [{ kind: 'columns', x: edges, y: bins, color: color(0) }, { kind: 'line', x: [median, median], y: [0, Math.max(...bins)], color: color(1) }];
  const chart = new Chart({ label: `Distribution of ${words}`, layers, xLabel: name, yLabel: 'fits', height: 210 });
  chart.y = [0, 1.06 * Math.max(...bins)];
  return figure(chart, words);
}

const manyName = name => (data.is_numbered ? `fit ${name}` : name);

/** Chart layers of a fit that is drawn. */
function manyLayers({ y, line }, isSmall) {
  return [
    { kind: 'points', key: 'data', x: data.x, y, color: color(0), symbol: 0 },
    { kind: 'line', key: 'curve', x: data.grid, y: line, color: color(1), thickness: isSmall ? 1.5 : 2.2 },
  ].filter(layer => layer.y.length);
}

const large = make('div', { id: 'picture' });
let hasLogX = data.kind === 'many' && isLogarithmic(data.x);

/** Shows a fit at its full size. */
function showFit(drawn, isFirst) {
  const [name, values, errors, misfit, iterations] = drawn.fit;
  const axes = { logX: hasLogX };
  const describeMany = (layer, i) => [[data.x_label, number(data.x[i])], ['y', number(drawn.y[i])]];
  const label = `${manyName(name)}: data and fitted curve.`;
  const chart = new Chart({ label, layers: () => manyLayers(drawn), xLabel: data.x_label, yLabel: 'y', height: 340, axes, describe: describeMany });
  const parameters = data.parameters.map((parameter, i) => [parameter, measured({ value: values[i], standard_error: errors[i] })]);
  const facts = list([...parameters, [data.misfit, misfit], ['steps', iterations], ['status', drawn.status]], 'close');
  const log = toggle('log x', hasLogX, () => { hasLogX = axes.logX = !axes.logX; chart.zoom(); return axes.logX; });
  const tools = make('div', { class: 'tools', role: 'group', 'aria-label': 'View' }, button('Reset', () => chart.zoom(), { id: 'reset' }), log);
  large.replaceChildren(section(manyName(name), make('div', { class: 'bar' }, make('p', { class: 'hint', text: 'Drag to zoom, or turn the wheel; double-click to reset.' }), tools), chart.host, facts));
  document.querySelectorAll('.small').forEach(one => one.setAttribute('aria-pressed', String(data.drawn[one.dataset.index] === drawn)));
  if (!isFirst) large.scrollIntoView({ behavior: matchMedia('(prefers-reduced-motion: reduce)').matches ? 'auto' : 'smooth' });
}

/** Small pictures of some fits. */
function multiplesSection() {
  const failed = data.drawn.filter(drawn => drawn.reason === 'failed').length;
  const titles = { failed: failed < data.total - data.converged ? 'Some of those that failed' : 'Those that failed', misfit: `Those with the largest ${data.misfit}`, spread: data.drawn.length < data.total ? 'Spread evenly' : 'All' };
  const groups = Object.entries(titles).map(([reason, title]) => {
    const own = data.drawn.filter(drawn => drawn.reason === reason);
    if (reason === 'misfit') own.sort((a, b) => b.fit[3] - a.fit[3]);
    if (!own.length) return [];
    const small = own.map(drawn => smallChart({ label: manyName(drawn.fit[0]), layers: () => manyLayers(drawn, true), axes: { logX: hasLogX } }, drawn.fit[0], drawn.fit[5], () => showFit(drawn), data.drawn.indexOf(drawn)));
    return [make('h3', { text: title }), make('div', { class: 'multiples' }, ...small)];
  });
  return data.drawn.length ? section('Fits', ...groups.flat()) : null;
}

function manyTable() {
  const heading = [data.is_numbered ? 'fit' : 'column', ...data.parameters, data.misfit, 'steps', 'status'];
  const drawnOf = new Map(data.drawn.map(drawn => [drawn.fit[0], drawn]));
  const rows = data.rows.map(([name, values, errors, misfit, iterations, isConverged]) => {
    const drawn = drawnOf.get(name);
    const cells = values.map((value, i) => ({ text: measured({ value, standard_error: errors[i] }), sort: value }));
    return [{ text: name, sort: name, act: drawn && (() => showFit(drawn)) }, ...cells, misfit, iterations, isConverged ? 'converged' : 'failed'];
  });
  const title = data.rows.length < data.total ? `${plural(data.rows.length, 'fit')} of ${data.total.toLocaleString('en')}, spread evenly` : 'All fits';
  return section('Parameters', table(title, heading, rows, true));
}

function failedSection() {
  if (!data.failed.length) return null;
  const count = data.total - data.converged;
  const title = data.failed.length < count ? `The first ${data.failed.length} of ${count.toLocaleString('en')}` : 'All that failed';
  return section('Failed fits', table(title, [data.is_numbered ? 'fit' : 'column', 'reason'], data.failed, true));
}

function manyStatus() {
  const failed = data.total - data.converged;
  const kind = !failed ? 'good' : data.converged ? 'care' : 'bad';
  const words = !failed ? `All ${plural(data.total, 'fit')} have converged.` : `${plural(failed, 'fit')} of ${data.total.toLocaleString('en')} failed.`;
  const reasons = data.reasons.map(([reason, count]) => make('li', { text: `${reason}: ${plural(count, 'fit')}` }));
  return make('div', { class: `status ${kind}` }, make('p', {}, make('strong', { text: `${{ good: '✓', care: '⚠', bad: '✗' }[kind]} ${words}` }), ` ${plural(data.points, 'point')} each.`), reasons.length ? make('ul', {}, ...reasons) : null);
}

function manyPlate() {
  if (data.is_numbered || data.rows.length < data.total) return null;
  const act = index => {
    const drawn = data.drawn.find(one => one.fit[0] === data.rows[index][0]);
    if (drawn) showFit(drawn);
  };
  return plateSection(data.rows.map(row => row[0]), [...data.parameters, data.misfit], data.rows.map(([, values, , misfit, , isGood]) => (isGood ? [...values, misfit] : [])), act);
}

const sampleHint = () => (data.sampled < data.total ? [make('p', { class: 'hint', text: `Of ${data.sampled.toLocaleString('en')} of the ${data.total.toLocaleString('en')} fits, spread evenly.` })] : []);

/** The page of many fits. */
function pageOfMany() {
  // A few fits have no distribution to speak of.
  const figures = data.converged < 5 ? [] : data.distributions.map(distributionFigure);
  const content = [manyStatus(), imageSection(), manyPlate(), figures.length ? section('Distributions', make('div', { class: 'figures' }, ...figures), ...sampleHint()) : null, multiplesSection(), large, manyTable(), failedSection(), originSection()];
  const render = () => data.drawn.length && showFit(data.drawn.find(drawn => drawn.reason === 'spread') || data.drawn[0], true);
  return { formula: data.model, content: content.filter(Boolean), render };
}
