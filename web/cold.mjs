// Parts of functions that were not run become functions of their own, which the second part of the module can have.
import { bodyAt, typesOf, walk } from './wat.mjs';

const LEAVING = ['br', 'br_if', 'br_table', 'return', 'unreachable'];
const LISTS = ['then', 'else', 'block', 'loop'];
const BYTES = 2.4;

/** What may leave a list of statements before its end. */
function leaves(one) {
  let found = false;
  walk([one], ([name]) => { found ||= LEAVING.includes(name); });
  return found;
}

/**
 * A copy of a function that calls `$mark` wherever it goes on straight; `places` gets, for each list of statements, at which ones these calls are, and
 * their numbers.
 */
export function marked(list, places, next) {
  const isOf = list[0] === 'func' || LISTS.includes(list[0]);
  if (!isOf) return list.map(one => (typeof one === 'string' ? one : marked(one, places, next)));
  const from = bodyAt(list);
  const own = [];
  const copy = list.slice(0, from);
  for (let at = from; at < list.length; at++) {
    if (at === from || leaves(list[at - 1])) {
      own.push([at, next.count]);
      copy.push(['call', '$mark', ['i32.const', String(next.count++)]]);
    }
    copy.push(marked([list[at]], places, next)[0]);
  }
  places.set(list, own);
  return copy;
}

/** Which locals are read later on, as bits of a number, before each statement of each list, and where branches go. */
function liveness(list, bits) {
  const before = new Map();
  const labels = new Map();
  const bit = name => 1n << BigInt(bits.get(name));
  const all = (lists, after) => lists.reduceRight((live, one) => (typeof one === 'string' ? live : of(one, live)), after);
  const body = (owner, after) => {
    const from = bodyAt(owner);
    const own = [];
    let live = after;
    own[owner.length] = after;
    for (let at = owner.length - 1; at >= from; at--) own[at] = live = of(owner[at], live);
    before.set(owner, own);
    return live;
  };
  function of(one, after) {
    const [name, label] = one;
    switch (name) {
      case 'local.get': return after | bit(label);
      case 'local.set': case 'local.tee': return of(one[2], after & ~bit(label));
      case 'block': labels.set(label, after); return body(one, after);
      case 'loop': {
        for (let start = 0n; ;) {
          labels.set(label, start);
          const live = body(one, after);
          if ((live | start) === start) return live;
          start |= live;
        }
      }
      case 'if': {
        const arms = one.filter(arm => arm[0] === 'then' || arm[0] === 'else');
        const live = arms.map(arm => body(arm, after)).reduce((a, b) => a | b, arms.length < 2 ? after : 0n);
        return of(one.find(part => typeof part !== 'string' && part[0] !== 'result' && !arms.includes(part)), live);
      }
      case 'br': return all(one, labels.get(label));
      case 'br_if': return all(one, labels.get(label) | after);
      case 'br_table': return all(one, one.filter(part => typeof part === 'string' && part.startsWith('$')).reduce((live, part) => live | labels.get(part), 0n));
      case 'return': return all(one, 0n);
      case 'unreachable': return 0n;
      default: return all(one, after);
    }
  }
  body(list, 0n);
  return { before, labels };
}

/** Names of the globals in which values come back. */
export class Channels {
  types = new Map();
  /** One for values of a type. */
  of(type, index) {
    this.types.set(type, Math.max(this.types.get(type) ?? 0, index + 1));
    return `$${type}:${index}`;
  }
  get globals() {
    const zero = type => (type === 'v128' ? ['v128.const', 'i32x4', '0', '0', '0', '0'] : [`${type}.const`, '0']);
    return [...this.types].flatMap(([type, count]) => Array.from({ length: count }, (_, i) => ['global', `$${type}:${i}`, ['mut', type], zero(type)]));
  }
}

/**
 * Takes from a function what was not run, and returns the functions made of it. `call(name, values)` gives the call of such a function.
 */
