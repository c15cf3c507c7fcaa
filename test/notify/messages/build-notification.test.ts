/** Messages of conditions and events. */
import { describe, expect, test } from 'vitest';
import { namesForCode } from '../../../src/config/notifications.ts';
import { CONDITION_CODES, CONDITION_RULES, EVENT_CODES } from '../../../src/core/condition-codes.ts';
import { buildNotification, type MessageContent, type MessageSettings } from '../../../src/notify/messages.ts';
import { isEventCode, sampleCondition, sampleEvent } from '../../../src/notify/samples.ts';
import { createRedactor } from '../../../src/redact.ts';
import type { Condition, DeliveryKind, Fact, NotificationEvent } from '../../../src/store/notifications.ts';
import { HOSTILE_TEXTS } from '../../support/hostile-texts.ts';

const NOW = Date.UTC(2026, 10, 23, 15, 30);
const HOUR = 3_600_000;
const SETTINGS = { publicUrl: 'https://octavo.acme.example', templates: {}, redact: (text: string) => text };

function condition(organization: string | null, parts: Partial<Fact> = {}, more: Partial<Condition> = {}): Condition {
  const fact: Fact = {
    code: 'pass-failing',
    scope: { organization, token: null, platform: 'https://api.example' },
    subject: '',
    since: NOW - HOUR,
    summary: 'Passes fail: the platform refused the request',
    details: [],
    path: organization === null ? null : `/o/${organization}/history`,
    ...parts,
  };
  const state = { since: fact.since, firedAt: fact.since, resolvedAt: null, clearSince: null, starts: [fact.since] };
  return { id: `${fact.code} ${organization}`, fact, state: 'firing', isInhibited: false, ...state, ...more };
}

const resolved = (organization: string, parts: Partial<Fact> = {}) =>
  condition(organization, parts, { state: 'resolved', resolvedAt: NOW - 1_800_000 });

const event = (parts: Partial<NotificationEvent> = {}): NotificationEvent => ({
  ...{
    id: 'applied/acme/4f5e6d7',
    code: 'applied',
    organization: 'acme',
    at: NOW,
    summary: '3 changes were applied',
    details: [],
    path: null,
  },
  ...parts,
});

const build = (
  { kind = 'firing', ...content }: Partial<MessageContent> & { readonly kind?: DeliveryKind },
  settings: Partial<MessageSettings> = {},
) =>
  buildNotification(
    { delivery: { kind }, conditions: [], events: [], facts: [], ...content },
    { ...SETTINGS, ...settings },
    NOW,
  );

