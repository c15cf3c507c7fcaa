/*
 * The smallest PDF that shows text: lines of Helvetica on A4 pages. What its encoding (WinAnsi) lacks is a question mark.
 */

/** A line of text, as long as it is. */
export interface PdfLine {
  readonly text: string;
  readonly isHeading: boolean;
}

/** Characters that fit on a line of ordinary text and of a heading. */
const WIDTH = { text: 88, heading: 62 };
const LINES_PER_PAGE = 52;
const LEADING = 14;

/** Characters that WinAnsi has elsewhere than Unicode does. */
const WIN_ANSI: Readonly<Record<string, number>> = {
  '€': 0x80,
  '…': 0x85,
  '‘': 0x91,
  '’': 0x92,
  '“': 0x93,
  '”': 0x94,
  '•': 0x95,
  '–': 0x96,
  '—': 0x97,
};

/** The text as a PDF's string: one byte a character. */
function literal(text: string): string {
  const bytes = [...text].map((character) => {
    const code = WIN_ANSI[character] ?? character.codePointAt(0) ?? 0;
    const isKnown = (code >= 0x20 && code < 0x7f) || (code >= 0xa0 && code <= 0xff) || character in WIN_ANSI;
    return String.fromCharCode(isKnown ? code : 0x3f);
  });
  return `(${bytes.join('').replace(/[\\()]/g, '\\$&')})`;
}

/** Words in lines of at most so many characters; a word that is longer is cut. */
function wrap({ text, isHeading }: PdfLine): PdfLine[] {
  const width = isHeading ? WIDTH.heading : WIDTH.text;
  const lines: string[] = [''];
  const words = text.split(/\s+/).flatMap((word) => word.match(new RegExp(`.{1,${width}}`, 'gu')) ?? []);
  for (const word of words) {
    const last = lines.at(-1) ?? '';
    if (last === '') {
      lines[lines.length - 1] = word;
    } else if (last.length + 1 + word.length <= width) {
      lines[lines.length - 1] = `${last} ${word}`;
    } else {
      lines.push(word);
    }
  }
  return lines.map((line) => ({ text: line, isHeading }));
}

function contentStream(lines: readonly PdfLine[]): string {
  const shown = lines.map(({ text, isHeading }) => `${isHeading ? '/F2 14' : '/F1 10'} Tf ${literal(text)} Tj T*`);
  const stream = `BT ${LEADING} TL 56 786 Td\n${shown.join('\n')}\nET`;
  return `<< /Length ${stream.length} >>\nstream\n${stream}\nendstream`;
}

function font(name: string): string {
  return `<< /Type /Font /Subtype /Type1 /BaseFont /${name} /Encoding /WinAnsiEncoding >>`;
}

/** A PDF of these lines, each wrapped where it is too long. */
export function pdf(text: readonly PdfLine[]): Buffer {
  const lines = text.flatMap(wrap);
  const sheets: PdfLine[][] = [];
  for (let at = 0; at === 0 || at < lines.length; at += LINES_PER_PAGE) {
    sheets.push(lines.slice(at, at + LINES_PER_PAGE));
  }
  // Objects 1 to 4 stand before the pages, of which each is two: itself, and what is on it.
  const idOf = (sheet: number) => 5 + 2 * sheet;
  const objects = [
    '<< /Type /Catalog /Pages 2 0 R >>',
    `<< /Type /Pages /Count ${sheets.length} /Kids [${sheets.map((_, at) => `${idOf(at)} 0 R`).join(' ')}] >>`,
    font('Helvetica'),
    font('Helvetica-Bold'),
    ...sheets.flatMap((sheet, at) => [
      '<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Resources << /Font << /F1 3 0 R /F2 4 0 R >> >> ' +
        `/Contents ${idOf(at) + 1} 0 R >>`,
      contentStream(sheet),
    ]),
  ];
  return assemble(objects);
}

/** The objects with the table of where each begins. */
function assemble(objects: readonly string[]): Buffer {
  let body = '%PDF-1.4\n';
  const offsets = objects.map((object, at) => {
    const offset = body.length;
    body += `${at + 1} 0 obj\n${object}\nendobj\n`;
    return `${String(offset).padStart(10, '0')} 00000 n \n`;
  });
  const size = objects.length + 1;
  const table = `xref\n0 ${size}\n0000000000 65535 f \n${offsets.join('')}`;
  const trailer = `trailer\n<< /Size ${size} /Root 1 0 R >>\nstartxref\n${body.length}\n%%EOF\n`;
  return Buffer.from(body + table + trailer, 'latin1');
}
