import { button, make, shape } from 'report';
import { colored } from './expression.js';

/** Predictors that a formula may have: the columns, and x for the only one. */
const predictorsOf = state => {
  const columns = (state.table?.columns ?? []).filter(column => column.numbers).map(column => column.name);
  return [...columns, ...(columns.includes('x') ? [] : ['x'])];
};

/** The model: one of the library, a sum of such, or a formula. */
export function modelSection(parts) {
  const { state, change, worker, compare, say } = parts;
  const search = make('input', { type: 'search', id: 'search', placeholder: 'peak, EC50, half-life, x^2 …', autocomplete: 'off', input: () => list() });
  const gallery = make('div', { class: 'gallery', role: 'radiogroup', 'aria-label': 'Models' });
  const count = make('p', { class: 'hint', role: 'status' });
  const terms = make('div', { class: 'terms' });
  const ranking = make('div');
  const comparing = button('Compare all models', () => rank());

  const field = make('textarea', { id: 'formula', rows: 2, spellcheck: 'false', autocapitalize: 'off', autocomplete: 'off', placeholder: 'a*exp(-k*x) + c', 'aria-describedby': 'formula-problem', input: () => typed() });
  const paint = make('pre', { class: 'paint', 'aria-hidden': 'true' });
  const problem = make('p', { id: 'formula-problem', class: 'problem', role: 'status' });
  const editor = make('div', { class: 'editor' }, paint, field);
  field.addEventListener('scroll', () => { paint.scrollTop = field.scrollTop; });

  const element = make('section', { id: 'model' }, make('h2', { text: '2 Model' }),
    make('label', { class: 'entry', for: 'search', text: 'Search a model by its name, its use or its formula' }), search, count, gallery, terms,
    make('label', { class: 'entry', for: 'formula', text: 'Or write a formula in x, or in names of columns; all other names are parameters' }), editor, problem,
    make('div', { class: 'tools' }, comparing), ranking);

  const namesOf = name => name.split('+');

  /** The models that the search finds. */
  function list() {
    const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
    const found = (state.models ?? []).filter(model => words.every(word => model.words.includes(word)));
    const chosen = state.model && namesOf(state.model);
    count.textContent = state.models ? `${found.length} of ${state.models.length} models` : 'The models are being drawn …';
    const families = [...new Set(found.map(model => model.family))];
    const focused = chosen && found.some(model => model.name === chosen[0]) ? chosen[0] : found[0]?.name;
    const card = model => {
      const isChosen = chosen?.length === 1 && chosen[0] === model.name;
      const picture = shape('svg', { viewBox: '0 0 80 40', 'aria-hidden': 'true' }, shape('path', { d: model.path || 'M4 30C20 0 30 45 45 20S70 20 76 8' }));
      return make('button', { type: 'button', role: 'radio', class: 'model', 'aria-checked': String(isChosen), tabindex: model.name === focused ? 0 : -1, 'data-name': model.name, title: model.formula, click: () => choose(model.name) },
        picture, make('span', { class: 'title', text: model.title }), make('span', { class: 'small-formula', text: model.formula }));
    };
    gallery.replaceChildren(...families.flatMap(family => [make('div', { class: 'family', 'aria-hidden': 'true', text: family }), ...found.filter(model => model.family === family).map(card)]));
  }
  let seen = null;
  /** Scrolls the gallery to the model that is chosen. */
  function reveal() {
    if (state.model === seen || !state.models) return;
    seen = state.model;
    const card = gallery.querySelector('[aria-checked="true"]');
    if (card && !gallery.contains(document.activeElement)) gallery.scrollTop = card.offsetTop - gallery.offsetTop - 40;
  }

  // Arrow keys go from model to model.
  gallery.addEventListener('keydown', event => {
    const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
    if (!step) return;
    event.preventDefault();
    const cards = [...gallery.querySelectorAll('.model')];
    const next = cards[(cards.indexOf(document.activeElement) + step + cards.length) % cards.length];
    cards.forEach(card => { card.tabIndex = card === next ? 0 : -1; });
    next.focus();
  });

  function choose(name) {
    if (state.roles.x.length > 1) state.roles.x = state.roles.x.slice(0, 1);
    change({ model: name, formula: '', formulaProblem: null, fixed: {}, bounds: {}, shared: [] }, { guess: true });
    gallery.querySelector(`[data-name="${CSS.escape(name)}"]`)?.focus();
  }

  /** Terms of a sum, with what adds one. */
  function showTerms() {
    if (!state.model) { terms.replaceChildren(); return; }
    const names = namesOf(state.model);
    const without = index => names.filter((_, i) => i !== index).join('+');
    const add = make('select', { id: 'term', change: () => add.value && change({ model: [...names, add.value].join('+'), fixed: {}, bounds: {}, shared: [] }, { guess: true }) }, make('option', { value: '', text: 'Add a term …' }),
      ...(state.models ?? []).map(model => make('option', { value: model.name, text: model.title })));
    terms.replaceChildren(make('span', { class: 'hint', text: 'Chosen: ' }), ...names.map((name, i) => make('span', { class: 'chip' }, name.replace(/_/g, ' '), names.length > 1 ? button('×', () => change({ model: without(i), fixed: {}, bounds: {}, shared: [] }, { guess: true }), { 'aria-label': `Remove the term ${name}` }) : null)),
      make('label', { class: 'unseen', for: 'term', text: 'Add a term to the model' }), add);
  }

  let latest = 0;

  /** Checks the formula, and fits it if it is one. */
  async function typed() {
    const text = field.value;
    const own = ++latest;
    draw(text, [], null);
    if (!text.trim()) { problem.textContent = ''; change({ formula: '', formulaProblem: null }); return; }
    try {
      const { parameters } = await worker.parseFormula(text, predictorsOf(state));
      if (own !== latest) return;
      problem.textContent = '';
      draw(text, parameters, null);
      const known = state.guesses?.parameters.map(one => one.name) ?? [];
      const isSame = !state.model && parameters.length === known.length && parameters.every(name => known.includes(name));
      change({ model: null, formula: text, formulaProblem: null }, { guess: !isSame || text !== state.formula });
    } catch (error) {
      if (own !== latest) return;
      problem.textContent = error.position ? `Character ${error.position}: ${error.message}` : error.message;
      draw(text, [], error.position ?? null);
      Object.assign(state, { model: null, formula: text, formulaProblem: error.message });
      list();
      showTerms();
    }
  }

  /** The formula in colours; the character of a problem is underlined. */
  function draw(text, parameters, position) {
    const predictors = predictorsOf(state);
    if (position == null) {
      paint.replaceChildren(...colored(text, parameters, predictors).map(([kind, part]) => make('span', { class: kind || null, text: part })), '\n');
      return;
    }
    const letters = [...text];
    const at = Math.min(position - 1, letters.length);
    paint.replaceChildren(letters.slice(0, at).join(''), make('mark', { text: letters[at] ?? ' ' }), letters.slice(at + 1).join(''), '\n');
  }

  /** All models by AICc. */
  async function rank() {
    if (!state.table) { ranking.replaceChildren(make('p', { class: 'problem', text: 'There are no data yet.' })); return; }
    comparing.disabled = true;
    ranking.replaceChildren(make('p', { class: 'hint', text: 'All models are being fitted …' }));
    try {
      const { table, notes } = await compare(null);
      const at = Object.fromEntries(table.heading.map((name, i) => [name, i]));
      const number = (value, digits) => (typeof value === 'number' ? String(Number(value.toPrecision(digits))) : '–');
      const rows = table.rows.slice(0, 12).map(row => make('tr', {}, make('th', { scope: 'row' }, button(row[at.model].replace(/_/g, ' '), () => choose(row[at.model]), { class: 'link' })),
        ...[row[at.parameters], number(row[at.difference], 4), number(row[at.weight], 3), number(row[at.residual_sd], 4)].map(text => make('td', { class: 'number', text }))));
      const heading = ['model', 'parameters', 'ΔAICc', 'weight', 'residual sd'];
      const best = make('table', {}, make('caption', { text: `The best of ${table.rows.length} models that could be fitted` }), make('thead', {}, make('tr', {}, ...heading.map((text, i) => make('th', { scope: 'col', class: i && 'number', text })))), make('tbody', {}, ...rows));
      ranking.replaceChildren(make('div', { class: 'scroll', tabindex: 0, role: 'region', 'aria-label': 'Comparison of models' }, best),
        make('p', { class: 'hint', text: 'A difference below 2 says little; choose by what you know, too.' }), ...notes.filter(note => note.includes('is compared, too')).map(text => make('p', { class: 'hint', text })));
      say(`${table.rows.length} models compared; the best is ${table.rows[0]?.[at.model].replace(/_/g, ' ')}.`);
    } catch (error) {
      ranking.replaceChildren(make('p', { class: 'problem', role: 'alert', text: error.message }));
    } finally {
      comparing.disabled = false;
    }
  }

  let drawnFor = null;
  function show() {
    list();
    reveal();
    showTerms();
    if (document.activeElement !== field && field.value !== state.formula) field.value = state.formula;
    if (state.source !== drawnFor) { drawnFor = state.source; ranking.replaceChildren(); problem.textContent = ''; }
    if (!state.formulaProblem) draw(field.value, state.model ? [] : state.guesses?.parameters.map(one => one.name) ?? [], null);
  }
  return { element, show };
}
