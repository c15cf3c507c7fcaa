/*
 * What the API only links to: files, and change requests as PDF. Whoever has an address can read what is there, as with
 * the real one; that of a PDF works for an hour.
 */
import { z } from 'zod';
import { nodesOf, parseMarkdown, wordsOf } from '../documents/markdown.ts';
import { ApiError, type Download, found, ok } from '../model/answers.ts';
import { CHANGE_REQUEST, type Context, type Operation, operation } from '../model/operation.ts';
import { flag } from '../model/schema.ts';
import { contentOf, fileAt, pageAt, placeAt } from './content.ts';
import { markdownOf } from './page-text.ts';
import { surroundings } from './pages.ts';
import type { PageRecord } from './records.ts';

/** Where they lie; not part of the API. */
export const DOWNLOAD_PREFIX = '/app/';

/** Milliseconds for which the address of a PDF works. */
const PRINT_LIFE = 60 * 60 * 1000;
type DownloadContext = Omit<Context, 'caller'>;
const TEXT_BLOCKS = new Set(['paragraph', 'heading', 'code', 'tableRow']);

function linesOf(title: string, markdown: string): PdfLine[] {
  const blocks = [...nodesOf(parseMarkdown(markdown))].filter((node) => TEXT_BLOCKS.has(node.type));
  const texts = blocks.flatMap((block) => {
    const words = block.type === 'tableRow' ? block.children.map(wordsOf).join(' | ') : wordsOf(block);
    return words.split('\n').map((text) => ({ text, isHeading: block.type === 'heading' }));
  });
  return [{ text: title, isHeading: true }, ...texts, { text: '', isHeading: false }];
}

function isWanted(page: PageRecord, root: PageRecord | undefined, isOnly: boolean): boolean {
  return (
    page.type !== 'link' &&
    (root === undefined || page.id === root.id || (!isOnly && page.path.startsWith(`${root.path}/`)))
  );
}

function print(context: DownloadContext, spaceId: string, changeRequestId: string, query: URLSearchParams): Download {
  if (!(Date.parse(query.get('until') ?? '') > context.now)) {
    throw new ApiError(404, 'This address works no more');
  }
  const place = placeAt(context, { spaceId, changeRequestId });
  const around = surroundings(context, place);
  const { pages } = contentOf(context.store, place);
  const name = query.get('page');
  const root =
    name === null
      ? undefined
      : found(
          pages.find(({ id }) => id === name),
          'Page',
          name,
        );
  const lines = pages
    .filter((page) => isWanted(page, root, query.get('only') === 'true'))
    .flatMap((page) =>
      linesOf(page.title, markdownOf(around, page, { evaluated: 'true', dereferenced: 'reusable-contents' })),
    );
  return { contentType: 'application/pdf', bytes: pdf(lines) };
}

function file(context: DownloadContext, spaceId: string, fileId: string, query: URLSearchParams): Download {
  const changeRequestId = query.get('changeRequest');
  const place = placeAt(context, { spaceId, ...(changeRequestId === null ? {} : { changeRequestId }) });
  const found = fileAt(context, place, fileId);
  return { contentType: found.contentType, bytes: Buffer.from(found.data, 'base64') };
}

/** What lies at that address; an ApiError where nothing does. */
export function download(context: DownloadContext, path: string, search: string): Download {
  const [kind, space = '', id = ''] = path.slice(DOWNLOAD_PREFIX.length).split('/');
  const query = new URLSearchParams(search);
  if (kind === 'files') {
    return file(context, space, id, query);
  }
  if (kind === 'print') {
    return print(context, space, id, query);
  }
  throw new ApiError(404, 'The app is not part of the embedded platform');
}

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

/** A decision of this emulator: `only` requires a page. Source: docs/platform-notes.md#change-requests */
const printQuery = z
  .strictObject({ only: flag.optional(), page: z.string().optional() })
  .refine((query) => query.only !== true || query.page !== undefined, { error: 'must have a page with only' });

/**
 * Operations that print a change request as PDF: all pages, or one page with its child pages.
 * Source: docs/platform-notes.md#change-requests
 */
export const printOperations: readonly Operation[] = [
  operation('getChangeRequestPdf', 'GET', `${CHANGE_REQUEST}/pdf`, { query: printQuery }, (call) => {
    const place = placeAt(call, call.params);
    const { page, only } = call.query;
    const asked = {
      ...(page === undefined ? {} : { page: pageAt(call, place, page).id }),
      ...(only === true ? { only: 'true' } : {}),
      until: new Date(call.now + PRINT_LIFE).toISOString(),
    };
    const id = place.changeRequest?.id ?? '';
    return ok({ url: `${call.base}/app/print/${place.space.id}/${id}?${new URLSearchParams(asked)}` });
  }),
];
