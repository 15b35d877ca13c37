// Files of data for the pages, and the commands that fit them.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** Numbers that look random, the same ones each time. */
function generator(seed) {
  let state = seed;
  const uniform = () => (state = (state * 16807) % 2147483647) / 2147483647;
  return () => Math.sqrt(-2 * Math.log(uniform())) * Math.cos(2 * Math.PI * uniform());
}

function csv(heading, count, row) {
  const normal = generator(7);
  return [heading, ...Array.from({ length: count }, (_, i) => row(i, normal).join(','))].join('\n') + '\n';
}

const decay = (t, noise) => 9 * Math.exp(-0.3 * t) + 1 + noise;
const peak = (x, at, width) => Math.exp(-0.5 * ((x - at) / width) ** 2);

/** An array of 64-bit floats as a file of NumPy. */
function npy(shape, value) {
  const head = `{'descr': '<f8', 'fortran_order': False, 'shape': (${shape.join(', ')}), }`;
  // The heading with the ten bytes before it is as long as a multiple of 64.
  const text = head.padEnd(64 * Math.ceil((head.length + 11) / 64) - 11) + '\n';
  const bytes = Buffer.concat([Buffer.from([0x93]), Buffer.from('NUMPY'), Buffer.from([1, 0, text.length & 255, text.length >> 8]), Buffer.from(text)]);
  const count = shape.reduce((product, length) => product * length, 1);
  return Buffer.concat([bytes, Buffer.from(Float64Array.from({ length: count }, (_, i) => value(i)).buffer)]);
}

const dose = (x, ec50, n) => 100 / (1 + (ec50 / x) ** n);

