/*
 * Downloads that the API links to: files, and change requests as PDF. As on the platform, an address needs no token; the
 * address of a PDF works for an hour.
 */
import { z } from 'zod';
import { getText, parseMarkdown, walkNodes } from '../documents/markdown.ts';
import { ApiError, type Download, found, ok } from '../model/answers.ts';
import { type ApiOperation, CHANGE_REQUEST, type Context, operation } from '../model/operation.ts';
import { flag } from '../model/schema.ts';
import { getContent, requireContentOwner, requireFile, requirePage } from './content.ts';
import { renderMarkdown } from './page-text.ts';
import { createTextContext } from './pages.ts';
import type { PageRecord } from './records.ts';

/** Prefix of the addresses of downloads; not part of the API. */
export const DOWNLOAD_PREFIX = '/app/';

/** Lifetime of the address of a PDF, in milliseconds. */
const PRINT_LIFE = 60 * 60 * 1000;

type DownloadContext = Omit<Context, 'caller'>;

const TEXT_BLOCKS = new Set(['paragraph', 'heading', 'code', 'tableRow']);

function linesOf(title: string, markdown: string): string[] {
  const blocks = [...walkNodes(parseMarkdown(markdown))].filter((node) => TEXT_BLOCKS.has(node.type));
  const texts = blocks.flatMap((block) =>
    (block.type === 'tableRow' ? block.children.map(getText).join(' | ') : getText(block)).split('\n'),
  );
  return [title, ...texts, ''];
}

function isPrinted(page: PageRecord, root: PageRecord | undefined, isOnly: boolean): boolean {
  return (
    page.type !== 'link' &&
    (root === undefined || page.id === root.id || (!isOnly && page.path.startsWith(`${root.path}/`)))
  );
}

function print(context: DownloadContext, spaceId: string, changeRequestId: string, query: URLSearchParams): Download {
  if (!(Date.parse(query.get('until') ?? '') > context.now)) {
    throw new ApiError(404, 'This address has expired');
  }
  const place = requireContentOwner(context, { spaceId, changeRequestId });
  const scope = createTextContext(context, place);
  const { pages } = getContent(context.store, place);
  const name = query.get('page');
  const named = pages.find(({ id }) => id === name);
  const root = name === null ? undefined : found(named, 'Page', name);
  const lines = pages
    .filter((page) => isPrinted(page, root, query.get('only') === 'true'))
    .flatMap((page) =>
      linesOf(page.title, renderMarkdown(scope, page, { evaluated: 'true', dereferenced: 'reusable-contents' })),
    );
  return { contentType: 'application/pdf', bytes: pdf(lines) };
}

function file(context: DownloadContext, spaceId: string, fileId: string, query: URLSearchParams): Download {
  const changeRequestId = query.get('changeRequest');
  const place = requireContentOwner(context, { spaceId, ...(changeRequestId === null ? {} : { changeRequestId }) });
  const { contentType, data } = requireFile(context, place, fileId);
  return { contentType, bytes: Buffer.from(data, 'base64') };
}

/** Returns the download at an address. Throws an ApiError where there is none. */
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

/**
 * Returns a PDF with these lines in Helvetica on one page that is as large as they need. Characters that are not in
 * Latin-1 become question marks.
 */
export function pdf(lines: readonly string[]): Buffer {
  const texts = lines.map((line) => line.replace(/[^ -~\u00a0-\u00ff]/gu, '?').replace(/[\\()]/g, '\\$&'));
  const [width, height] = [
    lines.reduce((most, { length }) => Math.max(most, length), 0) * 10 + 100,
    lines.length * 14 + 100,
  ];
  const stream = `BT /F1 10 Tf 14 TL 50 ${height - 50} Td\n${texts.map((line) => `(${line}) Tj T*`).join('\n')}\nET`;
  const objects = [
    '<< /Type /Catalog /Pages 2 0 R >>',
    '<< /Type /Pages /Count 1 /Kids [3 0 R] >>',
    `<< /Type /Page /Parent 2 0 R /MediaBox [0 0 ${width} ${height}] /Resources << /Font << /F1 4 0 R >> >> /Contents 5 0 R >>`,
    '<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>',
    `<< /Length ${stream.length} >>\nstream\n${stream}\nendstream`,
  ].map((object, at) => `${at + 1} 0 obj\n${object}\nendobj\n`);
  let length = '%PDF-1.4\n'.length;
  const offsets = objects.map((object) => {
    length += object.length;
    return `${String(length - object.length).padStart(10, '0')} 00000 n \n`;
  });
  const table = `xref\n0 6\n0000000000 65535 f \n${offsets.join('')}trailer\n<< /Size 6 /Root 1 0 R >>`;
  return Buffer.from(`%PDF-1.4\n${objects.join('')}${table}\nstartxref\n${length}\n%%EOF\n`, 'latin1');
}

/** Decision of this emulator: `only=true` requires a page. Source: docs/platform-notes.md#change-requests */
const printQuery = z
  .strictObject({ only: flag.optional(), page: z.string().optional() })
  .refine((query) => query.only !== true || query.page !== undefined, { error: 'must have a page if only is true' });

/**
 * Operations that print a change request as PDF: all pages, or one page with its child pages.
 * Source: docs/platform-notes.md#change-requests
 */
export const printOperations: readonly ApiOperation[] = [
  operation('getChangeRequestPdf', 'GET', `${CHANGE_REQUEST}/pdf`, { query: printQuery }, (call) => {
    const place = requireContentOwner(call, call.params);
    const { page, only } = call.query;
    const parameters = new URLSearchParams({
      ...(page === undefined ? {} : { page: requirePage(call, place, page).id }),
      ...(only === true ? { only: 'true' } : {}),
      until: new Date(call.now + PRINT_LIFE).toISOString(),
    });
    return ok({ url: `${call.base}/app/print/${place.space.id}/${place.changeRequest?.id ?? ''}?${parameters}` });
  }),
];
