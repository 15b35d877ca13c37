'use strict';

/** Creates an HTML element; attributes that are functions listen to events, `text` is its text. */
function make(name, attributes = {}, ...children) {
  return fill(document.createElement(name), attributes, children);
}

/** Creates an SVG element. */
function shape(name, attributes = {}, ...children) {
  return fill(document.createElementNS('http://www.w3.org/2000/svg', name), attributes, children);
}

function fill(element, attributes, children) {
  for (const [key, value] of Object.entries(attributes)) {
    if (key === 'text') element.textContent = value;
    else if (typeof value === 'function') element.addEventListener(key, value);
    else if (value !== false && value != null) element.setAttribute(key, value === true ? '' : value);
  }
  element.append(...children.filter(child => child != null));
  return element;
}

const minus = text => text.replace(/-/g, '−');
const superscript = exponent => String(exponent).replace(/[-0-9]/g, c => '⁻⁰¹²³⁴⁵⁶⁷⁸⁹'['-0123456789'.indexOf(c)]);

/** Formats a number with significant digits, without zeros at the end. */
function number(value, digits = 6) {
  if (typeof value === 'string') return minus(value.replace('inf', '∞'));
  if (value == null || Number.isNaN(value)) return '–';
  if (!Number.isFinite(value)) return value > 0 ? '∞' : '−∞';
  const rounded = Number(value.toPrecision(digits));
  const size = Math.abs(rounded);
  if (rounded === 0 || (size >= 1e-4 && size < 1e6)) return minus(String(rounded));
  const [mantissa, exponent] = rounded.toExponential().split('e');
  return (mantissa === '1' ? '' : `${minus(mantissa)}×`) + '10' + superscript(Number(exponent));
}

/** About `count` round numbers between two others. */
function ticks(low, high, count, isLog) {
  const found = [];
  const decades = Math.log10(high / low);
  if (isLog && decades >= 0.8) {
    const step = Math.ceil(decades / count);
    const digits = decades > 2.5 ? [1] : [1, 2, 5];
    for (let power = Math.floor(Math.log10(low)); power <= Math.log10(high); power++) {
      if (power % step) continue;
      found.push(...digits.map(digit => Number(`${digit}e${power}`)).filter(value => value >= low && value <= high));
    }
    if (found.length > 1) return found;
  }
  const raw = (high - low) / count;
  const power = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 5, 10].find(factor => factor * power >= 0.7 * raw) * power;
  if (!(step > 0 && low + step > low)) return [low];
  const values = [];
  for (let i = Math.ceil(low / step); i * step <= high; i++) values.push(Number((i * step).toPrecision(12)));
  return values;
}

/** The numbers at an axis; powers of ten if it spans many. */
function labels(values, isLog) {
  const arePowers = isLog && values.length > 2 && values.every(value => Number.isInteger(Math.log10(value)));
  const areFar = values.some(value => value >= 1e5 || value <= 1e-4);
  return values.map(value => (arePowers && areFar ? `10${superscript(Math.round(Math.log10(value)))}` : number(value, 10)));
}

/** Values along an axis, and pixels. */
class Scale {
  constructor([low, high], length, isLog) {
    Object.assign(this, { low, high, length, isLog });
    this.from = this.bend(low);
    this.unit = length / (this.bend(high) - this.from);
  }
  bend(value) { return this.isLog ? Math.log10(value) : value; }
  pixel(value) { return (this.bend(value) - this.from) * this.unit; }
  value(pixel) {
    const bent = this.from + pixel / this.unit;
    return this.isLog ? 10 ** bent : bent;
  }
}

/** Range of values with room around them. */
function rangeOf(values, isLog) {
  let [low, high] = [Infinity, -Infinity];
  for (const value of values) {
    if (value == null || !Number.isFinite(value) || (isLog && value <= 0)) continue;
    if (value < low) low = value;
    if (value > high) high = value;
  }
  if (low > high) return isLog ? [1, 10] : [0, 1];
  if (low === high) return isLog ? [low / 2, low * 2] : [low - (Math.abs(low) || 1) / 2, low + (Math.abs(low) || 1) / 2];
  if (isLog) return [low / (high / low) ** 0.06, high * (high / low) ** 0.06];
  return [low - 0.06 * (high - low), high + 0.06 * (high - low)];
}

