import { make } from 'report';

const LOSSES = [['', 'none: least squares'], ['tukey', 'Tukey'], ['huber', 'Huber'], ['soft_l1', 'soft L1'], ['cauchy', 'Cauchy'], ['arctan', 'arctan']];

/** Options of noise, method and inference, by the names of the command. */
export function optionSection({ state, change }) {
  const set = (name, value) => {
    const options = { ...state.options, [name]: value };
    if (value === '' || value === false || value == null || (Array.isArray(value) && !value.length)) delete options[name];
    if (name === 'robust' && value) delete options.outliers;
    if (name === 'outliers' && value) delete options.robust;
    if (name === 'counts' && value) { delete options.outliers; delete options['variable-projection']; }
    change({ options });
  };
  const shows = [];
  const check = (name, text, value = true) => {
    const box = make('input', { type: 'checkbox', id: `option-${name}`, change: () => set(name, box.checked ? value : null) });
    shows.push(() => { box.checked = Boolean(state.options[name]); });
    return make('label', { class: 'check' }, box, ` ${text}`);
  };
  const text = (name, label, placeholder, read = one => one, write = one => one ?? '') => {
    const input = make('input', { type: 'text', id: `option-${name}`, placeholder, autocomplete: 'off', spellcheck: 'false', change: () => set(name, read(input.value.trim())) });
    shows.push(() => { if (document.activeElement !== input) input.value = write(state.options[name]); });
    return make('label', { class: 'field' }, make('span', { text: label }), input);
  };
  const lines = [one => one.split(';').map(part => part.trim()).filter(Boolean), one => (one ?? []).join('; ')];
  const log = [0, 1].map(axis => {
    const box = make('input', { type: 'checkbox', id: `log-${'xy'[axis]}`, change: () => change({ log: state.log.map((one, i) => (i === axis ? box.checked : one)) }) });
    shows.push(() => { box.checked = state.log[axis]; });
    return make('label', { class: 'check' }, box, ` logarithmic ${'xy'[axis]} axis`);
  });
  const loss = make('select', { id: 'option-robust', change: () => set('robust', loss.value) }, ...LOSSES.map(([value, label]) => make('option', { value, text: label })));
  shows.push(() => { loss.value = state.options.robust ?? ''; });
  const sigma = make('input', { type: 'text', id: 'option-sigma', placeholder: '0.1, or 0.05*y', autocomplete: 'off', change: () => change({ roles: { ...state.roles, sigma: sigma.value.trim() || null, weights: null } }) });
  shows.push(() => { if (document.activeElement !== sigma) sigma.value = state.roles.sigma ?? ''; });
  const group = (title, ...children) => make('fieldset', {}, make('legend', { text: title }), make('div', { class: 'grid' }, ...children));
  const details = make('details', {}, make('summary', { text: 'Noise, outliers, intervals, derived quantities' }),
    group('Noise', make('label', { class: 'field' }, make('span', { text: 'σ of y: a column, a number or a formula' }), sigma), check('absolute-sigma', 'σ is known; otherwise only its ratios count'), check('counts', 'y are counts (Poisson)')),
    group('Outliers', make('label', { class: 'field' }, make('span', { text: 'Robust loss' }), loss), check('outliers', 'leave outliers out (false discovery rate 1 %)', '0.01')),
    group('Inference', check('profile', 'profile-likelihood intervals'), check('residual-tests', 'tests of the residuals'), check('bootstrap', 'bootstrap, 1,000 data sets', '1000'), check('derive-all', 'quantities that the model is known for'),
      text('derive', 'Derived quantities', 'half_life = ln(2)/k; …', ...lines), text('x-for', 'x for these responses', '4.1, 5.0+5.2', one => one.split(',').map(part => part.trim()).filter(Boolean), one => (one ?? []).join(', '))),
    group('Rows and columns', text('where', 'Rows to use', 'conc > 0', ...lines), text('let', 'New columns', 'logdose = log10(dose)', ...lines)),
    group('Parameters', text('tie', 'Ties', 'b = 1-a; …', ...lines), text('constrain', 'Inequalities', 'k1 < k2; …', ...lines), text('prior', 'Priors', 'k=0.3~0.1', ...lines)),
    group('Picture', ...log));
  const element = make('section', { id: 'options' }, make('h2', { text: '4 Options' }), details);
  return { element, show: () => shows.forEach(show => show()) };
}
