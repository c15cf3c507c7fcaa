/** Plan as text for terminals and pipes: changes, riskiest first, then what they mean. */

import { type AccessChange, WHOLE_ORGANIZATION } from '../../core/change.ts';
import { largest } from '../../core/lists.ts';
import { ROOT_SCOPE } from '../../core/scope.ts';
import { maskUrls } from '../../core/text/safe-url.ts';
import { type ChangeDocument, changeTitle, type PlanDocument } from './document.ts';
import { fieldLines } from './field-text.ts';
import { planSentence } from './sentence.ts';
import { breakLongWords, PLAIN_APPROVAL, type PlanTextOptions, textWidth, wrap } from './text-layout.ts';
import { capital, counted, durationWords, noCommand, printable } from './words.ts';

/** Unmanaged resources that are named one by one. */
const NAMED = 10;

/** Renders a plan as text: changes, riskiest first, then access, held changes and cost; the summary last. */
export function renderPlanText(untrusted: PlanDocument, options: PlanTextOptions): string {
  const plan = inert(untrusted);
  return compose(plan, changeLines(plan, options), options);
}

/** Renders a large plan as text with one line a change: its sign, title and address. Counts come last. */
export function renderCompactPlan(untrusted: PlanDocument, options: PlanTextOptions): string {
  const plan = inert(untrusted);
  const ranked = rankChanges(plan).map(({ change }) => change);
  const titles = ranked.map((change) => printable(maskUrls(changeTitle(change))));
  const widest = Math.min(MAX_TITLE, largest(titles.map(textWidth)));
  const lines = ranked.map((change, index) => compactLine(change, titles[index] ?? '', widest, options));
  return compose(plan, lines, { ...options, hasSentence: true });
}

/** Widest title in a compact plan, in columns, and the least that is left of one. */
const MAX_TITLE = 40;
const LEAST_TITLE = 8;

function compactLine(change: ChangeDocument, title: string, widest: number, options: PlanTextOptions): string {
  const address = printable(change.address);
  const waits = change.held !== null ? '  held' : change.paused !== null ? '  paused' : '';
  const room = options.columns - SIGN_WIDTH - 2 - textWidth(address) - waits.length;
  const width = Math.min(widest, Math.max(LEAST_TITLE, room));
  const shown = fitWidth(title, width);
  const tone = toneOf(change, options);
  const gap = title === '' ? '' : ' '.repeat(Math.max(0, width - textWidth(shown)) + 2);
  return `${tone(signOf(change))} ${shown}${gap}${options.paint.faint(address)}${options.paint.warn(waits)}`;
}

/** Cuts a text to this many columns. */
function fitWidth(text: string, width: number): string {
  if (textWidth(text) <= width) {
    return text;
  }
  const characters = [...text];
  while (characters.length > 0 && textWidth(characters.join('')) > width - 1) {
    characters.pop();
  }
  return `${characters.join('')}…`;
}

function compose(plan: PlanDocument, changes: readonly string[], options: PlanTextOptions): string {
  const { who, when } = planTitleParts(plan);
  const title = `Plan for ${who}${when}`;
  const sentence = options.hasSentence === true ? planSentence(plan) : '';
  const sections = [
    sentence === ''
      ? options.paint.strong(title)
      : `${options.paint.strong(wrap('', sentence, options.columns, 2))}\n${options.paint.faint(title)}`,
    changes.join('\n'),
    tailLines(plan, options).join('\n'),
    options.paint.strong(wrap('', summaryLine(plan), options.columns, 2)),
  ];
  const lines = sections.filter((section) => section !== '').join('\n\n');
  // Wrapping may have moved text that looks like a workflow command to the start of a line.
  return lines.includes('::') ? `${lines.split('\n').map(noCommand).join('\n')}\n` : `${lines}\n`;
}

const NOTHING: ReadonlySet<string> = new Set();
/** Members of a change that are not shown, or escaped when they are rendered. */
const NOT_TEXT: ReadonlySet<string> = new Set(['fields', 'declared', 'actual']);

/** Makes every text of the plan printable; field values are escaped when they are rendered. */
function inert(plan: PlanDocument): PlanDocument {
  const changes = plan.changes.map((change) => {
    const shown = inertMembers(change, NOT_TEXT);
    const isPlain = shown.fields.every(({ path }) => printable(path) === path);
    return isPlain
      ? shown
      : { ...shown, fields: shown.fields.map((field) => ({ ...field, path: printable(field.path) })) };
  });
  return { ...inertMembers(plan, new Set(['bindings', 'changes'])), changes };
}

function inertTexts<T>(value: T): T {
  if (typeof value === 'string') {
    return printable(maskUrls(value)) as T;
  }
  if (Array.isArray(value)) {
    return value.length === 0 ? value : (value.map(inertTexts) as T);
  }
  return typeof value === 'object' && value !== null ? inertMembers(value) : value;
}