/** Paths of a point with radius `r`: a dot of a thick line, or an outline to fill. */
const SYMBOLS = [
  (x, y) => `M${x} ${y}h0`,
  (x, y, r) => `M${x - r} ${y - r}h${2 * r}v${2 * r}h${-2 * r}z`,
  (x, y, r) => `M${x} ${y - 1.3 * r}l${1.3 * r} ${1.3 * r}l${-1.3 * r} ${1.3 * r}l${-1.3 * r} ${-1.3 * r}z`,
  (x, y, r) => `M${x} ${y - 1.2 * r}l${1.2 * r} ${2.2 * r}h${-2.4 * r}z`,
  (x, y, r) => `M${x} ${y + 1.2 * r}l${1.2 * r} ${-2.2 * r}h${-2.4 * r}z`,
];
const CROSS = (x, y, r) => `M${x - r} ${y - r}l${2 * r} ${2 * r}m0 ${-2 * r}l${-2 * r} ${2 * r}`;
const DASHES = [null, '7 4', '2 3', '9 3 2 3', '12 4'];

/** Points of a layer that are drawn while the wheel turns, and the time after which all of them are, in milliseconds. */
const FEW = 800;
const CALM = 200;

/** How a symbol is painted. */
function paint(layer, radius) {
  if (layer.isRing) return { stroke: layer.color, 'stroke-width': 1.3, fill: 'var(--card)' };
  if (layer.isCross) return { stroke: layer.color, 'stroke-width': 1.8, fill: 'none' };
  const isDot = layer.symbol % SYMBOLS.length === 0;
  return { stroke: isDot ? layer.color : 'none', 'stroke-width': 2 * radius, 'stroke-linecap': 'round', fill: isDot ? 'none' : layer.color };
}

const RING = (x, y, r) => `M${x - r} ${y}a${r} ${r} 0 1 0 ${2 * r} 0a${r} ${r} 0 1 0 ${-2 * r} 0z`;
const symbolOf = layer => (layer.isCross ? CROSS : layer.isRing && layer.symbol % SYMBOLS.length === 0 ? RING : SYMBOLS[layer.symbol % SYMBOLS.length]);

/**
 * A picture of layers: points, lines, bands and strips.
 *
 * Options: `layers`, a function; `label`, for those who do not see it; `xLabel`, `yLabel`, `height`; `axes`, which charts may share:
 * `logX`, the range `x`, and the `charts`; `logY`; `isEqual`, one scale for both axes; `describe`, which makes the chart interactive: it
 * describes a point of a layer; `pick`, what a click on a point or the key Enter does; `onDraw`. Points that logarithmic axes cannot show are counted in `lost`.
 */
class Chart {
  constructor(options) {
    Object.assign(this, { height: 220, axes: {}, logY: false, y: null }, options);
    this.svg = shape('svg', { role: 'img', 'aria-label': this.label });
    this.host = make('div', { class: 'chart' }, this.svg);
    if (this.describe) this.listen();
    new ResizeObserver(() => this.host.isConnected && this.host.clientWidth !== this.width && this.redraw()).observe(this.host);
  }

  /** Draws this chart, and those that share its axes. */
  redraw() {
    const { charts } = this.axes;
    if (!charts) return this.draw();
    charts.forEach(chart => chart.draw());
    if (new Set(charts.map(chart => chart.panel.left)).size > 1) charts.forEach(chart => chart.draw());
  }