describe('buildNotification', () => {
  test('writes one item for each condition, with its link and times', () => {
    expect(build({ conditions: [condition('acme', { details: ['team/docs: 403'] })] })).toEqual({
      code: 'pass-failing',
      severity: 'page',
      state: 'firing',
      title: 'Passes fail: acme',
      items: [
        {
          state: 'firing',
          organization: 'acme',
          summary: 'Passes fail: the platform refused the request',
          details: ['team/docs: 403'],
          url: 'https://octavo.acme.example/o/acme/history',
          since: NOW - HOUR,
          resolvedAt: null,
        },
      ],
      more: 0,
      inhibited: 0,
      at: NOW,
    });
  });

  const none = { organization: null, token: null, platform: null };
  test.each([
    ['one organization', [condition('acme')], 'Passes fail: acme'],
    ['two organizations', [condition('acme'), condition('globex')], 'Passes fail: acme and globex'],
    ['four', ['a', 'b', 'c', 'd'].map((name) => condition(name)), 'Passes fail: a and 3 more'],
    ['some resolved', [resolved('acme'), condition('globex')], 'Passes fail: globex; 1 resolved'],
    ['all resolved', [resolved('acme'), resolved('globex')], 'Passes fail: acme and globex'],
    [
      'the platform',
      [condition(null, { code: 'platform-failing' })],
      'The platform does not answer: https://api.example',
    ],
    ['a channel', [condition(null, { code: 'channel-failing', subject: 'ops' })], 'A notification channel fails: ops'],
    ['the daemon', [condition(null, { code: 'state-file-failing', scope: none })], 'The store cannot be used'],
    ['two codes', [condition('acme'), condition('acme', { code: 'drift' })], '2 conditions'],
    ['two codes that ended', [resolved('acme'), resolved('acme', { code: 'drift' })], '2 conditions'],
  ] as const)('has a title for %s', (_what, conditions, title) => {
    expect(build({ conditions }).title).toBe(title);
  });

  test('marks reminders and tests in the title', () => {
    const conditions = [condition('acme')];
    expect(build({ kind: 'reminder', conditions }).title).toBe('Reminder: Passes fail: acme');
    expect(build({ kind: 'test', conditions }).title).toBe('Test: Passes fail: acme');
    expect(build({ kind: 'test', events: [event()] }).title).toBe('Test: Changes applied: acme');
  });

  test('lists conditions and events that quiet hours have held', () => {
    const message = build({ kind: 'digest', conditions: [resolved('acme'), condition('globex')], events: [event()] });
    expect(message).toMatchObject({ title: 'Passes fail: globex; 1 resolved; 1 event', state: 'firing' });
    expect(message.items.map(({ state }) => state)).toEqual(['firing', 'resolved', 'event']);
  });

  test('lists at most 20 items, firing ones first, and counts the others', () => {
    const over = Array.from({ length: 15 }, (_, index) => resolved(`over-${index}`));
    const firing = Array.from({ length: 10 }, (_, index) => condition(`org-${index}`));
    const message = build({ conditions: [...over, ...firing] });
    expect(message.items.map(({ state }) => state)).toEqual([
      ...Array.from({ length: 10 }, () => 'firing'),
      ...Array.from({ length: 10 }, () => 'resolved'),
    ]);
    expect(message).toMatchObject({ more: 5, state: 'firing' });
  });

  test('is resolved only if every condition is', () => {
    expect(build({ kind: 'resolved', conditions: [resolved('acme'), condition('globex')] }).state).toBe('firing');
    expect(build({ kind: 'resolved', conditions: [resolved('acme'), resolved('globex')] }).state).toBe('resolved');
  });

  test('counts the conditions that it explains, as long as it is true', () => {
    const platform = condition(null, { code: 'platform-failing' });
    const facts = Array.from({ length: 500 }, (_, index) => condition(`org-${index}`).fact);
    const unrelated = condition(null, { code: 'state-file-failing' }).fact;
    const conditions = [platform];
    expect(build({ conditions, facts: [platform.fact, unrelated, ...facts] }).inhibited).toBe(500);
    expect(build({ conditions: [condition('org-1')], facts: [platform.fact, ...facts] }).inhibited).toBe(0);
    expect(build({ conditions, facts }).inhibited).toBe(0);
  });

  test('has the code and severity of the most severe condition that fires', () => {
    const [drift, refused] = [condition('acme', { code: 'drift' }), condition('acme', { code: 'plan-refused' })];
    const message = build({ conditions: [resolved('acme'), drift, refused] });
    expect(message).toMatchObject({ code: 'plan-refused', severity: 'warning' });
  });

  test('says that a condition is flapping', () => {
    const starts = [NOW - HOUR + 1, NOW - 1000, NOW];
    const { items } = build({ conditions: [condition('acme', { details: ['a detail'] }, { starts })] });
    expect(items[0]?.details).toEqual([expect.stringMatching(/^It has begun 3 times within an hour;/), 'a detail']);
  });

  test('has no links without a public address', () => {
    expect(build({ conditions: [condition('acme')] }, { publicUrl: null }).items[0]?.url).toBeNull();
  });

  test('builds a message for every code', () => {
    for (const code of CONDITION_CODES) {
      const message = build({ conditions: [condition('acme', { code })] });
      expect(message).toMatchObject({ code, severity: CONDITION_RULES[code].severity });
      expect(message.title).toBe(`${CONDITION_RULES[code].title}: acme`);
    }
    const titles = EVENT_CODES.map((code) => build({ kind: 'event', events: [event({ code })] }).title);
    expect(titles.filter((title) => /^[A-Z][a-z ]+: acme$/.test(title))).toHaveLength(EVENT_CODES.length);
    expect(new Set(titles).size).toBe(EVENT_CODES.length);
  });

  test('refuses a message about nothing', () => {
    expect(() => build({})).toThrow('a message needs a condition or an event');
  });
});