/** Returns the same object if all its texts are printable: most are, and a plan has many. */
function inertMembers<T extends object>(value: T, except: ReadonlySet<string> = NOTHING): T {
  let shown = value;
  for (const key of Object.keys(value) as (keyof T & string)[]) {
    const member = value[key];
    if (member === null || (typeof member !== 'string' && typeof member !== 'object') || except.has(key)) {
      continue;
    }
    const safe = inertTexts(member);
    if (safe !== member) {
      shown = shown === value ? { ...value } : shown;
      shown[key] = safe;
    }
  }
  return shown;
}

/** Returns the organization of a plan, by its title on the platform, and the commits. */
export function planTitleParts(plan: PlanDocument): { readonly who: string; readonly when: string } {
  const base = plan.baseCommit === null ? '' : ` over ${plan.baseCommit.slice(0, 7)}`;
  const scope = plan.scope === ROOT_SCOPE ? '' : `, scope ${printable(plan.scope)}`;
  const id = printable(plan.organization);
  return {
    who: `${plan.title === plan.organization ? id : `${printable(plan.title)} (${id})`}${scope}`,
    when: plan.commit === null ? '' : `: commit ${plan.commit.slice(0, 7)}${base}`,
  };
}

/** `1 to create, 1 to update, 10 to delete (held), 1 held, 38 unchanged`. */
export function summaryLine({ summary }: Pick<PlanDocument, 'summary'>): string {
  const { heldDeletions = 0 } = summary;
  const parts = [
    [summary.create, 'to create'],
    [summary.update, 'to update'],
    [summary.move, 'to move'],
    [summary.delete, 'to delete'],
    [heldDeletions, 'to delete (held)'],
    [summary.held - heldDeletions, 'held'],
    [summary.paused, 'paused'],
  ] as const;
  const due = parts.filter(([count]) => count > 0).map(([count, word]) => `${count} ${word}`);
  const rest = [
    `${summary.unchanged} unchanged`,
    ...(summary.unmanaged > 0 ? [`${summary.unmanaged} not managed`] : []),
  ];
  return (due.length === 0 ? ['No changes', ...rest] : [...due, ...rest]).join(', ');
}

/** Row of the lists below the changes. A command is never wrapped, so that it can be copied. */
type Row = readonly [name: string, text: string, isCommand?: true];

function tailLines(plan: PlanDocument, options: PlanTextOptions): readonly string[] {
  const rows: readonly Row[] = [
    ...accessRows(plan),
    ...listRows(plan),
    ...verdictRows(plan, options),
    ['Cost', costWords(plan)],
  ];
  const widest = largest(rows.map(([name]) => name.length));
  return rows.map(([name, text, isCommand], index) => {
    const label = rows[index - 1]?.[0] === name ? ' '.repeat(name.length) : name;
    const gap = ' '.repeat(widest - name.length + 3);
    const line = isCommand ? `${label}${gap}${text}` : wrap(`${label}${gap}`, text, options.columns, widest + 3);
    return name === 'Held' || name === 'Refused' ? options.paint.warn(line) : line;
  });
}

function accessRows({ access }: PlanDocument): readonly Row[] {
  return accessSentences(access).map((sentence): Row => ['Access', sentence]);
}

/** Returns the parts of a plan other than its changes, access and verdict: rows with a name and a text. */
export function listRows(
  plan: Pick<PlanDocument, 'targets' | 'adopted' | 'pending' | 'notes' | 'hasBase' | 'unmanaged'>,
): readonly Row[] {
  const rows = (name: string, texts: readonly string[]) => texts.map((text): Row => [name, text]);
  return [
    ...rows('Targets', plan.targets === undefined ? [] : [targetWords(plan.targets)]),
    ...rows(
      'Adopted',
      named(plan.adopted, ({ address, id }) => `${printable(address)} is ${id}`),
    ),
    ...rows(
      'Pending',
      plan.pending.map(({ address, reason }) => `${printable(address)}: ${reason}`),
    ),
    ...plan.notes.flatMap(({ address, text, isProblem }) =>
      rows(isProblem === true ? 'Problem' : 'Note', [`${printable(address)}: ${printable(text)}`]),
    ),
    ...rows('Note', plan.hasBase ? [] : [NO_BASE]),
    ...rows(
      'Unmanaged',
      named(plan.unmanaged, ({ kind, title, id }) => `${kind} "${printable(title)}" (${id})`),
    ),
  ];
}

