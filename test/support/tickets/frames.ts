/** Formats of tickets: mail, forwarded mail, chat, form, HTML, log, table. */
import type { Dice } from './dice.ts';
import { LANGUAGES } from './languages.ts';
import { LOCALES } from './locales.ts';
import type { Voice } from './makers.ts';
import { type Fragment, fill, join, mapText, mark, neutral, t } from './marked-text.ts';
import { type Character, reference, salutation } from './people.ts';
import { technicalSnippet } from './technical-texts.ts';
import { expand, VALUES } from './templates.ts';

/** A ticket between two people. */
export interface Scene extends Voice {
  readonly requester: Character;
  readonly agent: Character;
}

export const sceneOf = (dice: Dice, requester: Character, agent: Character): Scene => ({
  dice,
  locale: requester.locale,
  language: LANGUAGES[LOCALES[requester.locale].language],
  requester,
  agent,
});

/** A harmless paragraph: a sentence of the language, or a technical snippet. */
export function paragraph(scene: Scene): string {
  const { dice, language } = scene;
  return dice.chance(0.7) ? dice.sample(language.filler, dice.int(1, 2)).join(' ') : technicalSnippet(scene);
}

function signature({ dice, language, requester }: Scene): Fragment {
  const faker = dice.faker(requester.locale);
  const lines: Fragment[] = [dice.pick(language.bye), mark('person', requester.full)];
  if (dice.chance(0.4)) {
    // A company may have the name of a person.
    lines.push(t`${faker.person.jobTitle()}${dice.pick([', ', ' | ', '\n'])}${neutral(faker.company.name())}`);
  }
  if (dice.chance(0.3)) {
    lines.push(t`${dice.pick(['', `${dice.pick(language.email)}: `, 'E: ', '✉ '])}${mark('email', requester.email)}`);
  }
  return join(lines, '\n');
}

type Frame = (scene: Scene, bodies: readonly Fragment[]) => Fragment;

const mail: Frame = (scene, bodies) => {
  const { dice, language, agent, requester } = scene;
  const opening = dice.chance(0.6) ? [fill(dice.pick(language.hello), salutation(dice, agent))] : [];
  const closing = dice.chance(0.7)
    ? [dice.chance(0.6) ? signature(scene) : t`${dice.pick(language.bye)}\n${salutation(dice, requester)}`]
    : [];
  const before = dice.chance(0.6) ? [paragraph(scene)] : [];
  const after = dice.chance(0.6) ? [paragraph(scene)] : [];
  return join([...opening, ...before, ...bodies, ...after, ...closing], '\n\n');
};

const bullets: Frame = (scene, bodies) => {
  const bullet = scene.dice.pick(['- ', '* ', '• ', '1. ', '– ']);
  return t`${paragraph(scene)}\n\n${join(
    bodies.map((body) => t`${bullet}${body}`),
    '\n',
  )}\n${bullet}${scene.dice.pick(scene.language.filler)}`;
};

const forwarded: Frame = (scene, bodies) => {
  const { dice, language, agent, requester } = scene;
  const [from, sent, to, subject] = language.forward;
  const [colon, open, close] = dice.pick([
    [':', '<', '>'],
    [':', '<', '>'],
    ['：', '<', '>'],
    [':', '[mailto:', ']'],
  ]) as [string, string, string];
  const person = ({ full, email }: Character) => t`${mark('person', full)} ${open}${mark('email', email)}${close}`;
  const header = join(
    [
      expand(scene, '«forwardRule»'),
      t`${from ?? ''}${colon} ${person(requester)}`,
      t`${sent ?? ''}${colon} 2024-03-04 15:12`,
      t`${to ?? ''}${colon} ${person(agent)}`,
      t`${subject ?? ''}${colon} ${dice.pick(language.filler)}`,
    ],
    '\n',
  );
  return t`${paragraph(scene)}\n\n${header}\n\n${join(bodies, '\n\n')}`;
};

const quotedReply: Frame = (scene, bodies) => {
  const { dice, language, requester } = scene;
  const author = dice.chance(0.5)
    ? t`${mark('person', requester.full)} <${mark('email', requester.email)}>`
    : mark('person', requester.full);
  const quote = mapText(join(bodies, '\n\n'), (text) => text.replaceAll('\n', '\n> '));
  return t`${paragraph(scene)}\n\n${fill(dice.pick(language.wrote), author)}\n> ${quote}\n`;
};

