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

/** Name of the page, arguments of `marquardt fit`, and what its file has. */
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
  several: {
    file: () => csv('u,v,z', 60, (i, normal) => [i, (i * i) % 17, 3 + 0.5 * i - 0.8 * ((i * i) % 17) + 0.5 * normal()]),
    arguments: ['--formula', 'a + b*u + c*v', '--y', 'z'],
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
  const { file, arguments: more } = FITS[name];
  if (file) writeFileSync(join(folder, `${name}.csv`), file());
  return ['fit', ...(file ? [`${name}.csv`] : []), ...more, '--report', `${name}.html`];
}
