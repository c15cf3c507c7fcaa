import type { Change, Plan } from '../core/change.ts';
import { textWidth } from './text-width.ts';
import { counted, durationWords, fieldLines, noCommand, printable } from './words.ts';

/** How things are set off from each other; the identity where there are no colours. */
export interface Paint {
  readonly strong: (text: string) => string;
  readonly faint: (text: string) => string;
  readonly create: (text: string) => string;
  readonly change: (text: string) => string;
  readonly remove: (text: string) => string;
  readonly warn: (text: string) => string;
}

const same = (text: string) => text;
/** No colours: for pipes, files and `NO_COLOR`. */
export const PLAIN: Paint = { strong: same, faint: same, create: same, change: same, remove: same, warn: same };

export interface TextOptions {
  /** Characters in a line. */
  readonly columns: number;
  readonly paint: Paint;
}

const SIGNS = { create: '+', update: '~', move: '→', delete: '-' } as const;
/** Unmanaged resources that are named one by one. */
const NAMED = 10;

/** The plan as a person reads it: what changes, why and at what cost; one line of summary last. */
export function renderPlanText(said: Plan, options: TextOptions): string {
  const plan = inert(said);
  const sections = [
    options.paint.strong(planTitle(plan)),
    changeLines(plan, options).join('\n'),
    tailLines(plan, options).join('\n'),
    options.paint.strong(wrap('', summaryLine(plan), options.columns, 2)),
  ];
  const lines = sections.filter((section) => section !== '').join('\n\n');
  // A long value may have been broken right before what looks like a workflow command.
  return `${lines.split('\n').map(noCommand).join('\n')}\n`;
}

/** Every text of the plan printable; the values of fields are when they are put in words, which looks at their lines. */
function inert(plan: Plan): Plan {
  const changes = plan.changes.map(({ fields, declared, actual, ...change }) => {
    const shown = fields.map((field) => ({ ...field, path: printable(field.path) }));
    return { ...inertTexts(change), fields: shown, declared, actual };
  });
  const { bindings, changes: _changes, ...rest } = plan;
  return { ...inertTexts(rest), bindings, changes };
}

function inertTexts<T>(value: T): T {
  if (typeof value === 'string') {
    return printable(value) as T;
  }
  if (Array.isArray(value)) {
    return value.map(inertTexts) as T;
  }
  if (typeof value !== 'object' || value === null) {
    return value;
  }
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, inertTexts(member)])) as T;
}

/** `Plan for Acme (org_1): commit 3f2a9c1 over 91b0e77`. */
function planTitle(plan: Plan): string {
  const { who, when } = planTitleParts(plan);
  return `Plan for ${who}${when}`;
}

/** Whom a plan is for, in the platform's words, and of which commits it is. */
export function planTitleParts(plan: Plan): { readonly who: string; readonly when: string } {
  const base = plan.base === null ? '' : ` over ${plan.base.slice(0, 7)}`;
  const id = printable(plan.organization);
  return {
    who: plan.title === plan.organization ? id : `${printable(plan.title)} (${id})`,
    when: plan.commit === null ? '' : `: commit ${plan.commit.slice(0, 7)}${base}`,
  };
}

/** `1 to create, 1 to update, 1 held, 38 unchanged`. */
export function summaryLine(plan: Plan): string {
  const { summary } = plan;
  const parts = [
    [summary.create, 'to create'],
    [summary.update, 'to update'],
    [summary.move, 'to move'],
    [summary.delete, 'to delete'],
    [summary.held, 'held'],
    [summary.paused, 'paused'],
  ] as const;
  const due = parts.filter(([count]) => count > 0).map(([count, word]) => `${count} ${word}`);
  const rest = [
    `${summary.unchanged} unchanged`,
    ...(summary.unmanaged > 0 ? [`${summary.unmanaged} not managed`] : []),
  ];
  return (due.length === 0 ? ['No changes', ...rest] : [...due, ...rest]).join(', ');
}

