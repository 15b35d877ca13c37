/** Colours of maps, from low to high, told apart by the colour-blind and in grey. */
const MAP_COLORS = ['#440154', '#472d7b', '#3b528b', '#2c728e', '#21918c', '#28ae80', '#5ec962', '#addc30', '#fde725'].map(hex => [1, 3, 5].map(i => parseInt(hex.slice(i, i + 2), 16)));
const LETTERS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
const MAP_LEVELS = 4096;

/** The colour of a share between 0 and 1. */
function mapColor(share) {
  const at = Math.max(0, Math.min(1, share)) * (MAP_COLORS.length - 1);
  const from = Math.min(MAP_COLORS.length - 2, Math.floor(at));
  return MAP_COLORS[from].map((value, i) => Math.round(value + (at - from) * (MAP_COLORS[from + 1][i] - value)));
}

/** The values of a map; null where there is no fit. */
function mapValues({ low, high, levels }) {
  const values = [];
  for (let i = 0; i < levels.length; i += 2) {
    const level = 64 * LETTERS.indexOf(levels[i]) + LETTERS.indexOf(levels[i + 1]);
    values.push(level ? low + ((high - low) * (level - 1)) / (MAP_LEVELS - 2) : null);
  }
  return values;
}

/**
 * Maps of quantities, one at a time.
 *
 * Options: `width`, `height`; `layers`, each with its `name`, the range `shown`, and its `values`; `nameOf`, the name and the text of a pixel; `act`,
 * what a press on a pixel does; `disks`, points `[left, top, value]` as shares of the map, in the colours of the layer.
 */
class ParameterMap {
  constructor(options) {
    Object.assign(this, { place: null }, options);
    this.canvas = make('canvas', { width: this.width, height: this.height, 'aria-hidden': 'true' });
    this.cursor = make('div', { class: 'cursor', hidden: true });
    this.tip = make('div', { class: 'tip', hidden: true });
    this.voice = make('div', { class: 'unseen', 'aria-live': 'polite' });
    this.marks = make('div', { class: 'disks', 'aria-hidden': 'true' });
    this.frame = make('div', { class: 'map', tabindex: 0, role: 'group' }, this.canvas, this.marks, this.cursor, this.tip, this.voice);
    // Pixels are square, unless the image were too narrow to be seen.
    this.frame.style.setProperty('--ratio', String(Math.max(0.25, Math.min(6, this.width / this.height))));
    this.scale = make('div', { class: 'color-bar' });
    fill(this.frame, {
      pointermove: event => this.show(this.at(event)), pointerdown: event => { this.show(this.at(event)); if (this.place && this.act) this.act(...this.place); }, pointerleave: () => this.show(null), blur: () => this.show(null),
      keydown: event => this.press(event),
    }, []);
    this.choose(0);
  }

  choose(index) {
    const layer = this.layers[index];
    const [low, high] = layer.shown;
    this.layer = layer;
    const image = new ImageData(this.width, this.height);
    const colorOf = value => mapColor(high > low ? (value - low) / (high - low) : 0.5);
    layer.values.forEach((value, i) => image.data.set(value == null ? [128, 128, 128, 70] : [...colorOf(value), 255], 4 * i));
    this.marks.replaceChildren(...(this.disks || []).map(([left, top, value]) => {
      const disk = make('i');
      Object.assign(disk.style, { left: `${100 * left}%`, top: `${100 * top}%`, background: `rgb(${colorOf(value)})` });
      return disk;
    }));
    this.canvas.getContext('2d').putImageData(image, 0, 0);
    fill(this.frame, { 'aria-label': `Map of ${layer.name}, from ${number(low)} to ${number(high)}. Arrow keys go from pixel to pixel.` }, []);
    const stops = MAP_COLORS.map((_, i) => `rgb(${mapColor(i / (MAP_COLORS.length - 1))})`).join(',');
    const bar = make('div', { class: 'colors' });
    bar.style.background = `linear-gradient(to right, ${stops})`;
    const ends = high > low ? ticks(low, high, 5, false).filter(value => value >= low && value <= high) : [low];
    const marks = ends.map(value => {
      const mark = make('span', { text: number(value, 8) });
      mark.style.left = `${high > low ? (100 * (value - low)) / (high - low) : 50}%`;
      return mark;
    });
    this.scale.replaceChildren(make('div', { class: 'name', text: layer.name }), bar, make('div', { class: 'marks' }, ...marks));
  }

