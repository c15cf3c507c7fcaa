/** Tickets with private data: each kind of value in the contexts in which people write it. */
import type { Dice } from './dice.ts';
import { form, framed, mention, peopleTable, type Scene, sceneOf } from './frames.ts';
import { LOCALE_NAMES, LOCALES, type LocaleName } from './locales.ts';
import { type Fragment, fill, type GeneratedTicket, mark, PRIVATE_TYPES, type PrivateType, t } from './marked-text.ts';
import { type Character, makeCharacter, recordOf } from './people.ts';
import { BODIES, expand, expandOne, RECORDS, textOf } from './templates.ts';

function inFence(dice: Dice, fragment: Fragment): Fragment {
  return dice.chance(0.5) ? t`\`\`\`\n${fragment}\n\`\`\`` : fragment;
}

/** Digits without separators need a label. */
function phone(scene: Scene): Fragment {
  const { dice, language } = scene;
  const number = textOf(scene, '«phone»');
  const value = mark('phone', number);
  return dice.chance(0.2)
    ? fill(dice.pick(language.call), value)
    : expand(scene, /^\d+$/.test(number) ? '«barePhone»' : '«phoneLine»', new Map([['value', value]]));
}

/** A file name that holds the name of a person. */
function fileName({ requester: { given, family, full }, dice }: Scene, gap: string): string {
  const isCjk = /[\p{Script=Han}\p{Script=Hangul}\p{Script=Hiragana}\p{Script=Katakana}]/u.test(full);
  const name = isCjk ? full : dice.pick([full, full, `${given} ${family}`, `${family} ${given}`]);
  return name.replaceAll(' ', gap);
}

function sentence(type: PrivateType, scene: Scene): Fragment {
  const { dice, language, requester } = scene;
  switch (type) {
    case 'phone':
      return phone(scene);
    case 'person':
      return dice.chance(0.3) ? fill(dice.pick(language.intro), mark('person', requester.full)) : mention(scene);
    case 'password':
      return dice.chance(0.6) ? expand(scene, '«labelledCredential»') : inFence(dice, expand(scene, '«command»'));
    case 'token':
      return dice.chance(0.3) ? expand(scene, '«labelledCredential»') : inFence(dice, expand(scene, '«config»'));
    case 'url-credential':
      return inFence(dice, expand(scene, '«credentialUrl»'));
    case 'file-name': {
      const gap = dice.pick(['_', '-', ' ', '.', '%20', '+']);
      return expandOne(scene, BODIES[type], new Map(Object.entries({ gap, name: fileName(scene, gap) })));
    }
    default:
      return expandOne(scene, BODIES[type]);
  }
}

/** A value of the type: in a sentence, after a label, or in a record. */
function bodyOf(type: PrivateType, scene: Scene): Fragment {
  const { dice, requester, agent } = scene;
  const records = RECORDS[type];
  return records !== undefined && dice.chance(0.3)
    ? inFence(
        dice,
        expandOne(scene, records, new Map(Object.entries({ requester: requester.full, agent: agent.full }))),
      )
    : sentence(type, scene);
}

function contactForm(scene: Scene, writer: Character, body: Fragment): Fragment {
  const { dice, language } = scene;
  const fields = dice.sample<readonly [string, Fragment]>(
    [
      [dice.pick(language.email), mark('email', writer.email)],
      [dice.pick(language.phone), expand(scene, '<<phone:«phone»>>')],
      [dice.pick(language.address), expand(scene, '<<address:«postalAddress»>>')],
      [dice.pick(language.born), expand(scene, '<<birthdate:«birthDate»>>')],
    ],
    dice.int(1, 4),
  );
  return t`${form(scene, writer, fields)}\n\n${body}`;
}

function customerTable(scene: Scene): Fragment {
  const { dice, language, requester, agent } = scene;
  const formatted = () => {
    for (;;) {
      const number = textOf(scene, '«phone»');
      if (!/^\d+$|,/.test(number)) {
        return mark('phone', number);
      }
    }
  };
  const rows = [requester, agent].map(({ full, email }) => [
    mark('person', full.replace(',', '')),
    mark('email', email),
    formatted(),
  ]);
  return peopleTable(scene, rows, [dice.pick(language.name), dice.pick(language.email), dice.pick(language.phone)]);
}

/** The ticket `index` of the seed's sequence; each type is the main one of every sixteenth ticket. */
export function privateTicket(dice: Dice, seed: number, index: number): GeneratedTicket {
  dice.seed(seed, 1, index);
  const focus = PRIVATE_TYPES[index % PRIVATE_TYPES.length] ?? 'email';
  const locale = dice.pick(LOCALE_NAMES);
  const agentLocale: LocaleName = dice.chance(0.6) ? locale : dice.pick(LOCALE_NAMES);
  const requester = makeCharacter(dice, locale);
  const agent = makeCharacter(dice, agentLocale);
  const scene = sceneOf(dice, requester, agent);
  const main = bodyOf(focus, scene);
  const others = dice.times(0, 2, () => bodyOf(dice.pick(PRIVATE_TYPES), scene));
  const kind = dice.int(1, 100);
  const fragment =
    kind <= 8
      ? contactForm(scene, dice.chance(0.5) ? requester : makeCharacter(dice, locale), main)
      : kind <= 12
        ? t`${customerTable(scene)}\n\n${main}`
        : framed(scene, dice.shuffle([main, ...others]));
  return {
    fragment,
    people: [recordOf(dice, requester), recordOf(dice, agent)],
    region: LOCALES[locale].region,
    manyRegions: dice.chance(0.5),
  };
}