/** Name of the page, arguments of the command, what its file has, and the exit code if input is refused. */
export const FITS = {
  small: { arguments: ['--profile', '--residual-tests', '--derive-all', '--x-for', '100,150.2'] },
  thousand: {
    file: () => csv('t,y', 1000, (i, normal) => [0.02 * i, decay(0.02 * i, 0.3 * normal())]),
    arguments: ['--model', 'exponential_decay_offset', '--profile'],
  },
  million: {
    file: () => csv('t,y', 1_000_000, (i, normal) => [(20e-6 * i).toFixed(6), decay(20e-6 * i, 0.8 * normal()).toFixed(5)]),
    arguments: ['--model', 'exponential_decay_offset'],
  },
  peaks: {
    file: () => csv('energy,counts', 200, (i, normal) => [0.1 * i, 50 * peak(0.1 * i, 5, 0.8) + 80 * peak(0.1 * i, 10, 1.1) + i / 10 + 5 + 1.5 * normal()]),
    arguments: ['--model', 'gaussian+gaussian+linear', '--sigma', '1.5', '--absolute-sigma'],
  },
  groups: {
    file: () => csv('dose,response,compound', 96, (i, normal) => {
      const [group, dose] = [i % 8, 0.05 * 2 ** Math.floor(i / 8)];
      return [dose, 100 / (1 + ((1 + group) / dose) ** 1.2) + 2 * normal(), `compound ${'ABCDEFGH'[group]}`];
    }),
    arguments: ['--x', 'dose', '--y', 'response', '--model', 'hill', '--group-by', 'compound', '--test', 'n', '--log-x'],
  },
  shared: {
    file: () => csv('dose,response,compound', 36, (i, normal) => {
      const [group, dose] = [i % 3, 0.1 * 2 ** Math.floor(i / 3)];
      return [dose, 100 / (1 + ((1 + group) / dose) ** 1.2) + 2 * normal(), 'ABC'[group]];
    }),
    arguments: ['--x', 'dose', '--y', 'response', '--model', 'hill', '--group-by', 'compound', '--share', 'vmax,n', '--log-x'],
  },
  complex: {
    file: () => csv('omega,re,im', 31, (i, normal) => {
      const w = 10 ** (0.2 * i);
      const damped = 1 + (w * 5e-4) ** 2;
      return [w, 12 + 250 / damped + normal(), (-250 * w * 5e-4) / damped + normal()];
    }),
    arguments: ['--x', 'omega', '--y', 're,im', '--formula', 'r0 + r1/(1+i*omega*r1*c)', '--log-x', '--weight-by-modulus'],
  },
  errors: {
    file: () => csv('c,absorbance,sd,sc', 24, (i, normal) => {
      const x = -0.5 + 0.5 * i;
      const sd = 0.05 + 0.02 * i;
      return [x, 0.2 + 0.8 * x + sd * normal(), sd, 0.08];
    }),
    arguments: ['--x', 'c', '--y', 'absorbance', '--model', 'linear', '--sigma', 'sd', '--sigma-x', 'sc', '--absolute-sigma'],
  },
  robust: {
    file: () => csv('x,y', 40, (i, normal) => [i, 3 + 0.5 * i + normal() + (i % 9 === 4 ? 14 : 0)]),
    arguments: ['--model', 'linear', '--robust=tukey'],
  },
  outliers: {
    file: () => csv('x,y', 40, (i, normal) => [i, 3 + 0.5 * i + normal() + (i % 13 === 4 ? 14 : 0)]),
    arguments: ['--model', 'linear', '--outliers'],
  },
  crowd: {
    file: () => csv('t,y,well', 12 * 400, (i, normal) => {
      const [well, t] = [Math.floor(i / 12), i % 12];
      return [t, decay(t, 0.3 * normal()) + (well % 50 === 7 ? 3 * normal() : 0), `w${well}`];
    }),
    arguments: ['--x', 't', '--y', 'y', '--model', 'exponential_decay_offset', '--group-by', 'well'],
  },
  plate: {
    file: () => {
      const normal = generator(5);
      const doses = Array.from({ length: 10 }, (_, i) => 0.03 * 2.5 ** i);
      const wells = Array.from({ length: 96 }, (_, i) => 'ABCDEFGH'[i % 8] + (1 + Math.floor(i / 8)));
      const rows = doses.map(x => [x, ...wells.map((_, i) => dose(x, 1 + (i % 12), 1.2) + 2 * normal())].join(','));
      return [['dose', ...wells].join(','), ...rows].join('\n') + '\n';
    },
    command: 'many',
    arguments: ['--model', 'hill', '--out', 'plate-fits.csv'],
  },
  image: {
    extension: 'npy',
    file: () => {
      const normal = generator(11);
      return npy([60, 80, 24], i => {
        const [pixel, t] = [Math.floor(i / 24), i % 24];
        const [row, column] = [Math.floor(pixel / 80), pixel % 80];
        if ((row - 30) ** 2 + (column - 40) ** 2 < 30) return NaN;
        const rate = 0.08 + 0.12 * peak(row, 25, 14) * peak(column, 50, 16) + 0.001 * column;
        return (5 + 0.04 * row) * Math.exp(-rate * t) + 0.08 * normal();
      });
    },
    command: 'many',
    arguments: ['--model', 'exponential_decay', '--out', 'image-fits.npy'],
  },
  large: {
    extension: 'npy',
    file: () => {
      const normal = generator(3);
      return npy([400, 500, 8], i => (3 + ((i / 8) % 500) / 100) * Math.exp(-0.2 * (i % 8)) + 0.02 * normal());
    },
    command: 'many',
    arguments: ['--model', 'exponential_decay', '--out', 'large-fits.npy'],
  },
  settings: {
    file: () => csv('t,y', 30, (i, normal) => [i, decay(i, 0.2 * normal())]),
    more: { 'study.toml': 'formula = "a*exp(-k*t)+c"\nmax-iterations = 80\nstart = ["a=5", "k=0.2"]\nbounds = "k=0.."\n' },
    arguments: ['--config', 'study.toml', '--y', 'y'],
  },
  several: {
    file: () => csv('u,v,z', 60, (i, normal) => [i, (i * i) % 17, 3 + 0.5 * i - 0.8 * ((i * i) % 17) + 0.5 * normal()]),
    arguments: ['--formula', 'a + b*u + c*v', '--y', 'z'],
  },
  failed: {
    file: () => csv('g,x,y', 30, (i, normal) => [`<b>${i % 5}`, Math.floor(i / 5), i % 5 % 2 ? '' : i + normal()]),
    arguments: ['--x', 'x', '--y', 'y', '--group-by', 'g', '--model', 'linear', '--omit-missing'],
    code: 2,
  },
  equations: {
    file: () => csv('t,blood', 24, (i, normal) => [0.5 * i, 10 * (Math.exp(-0.15 * i) - Math.exp(-0.5 * i)) + 0.1 * normal()]),
    arguments: ['--ode', 'gut=-ka*gut', '--ode', 'blood=ka*gut-ke*blood', '--initial', 'gut=100', '--initial', 'blood=0',
      '--observe', 'blood/v', '--start', 'ka=1,ke=0.3,v=10'],
  },
  odd: {
    file: () => csv('"<b>x</b> ""q""","</script><img src=q onerror=alert(1)>"', 20, (i, normal) => [i, 2 * i + normal()]),
    arguments: ['--model', 'linear', '--title', '</script><script>alert("& <!-- \' {data} /*data*/")</script>'],
  },
  unsolved: {
    file: () => csv('x,y', 12, (i, normal) => [i, normal()]),
    arguments: ['--formula', 'a*exp(-k*x)+b*exp(-k*x)', '--max-iterations', '3'],
  },
};

/** Writes the file of a fit into a folder, and returns the arguments of the command that makes the page. */
export function prepare(folder, name) {
  const { file, extension = 'csv', command = 'fit', more = {}, arguments: options } = FITS[name];
  if (file) writeFileSync(join(folder, `${name}.${extension}`), file());
  for (const [other, text] of Object.entries(more)) writeFileSync(join(folder, other), text);
  return [command, ...(file ? [`${name}.${extension}`] : []), ...options, '--report', `${name}.html`];
}