  /** Draws everything anew. */
  draw() {
    this.width = this.host.clientWidth || 640;
    const layers = this.layers();
    const { isSmall } = this;
    const panelHeight = this.height - (isSmall ? 8 : this.xLabel ? 46 : 24) - 8;
    let y = this.y || this.naturalY(layers);
    const yTicks = ticks(...y, isSmall ? 2 : Math.max(2, panelHeight / 36), this.logY);
    const longest = Math.max(...labels(yTicks, this.logY).map(text => text.length));
    this.margin = isSmall ? 4 : 26 + 7 * longest;
    const linked = this.axes.charts || [this];
    const left = Math.max(...linked.map(chart => chart.margin || 0));
    this.panel = { left, top: 8, width: Math.max(40, this.width - left - 10), height: panelHeight };
    let x = this.axes.x || linked[0].naturalX();
    if (this.isEqual) [x, y] = equalized(x, y, this.panel.width / panelHeight);
    this.xScale = new Scale(x, this.panel.width, this.axes.logX);
    this.yScale = new Scale(y, panelHeight, this.logY);
    const xTicks = ticks(this.xScale.low, this.xScale.high, isSmall ? 2 : Math.max(3, this.panel.width / 80), this.axes.logX);
    const inner = shape('svg', { x: left, y: 8, width: this.panel.width, height: panelHeight, class: 'panel' });
    inner.append(shape('rect', { width: '100%', height: '100%', class: 'ground' }), ...this.grid(xTicks, yTicks));
    this.marks = [];
    this.lost = 0;
    for (const layer of layers) this.drawLayer(inner, layer);
    this.overlay = shape('g');
    inner.append(this.overlay, shape('rect', { width: '100%', height: '100%', class: 'frame' }));
    this.svg.setAttribute('viewBox', `0 0 ${this.width} ${this.height}`);
    this.svg.replaceChildren(inner, ...(isSmall ? [] : this.numbers(xTicks, yTicks)));
    if (this.onDraw) this.onDraw();
  }

  naturalX() {
    return rangeOf(this.layers().flatMap(layer => layer.x || []), this.axes.logX);
  }

  /** The range of the points; curves and bands widen it to three times that at most. */
  naturalY(layers) {
    const ofPoints = layers.filter(layer => layer.kind === 'points' || layer.kind === 'columns').flatMap(layer => (layer.kind === 'columns' ? [0, ...layer.y] : layer.y));
    const ends = layer => layer.y.flatMap((y, i) => [y - layer.errors[i], y + layer.errors[i]]);
    const others = layers.filter(layer => !['points', 'columns'].includes(layer.kind)).flatMap(layer => [...(layer.y || []), ...(layer.low || []), ...(layer.high || []), ...(layer.errors ? ends(layer) : [])]);
    const [low, high] = rangeOf(ofPoints, this.logY);
    const share = this.logY ? [low / Math.cbrt(high / low), high * Math.cbrt(high / low)] : [2 * low - high, 2 * high - low];
    const within = ofPoints.length ? others.filter(value => value > share[0] && value < share[1]) : others;
    return rangeOf(ofPoints.concat(within), this.logY);
  }

  grid(xTicks, yTicks) {
    const { width, height } = this.panel;
    const upright = xTicks.map(value => this.xScale.pixel(value)).map(x => `M${x.toFixed(1)} 0V${height}`);
    const level = yTicks.map(value => height - this.yScale.pixel(value)).map(y => `M0 ${y.toFixed(1)}H${width}`);
    return [shape('path', { d: upright.concat(level).join(''), class: 'grid' })];
  }

  numbers(xTicks, yTicks) {
    const { left, top, width, height } = this.panel;
    const text = (content, x, y, attributes) => shape('text', { x, y, text: content, ...attributes });
    const [xTexts, yTexts] = [labels(xTicks, this.axes.logX), labels(yTicks, this.logY)];
    const along = xTicks.map((value, i) => text(xTexts[i], left + this.xScale.pixel(value), top + height + 16, { 'text-anchor': 'middle' }));
    const up = yTicks.map((value, i) => text(yTexts[i], left - 6, top + height - this.yScale.pixel(value) + 4, { 'text-anchor': 'end' }));
    const turn = `translate(13 ${top + height / 2}) rotate(-90)`;
    return [...along, ...up,
      this.xLabel ? text(this.xLabel, left + width / 2, this.height - 6, { 'text-anchor': 'middle', class: 'label' }) : '',
      text(this.yLabel || '', 0, 0, { transform: turn, 'text-anchor': 'middle', class: 'label' })];
  }

