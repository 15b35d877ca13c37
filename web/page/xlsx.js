import { unzipSync, strFromU8 } from 'fflate';

/** Serial numbers of dates are numbers of days since then; formats of numbers that are dates. */
const DATES = new Set([14, 15, 16, 17, 18, 19, 20, 21, 22, 27, 30, 36, 45, 46, 47, 50, 57]);

const parse = text => new DOMParser().parseFromString(text, 'application/xml');
const all = (node, name) => [...node.getElementsByTagNameNS('*', name)];
const textOf = node => all(node, 't').map(part => part.textContent).join('');
const columnOf = place => [...place.replace(/\d+/g, '')].reduce((sum, letter) => 26 * sum + letter.charCodeAt(0) - 64, 0) - 1;

/** A day as a text, `2024-05-01` or with the time. */
function date(serial) {
  const at = new Date(Math.round((serial - 25569) * 86400) * 1000);
  const text = at.toISOString().slice(0, 19);
  return text.endsWith('T00:00:00') ? text.slice(0, 10) : text.replace('T', ' ');
}

/** Formats of cells that are dates. */
function dateStyles(files) {
  const styles = files['xl/styles.xml'] && parse(strFromU8(files['xl/styles.xml']));
  if (!styles) return new Set();
  const own = new Set(all(styles, 'numFmt').filter(format => /[dmyhs]/i.test(format.getAttribute('formatCode').replace(/"[^"]*"|\[[^\]]*\]|\\./g, ''))).map(format => Number(format.getAttribute('numFmtId'))));
  const cells = all(styles, 'cellXfs')[0];
  const ids = cells ? all(cells, 'xf').map(format => Number(format.getAttribute('numFmtId'))) : [];
  return new Set(ids.flatMap((id, index) => (DATES.has(id) || own.has(id) ? [index] : [])));
}

/** A sheet of a workbook as comma-separated values. */
export async function sheetOf(bytes, chooseSheet) {
  const files = unzipSync(bytes);
  if (!files['xl/workbook.xml']) throw new Error('The file is compressed, but no .xlsx spreadsheet.');
  const book = parse(strFromU8(files['xl/workbook.xml']));
  const links = new Map(all(parse(strFromU8(files['xl/_rels/workbook.xml.rels'])), 'Relationship').map(link => [link.getAttribute('Id'), link.getAttribute('Target')]));
  const sheets = all(book, 'sheet').map(sheet => [sheet.getAttribute('name'), links.get(sheet.getAttributeNS('http://schemas.openxmlformats.org/officeDocument/2006/relationships', 'id') ?? sheet.getAttribute('r:id'))]);
  const name = await chooseSheet(sheets.map(([sheet]) => sheet));
  const target = sheets.find(([sheet]) => sheet === name)[1];
  const sheet = parse(strFromU8(files[target.startsWith('/') ? target.slice(1) : `xl/${target}`]));
  const strings = files['xl/sharedStrings.xml'] ? all(parse(strFromU8(files['xl/sharedStrings.xml'])), 'si').map(textOf) : [];
  const dates = dateStyles(files);
  const rows = all(sheet, 'row').map(row => {
    const fields = [];
    for (const cell of all(row, 'c')) {
      const value = all(cell, 'v')[0]?.textContent ?? '';
      const kind = cell.getAttribute('t');
      const place = cell.getAttribute('r');
      const at = place ? columnOf(place) : fields.length;
      const text = kind === 's' ? strings[Number(value)] : kind === 'inlineStr' ? textOf(cell) : kind === 'b' ? (value === '1' ? 'TRUE' : 'FALSE')
        : value !== '' && !kind && dates.has(Number(cell.getAttribute('s'))) ? date(Number(value)) : value;
      fields[at] = text ?? '';
    }
    return Array.from(fields, field => (field === undefined ? '' : /[",\n\r]/.test(field) ? `"${field.replace(/"/g, '""').replace(/[\r\n]+/g, ' ')}"` : field)).join(',');
  });
  return rows.join('\n');
}
