// Texts of others appear in every channel as they are, and have no effect.
import fc from 'fast-check';
import { compile } from 'html-to-text';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { plainLine } from '../../../src/core/text/plain-line.ts';
import type { Channel } from '../../../src/notify/channel.ts';
import { openPagerDutyChannel, openTeamsChannel, openWebhookChannel } from '../../../src/notify/http-channels.ts';
import { openMailChannel } from '../../../src/notify/mail.ts';
import type { Notification } from '../../../src/notify/messages.ts';
import { openSlackChannel, openSlackWebhookChannel } from '../../../src/notify/slack.ts';
import { countCases, SEED } from '../../support/campaign.ts';
import { codePoint } from '../../support/code-points.ts';
import { HOSTILE_TEXTS } from '../../support/hostile-texts.ts';
import { FakePagerDuty } from '../../support/notify/fake-pagerduty.ts';
import { FakeSlack, type SlackMessage, shownLine } from '../../support/notify/fake-slack.ts';
import { cardLinks, FakeTeams, shownParagraphs } from '../../support/notify/fake-teams.ts';
import { FakeWebhookReceiver } from '../../support/notify/fake-webhook-receiver.ts';
import { MailSink } from '../../support/notify/mail-sink.ts';
import { channelContext, outgoing, sampleItem, sampleMessage } from '../../support/notify/sample-message.ts';

/** Texts that somebody may put into a message to do something else than be read. */
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
const hostileText: fc.Arbitrary<string> = fc
  .array(fragment, { minLength: 1, maxLength: 4 })
  .map((parts) => parts.join(' '));

const URL_OF_PAGE = 'https://octavo.example/o/acme';
const runs = { numRuns: countCases({ sample: 30, ci: 60, full: 5_000 }), seed: SEED };

const context = channelContext();
const receivers = {
  webhook: new FakeWebhookReceiver(),
  slack: new FakeSlack(),
  teams: new FakeTeams(),
  pagerDuty: new FakePagerDuty(),
  mail: new MailSink(),
};

beforeAll(async () => {
  await Promise.all(Object.values(receivers).map((each) => each.listen()));
});
afterAll(async () => {
  await Promise.all(Object.values(receivers).map((each) => each[Symbol.asyncDispose]()));
});

/** Hostile texts at every place of a message, and what is left of them. */
interface HostileCase {
  readonly message: Notification;
  readonly title: string;
  readonly heading: string;
  readonly detail: string;
}

const hostileCase = fc
  .tuple(hostileText, hostileText, hostileText, hostileText)
  .map(([title, organization, summary, detail]): HostileCase => {
    const item = sampleItem({ organization, summary, details: [detail], url: URL_OF_PAGE });
    const subject = plainLine(organization, 60);
    const heading = `${subject === '' ? '' : `${subject}: `}${plainLine(summary, 500)} (since 09:00 UTC)`;
    const shownTitle = plainLine(title, 150) || 'token-refused';
    return {
      message: sampleMessage({ title, items: [item] }),
      title: shownTitle,
      heading,
      detail: plainLine(detail, 500),
    };
  });

/** Sends each case, and checks what the receiver has. */
async function check(channel: Channel, see: (one: HostileCase) => void): Promise<void> {
  await fc.assert(
    fc.asyncProperty(hostileCase, async (one) => {
      await channel.send(outgoing({ message: one.message }), new AbortController().signal);
      see(one);
    }),
    runs,
  );
  await channel.close();
}

const withoutEmpty = (lines: readonly string[]) => lines.filter((line) => line.trim() !== '');

test('webhooks have the texts as JSON', async () => {
  const { webhook } = receivers;
  await check(openWebhookChannel({ url: webhook.url, secret: webhook.secret }, context), ({ title, detail }) => {
    const details = detail === '' ? [] : [detail];
    expect(webhook.messages.get('ntf_1')).toMatchObject({ data: { title, items: [{ details, url: URL_OF_PAGE }] } });
  });
});