  drawLayer(inner, layer) {
    const { width, height } = this.panel;
    const clamp = pixel => Math.max(-3000, Math.min(3000 + height, pixel));
    const px = value => this.xScale.pixel(value).toFixed(1);
    const py = value => clamp(height - this.yScale.pixel(value)).toFixed(1);
    const exists = (x, y) => x != null && y != null && (!this.axes.logX || x > 0) && (!this.logY || y > 0);
    if (layer.kind === 'points') return this.drawPoints(inner, layer);
    if (layer.kind === 'bars') return this.drawBars(inner, layer);
    if (layer.kind === 'columns') return this.drawColumns(inner, layer);
    if (layer.kind === 'strip') {
      const [top, bottom] = [py(layer.high[0]), py(layer.low[0])];
      inner.append(shape('rect', { x: 0, y: top, width, height: Math.max(0, bottom - top), fill: layer.color, opacity: layer.opacity, stroke: layer.stroke }));
      return;
    }
    let path = '';
    if (layer.kind === 'band') {
      // Below zero there is no logarithm; the band goes on to the edge.
      const low = layer.low.map(value => (this.logY && value <= 0 ? this.yScale.low / 1e3 : value));
      const known = layer.x.map((_, i) => i).filter(i => exists(layer.x[i], layer.high[i]) && low[i] != null);
      const edge = (values, order) => order.map(i => `${px(layer.x[i])} ${py(values[i])}`).join('L');
      if (known.length) path = `M${edge(layer.high, known)}L${edge(low, [...known].reverse())}z`;
      inner.append(shape('path', { d: path, fill: layer.color, opacity: layer.opacity }));
      return;
    }
    let pen = 'M';
    layer.x.forEach((x, i) => {
      if (!exists(x, layer.y[i])) { pen = 'M'; return; }
      path += `${pen}${px(x)} ${py(layer.y[i])}`;
      pen = 'L';
    });
    if (layer.hasRim) inner.append(shape('path', { d: path, class: 'line rim' }));
    inner.append(shape('path', { d: path, stroke: layer.color, class: 'line', 'stroke-width': layer.thickness || 2, 'stroke-dasharray': layer.dash }));
  }

  /** Draws points; their opacity rises with the number of points that they stand for. */
  drawPoints(inner, layer) {
    const { width, height } = this.panel;
    const radius = layer.isCross ? 4 : this.isSmall ? 1.6 : layer.x.length > 1500 ? 1.8 : layer.x.length > 300 ? 2.4 : 3.4;
    const most = layer.counts ? Math.max(...layer.counts) : 1;
    const paths = ['', '', '', ''];
    const symbol = symbolOf(layer);
    const step = this.axes.isQuick ? Math.ceil(layer.x.length / FEW) : 1;
    for (let i = 0; i < layer.x.length; i += step) {
      if (layer.x[i] == null || layer.y[i] == null) continue;
      if ((this.axes.logX && layer.x[i] <= 0) || (this.logY && layer.y[i] <= 0)) { this.lost += layer.counts ? layer.counts[i] : 1; continue; }
      const [x, y] = [this.xScale.pixel(layer.x[i]), height - this.yScale.pixel(layer.y[i])];
      if (!(x >= -5 && x <= width + 5 && y >= -5 && y <= height + 5)) continue;
      const level = layer.counts ? Math.min(3, Math.floor((4 * Math.log(layer.counts[i])) / Math.log(most + 1))) : 3;
      paths[level] += symbol(Math.round(10 * x) / 10, Math.round(10 * y) / 10, radius);
      this.marks.push({ x, y, layer, index: i });
    }
    paths.forEach((path, level) => path && inner.append(shape('path', { d: path, ...paint(layer, radius), opacity: [0.3, 0.5, 0.7, 0.9][level] })));
  }

