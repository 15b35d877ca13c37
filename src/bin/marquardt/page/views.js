/** What is drawn of complex curves. */
let view = 'parts';

/** The phase that differs from another by less than half a turn. */
const nearPhase = (phase, other) => phase + 360 * Math.round((other - phase) / 360);

/** What a view shows of a complex number. */
const PLACES = {
  nyquist: (x, re, im) => [re, -im],
  modulus: (x, re, im) => [x, Math.hypot(re, im)],
  phase: (x, re, im) => [x, (180 / Math.PI) * Math.atan2(im, re)],
};

/** Pairs of series, real and imaginary parts, as one series each of a view. */
function complexSeries(kind) {
  const all = shownSeries();
  const pairs = all.filter((_, i) => i % 2 === 0).map((re, i) => [re, all[2 * i + 1]]);
  return pairs.map(([re, im]) => {
    const place = ([xs, real], [, imaginary]) => {
      const places = xs.map((x, i) => PLACES[kind](x, real[i], imaginary[i]));
      return [places.map(at => at[0]), places.map(at => at[1])];
    };
    const line = place(re.series.line, im.series.line);
    const { points } = re.series;
    const [x, y] = place([points.x, points.y], [points.x, im.series.points.y]);
    if (kind === 'phase') {
      for (let i = 1; i < line[1].length; i++) line[1][i] = nearPhase(line[1][i], line[1][i - 1]);
      x.forEach((at, i) => {
        const next = line[0].findIndex(other => other >= at);
        y[i] = nearPhase(y[i], line[1][next < 0 ? line[1].length - 1 : next] ?? y[i]);
      });
    }
    const weights = points.weights && points.weights.map((weight, i) => Math.min(weight, im.series.points.weights[i]));
    const nothing = [[], [], []];
    const name = re.fit.series.length > 2 ? re.series.name.replace(/ [^ ]*$/, '') : re.fit.group || re.fit.y_label;
    const series = { name, points: { x, y, counts: points.counts, total: points.total, weights }, line, confidence: nothing, prediction: nothing, terms: [], outliers: [[], []], parts: [re.series, im.series] };
    return { fit: re.fit, series, style: re.style / 2 };
  });
}

/** A point of a complex curve: its parts, and the fitted ones. */
function describeComplex({ fit, series }, i) {
  const [re, im] = series.parts.map(part => part.points);
  const turned = points => (180 / Math.PI) * Math.atan2(points[1], points[0]);
  const both = (name, observed, fitted, digits) => [name, `${number(observed, digits)}; fitted ${number(fitted, digits)}`];
  const rows = [[fit.x_label, number(re.x[i])], both('real part', re.y[i], re.fitted[i], 5), both('imaginary part', im.y[i], im.fitted[i], 5),
    both('modulus', Math.hypot(re.y[i], im.y[i]), Math.hypot(re.fitted[i], im.fitted[i]), 5),
    both('phase (°)', turned([re.y[i], im.y[i]]), turned([re.fitted[i], im.fitted[i]]), 4)];
  if (re.counts && re.counts[i] > 1) rows.push(['stands for', plural(re.counts[i], 'point')]);
  return rows;
}

/** The upper charts of a view: labels, heights, and what is drawn. */
function viewOf() {
  const labels = shownFits()[0];
  const yLabel = [...new Set(shownFits().map(fit => fit.y_label))].join(', ');
  if (view === 'nyquist') {
    return [{ series: complexSeries('nyquist'), label: 'Nyquist plot: negative imaginary over real parts.', xLabel: 'real part', yLabel: '−imaginary part', height: 460, isEqual: true, axes: {} }];
  }
  if (view === 'bode') {
    return [{ series: complexSeries('modulus'), label: `Bode plot: modulus over ${labels.x_label}.`, yLabel: 'modulus', height: 300, axes, logY: true },
      { series: complexSeries('phase'), label: `Bode plot: phase over ${labels.x_label}.`, yLabel: 'phase (°)', height: 210, axes }];
  }
  const series = shownSeries();
  const count = series.length > 1 ? `, ${series.length.toLocaleString('en')} series.` : ', with the fitted curve and its bands.';
  return [{ series, label: `Data and fit: ${yLabel} over ${labels.x_label}${count}`, yLabel, height: 400, axes, logY: data.log[1] }];
}

/** Buttons for the views of complex curves. */
function viewChooser() {
  if (!shownFits().every(fit => fit.is_complex)) return null;
  const names = { parts: 'Real and imaginary parts', nyquist: 'Nyquist', bode: 'Bode' };
  const buttons = Object.entries(names).map(([key, text]) => button(text, () => {
    view = key;
    axes.logX = key === 'bode' || data.log[0];
    render();
    document.querySelector(`[data-view="${key}"]`).focus();
  }, { 'data-view': key, 'aria-pressed': String(view === key) }));
  return make('div', { class: 'tools views', role: 'group', 'aria-label': 'What is drawn' }, ...buttons);
}