function changeLines(plan: Plan, options: TextOptions): readonly string[] {
  const shown = shownOrder(plan.changes);
  const widest = Math.max(0, ...shown.map((change) => textWidth(change.address)));
  const column = Math.min(widest, Math.max(20, Math.floor(options.columns / 2) - 4));
  return shown.flatMap((change) => [headLine(change, column, options), ...bodyLines(change, options)]);
}

/** What hurts most is read first; otherwise as it is applied. */
function shownOrder(changes: readonly Change[]): readonly Change[] {
  const kept = changes.filter((change) => change.action !== 'delete');
  const deletions = changes.filter((change) => change.action === 'delete');
  return [...kept, ...deletions.toSorted((a, b) => b.weight - a.weight)];
}

function headLine(change: Change, column: number, options: TextOptions): string {
  const { paint } = options;
  const tone = { create: paint.create, update: paint.change, move: paint.change, delete: paint.remove }[change.action];
  const address = printable(change.address);
  const sign = change.replaces ? (change.action === 'create' ? '+/-' : '-/+') : `  ${SIGNS[change.action]}`;
  const place = change.source === null ? '' : `${change.source.file}:${change.source.line}`;
  const gap = ' '.repeat(Math.max(1, column - textWidth(address) + 3));
  const said = remarks(change);
  const plain = `${sign} ${address}${gap}${place}`;
  const remark = said === '' ? '' : paint.warn(said);
  const fits = textWidth(plain) + 3 + textWidth(said) <= options.columns;
  if (textWidth(plain) > options.columns) {
    const below = [place, said].filter((part) => part !== '').map((part) => `\n      ${part}`);
    return `${tone(sign)} ${paint.strong(address)}${below.join('')}`;
  }
  // A gap only before something on the same line.
  const goesOn = place !== '' || (said !== '' && fits);
  const head = `${tone(sign)} ${paint.strong(address)}${goesOn ? gap : ''}${paint.faint(place)}`;
  return said === '' ? head : `${head}${fits ? (place === '' ? '' : '   ') : '\n      '}${remark}`;
}

/** What is said behind a change: why it waits, where it goes, what it hurts. */
function remarks(change: Change): string {
  const position = change.action === 'move' ? change.fields.find((field) => field.path === 'position') : undefined;
  const paused =
    change.paused === null
      ? ''
      : `paused${change.paused.until === null ? '' : ` until ${change.paused.until}`}: ${printable(change.paused.reason)}`;
  return [
    typeof position?.to === 'string' ? position.to : '',
    printable(change.impact),
    paused,
    change.held === null ? '' : `held: ${printable(change.held)}`,
  ]
    .filter((part) => part !== '')
    .join('; ');
}

function bodyLines(change: Change, options: TextOptions): readonly string[] {
  const fields = change.fields.filter((field) => !(change.action === 'move' && field.path === 'position'));
  const lines = fields.flatMap(fieldLines);
  const widest = Math.max(8, ...lines.map((line) => textWidth(line.name)));
  return lines.map((line) => {
    const gap = ' '.repeat(Math.max(1, widest - textWidth(line.name) + 2));
    const indent = Math.min(widest + 8, 24);
    const room = Math.max(10, options.columns - indent);
    return wrap(`      ${line.name}${gap}`, breakable(line.text, room), options.columns, indent);
  });
}

function tailLines(plan: Plan, options: TextOptions): readonly string[] {
  const rows: (readonly [string, string])[] = [];
  if (plan.adopted.length > 0) {
    rows.push(['Adopted', adoptedWords(plan)]);
  }
  if (plan.access.length > 0) {
    rows.push(['Access', plan.access.map(accessWords).join('; ')]);
  }
  rows.push(...plan.pending.map(({ address, reason }) => ['Pending', `${printable(address)}: ${reason}`] as const));
  rows.push(...plan.notes.map(({ address, text }) => ['Note', `${printable(address)}: ${printable(text)}`] as const));
  if (!plan.hasBase) {
    rows.push(['Note', 'there is no base, so nothing is deleted; name one with --base REF']);
  }
  if (plan.unmanaged.length > 0) {
    rows.push(['Unmanaged', unmanagedWords(plan)]);
  }
  rows.push(...verdictRows(plan));
  rows.push(['Cost', costWords(plan)]);
  const widest = Math.max(...rows.map(([name]) => name.length));
  return rows.map(([name, text], index) => {
    const label = rows[index - 1]?.[0] === name ? ' '.repeat(name.length) : name;
    const gap = ' '.repeat(widest - name.length + 3);
    const line = wrap(`${label}${gap}`, text, options.columns, widest + 3);
    return name === 'Held' || name === 'Refused' ? options.paint.warn(line) : line;
  });
}