  /** Draws error bars, with caps where they are few. */
  drawBars(inner, layer) {
    const { width, height } = this.panel;
    const cap = layer.x.length > 60 ? 0 : 3;
    const px = value => (this.axes.logX && value <= 0 ? -9 : Math.max(-9, Math.min(width + 9, this.xScale.pixel(value)))).toFixed(1);
    const py = value => (this.logY && value <= 0 ? height + 9 : Math.max(-9, Math.min(height + 9, height - this.yScale.pixel(value)))).toFixed(1);
    let path = '';
    layer.x.forEach((x, i) => {
      const y = layer.y[i];
      if (x == null || y == null || (this.axes.logX && x <= 0) || (this.logY && y <= 0)) return;
      const [error, xError] = [layer.errors && layer.errors[i], layer.xErrors && layer.xErrors[i]];
      const [low, high] = [y - error, y + error].map(py);
      const [left, right] = [x - xError, x + xError].map(px);
      if (error > 0) path += `M${px(x)} ${low}V${high}`;
      if (error > 0 && cap) path += `M${px(x) - cap} ${low}h${2 * cap}M${px(x) - cap} ${high}h${2 * cap}`;
      if (xError > 0) path += `M${left} ${py(y)}H${right}`;
      if (xError > 0 && cap) path += `M${left} ${py(y) - cap}v${2 * cap}M${right} ${py(y) - cap}v${2 * cap}`;
    });
    inner.append(shape('path', { d: path, stroke: layer.color, fill: 'none', 'stroke-width': 1.2, opacity: layer.x.length > 300 ? 0.3 : 0.65 }));
  }

  /** Draws the columns of a histogram, of which `x` has the ends. */
  drawColumns(inner, layer) {
    const { height } = this.panel;
    const path = layer.y.map((y, i) => {
      const [left, right] = [this.xScale.pixel(layer.x[i]), this.xScale.pixel(layer.x[i + 1])];
      return y ? `M${left.toFixed(1)} ${height}V${(height - this.yScale.pixel(y)).toFixed(1)}H${(right - 1).toFixed(1)}V${height}z` : '';
    });
    inner.append(shape('path', { d: path.join(''), fill: layer.color, opacity: 0.75 }));
  }

  /** Sets the ranges; without arguments, resets them. */
  zoom(x, y) {
    this.axes.x = x || null;
    this.y = y || null;
    this.redraw();
  }

  /** Widens the ranges by a factor about a place in pixels. */
  zoomAt(px, py, factor) {
    const around = (scale, pixel) => [scale.value(pixel - pixel * factor), scale.value(pixel + (scale.length - pixel) * factor)];
    const [x, y] = [around(this.xScale, px), around(this.yScale, this.panel.height - py)];
    const isSound = ([low, high]) => Number.isFinite(low) && Number.isFinite(high) && high - low > 1e-12 * Math.max(Math.abs(low), Math.abs(high));
    if (isSound(x) && isSound(y)) this.zoom(x, y);
  }

  zoomCenter(factor) { this.zoomAt(this.panel.width / 2, this.panel.height / 2, factor); }

  listen() {
    this.tip = make('div', { class: 'tip', hidden: true });
    this.voice = make('div', { class: 'unseen', 'aria-live': 'polite' });
    this.host.append(this.tip, this.voice);
    fill(this.host, { tabindex: 0, role: 'group', 'aria-label': `${this.label} Arrow keys go from point to point; plus, minus and 0 zoom.` }, []);
    const place = event => {
      const box = this.svg.getBoundingClientRect();
      const scale = this.width / box.width;
      return [(event.clientX - box.left) * scale - this.panel.left, (event.clientY - box.top) * scale - this.panel.top];
    };
    const isInside = ([x, y]) => x >= 0 && x <= this.panel.width && y >= 0 && y <= this.panel.height;
    let from = null;
    fill(this.host, {
      pointerdown: event => {
        if (event.button || !isInside(place(event))) return;
        from = place(event);
        this.host.setPointerCapture(event.pointerId);
      },
      pointermove: event => {
        const at = place(event);
        if (!from) return this.hover(isInside(at) ? this.nearest(at) : null);
        this.hover(null);
        this.overlay.replaceChildren(shape('rect', { ...box(from, at), class: 'choice' }));
      },
      pointerup: event => {
        if (!from) return;
        const chosen = box(from, place(event));
        from = null;
        this.overlay.replaceChildren();
        if (chosen.width < 6 || chosen.height < 6) {
          const mark = this.nearest(place(event));
          if (mark && this.pick) this.pick({ x: mark.layer.x[mark.index], y: mark.layer.y[mark.index] });
          return this.hover(mark);
        }
        const { height } = this.panel;
        this.zoom([this.xScale.value(chosen.x), this.xScale.value(chosen.x + chosen.width)],
          [this.yScale.value(height - chosen.y - chosen.height), this.yScale.value(height - chosen.y)]);
      },
      pointercancel: () => { from = null; this.overlay.replaceChildren(); },
      pointerleave: () => from || this.hover(null),
      dblclick: () => this.zoom(),
      blur: () => this.hover(null),
      keydown: event => this.press(event),
    }, []);
    let [factor, calm] = [1, null];
    this.host.addEventListener('wheel', event => {
      const at = place(event);
      if (!isInside(at)) return;
      event.preventDefault();
      // The wheel turns faster than pictures are drawn.
      if (factor === 1) requestAnimationFrame(() => { this.hover(null); this.axes.isQuick = true; this.zoomAt(...at, factor); factor = 1; });
      clearTimeout(calm);
      calm = setTimeout(() => { this.axes.isQuick = false; this.redraw(); }, CALM);
      factor *= Math.exp(Math.max(-0.5, Math.min(0.5, 0.002 * event.deltaY)));
    }, { passive: false });
  }

