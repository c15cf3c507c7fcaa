/** Tables of docs/notifications.md: conditions, events and the names in templates. */
import { namesForCode } from '../src/config/notifications.ts';
import { CONDITION_CODES, CONDITION_RULES, EVENT_CODES } from '../src/core/condition-codes.ts';
import { sampleEvent } from '../src/notify/samples.ts';

const code = (text: string) => `\`${text}\``;
const codes = (texts: readonly string[]) => texts.map(code).join(', ');

/** The table of conditions. */
export function conditionTable(): string {
  const rows = CONDITION_CODES.map((each) => {
    const { title, severity, for: least, inhibitedBy } = CONDITION_RULES[each];
    return `| ${code(each)} | ${title} | ${severity} | ${least === 0 ? 'at once' : `${least / 60_000}m`} | ${codes(inhibitedBy)} |`;
  });
  return ['| code | meaning | severity | fires after | inhibited by |', '|---|---|---|---|---|', ...rows].join('\n');
}

/** The table of events, with an example of each. */
export function eventTable(): string {
  const place = { organization: 'acme', platform: '', now: 0 };
  const rows = EVENT_CODES.map((each) => `| ${code(each)} | ${sampleEvent(each, place).summary} |`);
  return ['| code | for example |', '|---|---|', ...rows].join('\n');
}

const MEANINGS: Readonly<Record<string, string>> = {
  organization: 'id of the organization',
  platform: 'address of the platform',
  source: 'name of the source',
  channel: 'name of the channel that fails',
  title: 'title of the message',
  summary: 'sentence that the template replaces',
  details: 'further lines, separated by semicolons; may be empty',
  url: 'page that shows it; empty without `ui.publicUrl`',
  code: 'code of the condition or event',
  severity: '`page`, `warning` or `info`',
  state: '`firing`, `resolved` or `event`',
  count: 'number of conditions or events of the message',
  since: 'time since when it is true, such as `14:02 UTC`',
  duration: 'time that it has lasted, such as `20 minutes`',
  time: 'time of the event',
};

/** The table of the names in templates. */
export function templateTable(): string {
  const all = [...CONDITION_CODES, ...EVENT_CODES];
  const rows = Object.entries(MEANINGS).map(([name, meaning]) => {
    const having = all.filter((each) => (namesForCode(each) as readonly string[]).includes(name));
    return `| ${code(`{{${name}}}`)} | ${meaning} | ${whichOf(having, all)} |`;
  });
  return ['| name | value | codes |', '|---|---|---|', ...rows].join('\n');
}

function whichOf(having: readonly string[], all: readonly string[]): string {
  const lists: readonly (readonly [string, readonly string[]])[] = [
    ['all', all],
    ['conditions', CONDITION_CODES],
    ['events', EVENT_CODES],
  ];
  const isSame = (list: readonly string[]) =>
    list.length === having.length && list.every((each) => having.includes(each));
  const missing = all.filter((each) => !having.includes(each));
  const named = lists.find(([, list]) => isSame(list))?.[0];
  return named ?? (having.length > missing.length ? `all except ${codes(missing)}` : codes(having));
}