  at(event) {
    const box = this.canvas.getBoundingClientRect();
    const [x, y] = [((event.clientX - box.left) / box.width) * this.width, ((event.clientY - box.top) / box.height) * this.height].map(Math.floor);
    return x >= 0 && y >= 0 && x < this.width && y < this.height ? [x, y] : null;
  }

  /** Shows all quantities of a pixel. */
  show(place) {
    this.place = place;
    this.tip.hidden = this.cursor.hidden = !place;
    if (!place) return [];
    const [x, y] = place;
    const value = layer => layer.values[y * this.width + x];
    const text = layer => {
      const known = value(layer);
      if (known == null) return 'no fit';
      return `${known >= layer.high ? '≥ ' : known <= layer.low ? '≤ ' : ''}${number(known, 4)}`;
    };
    const rows = [this.nameOf(x, y), ...this.layers.map(layer => [layer.name, text(layer)])];
    this.tip.replaceChildren(...rows.map(([name, content]) => make('div', {}, make('span', { text: name }), make('b', { text: content }))));
    const [left, top, width, height] = [x / this.width, y / this.height, 1 / this.width, 1 / this.height].map(share => `${100 * share}%`);
    Object.assign(this.cursor.style, { left, top, width, height });
    Object.assign(this.tip.style, { left, top, transform: `translate(${x > this.width / 2 ? 'calc(-100% - 14px)' : '20px'}, ${y > this.height / 2 ? '-100%' : '0'})` });
    return rows;
  }

  press(event) {
    const steps = { ArrowRight: [1, 0], ArrowLeft: [-1, 0], ArrowDown: [0, 1], ArrowUp: [0, -1] };
    if (event.key === 'Escape') this.show(null);
    if (event.key === 'Enter' && this.place && this.act) this.act(...this.place);
    if (!steps[event.key]) return;
    const [x, y] = this.place || [0, 0];
    const [dx, dy] = this.place ? steps[event.key] : [0, 0];
    const rows = this.show([Math.max(0, Math.min(this.width - 1, x + dx)), Math.max(0, Math.min(this.height - 1, y + dy))]);
    this.voice.textContent = rows.map(row => row.join(' ')).join(', ');
    event.preventDefault();
  }
}

/** A map with the buttons that choose its quantity. */
function mapSection(title, options, hint) {
  const map = new ParameterMap(options);
  const choices = map.layers.map((layer, index) => button(layer.name, () => {
    map.choose(index);
    choices.forEach((one, i) => one.setAttribute('aria-pressed', String(i === index)));
  }, { 'aria-pressed': String(index === 0) }));
  const frame = options.sides ? withSides(map.frame, options) : map.frame;
  const tools = choices.length > 1 ? make('div', { class: 'bar' }, make('div', { class: 'tools', role: 'group', 'aria-label': 'Quantity of the map' }, ...choices)) : null;
  return section(title, tools, frame, map.scale, make('p', { class: 'hint', text: hint }));
}

/** A map with names of rows and columns, each with its place as a share of the side. */
function withSides(frame, { width, height, sides }) {
  const along = (names, edge) => names.map(([text, share]) => {
    const name = make('span', { text, 'aria-hidden': 'true' });
    name.style[edge] = `${100 * share}%`;
    return name;
  });
  const host = make('div', { class: 'sided' }, make('div', { class: 'above' }, ...along(sides[1], 'left')), make('div', { class: 'beside' }, ...along(sides[0], 'top')), frame);
  host.style.setProperty('--ratio', String(width / height));
  return host;
}