function verdictRows(plan: Plan): readonly (readonly [string, string])[] {
  if (plan.verdict.state === 'refused') {
    return plan.verdict.reasons.map((reason) => ['Refused', reason]);
  }
  // What is held keeps its own checksum when the rest has been applied.
  const checksum = plan.verdict.state === 'ready' ? (plan.heldChecksum ?? plan.checksum) : plan.checksum;
  const approve = `approve with: octavo apply --approve ${checksum}`;
  if (plan.verdict.state === 'held') {
    return [
      ['Held', `the whole plan: ${plan.verdict.reasons.join('; ')}`],
      ['Held', approve],
    ];
  }
  const held = plan.changes.filter((change) => change.held !== null);
  if (held.length === 0) {
    return [];
  }
  const approvable = held.some((change) => change.approvable);
  return [['Held', `${counted(held.length, 'change')}${approvable ? `; ${approve}` : ''}`]];
}

function accessWords(change: Plan['access'][number]): string {
  const person = printable(change.person);
  if (change.from === null) {
    return `${person} joins ${change.to} (${change.as})`;
  }
  if (change.to === null) {
    return `${person} leaves ${change.from === 'organization' ? 'the organization' : change.from} (${change.as})`;
  }
  return change.to === 'organization'
    ? `${person} changes role (${change.as})`
    : `${person} changes in ${change.to} (${change.as})`;
}

function adoptedWords(plan: Plan): string {
  const named = plan.adopted.slice(0, NAMED).map(({ address, id }) => `${printable(address)} is ${id}`);
  const more = plan.adopted.length - named.length;
  return [...named, ...(more > 0 ? [`and ${more} more`] : [])].join(', ');
}

function unmanagedWords(plan: Plan): string {
  const named = plan.unmanaged.slice(0, NAMED).map((each) => `${each.kind} "${printable(each.title)}" (${each.id})`);
  const more = plan.unmanaged.length - named.length;
  return [...named, ...(more > 0 ? [`and ${more} more`] : [])].join(', ');
}

/** `5 requests, about 2 s (4 were read)`. */
function costWords(plan: Plan): string {
  const { reads, writes } = plan.cost.requests;
  const read = `${counted(reads, 'request')} made to read`;
  return writes === 0 ? read : `${counted(writes, 'request')}, ${durationWords(plan.cost.seconds)} (${read})`;
}

/** The text with spaces where a word would be wider than a line. */
function breakable(text: string, room: number): string {
  const pieces = text.split(' ').flatMap((word) => {
    const characters = [...word];
    const count = Math.max(1, Math.ceil(textWidth(word) / room));
    const each = Math.ceil(characters.length / count);
    return Array.from({ length: count }, (_, at) => characters.slice(at * each, (at + 1) * each).join(''));
  });
  return pieces.join(' ');
}

/** Breaks a line at spaces, but no command, which is to be copied; what follows is indented. */
function wrap(lead: string, text: string, columns: number, indent: number): string {
  const lines: string[] = [];
  let line = lead;
  let empty = true;
  for (const word of text.split(/(?<!(?:^| )[-+~→]) (?!(?:apply )?--approve |sha256:)/)) {
    if (!empty && textWidth(line) + 1 + textWidth(word) > columns) {
      lines.push(line.trimEnd());
      line = ' '.repeat(indent) + word;
    } else {
      line += empty ? word : ` ${word}`;
    }
    empty = false;
  }
  return [...lines, line].join('\n');
}
