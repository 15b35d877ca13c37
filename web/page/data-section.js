import { button, make, plural } from 'report';
import { EXAMPLES } from './examples.js';
import { ofJson, textOfFile } from './sources.js';
import { furtherResponses, stacked } from './stack.js';

/** Rows of the table that are shown. */
const SHOWN = 5;

/** Letters that are shown in the field. */
const LONGEST = 200_000;

const HINT = 'conc\trate\n0.5\t1.9\n1\t3.1';

const ROLES = [['', 'not used'], ['x', 'x'], ['y', 'y'], ['sigma', 'σ of y'], ['weights', 'weight'], ['group', 'group']];

/** The table: pasted, dropped, opened, or an example; and what its columns are. */
export function dataSection({ state, read, change }) {
  const field = make('textarea', { id: 'paste', rows: 4, spellcheck: 'false', autocomplete: 'off', placeholder: HINT, 'aria-describedby': 'paste-hint' });
  const chooser = make('input', { type: 'file', id: 'file', class: 'unseen', accept: '.csv,.tsv,.txt,.dat,.json,.xlsx,.gz,text/*', tabindex: -1 });
  const problem = make('p', { class: 'problem', role: 'alert' });
  /** Shows a text in the field, if it is not so long that browsers take seconds to lay it out. */
  const put = text => {
    const isLong = text.length > LONGEST;
    field.value = isLong ? '' : text;
    field.placeholder = isLong ? `${plural(text.split('\n').length, 'line')}, too many to show here` : HINT;
  };
  const take = (text, name, kept = {}) => {
    problem.textContent = '';
    if (text.trim() && (ofJson(text) ?? text) !== state.source?.text) read({ name, text: ofJson(text) ?? text }, kept);
  };
  /** What stays where a table is changed by hand. */
  const kept = () => { const { model, formula, options, log, reading, roles } = state; return { model, formula, options, log, reading, roles }; };
  const open = async file => {
    problem.textContent = '';
    try {
      const text = await textOfFile(file);
      put(text);
      await read({ name: file.name.replace(/\.gz$/, '').replace(/\.(xlsx|json)$/, '.csv'), text }, {});
    } catch (error) {
      problem.textContent = error.message;
    }
  };
  chooser.addEventListener('change', () => { if (chooser.files[0]) open(chooser.files[0]); chooser.value = ''; });
  field.addEventListener('paste', event => {
    const text = event.clipboardData?.getData('text/plain') ?? '';
    if (text.length <= LONGEST) { setTimeout(() => take(field.value, 'pasted.csv')); return; }
    event.preventDefault();
    put(text);
    take(text, 'pasted.csv');
  });
  field.addEventListener('change', () => take(field.value, state.source?.name ?? 'pasted.csv', kept()));
  document.addEventListener('dragover', event => { if (event.dataTransfer.types.includes('Files')) { event.preventDefault(); document.body.classList.add('drop'); } });
  document.addEventListener('dragleave', event => { if (!event.relatedTarget) document.body.classList.remove('drop'); });
  document.addEventListener('drop', event => {
    event.preventDefault();
    document.body.classList.remove('drop');
    if (event.dataTransfer.files[0]) open(event.dataTransfer.files[0]);
    else { put(event.dataTransfer.getData('text/plain')); take(event.dataTransfer.getData('text/plain'), 'pasted.csv'); }
  });
  const examples = make('select', { id: 'example' }, make('option', { value: '', text: 'Take an example …' }), ...EXAMPLES.map((one, i) => make('option', { value: i, text: one.name })));
  examples.addEventListener('change', () => {
    const example = EXAMPLES[examples.value];
    examples.value = '';
    if (!example) return;
    const { name, file, text, roles = {}, model = null, formula = '', options = {}, log = [false, false], bounds = {} } = example;
    put(text());
    read({ name: file, text: field.value, example: name }, { model, formula, options: { ...options }, log: [...log], bounds: { ...bounds }, roles: { x: [], y: null, sigma: null, weights: null, group: null, ...roles } });
  });
  const preview = make('div', { id: 'preview' });
  const reading = readingDetails(state, read);
  const element = make('section', { id: 'data' }, make('h2', { text: '1 Data' }),
    make('label', { for: 'paste', class: 'entry', text: 'Paste a table with a heading, from a spreadsheet or a file' }), field,
    make('p', { class: 'hint', id: 'paste-hint', text: 'Or drop a file onto the page: CSV, TSV, text, .xlsx or JSON. Lines that begin with # are left out.' }),
    make('div', { class: 'tools' }, button('Open a file', () => chooser.click()), make('label', { class: 'unseen', for: 'example', text: 'Example data' }), examples, make('label', { class: 'unseen', for: 'file', text: 'File' }), chooser),
    problem, preview, reading.element);

  /** The columns with their roles, and the first rows. */
  function show() {
    reading.show();
    const { table, roles, excluded } = state;
    if (!table) { preview.replaceChildren(); return; }
    const shown = table.columns.slice(0, 12);
    const roleOf = name => (roles.x.includes(name) ? 'x' : ['y', 'sigma', 'weights', 'group'].find(role => roles[role] === name) ?? '');
    const head = shown.map(column => {
      const select = make('select', { 'aria-label': `Use of the column ${column.name}`, change: () => choose(column.name, select.value) },
        ...ROLES.filter(([role]) => !role || role === 'group' || column.numbers).map(([role, text]) => make('option', { value: role, text })));
      select.value = roleOf(column.name);
      return make('th', { scope: 'col', class: select.value ? `role ${select.value}` : 'role' }, make('span', { class: 'name', text: column.label }), table.isWide ? null : select);
    });
    const rows = Array.from({ length: Math.min(SHOWN, table.rows) }, (_, row) => make('tr', { class: excluded.has(table.lines[row]) && 'excluded' }, ...shown.map(column => make('td', { class: column.numbers && 'number', text: column.texts[row] ?? '' }))));
    const more = [table.rows > SHOWN ? `${(table.rows - SHOWN).toLocaleString('en')} more rows` : '', table.columns.length > shown.length ? `${table.columns.length - shown.length} more columns` : ''].filter(Boolean).join(', ');
    const further = furtherResponses(state);
    const problems = shown.filter(column => column.problem && roleOf(column.name) === '').map(column => column.problem);
    const notes = [...table.notes, ...shown.flatMap(column => column.notes.map(note => `column "${column.name}": ${note}`)), ...problems.slice(0, 2)];
    preview.replaceChildren(...[
      make('p', { class: 'read' }, make('strong', { text: `${state.source.name}: ${plural(table.rows, 'row')}, ${plural(table.columns.length, 'column')}` }), excluded.size ? ` (${excluded.size} left out)` : '',
        excluded.size ? button('Take all rows', () => change({ excluded: new Set() }, { guess: true }), { class: 'link' }) : null),
      make('div', { class: 'scroll table', tabindex: 0, role: 'region', 'aria-label': 'Table as it was read' }, make('table', {}, make('caption', { class: 'unseen', text: 'Columns, what they are used as, and the first rows' }), make('thead', {}, make('tr', {}, ...head)), make('tbody', {}, ...rows))),
      more ? make('p', { class: 'hint', text: `… ${more}` }) : null,
      further.length ? button(`Fit ${plural(further.length + 1, 'column')} of responses as groups`, stack) : null,
      table.isWide ? make('p', { class: 'hint', text: 'The headings are predictors: each row is a group with its responses.' }) : null,
      notes.length ? make('ul', { class: 'notes' }, ...notes.map(text => make('li', { text }))) : null,
    ].filter(Boolean));
  }

  /** Reads the table again with one response a row. */
  function stack() {
    const { text, roles } = stacked(state);
    const { model, formula, options, log } = state;
    put(text);
    read({ name: state.source.name.replace(/\.\w+$/, '.csv'), text }, { model, formula, options, log, roles });
  }

  function choose(name, role) {
    const roles = { ...state.roles, x: state.roles.x.filter(other => other !== name) };
    for (const key of ['y', 'sigma', 'weights', 'group']) if (roles[key] === name) roles[key] = null;
    if (role === 'x') roles.x = state.model || roles.x.length === 0 ? [name] : [...roles.x, name];
    else if (role) roles[role] = name;
    if (role === 'sigma') roles.weights = null;
    if (role === 'weights') roles.sigma = null;
    change({ roles, ...(role === 'group' || state.roles.group === name ? { shared: [] } : {}) }, { guess: true });
  }
  return { element, show };
}

