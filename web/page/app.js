import { worker } from './fits.js';
import { button, make, theme } from 'report';
import { answerOf, empty, failure } from './answer.js';
import { dataSection } from './data-section.js';
import { ofFragment } from './link.js';
import { modelSection } from './model-section.js';
import { optionSection } from './option-section.js';
import { parameterSection } from './parameter-section.js';
import { isLogarithmic } from './stack.js';
import { fresh, settingsOf, tableOptions, textOf } from './state.js';

/** Time after the last change before a fit begins, and time after which a running fit is given up for a new one, in milliseconds. */
const PAUSE = 120;
const PATIENCE = 1500;

const state = fresh();
const voice = document.getElementById('voice');
const answer = document.getElementById('answer');

/** Says something to those who do not see the page. */
const say = text => { voice.textContent = text; };

const parts = { worker, state, say, change, read, refit, compare };
const sections = [dataSection(parts), modelSection(parts), parameterSection(parts), optionSection(parts)];
const jump = make('a', { class: 'jump', href: '#answer', click: event => { event.preventDefault(); answer.scrollIntoView(); answer.focus({ preventScroll: true }); } });
document.getElementById('main').append(...sections.map(one => one.element), jump);
document.getElementById('tools').append(button('Light / dark', theme.flip));
const show = () => sections.forEach(one => one.show());

let timer = null;
let running = null;

/** Takes changes of the state, and fits anew. `guess` asks for new starts. */
function change(changes, { guess = false } = {}) {
  Object.assign(state, changes);
  if (guess) Object.assign(state, { starts: {}, guesses: null });
  show();
  refit();
}

/** Reads the table of the state's text. */
async function read(source, settings = {}) {
  Object.assign(state, fresh(), { source }, settings);
  answer.replaceChildren(empty('Reading the data …'));
  try {
    await readTable();
  } catch (error) {
    state.table = null;
    show();
    answer.replaceChildren(failure(error, parts));
    say(error.message);
    return;
  }
  // Unless the axes were chosen.
  const x = settings.log ? null : state.table.columns.find(column => column.name === state.roles.x[0])?.numbers;
  if (x) state.log = [isLogarithmic(x), false];
  clearTimeout(timer);
  const fitting = fit();
  show();
  await fitting;
}

async function readTable() {
  state.table = await worker.parseTable(state.source.text, { name: state.source.name, ...tableOptions(state) });
  const numbers = state.table.columns.filter(column => column.numbers);
  const names = new Set(numbers.map(column => column.name));
  const { roles } = state;
  if (state.table.isWide) {
    [roles.x, roles.y, roles.group] = [[state.table.columns[0].name], state.table.columns[1].name, state.table.columns[2].name];
    return;
  }
  roles.x = roles.x.filter(name => names.has(name));
  if (!roles.x.length && numbers.length) roles.x = [numbers[0].name];
  for (const key of ['sigma', 'weights', 'group']) if (roles[key] && /^[A-Za-z]\w*$/.test(roles[key]) && !state.table.columns.some(column => column.name === roles[key])) roles[key] = null;
  if (!names.has(roles.y)) roles.y = numbers.find(column => !roles.x.includes(column.name))?.name ?? null;
}

/** Fits after a pause. */
function refit() {
  clearTimeout(timer);
  if (!state.table) return;
  timer = setTimeout(fit, PAUSE);
}