/** `site/help, with what is in it and what that requires; 3 other changes are left out`. */
function targetWords({ addresses, leftOut }: NonNullable<PlanDocument['targets']>): string {
  const what =
    addresses.length === 1 ? 'what is in it and what that requires' : 'what is in them and what that requires';
  const rest = leftOut.length === 0 ? 'nothing' : counted(leftOut.length, 'other change');
  return `${addresses.map(printable).join(', ')}, with ${what}; ${rest} ${leftOut.length > 1 ? 'are' : 'is'} left out`;
}

const NO_BASE = 'there is no base, so nothing is deleted and renames are not recognized; set one with --base REF';

function verdictRows(plan: PlanDocument, { approval = PLAIN_APPROVAL }: PlanTextOptions): readonly Row[] {
  if (plan.verdict.state === 'refused') {
    return plan.verdict.reasons.map((reason) => ['Refused', reason]);
  }
  const approve = (what: string, checksum: string): readonly Row[] => [
    ['Held', capital(`${approval.when}approve ${what}:`)],
    ['Held', `  ${approval.command(checksum)}`, true],
  ];
  if (plan.verdict.state === 'held') {
    const reasons: Row = ['Held', `the whole plan: ${plan.verdict.reasons.join('; ')}`];
    return [reasons, ...approve('the whole plan', plan.checksum)];
  }
  const held = plan.changes.filter((change) => change.held !== null);
  const count = counted(held.length, 'change');
  if (plan.heldChecksum === null || !held.some((change) => change.approvable)) {
    return held.length === 0 ? [] : [['Held', count]];
  }
  const isRest = plan.changes.some((change) => change.held === null && change.paused === null);
  return [
    ['Held', `${count} ${held.length === 1 ? 'waits' : 'wait'} for approval`],
    ...approve('only what is held', plan.heldChecksum),
    ...(isRest ? approve('the whole plan', plan.checksum) : []),
  ];
}

/** Returns a sentence per person and change; of groups, one for all resources to which the same happens. */
function accessSentences(changes: readonly AccessChange[]): readonly string[] {
  const sentences = Map.groupBy(changes, (change) => {
    const { person, role, field, from, to } = change;
    return field === undefined ? change : JSON.stringify([person, role, from === null, to === null]);
  });
  return [...sentences.values()].flatMap((same) =>
    same.slice(0, 1).map((first) => sentenceOf(first, same.map(placeOf).join(', '))),
  );
}

/** `ana@acme.example joins team/writers (member)`, `everyone on the internet gains access to site/help (read)`. */
export function accessWords(change: AccessChange): string {
  return sentenceOf(change, placeOf(change));
}

function sentenceOf(change: AccessChange, places: string): string {
  const [gains, loses, changes] =
    change.field === undefined
      ? ['joins', 'leaves', 'changes role in']
      : /^(people|visitors)\b/.test(change.person)
        ? ['gain access to', 'lose access to', 'have other access to']
        : ['gains access to', 'loses access to', 'has other access to'];
  const verb = change.from === null ? gains : change.to === null ? loses : changes;
  return `${printable(maskUrls(change.person))} ${verb} ${places} ${roleWords(change)}`;
}

/** `team/writers (member → owner)`. */
export function accessPlace(change: AccessChange): string {
  return `${placeOf(change)} ${roleWords(change)}`;
}

function placeOf({ from, to }: AccessChange): string {
  const place = to ?? from;
  return place === WHOLE_ORGANIZATION ? 'the organization' : printable(place ?? '');
}

function roleWords({ role }: AccessChange): string {
  return `(${printable(maskUrls(role))})`;
}

/** Returns one text that names the first items and counts the rest; none if there are no items. */
function named<T>(items: readonly T[], nameOf: (item: T) => string): readonly string[] {
  const more = items.length - NAMED;
  const words = [...items.slice(0, NAMED).map(nameOf), ...(more > 0 ? [`and ${more} more`] : [])];
  return items.length === 0 ? [] : [words.join(', ')];
}

/** `5 requests, about 2 s (4 requests made to read)` */
export function costWords({ cost }: Pick<PlanDocument, 'cost'>): string {
  const { reads, writes } = cost.requests;
  const read = `${counted(reads, 'request')} made to read`;
  return writes === 0 ? read : `${counted(writes, 'request')}, ${durationWords(cost.seconds)} (${read})`;
}

/** Rank of a change: a lower one is shown earlier and left out later. */
export const RANK = { held: 0, delete: 1, access: 2, accessOfNew: 3, update: 4, move: 5, create: 6 } as const;

/** Members of a change that decide its rank. */
type RankedChange = Pick<ChangeDocument, 'action' | 'address' | 'held' | 'accessFields' | 'weight'>;

const SIGNS = { create: '+', update: '~', move: '→', delete: '-' } as const;
/** Minimum width of the address column in a narrow terminal, in characters. */
const MIN_ADDRESS_COLUMN = 20;

