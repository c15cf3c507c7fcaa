import EmailReplyParser from 'email-reply-parser';

/**
 * What the parser is given: it searches with patterns whose cost grows with powers of a line's length and with the
 * product of certain words. A line that is too long to introduce a quotation is kept from it, and a mail that is
 * longer or has more of those words than any person's only loses the lines that it quotes.
 */
const LONGEST = 32 * 1024;
const LONGEST_LINE = 1000;
const LONGEST_WITH_ADDRESS = 250;
const MOST_WORDS = 30;
const COSTLY_START = /^[^\S\n]*(?:Op|W dniu|Dnia|在|[a-z]{3,4}\.)/gm;
const COSTLY_WORD = /schreef|pisze|napisał|写道|skrev/g;
/** Stands for a line that is kept from the parser: private use characters, which no mail has. */
const STAND_IN = /\uE0F0(\d+)\uE0F1/g;

/** The words of a mail that its sender wrote: without what it quotes and without a signature. */
export function ownWords(text: string): string {
  const lines = text.replace(/\r\n?/g, '\n').split('\n');
  const tidy = lines
    // Only the separator of signatures has a space at its end that means something.
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
  // It takes some mails for nothing but a quotation or a signature: rather too much of those than nothing.
  return own === '' ? unquoted(tidy) : own.replace(STAND_IN, (_, index) => long[Number(index)] ?? '');
}

function isLong(line: string): boolean {
  return line.length > LONGEST_LINE || (line.length > LONGEST_WITH_ADDRESS && line.includes('<'));
}

function isCostly(text: string): boolean {
  const count = (pattern: RegExp) => text.match(pattern)?.length ?? 0;
  return (
    text.length > LONGEST ||
    text.includes('\uE0F0') ||
    (count(COSTLY_WORD) > 0 && Math.max(count(COSTLY_START), count(COSTLY_WORD)) > MOST_WORDS)
  );
}

function unquoted(text: string): string {
  return text
    .split('\n')
    .filter((line) => !line.startsWith('>'))
    .join('\n')
    .trim();
}