async function fit() {
  if (running) {
    clearTimeout(running.timer);
    running.timer = setTimeout(() => running?.controller.abort(), PATIENCE);
    running.isOld = true;
    return;
  }
  if (!state.roles.y || !state.roles.x.length || !(state.model || (state.formula && !state.formulaProblem))) {
    answer.replaceChildren(answerOf(null, parts));
    return;
  }
  const own = (running = { controller: new AbortController(), isOld: false, timer: null });
  const waiting = setTimeout(() => { document.body.classList.add('busy'); say('Fitting …'); }, 300);
  const progress = { onProgress: ({ done, total }) => { document.getElementById('progress')?.replaceChildren(total ? `${done} of ${total} fits` : `step ${done}`); } };
  try {
    const text = textOf(state);
    const settings = settingsOf(state);
    const found = await worker.fitTable(text, { name: state.source.name, ...settings, formats: ['json'], signal: own.controller.signal, ...progress });
    state.guesses ??= guessesOf(found) ?? (await guess(text));
    sections[2].show();
    if (!own.isOld) {
      state.found = found;
      answer.replaceChildren(answerOf(found, parts));
      say(spoken(found));
      jump.textContent = 'See the result ↓';
      document.body.dataset.fits = String(Number(document.body.dataset.fits ?? 0) + 1);
    }
  } catch (error) {
    if (!own.isOld) {
      state.found = null;
      answer.replaceChildren(failure(error, parts));
      say(error.message);
      state.guesses ??= await guess(textOf(state)).catch(() => null);
      sections[2].show();
      document.body.dataset.failures = String(Number(document.body.dataset.failures ?? 0) + 1);
    }
  } finally {
    clearTimeout(waiting);
    clearTimeout(own.timer);
    document.body.classList.remove('busy');
    running = null;
    if (own.isOld) fit();
  }
}

/** The starts of a fit, with its curve and columns, as `guess` has them; none for groups. */
function guessesOf({ json }) {
  if (!json.parameters || json.groups) return null;
  const parameters = json.parameters.map(({ name, start, value }) => ({ name, value: [start, value].find(one => typeof one === 'number') ?? 1 }));
  return { parameters, formula: json.model.slice(json.model.indexOf(' = ') + 3), x: json.x, y: [json.y].flat() };
}

const guess = text => worker.guessTable(text, { name: state.source.name, ...settingsOf({ ...state, options: {} }) });

/** The result in a sentence. */
function spoken({ page }) {
  const first = page.fits[0];
  const [kind] = first.is_unusable ? ['Nothing can be concluded from this fit.'] : [first.is_converged ? 'The fit has converged.' : 'The fit has not converged.'];
  const values = first.parameters.slice(0, 8).map(({ name, value }) => `${name} ${typeof value === 'number' ? Number(value.toPrecision(4)) : value}`);
  return `${kind} ${page.fits.length > 1 ? `${page.fits.length} groups.` : values.join(', ')}${first.warnings.length ? ` ${first.warnings.length} warnings.` : ''}`;
}

/** Compares models by the data of the state. */
async function compare(models) {
  const { model, formula, start, bounds, fix, tie, prior, constrain, derive, 'derive-all': all, profile, 'residual-tests': tests, bootstrap, outliers, 'x-for': unknowns, contour, share, test, 'group-by': group, 'log-x': logX, 'log-y': logY, residuals, ...settings } = settingsOf(state);
  return worker.compareTable(textOf(state), { name: state.source.name, ...settings, ...(models ? { models } : {}) });
}

/** The models with their pictures, which are drawn when the page is built. */
async function pictures() {
  const found = await fetch('models.json');
  if (!found.ok) throw new Error(`The models cannot be loaded: ${found.status} ${found.statusText}`);
  return found.json();
}

/** What the link has, or an example. The models, and the copy for use without a network, come after its fit. */
async function begin() {
  show();
  answer.replaceChildren(empty('Paste a table, drop a file, or take an example.'));
  const fragment = location.hash.slice(1);
  if (fragment) {
    try {
      const { source, ...settings } = await ofFragment(fragment);
      await read(source, { ...settings, excluded: new Set(settings.excluded) });
    } catch (error) {
      answer.replaceChildren(failure(new Error(`The link cannot be read: ${error.message}`), parts));
    }
  }
  if (!state.models) pictures().then(models => { state.models = models; sections[1].show(); }, error => answer.replaceChildren(failure(error, parts)));
  if ('serviceWorker' in navigator && location.protocol.startsWith('http')) navigator.serviceWorker.register('service-worker.js').catch(() => {});
}

addEventListener('hashchange', () => location.hash.length > 1 && location.hash.slice(1) !== state.fragment && begin());
begin();
