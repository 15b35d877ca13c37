import { button, make, section } from 'report';
import { commandLine, pythonCode, rustCode } from './codes.js';
import { parse, print, substituted } from './expression.js';
import { LONGEST, toFragment } from './link.js';
import { settingsOf, textOf } from './state.js';

const STYLES = [['text', 'text'], ['latex', 'LaTeX'], ['excel', 'Excel'], ['python', 'Python'], ['r', 'R']];

/** Saves a file from the page. */
function save(name, content, type) {
  const url = URL.createObjectURL(content instanceof Blob ? content : new Blob([content], { type }));
  const link = make('a', { href: url, download: name });
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}

/** The main picture as an SVG file of its own, with the colours that it has now. */
function pictureOfPage() {
  const charts = [...document.querySelectorAll('#picture .chart > svg')];
  const NAMES = ['fill', 'stroke', 'stroke-width', 'stroke-dasharray', 'opacity', 'fill-opacity', 'font-size', 'text-anchor', 'stroke-linejoin', 'stroke-linecap'];
  let height = 0;
  const width = Math.max(...charts.map(chart => chart.viewBox.baseVal.width));
  const parts = charts.map(chart => {
    const copy = chart.cloneNode(true);
    const [of, to] = [[chart, ...chart.querySelectorAll('*')], [copy, ...copy.querySelectorAll('*')]];
    of.forEach((element, i) => {
      const style = getComputedStyle(element);
      NAMES.forEach(name => { const value = style.getPropertyValue(name); if (value && value !== 'none' || name === 'fill') to[i].setAttribute(name, value.replace(/px$/, '')); });
      to[i].removeAttribute('class');
    });
    const box = chart.viewBox.baseVal;
    Object.entries({ x: 0, y: height, width: box.width, height: box.height }).forEach(([name, value]) => copy.setAttribute(name, value));
    height += box.height + 8;
    return copy;
  });
  const ground = getComputedStyle(document.querySelector('#picture section') ?? document.body).backgroundColor;
  const whole = document.createElementNS('http://www.w3.org/2000/svg', 'svg');
  Object.entries({ viewBox: `0 0 ${width} ${height}`, width, height, 'font-family': 'system-ui, sans-serif', xmlns: 'http://www.w3.org/2000/svg' }).forEach(([name, value]) => whole.setAttribute(name, value));
  const back = document.createElementNS('http://www.w3.org/2000/svg', 'rect');
  Object.entries({ width: '100%', height: '100%', fill: ground }).forEach(([name, value]) => back.setAttribute(name, value));
  whole.append(back, ...parts);
  return [new XMLSerializer().serializeToString(whole), width, height];
}