/** The map of an image of fits. */
function imageSection() {
  if (!data.map || !data.map.layers.some(layer => layer.levels)) return null;
  const { rows, columns, step } = data.map;
  const layers = data.map.layers.filter(layer => layer.levels).map(layer => ({ ...layer, values: mapValues(layer) }));
  const thinned = step > 1 ? ` One pixel of ${step} × ${step} is shown.` : '';
  const hint = `${rows.toLocaleString('en')} × ${plural(columns, 'pixel')}; the colours span all but the 2 % of values at either end; pixels without a fit are grey.${thinned}`;
  return mapSection('Map', { width: Math.ceil(columns / step), height: Math.ceil(rows / step), layers, nameOf: (x, y) => ['row, column', `${y * step}, ${x * step}`] }, hint);
}

/** The fitted surface of a curve of two predictors, with the observations in it. */
function surfaceSection({ surface: known, y_label: label }) {
  if (!known || !known.layer.levels) return null;
  const { cells, names, x, y, layer, points } = known;
  const middle = ([low, high], cell) => low + ((high - low) * (cell + 0.5)) / cells;
  const share = ([low, high], value) => (value - low) / (high - low);
  const along = range => ticks(...range, 6, false).map(value => [number(value, 6), share(range, value)]).filter(([, at]) => at >= 0 && at <= 1);
  const sides = [along(y).map(([text, at]) => [text, 1 - at]), along(x)];
  const disks = points.map(([at, height, value]) => [share(x, at), 1 - share(y, height), value]);
  const nameOf = (column, row) => [names.join(', '), `${number(middle(x, column), 4)}, ${number(middle(y, cells - 1 - row), 4)}`];
  const options = { width: cells, height: cells, layers: [{ ...layer, values: mapValues(layer), name: `fitted ${label}` }], disks, sides, nameOf };
  return mapSection('Surface', options, `${names[0]} to the right, ${names[1]} upwards; disks are observations, in the colours of their values: those that agree with the surface are hard to tell from it.`);
}

const PLATES = [[8, 12], [16, 24], [32, 48]];
const plateRow = index => (index < 26 ? String.fromCharCode(65 + index) : `A${String.fromCharCode(39 + index)}`);

/** Row and column of a well such as B7; null of another name. */
function wellOf(name) {
  const found = /^([A-Z]|A[A-F])0?(\d{1,2})$/.exec(name);
  if (!found || !Number(found[2])) return null;
  const row = found[1].length === 2 ? 26 + found[1].charCodeAt(1) - 65 : found[1].charCodeAt(0) - 65;
  return [row, Number(found[2]) - 1];
}

/** The map of a plate, if the fits are called as wells; `values` are those of the quantities of each fit. */
function plateSection(names, quantities, values, act) {
  const wells = names.map(wellOf);
  if (names.length < 6 || wells.includes(null) || new Set(wells.map(String)).size < wells.length) return null;
  const size = PLATES.find(([rows, columns]) => wells.every(([row, column]) => row < rows && column < columns));
  if (!size) return null;
  const [height, width] = size;
  const layers = quantities.map((name, quantity) => {
    const all = Array(width * height).fill(null);
    wells.forEach(([row, column], i) => { all[row * width + column] = Number.isFinite(values[i][quantity]) ? values[i][quantity] : null; });
    const known = all.filter(value => value != null).sort((a, b) => a - b);
    const at = share => known[Math.round(share * (known.length - 1))];
    return { name, values: all, shown: [at(0.02), at(0.98)], low: -Infinity, high: Infinity };
  }).filter(layer => layer.shown[0] != null);
  if (!layers.length) return null;
  const of = (x, y) => wells.findIndex(([row, column]) => row === y && column === x);
  const along = (count, nameOf) => Array.from({ length: count }, (_, i) => [nameOf(i), (i + 0.5) / count]);
  const sides = [along(height, plateRow), along(width, i => String(i + 1))];
  const options = { width, height, layers, sides, nameOf: (x, y) => ['well', plateRow(y) + (x + 1)], act: (x, y) => of(x, y) >= 0 && act(of(x, y)) };
  return mapSection('Plate', options, 'Press a well to see its fit. Wells without a fit are grey.');
}

