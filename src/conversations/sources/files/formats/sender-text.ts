import EmailReplyParser from 'email-reply-parser';

/**
 * Limit of the text that the parser receives, in UTF-16 units. The parser takes superlinear time in the length of a
 * line and in the number of certain words. Lines that are too long to introduce a quotation are hidden from it. If a
 * mail is too long or has too many of these words, only its quoted lines are removed.
 */
const MAX_LENGTH = 32 * 1024;
const MAX_LINE_LENGTH = 1000;
const MAX_LENGTH_WITH_ADDRESS = 250;
const MAX_WORDS = 30;
const COSTLY_START = /^[^\S\n]*(?:Op|W dniu|Dnia|在|[a-z]{3,4}\.)/gm;
const COSTLY_WORD = /schreef|pisze|napisał|写道|skrev/g;
/** Placeholder of a hidden line, in private-use characters, which no mail contains. */
const PLACEHOLDER = /\uE0F0(\d+)\uE0F1/g;

/** Returns the text without quotations and signature. */
export function senderText(text: string): string {
  const lines = text.replace(/\r\n?/g, '\n').split('\n');
  const tidy = lines
    // A trailing space is significant only in the signature separator.
    .map((line) => (line === '-- ' ? line : line.trimEnd()))
    .join('\n')
    .replace(/\n{3,}/g, '\n\n')
    .trim();
  if (isCostly(tidy)) {
    return unquoted(tidy);
  }
  const long: string[] = [];
  const short = tidy
    .split('\n')
    .map((line) => (isLong(line) ? `${line[0] === '>' ? '>' : ''}\uE0F0${long.push(line) - 1}\uE0F1` : line))
    .join('\n');
  const own = new EmailReplyParser().parseReply(short).trim();
  // If the parser removes the whole mail, only its quoted lines are removed.
  return own === '' ? unquoted(tidy) : own.replace(PLACEHOLDER, (_, index) => long[Number(index)] ?? '');
}

function isLong(line: string): boolean {
  return line.length > MAX_LINE_LENGTH || (line.length > MAX_LENGTH_WITH_ADDRESS && line.includes('<'));
}

function isCostly(text: string): boolean {
  const count = (pattern: RegExp) => text.match(pattern)?.length ?? 0;
  return (
    text.length > MAX_LENGTH ||
    text.includes('\uE0F0') ||
    (count(COSTLY_WORD) > 0 && Math.max(count(COSTLY_START), count(COSTLY_WORD)) > MAX_WORDS)
  );
}

function unquoted(text: string): string {
  return text
    .split('\n')
    .filter((line) => !line.startsWith('>'))
    .join('\n')
    .trim();
}