  nearest([x, y]) {
    let [best, least] = [null, 40 ** 2];
    for (const mark of this.marks) {
      const distance = (mark.x - x) ** 2 + (mark.y - y) ** 2;
      if (distance < least) [best, least] = [mark, distance];
    }
    return best;
  }

  hover(mark) {
    this.current = mark;
    this.tip.hidden = !mark;
    this.overlay.replaceChildren();
    if (!mark) return;
    const { left, top, width, height } = this.panel;
    this.overlay.append(shape('path', { d: `M${mark.x} 0V${height}M0 ${mark.y}H${width}`, class: 'hair' }), shape('circle', { cx: mark.x, cy: mark.y, r: 7, class: 'ring' }));
    const rows = this.describe(mark.layer, mark.index);
    this.tip.replaceChildren(...rows.map(([name, value]) => make('div', {}, make('span', { text: name }), make('b', { text: value }))));
    const scale = this.svg.getBoundingClientRect().width / this.width;
    const isRight = mark.x > width / 2;
    this.tip.style.left = `${(left + mark.x) * scale + (isRight ? -14 : 14)}px`;
    this.tip.style.top = `${(top + mark.y) * scale}px`;
    this.tip.style.transform = `translate(${isRight ? '-100%' : '0'}, ${mark.y > height / 2 ? '-100%' : '0'})`;
    return rows;
  }

  press(event) {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    const zoom = { '+': 0.8, '=': 0.8, '-': 1.25 }[event.key];
    if (event.key === '0') this.zoom();
    else if (event.key === 'Escape') this.hover(null);
    else if (event.key === 'Enter' && this.current && this.pick) this.pick({ x: this.current.layer.x[this.current.index], y: this.current.layer.y[this.current.index] });
    else if (zoom) this.zoomCenter(zoom);
    else if (step && this.marks.length) {
      const order = [...this.marks].sort((a, b) => a.x - b.x);
      const next = order.indexOf(this.current) + step;
      const rows = this.hover(order[(next + order.length + (step < 0 && !this.current ? 1 : 0)) % order.length]);
      this.voice.textContent = rows.map(row => row.join(' ')).join(', ');
    } else return;
    event.preventDefault();
  }
}

/** Widens one of two ranges, so that lengths on both axes are equal. */
function equalized([x0, x1], [y0, y1], ratio) {
  const factor = ((y1 - y0) * ratio) / (x1 - x0);
  const widen = (low, high, by) => [low - ((by - 1) / 2) * (high - low), high + ((by - 1) / 2) * (high - low)];
  return factor > 1 ? [widen(x0, x1, factor), [y0, y1]] : [[x0, x1], widen(y0, y1, 1 / factor)];
}

function box([x0, y0], [x1, y1]) {
  return { x: Math.min(x0, x1), y: Math.min(y0, y1), width: Math.abs(x1 - x0), height: Math.abs(y1 - y0) };
}
