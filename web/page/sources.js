/** Bytes through a stream that decompresses them. */
async function inflated(bytes, format) {
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream(format));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

const isZip = bytes => bytes[0] === 0x50 && bytes[1] === 0x4b && bytes[2] === 3 && bytes[3] === 4;
const isGzip = bytes => bytes[0] === 0x1f && bytes[1] === 0x8b;

/** Records or columns in JSON as separated values; none if the text is something else. */
export function ofJson(text) {
  const begin = text.trimStart()[0];
  if (begin !== '[' && begin !== '{') return null;
  let value;
  try { value = JSON.parse(text); } catch { return null; }
  const field = one => (one == null ? 'NA' : typeof one === 'number' ? String(one) : `"${String(one).replace(/"/g, '""').replace(/[\r\n]+/g, ' ')}"`);
  if (!Array.isArray(value)) {
    const names = Object.keys(value).filter(name => Array.isArray(value[name]));
    const rows = Math.max(0, ...names.map(name => value[name].length));
    return [names.map(field), ...Array.from({ length: rows }, (_, i) => names.map(name => field(value[name][i])))].map(row => row.join(',')).join('\n');
  }
  if (value.every(row => Array.isArray(row))) return value.map(row => row.map(field).join(',')).join('\n');
  const names = [...new Set(value.flatMap(row => Object.keys(row ?? {})))];
  return [names.map(field), ...value.map(row => names.map(name => field(row?.[name])))].map(row => row.join(',')).join('\n');
}

/** The text of a file: separated values, JSON, a spreadsheet (.xlsx), or one of these compressed by gzip. */
export async function textOfFile(file, chooseSheet = names => names[0]) {
  let bytes = new Uint8Array(await file.arrayBuffer());
  if (isGzip(bytes)) bytes = await inflated(bytes, 'gzip');
  if (isZip(bytes)) {
    const { sheetOf } = await import('./xlsx.js');
    return sheetOf(bytes, chooseSheet);
  }
  if (bytes[0] === 0xd0 && bytes[1] === 0xcf) throw new Error(`${file.name} is a spreadsheet of Excel before 2007: save it as .xlsx or CSV.`);
  const isUtf16 = (bytes[0] === 0xff && bytes[1] === 0xfe) || (bytes[0] === 0xfe && bytes[1] === 0xff);
  let text;
  try {
    text = isUtf16 ? new TextDecoder(bytes[0] === 0xff ? 'utf-16le' : 'utf-16be').decode(bytes) : new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    text = new TextDecoder('windows-1252').decode(bytes);
  }
  return ofJson(text) ?? text;
}