const chat: Frame = (scene, bodies) => {
  const { dice, requester, agent } = scene;
  const style = dice.pick(VALUES.chatLine ?? []);
  const named = dice.chance(0.25) ? 'given' : 'full';
  const line = (character: Character, text: Fragment, index: number) => {
    const time = `${dice.int(10, 17)}:${10 + index}`;
    return expand(scene, style, new Map(Object.entries({ time, text, name: mark('person', character[named]) })));
  };
  const lines = bodies.flatMap((body, index) => [
    line(agent, dice.pick(scene.language.filler), 2 * index),
    line(requester, body, 2 * index + 1),
  ]);
  return join(lines, '\n');
};

const html: Frame = (scene, bodies) => {
  const escaped = (fragment: Fragment) =>
    mapText(fragment, (text) =>
      text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('\n', '<br>\n'),
    );
  const paragraphs = [paragraph(scene), ...bodies, signature(scene)].map(
    (body) => t`<p${scene.dice.pick(['', ' style="margin:0"', ' class="MsoNormal"'])}>${escaped(body)}</p>`,
  );
  return t`<html><body>\n${join(paragraphs, '\n')}\n</body></html>`;
};

const json: Frame = (scene, bodies) => {
  const escaped = mapText(join([paragraph(scene), ...bodies], '\n'), (text) => JSON.stringify(text).slice(1, -1));
  return t`{"event":"ticket.created","id":${String(scene.dice.int(1000, 999_999))},"description":"${escaped}","status":"open"}`;
};

const bare: Frame = (_, bodies) => join(bodies, '\n');

const PLAIN: readonly Frame[] = [mail, mail, mail, mail, bullets, forwarded, quotedReply, chat, chat, bare, bare];
const FRAMES: readonly Frame[] = [...PLAIN, html, json];

/** Puts the bodies into one of the formats. */
export function framed(scene: Scene, bodies: readonly Fragment[]): Fragment {
  return scene.dice.pick(FRAMES)(scene, bodies);
}

/** Puts the bodies into one of the formats that escape nothing. */
export function framedPlain(scene: Scene, bodies: readonly Fragment[]): Fragment {
  return scene.dice.pick(PLAIN)(scene, bodies);
}

/** A form with a field per line, as web forms send it: the helpdesk often does not know the person. */
export function form(
  scene: Scene,
  writer: Character,
  fields: readonly (readonly [label: string, value: Fragment])[],
): Fragment {
  const { dice, language } = scene;
  const rows: (readonly [string, Fragment])[] = [[dice.pick(language.name), mark('person', writer.full)], ...fields];
  const style = dice.pick(VALUES.formRow ?? []);
  const head = style.startsWith('|') ? ['| Field | Value |', '| --- | --- |'] : [];
  const lines = rows.map(([label, value]) => expand(scene, style, new Map(Object.entries({ label, value }))));
  return t`${join([...head, ...lines], '\n')}\n\n${paragraph(scene)}`;
}

/** A table of people, as pasted from a spreadsheet. */
export function peopleTable(scene: Scene, rows: readonly (readonly Fragment[])[], labels: readonly string[]): Fragment {
  const { dice } = scene;
  const separator = dice.pick([' | ', ',', ';', '\t']);
  const edges = separator === ' | ' ? (['| ', ' |'] as const) : (['', ''] as const);
  const line = (cells: readonly Fragment[]) => t`${edges[0]}${join(cells, separator)}${edges[1]}`;
  const rule = separator === ' | ' ? [line(labels.map(() => '---'))] : [];
  return t`${paragraph(scene)}\n\n${join([line(labels), ...rule, ...rows.map(line)], '\n')}`;
}

/** A mention of one of the ticket's people within a sentence. */
export function mention({ dice, language, requester, agent }: Scene): Fragment {
  const character = dice.chance(0.5) ? requester : agent;
  return fill(
    dice.pick(LANGUAGES[LOCALES[character.locale].language] === language ? language.mention : LANGUAGES.en.mention),
    reference(dice, character),
  );
}