const SEPARATORS = [['', 'found by itself'], ['comma', 'comma'], ['semicolon', 'semicolon'], ['tab', 'tab'], ['space', 'spaces']];

/** Options of how a table is read. */
function readingDetails(state, read) {
  const again = () => read(state.source, { reading: state.reading, model: state.model, formula: state.formula, options: state.options, log: state.log, roles: state.roles });
  const set = (key, value) => {
    if (value) state.reading[key] = value; else delete state.reading[key];
    if (state.source) again();
  };
  const check = (key, text) => {
    const box = make('input', { type: 'checkbox', id: `read-${key}`, change: () => set(key, box.checked) });
    return [box, make('label', { class: 'check' }, box, ` ${text}`), () => { box.checked = Boolean(state.reading[key]); }];
  };
  const entry = (key, text, type, more = {}) => {
    const input = make('input', { type, id: `read-${key}`, change: () => set(key, type === 'number' ? Number(input.value) || null : input.value), ...more });
    return [input, make('label', { class: 'field' }, make('span', { text }), input), () => { input.value = state.reading[key] ?? ''; }];
  };
  const separator = make('select', { id: 'separator', change: () => set('separator', separator.value) }, ...SEPARATORS.map(([value, text]) => make('option', { value, text })));
  const parts = [check('decimal-comma', 'decimal comma (1,5)'), check('omit-missing', 'leave out rows in which a number is missing'), check('no-heading', 'the first line has data, too'),
    [separator, make('label', { class: 'field' }, make('span', { text: 'Separator' }), separator), () => { separator.value = state.reading.separator ?? ''; }],
    entry('missing', 'Also missing', 'text', { placeholder: '-999, <*' }), entry('skip', 'Lines to skip', 'number', { min: 0, max: 9999 }), entry('thousands', 'Separator of thousands', 'text', { maxlength: 1, size: 2 })];
  const element = make('details', {}, make('summary', { text: 'How the table is read' }), make('div', { class: 'grid' }, ...parts.map(part => part[1])));
  return { element, show: () => parts.forEach(part => part[2]()) };
}

