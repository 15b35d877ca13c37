import { Chart, button, color, make, number } from 'report';
import { namesColumns } from './expression.js';

/** Positions of a slider on either side of the guess. */
const STEPS = 200;

/** Points of a curve, and of data, that are drawn. */
const CURVE = 240;
const POINTS = 2500;

/** Starts, bounds and ties of the parameters, with the curve that the starts give. */
export function parameterSection({ state, change, worker }) {
  const rows = make('div', { class: 'parameters' });
  const chartPlace = make('div');
  const reset = button('Guess the starts anew', () => change({ starts: {} }, { guess: true }));
  const details = make('details', { toggle: () => details.open && drawCurve() }, make('summary', { text: 'Starts by hand: drag, and see the curve' }), chartPlace, make('div', { class: 'sliders' }));
  const sliders = details.lastChild;
  const hint = make('p', { class: 'hint', text: 'Parameters appear when there are data and a model.' });
  const element = make('section', { id: 'parameters' }, make('h2', { text: '3 Parameters' }), hint, rows, details, make('div', { class: 'tools' }, reset));
  let chart = null;
  let line = null;

  const entry = (label, value, placeholder, set, more = {}) => {
    const input = make('input', { type: 'text', inputmode: 'text', 'aria-label': label, value: value ?? '', placeholder, size: 7, change: () => set(input.value.trim().replace(',', '.').replace(/−/g, '-')), ...more });
    return input;
  };
  const rounded = value => String(Number(Number(value).toPrecision(8)));

  function show() {
    const parameters = state.table && state.guesses?.parameters;
    hint.hidden = Boolean(parameters);
    details.hidden = reset.hidden = !parameters;
    if (!parameters) { rows.replaceChildren(); return; }
    if (rows.contains(document.activeElement) && rows.dataset.key === keyOf(parameters)) return;
    rows.dataset.key = keyOf(parameters);
    const isGrouped = Boolean(state.roles.group || state.table.isWide);
    const heading = ['parameter', 'start', 'lower', 'upper', 'fixed', ...(isGrouped ? ['shared'] : [])];
    const lines = parameters.map(({ name, value }) => {
      const [low = '', high = ''] = (state.bounds[name] ?? '').split('..');
      const bound = (end, text) => {
        if (text && !Number.isFinite(Number(text))) return;
        const ends = (state.bounds[name] ?? '..').split('..');
        ends[end] = text;
        const bounds = { ...state.bounds, [name]: ends.join('..') };
        if (ends.every(one => !one)) delete bounds[name];
        change({ bounds });
      };
      const start = entry(`Start of ${name}`, state.fixed[name] ?? state.starts[name] ?? '', String(Number(Number(value).toPrecision(4))), text => {
        if (text && !Number.isFinite(Number(text))) return;
        if (state.fixed[name] != null && text) change({ fixed: { ...state.fixed, [name]: text } });
        else { const starts = { ...state.starts, [name]: text }; if (!text) delete starts[name]; change({ starts }); }
      });
      const fix = make('input', { type: 'checkbox', 'aria-label': `${name} is fixed`, change: () => {
        const fixed = { ...state.fixed };
        if (fix.checked) fixed[name] = start.value || rounded(fittedValue(name) ?? value); else delete fixed[name];
        change({ fixed, shared: state.shared.filter(other => other !== name) });
      } });
      fix.checked = state.fixed[name] != null;
      const share = isGrouped ? make('input', { type: 'checkbox', 'aria-label': `All groups share ${name}`, change: () => change({ shared: share.checked ? [...state.shared, name] : state.shared.filter(other => other !== name) }) }) : null;
      if (share) share.checked = state.shared.includes(name);
      const cells = [start, entry(`Lower bound of ${name}`, low, '−∞', text => bound(0, text)), entry(`Upper bound of ${name}`, high, '∞', text => bound(1, text)), fix, ...(share ? [share] : [])];
      return make('tr', {}, make('th', { scope: 'row', text: name }), ...cells.map(cell => make('td', {}, cell)));
    });
    rows.replaceChildren(make('div', { class: 'scroll', tabindex: 0, role: 'region', 'aria-label': 'Starts and bounds of the parameters' }, make('table', {}, make('caption', { class: 'unseen', text: 'Starts and bounds of the parameters' }), make('thead', {}, make('tr', {}, ...heading.map(text => make('th', { scope: 'col', text })))), make('tbody', {}, ...lines))));
    showSliders(parameters);
  }

  /** The value of the last fit. */
  const fittedValue = name => state.found?.page.fits[0]?.parameters.find(one => one.name === name && typeof one.value === 'number')?.value;

  const keyOf = parameters => JSON.stringify([parameters.map(one => one.name), state.fixed, state.shared, state.roles.group, state.source?.name]);

  function showSliders(parameters) {
    if (sliders.contains(document.activeElement)) { drawCurve(); return; }
    sliders.replaceChildren(...parameters.map(({ name, value }) => {
      const begun = Number(state.fixed[name] ?? state.starts[name] ?? value);
      const span = Math.max(Math.abs(value), Math.abs(begun)) || 1;
      // From a tenth to ten times a positive value; around one of either sign.
      const isRatio = value > 0 && begun > 0;
      const toValue = step => (isRatio ? value * 10 ** (step / STEPS) : value + (2 * span * step) / STEPS);
      const toStep = one => Math.round(isRatio ? STEPS * Math.log10(one / value) : (STEPS * (one - value)) / (2 * span));
      const shown = make('output', { text: number(begun, 4) });
      const slider = make('input', { type: 'range', min: -STEPS, max: STEPS, step: 1, 'aria-label': `Start of ${name}`,
        input: () => { state.starts = { ...state.starts, [name]: rounded(toValue(Number(slider.value))) }; shown.textContent = number(Number(state.starts[name]), 4); slider.setAttribute('aria-valuetext', shown.textContent); drawCurve(); },
        change: () => change({ starts: state.starts }) });
      slider.value = toStep(begun);
      slider.setAttribute('aria-valuetext', shown.textContent);
      return make('label', { class: 'slider' }, make('span', { text: name }), slider, shown);
    }));
    if (details.open) drawCurve();
  }

  let isDrawing = false;
  let isAgain = false;

  /** Draws the data, and the curve of the starts. */
  async function drawCurve() {
    if (!details.open || !state.guesses) return;
    if (isDrawing) { isAgain = true; return; }
    isDrawing = true;
    try {
      const { table, guesses } = state;
      const [x, y] = [guesses.x[0], guesses.y[0]].map(name => table.columns.find(column => column.name === name)?.numbers);
      if (!x || !y || guesses.x.length !== 1) { chartPlace.replaceChildren(make('p', { class: 'hint', text: 'Curves of one predictor are drawn.' })); return; }
      const step = Math.ceil(x.length / POINTS);
      const kept = Array.from({ length: Math.ceil(x.length / step) }, (_, i) => i * step);
      let [low, high] = [Infinity, -Infinity];
      for (const one of x) { if (one < low) low = one; if (one > high) high = one; }
      const isLog = state.log[0] && low > 0;
      const grid = Float64Array.from({ length: CURVE }, (_, i) => (isLog ? low * (high / low) ** (i / (CURVE - 1)) : low + ((high - low) * i) / (CURVE - 1)));
      const parameters = guesses.parameters.map(({ name, value }) => Number(state.fixed[name] ?? state.starts[name] ?? value));
      const curve = state.model ? { model: state.model } : { formula: state.formula, predictors: namesColumns(state.formula, guesses.x) ? guesses.x : ['x'] };
      const values = await worker.evaluate({ ...curve, x: grid, parameters });
      line = { kind: 'line', x: Array.from(grid), y: Array.from(values, one => (Number.isFinite(one) ? one : null)), color: color(1) };
      const points = { kind: 'points', x: kept.map(i => x[i]), y: kept.map(i => y[i]), color: color(0), symbol: 0 };
      if (!chart || !chart.host.isConnected) {
        chart = new Chart({ label: 'Data, and the curve of the starts.', layers: () => [chart.points, line], xLabel: guesses.x[0], yLabel: guesses.y[0], height: 230, axes: { logX: isLog }, logY: state.log[1] });
        chartPlace.replaceChildren(chart.host);
      }
      Object.assign(chart, { points, xLabel: guesses.x[0], yLabel: guesses.y[0], logY: state.log[1] });
      chart.axes.logX = isLog;
      chart.draw();
    } catch (error) {
      chartPlace.replaceChildren(make('p', { class: 'problem', text: error.message }));
      chart = null;
    } finally {
      isDrawing = false;
      if (isAgain) { isAgain = false; drawCurve(); }
    }
  }
  return { element, show };
}