/** The same as pixels, two for one. */
async function pixelsOfPage() {
  const [text, width, height] = pictureOfPage();
  const image = new Image();
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(text)}`;
  await image.decode();
  const canvas = make('canvas', { width: 2 * width, height: 2 * height });
  canvas.getContext('2d').drawImage(image, 0, 0, 2 * width, 2 * height);
  return new Promise(done => canvas.toBlob(done, 'image/png'));
}

/** The report as a page of its own, as the command writes it. */
async function reportOfPage(page, command) {
  const parts = await (await fetch('report.json')).json();
  const { pick, ...data } = page;
  const text = JSON.stringify({ ...data, origin: { ...data.origin, command } }).replace(/</g, '\\u003c');
  return parts.page.replace('/*style*/', () => parts.style).replace('/*script*/', () => parts.script).replace('/*data*/', () => text);
}

/** Links, files and programs that do the same. */
export function handOn(found, { state, say, worker }) {
  const settings = settingsOf(state);
  const file = state.source.name;
  const base = file.replace(/\.\w+$/, '');
  const command = commandLine(settings, file);
  found.page.origin.command = command;
  const said = make('p', { class: 'hint', role: 'status' });
  const tell = text => { said.textContent = text; say(text); };
  const copy = async (text, what) => {
    try {
      await navigator.clipboard.writeText(text);
      tell(`${what}: copied.`);
    } catch {
      tell(`${what}: the browser does not let the page copy; mark the text and copy it.`);
    }
  };
  const doing = (what, act) => async () => { try { await act(); } catch (error) { tell(`${what}: ${error.message}`); } };
  const link = async () => {
    const { roles, model, formula, starts, fixed, bounds, shared, options, log, reading, excluded } = state;
    const value = { source: state.source, roles, model, formula, starts, fixed, bounds, shared, options, log, reading, excluded: [...excluded] };
    const fragment = await toFragment(value);
    if (fragment.length > LONGEST) throw new Error('the data are too large for a link; hand on the report instead');
    state.fragment = fragment;
    history.replaceState(null, '', `#${fragment}`);
    await copy(location.href, 'Link, with the data');
  };
  /** Fits once more, for tables that the page does not show. */
  const again = options => worker.fitTable(textOf(state), { name: file, ...settings, ...options });
  const files = [
    ['Report (HTML)', async () => save(`${base}.html`, await reportOfPage(found.page, command), 'text/html')],
    ['Picture (SVG)', async () => save(`${base}.svg`, pictureOfPage()[0], 'image/svg+xml')],
    ['Picture (PNG)', async () => save(`${base}.png`, await pixelsOfPage())],
    ['Parameters (CSV)', async () => save(`${base}-parameters.csv`, (await again({ formats: ['csv'] })).csv, 'text/csv')],
    ['Residuals (CSV)', async () => save(`${base}-residuals.csv`, (await again({ formats: [], residuals: true })).residuals, 'text/csv')],
    ['All (JSON)', async () => save(`${base}.json`, JSON.stringify(found.json, null, 1), 'application/json')],
  ];
  const buttons = make('div', { class: 'tools' }, button('Copy a link', doing('Link', link), { id: 'link' }), ...files.map(([name, act]) => button(name, doing(name, act))));
  const curve = { model: state.model, formula: state.formula, x: state.guesses?.x ?? state.roles.x, y: state.guesses?.y?.[0] ?? state.roles.y, sigma: state.roles.sigma, weights: state.roles.weights, file };
  const block = (name, text) => make('details', {}, make('summary', { text: name }), make('div', { class: 'code' }, make('pre', { tabindex: 0, role: 'region', 'aria-label': name, text }), button('Copy', () => copy(text, name), { 'aria-label': `Copy: ${name}` })));
  const programs = [block('Command line', command)];
  if (!state.table.isWide && !state.roles.group) programs.push(block('Rust', rustCode(curve, settings)), block('Python', pythonCode(curve, settings)));
  return section('Hand on', buttons, said, formulaWithNumbers(found, state, copy), ...programs);
}

/** The formula with its numbers in several styles. */
function formulaWithNumbers(found, state, copy) {
  const [fit] = found.page.fits;
  const formula = state.guesses?.formula;
  const isOne = found.page.fits.length === 1 && fit.series?.length === 1 && formula;
  const tree = isOne ? parse(formula) : null;
  if (!tree) return null;
  const values = Object.fromEntries(fit.parameters.map(({ name, value }) => [name, value]));
  const all = substituted(tree, values);
  const shown = make('pre', { id: 'numbers', tabindex: 0, role: 'region', 'aria-label': 'Formula with numbers' });
  const choice = make('select', { id: 'style', change: () => write() }, ...STYLES.map(([value, text]) => make('option', { value, text })));
  const write = () => { shown.textContent = `${choice.value === 'excel' ? '=' : `y ${choice.value === 'r' ? '<-' : '='} `}${print(all, choice.value)}`; };
  write();
  return make('div', { class: 'numbers' }, make('label', {}, 'Formula with numbers, for ', choice), make('div', { class: 'code' }, shown, button('Copy', () => copy(shown.textContent, 'Formula'), { 'aria-label': 'Copy: formula with numbers' })));
}
