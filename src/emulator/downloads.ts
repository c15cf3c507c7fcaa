import { ApiError } from './answers.ts';
import { contentOf } from './content.ts';
import { fileAt, placeAt } from './content-family.ts';
import type { PageRecord } from './content-records.ts';
import { found } from './lookup.ts';
import { nodesOf, parseMarkdown, wordsOf } from './markdown.ts';
import type { Context } from './operation.ts';
import { markdownOf } from './page-text.ts';
import { type PdfLine, pdf } from './pdf.ts';
import { surroundings } from './views/page.ts';

/*
 * What the API only links to: files, and change requests as PDF. Whoever has an address can read what is there, as with
 * the real one; that of a PDF works for an hour.
 */

/** Where they lie; not part of the API. */
export const DOWNLOAD_PREFIX = '/app/';

/** Milliseconds for which the address of a PDF works. */
export const PRINT_LIFE = 60 * 60 * 1000;

/** Bytes, and what they are. */
export interface Download {
  readonly contentType: string;
  readonly bytes: Buffer;
}

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