describe('texts from elsewhere', () => {
  const texts = [...HOSTILE_TEXTS, 'x'.repeat(100_000), '👩‍👩‍👧'.repeat(50_000), '\ud800'];

  test.each(texts.map((text) => [JSON.stringify(text).slice(0, 60), text]))('%s is one short line', (_name, text) => {
    const fact = { summary: text, details: Array.from({ length: 30 }, () => text), subject: text };
    const [item, ...others] = build({ conditions: [condition(text, { ...fact, path: null })] }).items;
    const { title } = build({ conditions: [condition(text)] });
    expect(others).toEqual([]);
    expect(item?.details).toHaveLength(10);
    for (const line of [title, item?.summary ?? '', item?.organization ?? '', ...(item?.details ?? [])]) {
      expect(line).not.toMatch(/[\p{Cc}\p{Cs}\p{Zl}\p{Zp}\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff]/u);
      expect([...line].length).toBeLessThanOrEqual(500);
    }
  });

  test('have no secrets, also where a secret would be cut', () => {
    const redact = createRedactor(['canary-secret']);
    const summary = `${'x'.repeat(495)} canary-secret`;
    const details = ['https://hooks.slack.com/services/T0/B0/abcdefgh', 'Bearer abc.def', 'canary-secret'];
    details.push('divided: canary-\u200bsec\u2060ret');
    const text = JSON.stringify(build({ conditions: [condition('acme', { summary, details })] }, { redact }));
    expect(text).not.toMatch(/canary|abcdefgh|abc\.def/);
    expect(text).toContain('"divided: [secret]"');
  });

  test('have no secrets of URLs, in any of their texts', () => {
    const url = 'https://ana:canary@git.example/x?token=canary';
    const templates = { drift: '{{organization}} {{details}}' };
    const conditions = [
      condition(url, { summary: url, details: [url] }),
      condition(url, { code: 'drift', details: [url] }),
    ];
    const message = build({ conditions }, { templates });
    expect(JSON.stringify([message.title, message.items.map((item) => ({ ...item, url: null }))])).not.toContain(
      'canary',
    );
  });
});

describe('own templates', () => {
  const NAMES = ['organization', 'code', 'severity', 'state', 'count', 'since', 'duration', 'details', 'url', 'title'];

  test('replace the sentence of a condition', () => {
    const templates = { 'pass-failing': `${NAMES.map((name) => `{{${name}}}`).join('|')} {{ summary }}` };
    const conditions = [condition('acme', { details: ['a', 'b'] }), resolved('globex', { summary: 'Short' })];
    expect(build({ conditions }, { templates }).items.map(({ summary }) => summary)).toEqual([
      'acme|pass-failing|page|firing|2|14:30 UTC|1 hour|a; b|https://octavo.acme.example/o/acme/history|Passes fail: acme; 1 resolved Passes fail: the platform refused the request',
      'globex|pass-failing|page|resolved|2|14:30 UTC|30 minutes||https://octavo.acme.example/o/globex/history|Passes fail: acme; 1 resolved Short',
    ]);
  });

  test('are used for events, and only for their code', () => {
    const templates = { applied: 'At {{time}}: {{summary}}' };
    const [own] = build({ kind: 'event', events: [event()] }, { templates }).items;
    const [other] = build({ kind: 'event', events: [event({ code: 'approved' })] }, { templates }).items;
    expect([own?.summary, other?.summary]).toEqual(['At 15:30 UTC: 3 changes were applied', '3 changes were applied']);
  });

  test.each([
    ['connector-failing', '{{source}} of {{organization}}', 'zendesk of acme'],
    ['channel-failing', 'channel {{channel}}', 'channel zendesk'],
    ['platform-failing', 'at {{platform}}', 'at https://api.example'],
  ] as const)('name what %s is about', (code, template, text) => {
    const conditions = [condition('acme', { code, subject: 'zendesk' })];
    expect(build({ conditions }, { templates: { [code]: template } }).items[0]?.summary).toBe(text);
  });

  test.each([
    ['today', NOW - HOUR, '14:30 UTC'],
    ['another day', NOW - 24 * HOUR, 'Nov 22, 15:30 UTC'],
    ['another year', Date.UTC(2025, 11, 31, 23, 5), 'Dec 31, 2025, 23:05 UTC'],
  ])('name the time of %s', (_what, since, words) => {
    const conditions = [condition('acme', { since })];
    expect(build({ conditions }, { templates: { 'pass-failing': '{{since}}' } }).items[0]?.summary).toBe(words);
  });

  test.each([...CONDITION_CODES, ...EVENT_CODES])('have a value for every name of %s', (code) => {
    const place = { organization: 'acme', platform: 'https://api.example', now: NOW };
    const content = isEventCode(code)
      ? { events: [sampleEvent(code, place)] }
      : { conditions: [sampleCondition(code, place)] };
    for (const name of namesForCode(code).filter((each) => each !== 'details')) {
      const [item] = build(content, { templates: { [code]: `{{${name}}}` } }).items;
      expect([name, item?.summary]).toEqual([name, expect.stringMatching(/./)]);
    }
  });

  test('do not fill in placeholders of values', () => {
    const conditions = [condition('acme', { summary: '{{url}} {{details}}' })];
    const [item] = build({ conditions }, { templates: { 'pass-failing': '!{{summary}}' } }).items;
    expect(item?.summary).toBe('!{{url}} {{details}}');
  });
});