function checkSlack(message: SlackMessage | undefined, { title, heading, detail }: HostileCase): void {
  const shown = message?.lines.map(shownLine) ?? [];
  expect(withoutEmpty(shown)).toEqual(
    withoutEmpty([`:red_circle: ${title}`, `• ${heading} Open`, detail === '' ? '' : `    ${detail}`]),
  );
  const elements = message?.lines.flat() ?? [];
  expect(elements.filter(({ type }) => type !== 'text')).toEqual([
    { type: 'emoji', name: 'red_circle' },
    { type: 'link', url: URL_OF_PAGE, text: 'Open' },
  ]);
  // Slack reads the fallback text: sequences in angle brackets, and three entities.
  expect(message?.isFormatted).toBe(false);
  expect(message?.text).not.toMatch(/[<>]|&(?!amp;|lt;|gt;)/);
  expect(message?.text.replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&amp;', '&')).toBe(title);
}

test('Slack shows the texts, and mentions nobody', async () => {
  const { slack } = receivers;
  const config = { token: slack.token, channel: slack.channel, apiUrl: slack.apiUrl };
  await check(openSlackChannel(config, context), (one) => checkSlack(slack.messages.at(-1), one));
});

test('an incoming webhook of Slack shows the texts, and mentions nobody', async () => {
  const { slack } = receivers;
  const config = { url: slack.url + slack.webhookPath };
  await check(openSlackWebhookChannel(config, context), (one) => checkSlack(slack.messages.at(-1), one));
});

test('Teams shows the texts, without Markdown, dates and links', async () => {
  const { teams } = receivers;
  await check(openTeamsChannel({ url: teams.url }, context), ({ title, heading, detail }) => {
    const card = teams.cards.at(-1);
    const shown = card === undefined ? [] : shownParagraphs(card);
    expect(withoutEmpty(shown)).toEqual(withoutEmpty([title, `${heading} Open`, detail]));
    expect(card === undefined ? [] : cardLinks(card)).toEqual([URL_OF_PAGE]);
  });
});

test('PagerDuty has the texts in the fields of one incident', async () => {
  const { pagerDuty } = receivers;
  const config = { routingKey: pagerDuty.routingKey, url: pagerDuty.url };
  await check(openPagerDutyChannel(config, context), ({ title, heading, detail }) => {
    const alert = pagerDuty.incidents.get('ntf_1')?.alert;
    expect(alert?.payload.summary).toBe(title);
    expect(alert?.payload.custom_details).toEqual({ conditions: [[heading, ...(detail === '' ? [] : [detail])]] });
  });
});

test('a mail has the texts in its subject and bodies, and no other header, recipient or element', async () => {
  const { mail: sink } = receivers;
  const config = { server: `smtp://127.0.0.1:${sink.port}`, from: 'octavo@acme.example', to: ['ana@acme.example'] };
  await check(openMailChannel(config, context), ({ title, heading, detail }) => {
    const received = sink.mails.at(-1);
    expect(received?.to).toEqual(['ana@acme.example']);
    expect(received?.mail.headers.map(({ key }) => key).toSorted()).toEqual([
      'auto-submitted',
      'content-type',
      'date',
      'from',
      'message-id',
      'mime-version',
      'subject',
      'to',
      'x-auto-response-suppress',
    ]);
    expect(received?.mail.subject).toBe(title.replaceAll('=?', '= ?'));
    expect(received?.mail.attachments).toEqual([]);
    const text = [title, `- ${heading}`, detail === '' ? '' : `    ${detail}`, `    ${URL_OF_PAGE}`];
    expect(withoutEmpty(received?.mail.text?.split('\n') ?? [])).toEqual(withoutEmpty(text));
    const html = received?.mail.html ?? '';
    const tags = html
      .match(/<[^>]*>?/g)
      ?.join('')
      .toLowerCase();
    expect(tags).toBe(detail === '' ? ELEMENTS.replace('<br>', '') : ELEMENTS);
    expect(bodyText(html)).toBe(squeezed([title, heading, 'Open', detail].join(' ')));
  });
});

/** Elements of the HTML body of a mail with one item. */
const ELEMENTS = `<!doctype html><html lang="en"><head><meta charset="utf-8"><title></title></head><body><h1></h1><ul><li><strong></strong><a href="${URL_OF_PAGE}"></a><br></li></ul></body></html>`;

function bodyText(html: string): string {
  const convert = compile({
    wordwrap: false,
    limits: { maxInputLength: 1_000_000 },
    selectors: [
      { selector: 'title', format: 'skip' },
      { selector: 'h1', format: 'block', options: { uppercase: false } },
      { selector: 'ul', format: 'block' },
      { selector: 'li', format: 'block' },
      { selector: 'a', format: 'inline' },
    ],
  });
  return squeezed(convert(html));
}

function squeezed(text: string): string {
  return text.replaceAll(/\s+/g, ' ').trim();
}
