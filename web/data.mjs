// Data that only the second part of a module reads go with it. The linker has to keep segments apart, each of which is then one constant of the program.
import { walk } from './wat.mjs';

const LETTERS = { t: 9, n: 10, r: 13, '"': 34, "'": 39, '\\': 92 };
const encoder = new TextEncoder();

/** Tables of numbers that move have this many bytes, and no address of the first part is near: a compiler may fold `table[i - 3]` into a lower one. */
const [LARGE, BELOW, ABOVE] = [1024, 256, 64];

/** Gap between two segments that are written as one. */
const GAP = 24;

function bytesOf(texts) {
  const bytes = [];
  for (const [, hex, letter, plain] of texts.map(text => text.slice(1, -1)).join('').matchAll(/\\([0-9a-f]{2})|\\(.)|([^\\]+)/gs)) {
    if (hex) bytes.push(parseInt(hex, 16));
    else if (letter) bytes.push(LETTERS[letter]);
    else bytes.push(...encoder.encode(plain));
  }
  return bytes;
}

const textOf = bytes => `"${bytes.map(byte => (byte > 31 && byte < 127 && byte !== 34 && byte !== 92 ? String.fromCharCode(byte) : `\\${byte.toString(16).padStart(2, '0')}`)).join('')}"`;

/** Segments as few lists, with zeros between those that are near; no address of `others`, which are there already, is among these. */
function joined(segments, others) {
  const runs = [];
  let next = 0;
  for (const { start, bytes } of segments) {
    const last = runs.at(-1);
    const end = last ? last.start + last.bytes.length : -Infinity;
    while (next < others.length && others[next].start < end) next += 1;
    if (start - end < GAP && !(others[next]?.start < start)) last.bytes.push(...new Array(start - end).fill(0), ...bytes);
    else runs.push({ start, bytes: [...bytes] });
  }
  return runs.map(({ start, bytes }) => ['data', ['i32.const', String(start)], textOf(bytes)]);
}

/** The data of both parts; `first` has the functions of the first one. */
export function dataOfParts(data, first) {
  const segments = data.map(list => {
    const at = list.findIndex(one => typeof one !== 'string');
    const bytes = bytesOf(list.slice(at + 1));
    return { start: Number(list[at][1]), bytes, isConstant: /^\$"?\.rodata/.test(list[1]) };
  }).sort((a, b) => a.start - b.start);
  const words = ({ start, bytes }) => {
    const view = new DataView(Uint8Array.from(bytes).buffer);
    const from = -start & 3;
    return Array.from({ length: Math.max(0, (bytes.length - from) >> 2) }, (_, i) => view.getUint32(from + 4 * i, true));
  };
  const at = new Map(segments.map(one => [one.start, one]));
  const nameOf = (start, length) => String.fromCharCode(...(at.get(start)?.bytes ?? []).slice(0, length));
  // What a panic says of its place: read after the panic has called the second part.
  const isName = ({ bytes }) => /\.rs\0?$/.test(String.fromCharCode(...bytes.slice(-4)));
  const isPlace = one => one.bytes.length === 16 && nameOf(...words(one)).endsWith('.rs');
  // Texts, and templates of texts, which have lengths between.
  const isText = ({ bytes }) => bytes.filter(byte => byte > 31 && byte < 127).length > 0.6 * bytes.length;
  const isLarge = ({ bytes }) => bytes.length >= LARGE;

  const kinds = segments.map(one => (!one.isConstant ? 'kept' : isName(one) || isPlace(one) ? 'place' : isText(one) ? 'text' : isLarge(one) ? 'large' : 'kept'));
  const addresses = segments.flatMap((one, index) => (kinds[index] === 'kept' ? words(one) : []));
  for (const list of first) walk(list, one => {
    if (one[0] === 'i32.const') addresses.push(Number(one[1]) >>> 0);
    else for (const part of one) if (typeof part === 'string' && part.startsWith('offset=')) addresses.push(Number(part.slice(7)));
  });
  const sorted = Float64Array.from(addresses).sort();
  const isMet = (from, to) => {
    let [low, high] = [0, sorted.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (sorted[middle] < from) low = middle + 1; else high = middle;
    }
    return sorted[low] < to;
  };
  const moves = ({ start, bytes }, kind) => kind === 'place' || (kind === 'text' && !isMet(start, start + bytes.length)) || (kind === 'large' && !isMet(start - BELOW, start + bytes.length + ABOVE));
  const isMoved = segments.map((one, index) => moves(one, kinds[index]));
  const [kept, moved] = [segments.filter((_, index) => !isMoved[index]), segments.filter((_, index) => isMoved[index])];
  return { kept: joined(kept, []), moved: joined(moved, kept) };
}
