// Cards for Microsoft Teams.
import { expect, test } from 'vitest';
import { openTeamsChannel } from '../../../src/notify/http-channels.ts';
import { cardLinks, FakeTeams, shownParagraphs } from '../../support/notify/fake-teams.ts';
import {
  channelContext,
  endWithTest,
  outgoing,
  resolvedMessage,
  sampleItem,
  sampleMessage,
} from '../../support/notify/sample-message.ts';

const { signal } = new AbortController();

test('posts a card for what begins, and another one for its end', async () => {
  const teams = await new FakeTeams().listen();
  const channel = endWithTest(openTeamsChannel({ url: teams.url }, channelContext()), teams);
  const message = sampleMessage({ more: 7, inhibited: 2 });
  expect(await channel.send(outgoing({ message }), signal)).toBeNull();
  await channel.send(outgoing({ id: 'ntf_2', message: resolvedMessage() }), signal);
  expect(teams.cards.map(shownParagraphs)).toEqual([
    [
      'The platform refuses the token: acme',
      'acme: The token was refused (since 09:00 UTC) Open',
      'Create a new token',
      '… and 7 more',
      '2 other conditions have this cause',
    ],
    [
      'Resolved: The platform refuses the token: acme',
      'acme: The token was refused (for 5 minutes, until 09:05 UTC) Open',
      'Create a new token',
    ],
  ]);
  expect(teams.cards.flatMap(cardLinks)).toEqual(Array.from({ length: 2 }, () => 'https://octavo.example/o/acme'));
});

test('a card stays below 28 kB, and counts what it leaves out', async () => {
  const teams = await new FakeTeams().listen();
  const channel = endWithTest(openTeamsChannel({ url: teams.url }, channelContext()), teams);
  const long = '漢"'.repeat(5000);
  const item = sampleItem({
    summary: long,
    details: Array.from({ length: 50 }, () => long),
    url: `https://a.example/${'x'.repeat(1900)}`,
  });
  const items = Array.from({ length: 20 }, () => item);
  await channel.send(outgoing({ message: sampleMessage({ title: long, items, more: 3 }) }), signal);
  const shown = teams.cards.flatMap(shownParagraphs);
  expect(shown.filter((line) => line.startsWith('acme: ')).length + Number(/\d+/.exec(shown.at(-1) ?? '')?.[0])).toBe(
    23,
  );
});
