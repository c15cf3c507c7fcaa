/** Texts that somebody may put into a message to do something else than be read. */
import fc from 'fast-check';
import { codePoint } from '../code-points.ts';
import { HOSTILE_TEXTS } from '../hostile-texts.ts';

const CHAT_TEXTS: readonly string[] = [
  '<!channel> <!here> <!everyone>',
  '<!here|here> <!subteam^S012|all>',
  '<@U0123456789> and <#C0123456789|general>',
  '<https://evil.example|https://octavo.example>',
  '<mailto:evil@evil.example|Ana>',
  '&lt;!channel&gt; &amp;lt; &#60;',
  '*bold* _italic_ ~struck~ `code` ```block```',
  '> quoted\n- listed\n1. counted',
  ':rotating_light: :octavo:',
  '{{DATE(2017-02-14T06:08:39Z, SHORT)}} {{TIME(2017-02-14T06:08:39Z)}}',
  '{{{DATE(2017-02-14T06:08:39Z)}}}',
  `$\{organization} @{triggerBody()} {{title}}`,
  '<at>everyone</at>',
  'a\r\nBcc: evil@evil.example\r\n\r\nanother body',
  'a\nSubject: another',
  '=?utf-8?Q?encoded?=',
  '.\r\nQUIT\r\n',
  '\r\n.\r\nMAIL FROM:<evil@evil.example>\r\n',
  '--boundary\r\nContent-Type: text/html',
  'javascript:alert(1)',
  'zero\u200bwidth \u2060joiner \u00ad soft',
  '\u{e0041}\u{e0042}tags',
  'half \udc00 of \ud800 pairs \ud83d',
  '👩‍👩‍👧‍👦 and é',
  'x'.repeat(100_000),
  '漢'.repeat(30_000),
  '<'.repeat(100_000),
  ' \n\t ',
  '',
];

const fragment = fc.oneof(
  fc.constantFrom(...HOSTILE_TEXTS, ...CHAT_TEXTS),
  fc.string({ unit: codePoint, maxLength: 40 }),
  fc.string({ unit: fc.constantFrom(...'<>&*_~`[](){}|!@#:=?"\'\\\r\n\u202e\u200b\ud800\udfff') }),
);

/** Any text, and combinations of hostile ones. */
export const hostileText: fc.Arbitrary<string> = fc
  .array(fragment, { minLength: 1, maxLength: 4 })
  .map((parts) => parts.join(' '));
