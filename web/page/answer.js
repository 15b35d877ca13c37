import { Chart, button, color, make, number, reportOf, section } from 'report';
import { handOn } from './hand-on.js';

/** What is shown in place of a result. */
export const empty = text => make('section', { class: 'empty' }, make('h2', { text: 'Result' }), make('p', { text }), make('p', { id: 'progress', class: 'hint' }));

/** Options of the command in messages, as the page calls them, and what a button does about them. */
const REMEDIES = [
  ['--omit-missing', 'leaving out rows in which a number is missing', 'Leave out such rows', state => { state.reading['omit-missing'] = true; }],
  ['--decimal-comma', 'reading numbers with a decimal comma', 'Read a decimal comma', state => { state.reading['decimal-comma'] = true; }],
  ['--x-from-heading', 'taking the headings for predictors', null], ['--header-row', 'the line of the heading', null], ['--skip', 'the number of lines to skip', null], ['--separator', 'the separator', null],
  ['--thousands', 'the separator of thousands', null], ['--start', 'a start', null], ['--sigma', 'σ', null], ['--weights', 'the weights', null], ['--formula', 'the formula', null], ['--model', 'a model', null],
  ['--y', 'the column y', null], ['--x', 'the column x', null], ['--missing', 'the texts of missing values', null], ['--group-by', 'the column of groups', null],
];

/** A text with the page's words for options. */
export function inWords(text) {
  return REMEDIES.reduce((said, [option, words]) => said.replace(new RegExp(`${option}(?![\\w-])`, 'g'), words), text);
}

/** The reason for which there is no result, with buttons that help. */
export function failure(error, { state, read }) {
  const [first, ...marked] = inWords(error.message).split('\n');
  const remedies = REMEDIES.filter(([option, , label]) => label && error.message.includes(option));
  const act = apply => () => {
    apply(state);
    read(state.source, { reading: state.reading, model: state.model, formula: state.formula, options: state.options, log: state.log, roles: state.roles });
  };
  return make('section', { class: 'status bad', id: 'failure' }, make('p', {}, make('strong', { text: '✗ There is no result.' }), ` ${first}`), marked.length ? make('pre', { class: 'marked', text: marked.join('\n') }) : null,
    remedies.length ? make('div', { class: 'tools' }, ...remedies.map(([, , label, apply]) => button(label, act(apply)))) : null);
}

/** The data alone, where there is no model. */
function dataPicture({ state }) {
  const { table, roles } = state;
  const [x, y] = [roles.x[0], roles.y].map(name => table.columns.find(column => column.name === name)?.numbers);
  if (!x || !y) return empty('Choose the columns x and y.');
  const step = Math.ceil(x.length / 4000);
  const kept = Array.from({ length: Math.ceil(x.length / step) }, (_, i) => i * step).filter(i => !state.excluded.has(table.lines[i]));
  const points = { kind: 'points', x: kept.map(i => x[i]), y: kept.map(i => y[i]), color: color(0), symbol: 0 };
  const describe = (layer, i) => [[roles.x[0], number(layer.x[i])], [roles.y, number(layer.y[i])]];
  const chart = new Chart({ label: `${roles.y} over ${roles.x[0]}.`, layers: () => [points], xLabel: roles.x[0], yLabel: roles.y, height: 380, axes: { logX: state.log[0] }, logY: state.log[1], describe });
  return section('Data', chart.host, make('p', { class: 'hint', text: 'Choose a model, write a formula, or compare all models.' }));
}

/** The result, with the picture, or the data alone. */
export function answerOf(found, parts) {
  const { state, change, say } = parts;
  if (!found) return dataPicture(parts);
  const { page } = found;
  page.origin.seconds = Math.floor(Date.now() / 1000);
  const excluded = excludedPoints(state);
  if (page.fits.length === 1 && page.fits[0].series?.length === 1) {
    const [series] = page.fits[0].series;
    series.outliers = [[...series.outliers[0], ...excluded[0]], [...series.outliers[1], ...excluded[1]]];
  }
  page.pick = at => {
    const row = rowAt(state, at);
    if (row == null) return;
    const line = state.table.lines[row];
    const next = new Set(state.excluded);
    if (!next.delete(line)) next.add(line);
    say(next.has(line) ? 'The point is left out.' : 'The point is taken again.');
    change({ excluded: next });
  };
  const { content, render } = reportOf(page);
  const notes = found.notes.filter(note => !note.startsWith('warning:')).map(note => inWords(note.replace(/^note: /, '')));
  const words = notes.length ? make('ul', { class: 'notes' }, ...notes.map(text => make('li', { text }))) : null;
  const whole = make('div', { class: 'report' }, ...content.slice(0, 1), words, ...content.slice(1), handOn(found, parts));
  // Charts take their width from the page.
  requestAnimationFrame(render);
  render();
  return whole;
}

/** Predictors and responses of the rows that are left out. */
function excludedPoints({ table, roles, excluded }) {
  const [x, y] = [roles.x[0], roles.y].map(name => table.columns.find(column => column.name === name)?.numbers);
  if (!x || !y || !excluded.size || roles.x.length !== 1) return [[], []];
  const rows = Array.from(x.keys()).filter(row => excluded.has(table.lines[row]));
  return [rows.map(row => x[row]), rows.map(row => y[row])];
}

/** The row of a point in the table. */
function rowAt({ table, roles }, { x, y }) {
  const [xs, ys] = [roles.x[0], roles.y].map(name => table.columns.find(column => column.name === name)?.numbers);
  if (!xs || !ys) return null;
  const row = xs.findIndex((value, i) => value === x && ys[i] === y);
  return row < 0 ? null : row;
}
