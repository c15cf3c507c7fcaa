import EmailReplyParser from 'email-reply-parser';

/**
 * What the parser is given: it searches with patterns whose cost grows with the square of a line and with the product
 * of certain words, so that what is longer or has more of them than any person's mail is left as it is.
 */
const LONGEST = 64 * 1024;
const LONGEST_LINE = 500;
const MOST_WORDS = 30;
const COSTLY_START = /^\s*(?:Op|W dniu|Dnia|在|[a-z]{3,4}\.)/gm;
const COSTLY_WORD = /schreef|pisze|napisał|写道|skrev/g;

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
  const own = new EmailReplyParser().parseReply(tidy).trim();
  // It takes some mails for nothing but a quotation or a signature: rather too much of those than nothing.
  return own === '' ? unquoted(tidy) : own;
}

function isCostly(text: string): boolean {
  const count = (pattern: RegExp) => text.match(pattern)?.length ?? 0;
  return (
    text.length > LONGEST ||
    text.split('\n').some((line) => line.length > LONGEST_LINE && !/^[^<]*$/.test(line)) ||
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
