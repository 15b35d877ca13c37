/** Normal numbers, the same ones each time. */
function generator(seed) {
  let state = seed;
  const uniform = () => (state = (state * 16807) % 2147483647) / 2147483647;
  return () => Math.sqrt(-2 * Math.log(uniform())) * Math.cos(2 * Math.PI * uniform());
}

function csv(heading, count, row, seed = 7) {
  const normal = generator(seed);
  const text = value => (typeof value === 'number' ? String(Number(value.toPrecision(5))) : value);
  return [heading, ...Array.from({ length: count }, (_, i) => row(i, normal).map(text).join(','))].join('\n') + '\n';
}

const peak = (x, center, width) => Math.exp(-0.5 * ((x - center) / width) ** 2);

/** Data to try, with the settings that suit them. */
export const EXAMPLES = [
  { name: 'Enzyme kinetics', file: 'enzyme.csv', model: 'michaelis_menten', options: { 'derive-all': true },
    text: () => csv('conc (mmol/l),rate (umol/min)', 24, (i, normal) => { const x = 0.25 * 1.6 ** Math.floor(i / 2); return [x, (8.4 * x) / (1.7 + x) + 0.22 * normal()]; }) },
  { name: 'Plate: dose and response of three compounds', file: 'plate.csv', model: 'logistic4', roles: { x: ['dose'], y: 'response', group: 'compound' }, log: [true, false],
    text: () => csv('dose,response,compound', 72, (i, normal) => { const group = i % 3; const dose = 0.01 * 3 ** Math.floor(i / 6); return [dose, 8 + 84 / (1 + ([0.2, 1, 6][group] / dose) ** 1.3) + 2.5 * normal(), 'ABC'[group]]; }) },
  { name: 'Decay of counts', file: 'decay.csv', formula: 'a*exp(-k*t) + c', options: { counts: true, derive: ['half_life=ln(2)/k'] }, bounds: { k: '0..' },
    text: () => csv('t,counts', 40, (i, normal) => { const mean = 240 * Math.exp(-0.18 * i) + 12; return [i, Math.max(0, Math.round(mean + Math.sqrt(mean) * normal()))]; }) },
  { name: 'Spectrum with two peaks', file: 'spectrum.csv', model: 'gaussian+gaussian+linear',
    text: () => csv('energy (keV),intensity', 160, (i, normal) => [0.1 * i, 50 * peak(0.1 * i, 5, 0.8) + 80 * peak(0.1 * i, 9.4, 1.1) + 0.1 * i + 5 + 1.5 * normal()]) },
  { name: 'Line with outliers', file: 'line.csv', model: 'linear', options: { robust: 'tukey' },
    text: () => csv('x,y', 30, (i, normal) => [i, 3 + 0.5 * i + 0.6 * normal() + (i % 9 === 4 ? 9 : 0)]) },
  { name: 'Bacterial growth', file: 'growth.csv', model: 'modified_gompertz',
    text: () => csv('time (h),log_count', 25, (i, normal) => [0.8 * i, 6 * Math.exp(-Math.exp(((0.9 * Math.E) / 6) * (4 - 0.8 * i) + 1)) + 0.12 * normal()]) },
  { name: 'Not determined by the data', file: 'rise.csv', model: 'hill',
    text: () => csv('dose,response', 10, (i, normal) => [0.1 * (i + 1), 2 * 0.1 * (i + 1) + 0.05 * normal()]) },
];