/**
 * Returns the lines of the changes: held changes, deletions (the heaviest first), access changes, then updates, moves and
 * creations.
 */
function changeLines(plan: PlanDocument, options: PlanTextOptions): readonly string[] {
  const widest = largest(
    plan.changes.values().map(({ address }) => textWidth(address)),
    0,
  );
  const column = Math.min(widest, Math.max(MIN_ADDRESS_COLUMN, Math.floor(options.columns / 2) - 4));
  return rankChanges(plan).flatMap(({ change }) => [headLine(change, column, options), ...bodyLines(change, options)]);
}

/** Sorts the changes of a plan by rank; of equal ones, those with the greatest impact come first. */
export function rankChanges<T extends RankedChange>({
  access,
  changes,
}: {
  readonly access: PlanDocument['access'];
  readonly changes: readonly T[];
}): readonly { readonly change: T; readonly rank: number }[] {
  const affectsAccess = new Set(access.map((each) => each.change));
  const ranked = changes.map((change) => ({ change, rank: rankOf(change, affectsAccess) }));
  return ranked.toSorted((a, b) => a.rank - b.rank || b.change.weight - a.change.weight);
}

function rankOf(change: RankedChange, affectsAccess: ReadonlySet<string>): number {
  if (change.held !== null) {
    return RANK.held;
  }
  if (change.action !== 'delete' && (change.accessFields !== undefined || affectsAccess.has(change.address))) {
    return change.action === 'create' ? RANK.accessOfNew : RANK.access;
  }
  return RANK[change.action];
}

/** Columns of a sign with the space after it. */
const SIGN_WIDTH = 4;

/** `  +`, `-/+`: always three columns. */
function signOf({ action, isReplacement }: ChangeDocument): string {
  return isReplacement ? (action === 'create' ? '+/-' : '-/+') : `  ${SIGNS[action]}`;
}

function toneOf({ action }: ChangeDocument, { paint }: PlanTextOptions): (text: string) => string {
  return { create: paint.create, update: paint.change, move: paint.change, delete: paint.remove }[action];
}

function headLine(change: ChangeDocument, column: number, options: PlanTextOptions): string {
  const { paint } = options;
  const tone = toneOf(change, options);
  const address = printable(change.address);
  const sign = signOf(change);
  const place = change.source === null ? '' : `${change.source.file}:${change.source.line}`;
  const gap = ' '.repeat(Math.max(1, column - textWidth(address) + 3));
  const said = remarks(change);
  const below = (text: string) => `\n${wrap('      ', text, options.columns, 6)}`;
  const plain = `${sign} ${address}${gap}${place}`;
  const fits = textWidth(plain) + 3 + textWidth(said) <= options.columns;
  if (textWidth(plain) > options.columns) {
    const parts = [place, said].filter((part) => part !== '').map(below);
    return `${tone(sign)} ${paint.strong(address)}${parts.join('')}`;
  }
  // A gap only before something on the same line.
  const goesOn = place !== '' || (said !== '' && fits);
  const head = `${tone(sign)} ${paint.strong(address)}${goesOn ? gap : ''}${paint.faint(place)}`;
  if (said === '') {
    return head;
  }
  return `${head}${fits && place !== '' ? '   ' : ''}${paint.warn(fits ? said : below(said))}`;
}

/** Returns the text after a change: why it waits, where it goes and what it damages. */
function remarks(change: ChangeDocument): string {
  const { action, fields, impact, paused, held } = change;
  const position = action === 'move' ? fields.find(({ path }) => path === 'position')?.to : undefined;
  const until = paused === null || paused.until === null ? '' : ` until ${paused.until}`;
  return [
    typeof position === 'string' ? position : '',
    printable(impact),
    paused === null ? '' : `paused${until}: ${printable(paused.reason)}`,
    held === null ? '' : `held: ${printable(held)}`,
  ]
    .filter((part) => part !== '')
    .join('; ');
}

function bodyLines(change: ChangeDocument, options: PlanTextOptions): readonly string[] {
  const fields = change.fields.filter((field) => !(change.action === 'move' && field.path === 'position'));
  const whole = new Set(change.accessFields);
  const lines = fields.flatMap((field) => fieldLines(field, whole.has(field.path)));
  const widest = largest(
    lines.map((line) => textWidth(line.name)),
    8,
  );
  return lines.map((line) => {
    const gap = ' '.repeat(Math.max(1, widest - textWidth(line.name) + 2));
    const indent = Math.min(widest + 8, 24);
    const room = Math.max(10, options.columns - indent);
    return wrap(`      ${line.name}${gap}`, breakLongWords(line.text, room), options.columns, indent);
  });
}