export function withoutCold(list, places, isRun, channels, call) {
  const types = new Map(list.filter(one => one[0] === 'param' || one[0] === 'local').map(([, name, type]) => [name, type]));
  const bits = new Map([...types.keys()].map((name, index) => [name, index]));
  const live = liveness(list, bits);
  const labelTypes = new Map();
  walk(list, one => { if (one[0] === 'block' || one[0] === 'loop') labelTypes.set(one[1], one[0] === 'block' ? typesOf(one, 'result') : []); });
  const made = [];

  /** The statements that stand for those from a place of a list on, or null if these are not worth a call. */
  function moved(owner, from, results) {
    const region = owner.slice(from);
    const [own, outside, mentioned, set] = [new Set(), new Set(), new Set(), new Set()];
    let size = 0;
    let returns = false;
    walk(region, one => {
      size += 1;
      const [name, label] = one;
      if (name === 'block' || name === 'loop') own.add(label);
      if (name?.startsWith?.('local.')) mentioned.add(label);
      if (name === 'local.set' || name === 'local.tee') set.add(label);
      if (name === 'return') returns = true;
    });
    walk(region, one => { if (one[0]?.startsWith?.('br')) one.filter(part => typeof part === 'string' && part.startsWith('$') && !own.has(part)).forEach(label => outside.add(label)); });
    const last = region.at(-1);
    const falls = !['br', 'return', 'unreachable', 'br_table'].includes(last[0]);
    const functionResults = typesOf(list, 'result');
    if (results.length > 1 || functionResults.length > 1 || [...outside].some(label => labelTypes.get(label).length > 1)) return null;

    const { before, labels } = live;
    const [atStart, atEnd] = [before.get(owner)[from], before.get(owner)[owner.length]];
    const after = [...outside].reduce((all, label) => all | labels.get(label), falls ? atEnd : 0n);
    const has = (mask, name) => (mask >> BigInt(bits.get(name))) & 1n;
    const order = ['i32', 'i64', 'f32', 'f64', 'v128'];
    const inputs = [...mentioned].filter(name => has(atStart, name)).sort((a, b) => order.indexOf(types.get(a)) - order.indexOf(types.get(b)));
    const outputs = [...set].filter(name => has(after, name));
    const exits = [...[...outside].map(label => ({ label, type: labelTypes.get(label)[0], leave: value => ['br', label, ...value] })),
      ...(returns ? [{ label: '$return:', type: functionResults[0], leave: value => ['return', ...value] }] : []),
      ...(falls ? [{ label: null, type: results[0], leave: value => value[0] ?? ['nop'] }] : [])];
    const cost = 12 + 2 * inputs.length + 4 * outputs.length + 6 * Math.max(0, exits.length - 1) + 2 * exits.filter(one => one.type).length;
    if (size * BYTES < cost + 6) return null;

    // The last way out is number 0.
    const number = index => String(exits.length - 1 - index);
    const isMany = exits.length > 1;
    const leave = index => ['br', '$out:', ...(isMany ? [['i32.const', number(index)]] : [])];
    const within = (label, type, body) => (type ? ['global.set', channels.of(type, 0), ['block', label, ['result', type], ...body]] : ['block', label, ...body]);
    let body = region;
    if (returns) body = body.map(one => returning(one));
    exits.map((exit, index) => ({ ...exit, index })).reverse().forEach(({ label, type, index }) => { body = [within(label ?? '$fall:', type, body), leave(index)]; });
    const whole = exits.length ? (isMany ? [['global.set', channels.of('i32', 1), ['block', '$out:', ['result', 'i32'], ...body]]] : [['block', '$out:', ...body]]) : body;
    const counts = new Map();
    const channelOf = name => {
      const type = types.get(name);
      counts.set(type, (counts.get(type) ?? 1) + 1);
      return channels.of(type, counts.get(type));
    };
    const back = outputs.map(name => [name, channelOf(name)]);
    const name = `${list[1].replace(/"$/, '')}:${made.length}${list[1].endsWith('"') ? '"' : ''}`;
    const parameters = inputs.map(one => ['param', one, types.get(one)]);
    made.push(['func', name, ...parameters, ...[...mentioned].filter(one => !inputs.includes(one)).map(one => ['local', one, types.get(one)]), ...whole, ...back.map(([one, channel]) => ['global.set', channel, ['local.get', one]])]);

    const value = type => (type ? [['global.get', channels.of(type, 0)]] : []);
    const selected = index => (exits.length === 2 ? ['global.get', channels.of('i32', 1)] : ['i32.eq', ['global.get', channels.of('i32', 1)], ['i32.const', number(index)]]);
    const leaving = exits.map(({ label, type, leave: out }, index) => {
      if (index === exits.length - 1) return out(value(type));
      return !type && label !== '$return:' ? ['br_if', label, selected(index)] : ['if', selected(index), ['then', out(value(type))]];
    });
    return [call(name, inputs.map(one => ['local.get', one])), ...back.map(([one, channel]) => ['local.set', one, ['global.get', channel]]), ...(exits.length ? leaving : [['unreachable']])];
  }

  function visit(owner, results) {
    const from = bodyAt(owner);
    const cold = (places.get(owner) ?? []).find(([, mark]) => !isRun(mark))?.[0];
    const end = cold ?? owner.length;
    const parts = owner.slice(from, end).map(one => inside(one));
    if (cold == null) return [...owner.slice(0, from), ...parts];
    return [...owner.slice(0, from), ...parts, ...(moved(owner, cold, results) ?? owner.slice(cold))];
  }
  function inside(one) {
    if (typeof one === 'string') return one;
    if (one[0] === 'if') return one.map(part => (part[0] === 'then' || part[0] === 'else' ? visit(part, typesOf(one, 'result')) : inside(part)));
    if (one[0] === 'block' || one[0] === 'loop') return visit(one, typesOf(one, 'result'));
    return one.map(inside);
  }
  return { hot: visit(list, typesOf(list, 'result')), cold: made };
}

/** Returns become branches. */
function returning(one) {
  if (typeof one === 'string') return one;
  return one[0] === 'return' ? ['br', '$return:', ...one.slice(1).map(returning)] : one.map(returning);
}
