/** Conversion of HTML to plain text. */
import { compile, type Formatter } from 'html-to-text';

/** Longest HTML that is read and longest resulting text, in UTF-16 units; the rest is left out. */
const MAX_LENGTH = 512 * 1024;
/** Longest URL that is written after the text of a link; longer ones are used for tracking. */
const MAX_LINK_LENGTH = 1024;

/** Maximum number of tags to parse: the parser's time is quadratic in unclosed tags, which hostile HTML could use. */
const MAX_TAGS = 20_000;

const HIDDEN = [
  'head',
  'title',
  'script',
  'style',
  'noscript',
  'template',
  'img',
  'svg',
  'picture',
  'video',
  'audio',
  'iframe',
  'object',
  '[hidden]',
  '[style*="display:none"i]',
  '[style*="display: none"i]',
];

/**
 * Writes the text of a link, then its URL. A link that contains only an image, such as a tracking pixel, is omitted.
 */
const link: Formatter = (element, walk, builder) => {
  let words = '';
  builder.pushWordTransform((word) => {
    words += word;
    return word;
  });
  walk(element.children, builder);
  builder.popWordTransform();
  const address = linkAddress(element.attribs?.href ?? '');
  // The parser removes the spaces between words; a URL has none.
  if (words !== '' && address !== '' && address !== words && address !== `${words}/`) {
    builder.addInline(` (${address})`, { noWordTransform: true });
  }
};

function linkAddress(href: string): string {
  const address = href.trim();
  if (address.length > MAX_LINK_LENGTH) {
    return '';
  }
  const mail = /^mailto:([^?]+)/i.exec(address);
  return mail?.[1] ?? (/^https?:\/\//i.test(address) ? address : '');
}

const headings = ['h1', 'h2', 'h3', 'h4', 'h5', 'h6'].map((selector) => ({ selector, options: { uppercase: false } }));

const convert = compile({
  wordwrap: false,
  whitespaceCharacters: ' \t\r\n\f',
  // Limits the cost of hostile, deeply nested HTML; real mail is far below this.
  limits: { ellipsis: '', maxDepth: 100, maxInputLength: MAX_LENGTH },
  formatters: { link },
  selectors: [
    { selector: 'a', format: 'link' },
    { selector: 'ul', options: { itemPrefix: '- ' } },
    ...headings,
    ...['td', 'th'].map((selector) => ({
      selector,
      format: 'block',
      options: { leadingLineBreaks: 1, trailingLineBreaks: 1 },
    })),
    ...HIDDEN.map((selector) => ({ selector, format: 'skip' })),
  ],
});

/** Embedded images, which would use up the limit without any text. */
const DATA_ADDRESS = /(["'])data:[^"']*\1/gi;
/** Invisible characters. Senders pad previews with them, and they would split private values. */
const INVISIBLE = /\u00AD|\u034F|\u200B|\u2060|\uFEFF/g;

const ELEMENT = /<\/?[a-z]/gi;
const BLOCK = /<\/?(?:p|div|br|tr|td|th|li|h[1-6]|blockquote|table|ul|ol|pre)\b[^<>]*>/gi;
const TAG = /<[/!]?[a-z-][^<>]*>/gi;

/** Removes all tags except line breaks, in linear time and without a parser. */
function flattened(html: string): string {
  const [start = '', ...rest] = html.split(/<(?:script|style)\b/i);
  const shown = [start, ...rest.map((piece) => piece.slice(Math.max(0, piece.search(/<\/(?:script|style)/i))))];
  return shown.join('').replace(BLOCK, '\n').replace(TAG, '').replace(/\n+/g, '<br>');
}

function isTooMuch(html: string): boolean {
  return (html.match(ELEMENT)?.length ?? 0) > MAX_TAGS;
}

/**
 * Converts HTML to plain text: links as `words (URL)`, without images, hidden elements and markup, and at most 512 Ki
 * UTF-16 units. Never throws: text that is not HTML is returned unchanged.
 */
export function textOfHtml(html: string): string {
  const source = html
    .slice(0, 8 * MAX_LENGTH)
    .replace(DATA_ADDRESS, '""')
    .slice(0, MAX_LENGTH);
  const text = convert(isTooMuch(source) ? flattened(source) : source);
  const lines = text
    .replace(INVISIBLE, '')
    .replace(/\u00A0/g, ' ')
    .split('\n');
  return lines
    .map((line) => line.trimEnd())
    .join('\n')
    .replace(/\n{3,}/g, '\n\n')
    .trim()
    .slice(0, MAX_LENGTH);
}
