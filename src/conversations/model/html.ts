import { compile, type Formatter } from 'html-to-text';

/** The longest HTML that is read and the longest text that comes of it, in UTF-16 units; what is behind is left out. */
const LONGEST = 512 * 1024;
/** The longest address that is written beside a link's words: beyond that it is a tracker's, and helps nobody. */
const LONGEST_LINK = 1024;

/** As many tags as are parsed: the parser takes the square of those left open, which hostile HTML would use. */
const MOST_TAGS = 20_000;

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

/** A link's words, then its address; a link around an image alone is nothing, as a tracking pixel is. */
const link: Formatter = (element, walk, builder) => {
  let words = '';
  builder.pushWordTransform((word) => {
    words += word;
    return word;
  });
  walk(element.children, builder);
  builder.popWordTransform();
  const address = linkAddress(element.attribs?.href ?? '');
  // Words come without the spaces between them: an address has none.
  if (words !== '' && address !== '' && address !== words && address !== `${words}/`) {
    builder.addInline(` (${address})`, { noWordTransform: true });
  }
};

function linkAddress(href: string): string {
  const address = href.trim();
  if (address.length > LONGEST_LINK) {
    return '';
  }
  const mail = /^mailto:([^?]+)/i.exec(address);
  return mail?.[1] ?? (/^https?:\/\//i.test(address) ? address : '');
}

const headings = ['h1', 'h2', 'h3', 'h4', 'h5', 'h6'].map((selector) => ({ selector, options: { uppercase: false } }));

const convert = compile({
  wordwrap: false,
  whitespaceCharacters: ' \t\r\n\f',
  // Bounds what deeply nested, hostile HTML costs; no person's mail comes near.
  limits: { ellipsis: '', maxDepth: 100, maxInputLength: LONGEST },
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

/** Pictures inside the HTML itself: they would use up the bound, and say nothing. */
const DATA_ADDRESS = /(["'])data:[^"']*\1/gi;
/** Characters that show nothing: senders pad previews with them, and they would split what redaction looks for. */
const INVISIBLE = /\u00AD|\u034F|\u200B|\u2060|\uFEFF/g;

const ELEMENT = /<\/?[a-z]/gi;
const BLOCK = /<\/?(?:p|div|br|tr|td|th|li|h[1-6]|blockquote|table|ul|ol|pre)\b[^<>]*>/gi;
const TAG = /<[/!]?[a-z-][^<>]*>/gi;

/** HTML with line breaks as its only elements, made without a parser, in time linear in its length. */
function flattened(html: string): string {
  const [start = '', ...rest] = html.split(/<(?:script|style)\b/i);
  const shown = [start, ...rest.map((piece) => piece.slice(Math.max(0, piece.search(/<\/(?:script|style)/i))))];
  return shown.join('').replace(BLOCK, '\n').replace(TAG, '').replace(/\n+/g, '<br>');
}

function isTooMuch(html: string): boolean {
  return (html.match(ELEMENT)?.length ?? 0) > MOST_TAGS;
}

/**
 * The plain text of HTML: links as `words (address)`, no images, nothing hidden, no markup, half a mebi characters at
 * most. Never throws: whatever is no HTML comes back as the text that it is.
 */
export function textOfHtml(html: string): string {
  const source = html
    .slice(0, 8 * LONGEST)
    .replace(DATA_ADDRESS, '""')
    .slice(0, LONGEST);
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
    .slice(0, LONGEST);
}
