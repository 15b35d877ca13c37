// Uses the package from a folder or a server, in whatever engine this runs: deno run tests/use-everywhere.mjs URL.
const base = globalThis.Deno?.args[0] ?? process.argv[2];
const { fit, fitMany, fitTable } = await import(new URL('index.js', base).href);
const { createWorker } = await import(new URL('worker.js', base).href);

const [x, y] = [[0.5, 1, 2, 4, 8, 16], [1.9, 3.1, 4.6, 5.9, 6.9, 7.4]];
const found = await fit({ x, y, model: 'michaelis_menten' });
const [low, high] = found.interval('km');
// Many fits and profiles are in the second part of the module.
const profile = found.profile('km');
const many = await fitMany({ x, y: [y, y.map(value => 2 * value)], formula: 'v*x/(k + x)', start: { v: 5, k: 2 } });
const table = `x,y\n${x.map((value, i) => `${value},${y[i]}`).join('\n')}\n`;
const direct = await fitTable(table, { model: 'michaelis_menten' });
const worker = createWorker();
const threaded = await worker.fitTable(table, { model: 'michaelis_menten' });
await worker.terminate();
console.log(JSON.stringify({
  values: Array.from(found.values), isWithin: low < found.value('km') && found.value('km') < high, profile: [profile.low, profile.high], ratio: many.parameters[2] / many.parameters[0],
  same: direct.report === threaded.report && JSON.stringify(direct.json) === JSON.stringify(threaded.json),
}));
