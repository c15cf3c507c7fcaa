/** Plan in Markdown, for comments of forges: what it does, what is deleted and who gains access, then folded diffs. */
import { EVERYONE } from '../../core/change.ts';
import { largest } from '../../core/lists.ts';
import { maskUrls } from '../../core/text/safe-url.ts';
import { encodedPath } from '../../core/url.ts';
import { type ChangeDocument, changeTitle, type PlanDocument } from './document.ts';
import { type Effect, orderByEffect } from './effects.ts';
import { bare, type FieldLine, fieldLines, withEmoji } from './field-text.ts';
import { heldChanges, kindCounts, planSentence } from './sentence.ts';
import { accessWords, costWords, listRows, planTitleParts } from './text.ts';
import { type Approval, breakLongWords, PLAIN_APPROVAL, takeLines, wrap } from './text-layout.ts';
import { capital, counted, noCommand, printable, shortApproval, shortened } from './words.ts';

/** Room for the Markdown of a plan, and the addresses that it links to. */
export interface MarkdownPlace {
  /** Longest text, in characters. */
  readonly maxLength: number;
  /** Page of the job that has the whole plan; null if it has none. */
  readonly runUrl: string | null;
  /** Address of the folder of the manifests at the planned commit, with a slash at its end; null if it has none. */
  readonly filesUrl: string | null;
}

const ANYWHERE: MarkdownPlace = { maxLength: Number.POSITIVE_INFINITY, runUrl: null, filesUrl: null };

/** Number of changes above which a plan is folded, and a group of its changes. */
const MAX_OPEN = 25;
const MAX_OPEN_GROUP = 20;
/** Width of the lines of code, in characters: a wider one would scroll. */
const COLUMNS = 72;
/** Longest title of a deletion without its consequences, in characters. */
const MAX_BRIEF_LENGTH = 40;
/** Longest name, and longest reason and first line of a change, in characters. */
const MAX_NAME_LENGTH = 120;
const MAX_LINE_LENGTH = 300;
const MAX_REASONS = 5;
/** Files that are named below a group, and the part of a comment that these may take. */
const MAX_FILES = 8;
const FILES_SHARE = 1 / 40;
/** Part of the room that access above the fold keeps, and the most that one change takes of what is left. */
const SHARE = 1 / 4;
/** Longest run of backticks in a diff, so that the length of a fence is known before its text is chosen. */
const MAX_RUN = 8;

/** A change, or a line about access. */
interface Block {
  /** Kind of the resource; empty for other lines. */
  readonly kind: string;
  /** The first line names it. */
  readonly lines: readonly string[];
  /** Shorter forms of a deletion, where there is no room for its consequences: its title and address, then the address. */
  readonly briefs?: readonly (readonly string[])[];
}

/** A diff of changes under a heading. */
interface Section {
  /** Heading in words that no title is part of. */
  readonly title: string;
  /** Sections with a lower one keep their changes longer in a text that is too long. */
  readonly rank: number;
  readonly isFolded: boolean;
  readonly syntax: 'diff' | 'text';
  readonly blocks: readonly Block[];
  /** Files of the changes in Markdown; empty if there are none. */
  readonly files: string;
}

/** Section of a comment, with its blocks that are shown. */
interface CutSection {
  readonly section: Section;
  readonly shown: readonly Block[];
}

/**
 * Renders a plan. What is deleted and who gains access is never folded. If the text would be too long, the changes of
 * the last groups are left out and counted.
 *
 * All text from elsewhere is in code, where forges ignore mentions, references, links, HTML and commands.
 */
export function renderPlanMarkdown(
  plan: PlanDocument,
  approval: Approval = PLAIN_APPROVAL,
  place: MarkdownPlace = ANYWHERE,
): string {
  const { who, when } = planTitleParts(plan);
  const head = [`### Plan for ${codeSpan(who)}${when}`, sentences(plan)];
  const foot = [...commands(plan, approval), restWords(plan)];
  const compose = (sections: readonly CutSection[], note: readonly string[]) =>
    `${[...head, ...sections.map(sectionMarkdown), ...foot, ...note].join('\n\n')}\n`;
  const sections = sectionsOf(plan, place);
  const whole = compose(
    sections.map((section) => ({ section, shown: section.blocks })),
    place.runUrl === null ? [] : [`[The job](${place.runUrl}) has the whole plan.`],
  );
  if (whole.length <= place.maxLength) {
    return whole;
  }
  const note = [shortenedNote(place, 'plan')];
  // What is left out is counted in fewer characters when less of it is.
  const empty = compose(
    sections.map((section) => ({ section, shown: [] })),
    note,
  );
  const room = place.maxLength - empty.length - sections.length * 2 * MAX_RUN;
  return compose(cutSections(sections, room), note);
}

/** Returns the sentence that says that a text was shortened, and where all of it is. */
export function shortenedNote({ runUrl }: Pick<MarkdownPlace, 'runUrl'>, what: string): string {
  const where = runUrl === null ? 'the output of the job' : `[the job](${runUrl})`;
  return `Shortened to the maximum length of a comment; ${where} contains the whole ${what}.`;
}

/** Says what the plan does, and what waits for a person. */
function sentences(plan: PlanDocument): string {
  const { verdict, changes } = plan;
  const does = planSentence(plan, (name) => codeSpan(printable(name)));
  const held = heldChanges(plan);
  const more = verdict.reasons.length - MAX_REASONS;
  const reasons = [
    ...verdict.reasons.slice(0, MAX_REASONS).map((reason) => codeSpan(printable(maskUrls(reason)), MAX_LINE_LENGTH)),
    ...(more > 0 ? [`and ${more} more`] : []),
  ].join('; ');
  const all = held === changes.length && held > 1 ? 'All ' : '';
  const waits = `**${all}${counted(held, 'change')} ${held === 1 ? 'waits' : 'wait'} for approval**`;
  return [
    does === '' ? '**No changes**' : `**${does}**`,
    ...(verdict.state === 'refused' ? [`**Refused**: ${reasons}`] : []),
    ...(held > 0 ? [verdict.state === 'held' ? `${waits}: ${reasons}` : waits] : []),
  ].join('  \n');
}

/** Says how what waits is approved: on the page, where the daemon runs, or in a clone. */
function commands(plan: PlanDocument, approval: Approval): readonly string[] {
  if (heldChanges(plan) === 0) {
    return [];
  }
  const { checksum, heldChecksum, verdict, changes } = plan;
  const held = verdict.state === 'held' || heldChecksum === null ? checksum : heldChecksum;
  const isRest = held !== checksum && changes.some((change) => change.held === null && change.paused === null);
  const command = (of: string) => fenced(wrapCommand(noCommand(printable(approval.command(of)))), 'sh');
  const inDaemon = `\`octavo approve ${shortApproval(held)}\``;
  const when = approval.when.replace(/,?\s*$/, '');
  const start = when === '' ? 'Approve' : `${capital(when)}, approve`;
  const isByComment = approval.isByComment === true;
  const elsewhere = `on the web page, or with ${inDaemon} where the daemon runs`;
  const folded = [
    `<details><summary>${isByComment ? 'Other ways to approve it' : 'Commands that approve it in a clone'}</summary>`,
    ...(isByComment ? [`${capital(elsewhere)}; or in a clone:`] : []),
    ...(isRest ? ['Only what waits:', command(held), 'The whole plan:', command(checksum)] : [command(held)]),
    '</details>',
  ];
  return [
    isByComment
      ? `To approve, write a comment that is only ${inDaemon}. It counts once this is merged.`
      : `${start} ${elsewhere}.`,
    folded.join('\n\n'),
  ];
}

/** Breaks a command before its options, so that a shell still reads it as one: no line ends inside of quotes. */
function wrapCommand(command: string): string {
  const words = command.match(/(?:"[^"]*"|'[^']*'|\\.|[^\s'"\\])+/g) ?? [];
  const lines = [''];
  for (const [at, word] of words.entries()) {
    const next = words[at + 1] ?? '';
    const option = word.startsWith('-') && !next.startsWith('-') ? `${word} ${next}` : word;
    const line = lines.at(-1) ?? '';
    const isFull = word.startsWith('-') && line.length + option.length + ' \\ '.length > COLUMNS;
    if (isFull) {
      lines[lines.length - 1] = `${line} \\`;
      lines.push(`  ${word}`);
    } else {
      lines[lines.length - 1] = line === '' ? word : `${line} ${word}`;
    }
  }
  return lines.join('\n');
}

/** `38 unchanged, 5 not managed. 5 requests, about 2 s (4 requests made to read).` */
function restWords(plan: PlanDocument): string {
  const { unchanged, unmanaged, paused } = plan.summary;
  const parts = [
    `${unchanged} unchanged`,
    ...(paused > 0 ? [`${paused} paused`] : []),
    ...(unmanaged > 0 ? [`${unmanaged} not managed`] : []),
  ];
  return `${parts.join(', ')}. ${costWords(plan)}.`;
}

/** Headings of the groups, and what a text that is too long keeps: deletions longest, what is created shortest. */
const GROUPS = {
  deleted: ['Deleted', 1],
  access: ['Changed access', 2],
  created: ['Created', 6],
  updated: ['Updated', 4],
  moved: ['Moved', 5],
} as const satisfies Readonly<Record<Effect, readonly [title: string, rank: number]>>;
const ACCESS_RANK = 0;
const MORE_ACCESS_RANK = 3;
const NOTES_RANK = 7;

/** Returns the sections in the order in which they are read: dangerous ones first, and open. */
function sectionsOf(plan: PlanDocument, place: MarkdownPlace): readonly Section[] {
  const groups = Map.groupBy(orderByEffect(plan), ({ effect }) => effect);
  const isLong = plan.changes.length > MAX_OPEN;
  const sections = (Object.keys(GROUPS) as Effect[]).flatMap((effect): readonly Section[] => {
    const changes = (groups.get(effect) ?? []).map(({ change }) => change);
    const [title, rank] = GROUPS[effect];
    const group: Section = {
      title: `${title}: ${groupCount(changes)}`,
      rank,
      isFolded: effect !== 'deleted' && (isLong || changes.length > MAX_OPEN_GROUP),
      syntax: 'diff',
      blocks: changes.map(changeBlock),
      files: fileLinks(changes, place),
    };
    return [...(effect === 'access' ? accessSections(plan) : []), ...(changes.length === 0 ? [] : [group])];
  });
  return [...sections, ...notesSections(plan)];
}

/** `10 spaces`, `40 (30 spaces, 10 teams)` */
function groupCount(changes: readonly ChangeDocument[]): string {
  const isOneKind = changes.every(({ kind }) => kind === changes[0]?.kind);
  return isOneKind ? kindCounts(changes) : `${changes.length} (${kindCounts(changes)})`;
}

/** Returns who gains or loses access: what becomes public first, and of many, the others folded. */
function accessSections({ access }: PlanDocument): readonly Section[] {
  const isPublic = ({ person, to }: PlanDocument['access'][number]) => to !== null && person.startsWith(EVERYONE);
  const lines = access
    .toSorted((a, b) => Number(isPublic(b)) - Number(isPublic(a)))
    .map((change) => wrapped('!', accessWords(change)));
  const [first, more] = [lines.slice(0, MAX_OPEN_GROUP), lines.slice(MAX_OPEN_GROUP)];
  return [
    ...lineSections('Access', ACCESS_RANK, 'diff', first),
    ...lineSections('More access', MORE_ACCESS_RANK, 'diff', more, true),
  ];
}

/** Returns what is adopted, pending, noted and not managed. */
function notesSections(plan: PlanDocument): readonly Section[] {
  const lines = listRows(plan).map(([name, text]) => wrapped('', `${name}: ${text}`));
  return lineSections('Notes', NOTES_RANK, 'text', lines, lines.length > MAX_OPEN_GROUP);
}

function lineSections(
  name: string,
  rank: number,
  syntax: Section['syntax'],
  entries: readonly (readonly string[])[],
  isFolded = false,
): readonly Section[] {
  const blocks = entries.map((lines) => ({ kind: '', lines: lines.map(inertLine) }));
  return entries.length === 0
    ? []
    : [{ title: `${name}: ${entries.length}`, rank, isFolded, syntax, blocks, files: '' }];
}

/** Returns the lines of a change: its title, address and consequences, then its fields, old and new. */
function changeBlock(change: ChangeDocument): Block {
  const { action, address, kind, accessFields = [] } = change;
  const title = printable(maskUrls(changeTitle(change)));
  const sign = { delete: '-', create: '+', update: '!', move: '!' }[action];
  const said = remarks(change);
  const named = (longest: number) => (title === '' ? address : `${shortened(title, longest)} (${address})`);
  const head = shortened(`${named(MAX_NAME_LENGTH)}${said === '' ? '' : `: ${said}`}`, MAX_LINE_LENGTH);
  const isShown = (path: string) =>
    action === 'move' ? path !== 'position' : action !== 'create' || (path !== 'title' && path !== 'label');
  const fields = change.fields.filter(({ path }) => isShown(path));
  const lines = [
    ...headLines(sign, head),
    ...fields
      .flatMap((field) => fieldLines(field, accessFields.includes(field.path)).flatMap(diffLines))
      .flatMap((line) => wrapped(line.charAt(0), line.slice(2), 6)),
  ].map(inertLine);
  const briefs = [named(MAX_BRIEF_LENGTH), address].map((text) => headLines(sign, text).map(inertLine));
  return action === 'delete' ? { kind, lines, briefs } : { kind, lines };
}

/** Breaks a text into lines that begin with a sign, if any. A secret is masked before, because no part of it would be. */
function wrapped(sign: string, text: string, indent = 2): readonly string[] {
  const start = sign === '' ? '' : `${sign} `;
  const safe = printable(maskUrls(text));
  const columns = COLUMNS - start.length;
  return wrap('', breakLongWords(safe, columns - indent), columns, indent)
    .split('\n')
    .map((line) => `${start}${line}`);
}

/** Breaks the first line of a change. Only its start has the sign: with one in each line, it would read as several changes. */
function headLines(sign: string, head: string): readonly string[] {
  const [first = '', ...more] = wrapped(sign, head);
  return [first, ...more.map((line) => ` ${line.slice(sign.length)}`)];
}

/** Returns where a change goes, what it damages, and why it waits. */
function remarks(change: ChangeDocument): string {
  const { action, fields, impact, paused, held, isReplacement } = change;
  const position = action === 'move' ? fields.find(({ path }) => path === 'position')?.to : undefined;
  const quoted = `"${changeTitle(change)}"`;
  const until = paused === null || paused.until === null ? '' : ` until ${paused.until}`;
  return [
    isReplacement ? 'replaced' : '',
    typeof position === 'string' ? position : '',
    impact.startsWith(quoted) ? impact.slice(quoted.length).replace(/^, /, '') : impact,
    paused === null ? '' : `paused${until}: ${paused.reason}`,
    held === null ? '' : `waits (${held})`,
  ]
    .filter((part) => part !== '')
    .join('; ');
}

/** Returns the removed and the added value of a field, or its items, each in a line with its sign. */
function diffLines({ name, text, value, from, to, items }: FieldLine): readonly string[] {
  const line = (sign: string, written: string) => `${sign}   ${name === '' ? '  ' : `${name}: `}${written}`;
  const signed = (item: string) => {
    const [, sign, rest] = /^([-+~]) (.*)$/s.exec(item) ?? [];
    return sign === undefined || rest === undefined ? line(' ', item) : line(sign === '~' ? '!' : sign, bare(rest));
  };
  if (items !== undefined) {
    return items.map(signed);
  }
  const added = value ?? to;
  const lines = [
    ...(from === undefined ? [] : [line('-', withEmoji(name, from))]),
    ...(added === undefined ? [] : [line('+', withEmoji(name, added))]),
  ];
  return lines.length === 0 ? [signed(text)] : lines;
}

/** Makes a line of a diff printable, without secrets, and without long runs of backticks. */
function inertLine(line: string): string {
  return noCommand(printable(maskUrls(line))).replaceAll(/`{8}(?=`)/g, `${'`'.repeat(MAX_RUN - 1)}\\u0060`);
}

/** Returns the files of changes, with the line where it is one change, as links where the forge shows them. */
function fileLinks(changes: readonly ChangeDocument[], { filesUrl, maxLength }: MarkdownPlace): string {
  const places = Map.groupBy(
    changes.flatMap(({ source }) => source ?? []),
    ({ file }) => file,
  );
  let left = maxLength * FILES_SHARE;
  const links = [...places].slice(0, MAX_FILES).flatMap(([file, [first, second]]) => {
    const line = first !== undefined && second === undefined ? first.line : null;
    const name = codeSpan(`${printable(maskUrls(file))}${line === null ? '' : `:${line}`}`);
    const shown =
      filesUrl === null ? name : `[${name}](${filesUrl}${encodedPath(file)}${line === null ? '' : `#L${line}`})`;
    left -= shown.length + 2;
    return left < 0 ? [] : [shown];
  });
  const more = places.size - links.length;
  return links.length === 0 ? '' : `In ${links.join(', ')}${more > 0 ? ` and ${counted(more, 'more file')}` : ''}`;
}

/** Chooses what is shown, by rank. */
function cutSections(sections: readonly Section[], room: number): readonly CutSection[] {
  const deletions = sizeOf(sections.find(({ rank }) => rank === GROUPS.deleted[1])?.blocks ?? []);
  const shown = new Map<Section, readonly Block[]>();
  let left = Math.max(0, room);
  for (const section of sections.toSorted((a, b) => a.rank - b.rank)) {
    const most = section.rank === ACCESS_RANK ? Math.max(left * SHARE, left - deletions) : left;
    const blocks = takeBlocks(
      section.rank === GROUPS.deleted[1] ? briefly(section.blocks, most) : section.blocks,
      most,
    );
    shown.set(section, blocks);
    const isCut = blocks.length < section.blocks.length && section.rank !== ACCESS_RANK;
    left = isCut ? 0 : left - sizeOf(blocks);
  }
  return sections.map((section) => ({ section, shown: shown.get(section) ?? [] }));
}

/** Shortens blocks that can be brief, from the end, until all fit; all of them as far as possible if that is not enough. */
function briefly(blocks: readonly Block[], room: number): readonly Block[] {
  const forms = blocks.map(({ lines, briefs = [] }) => [lines, ...briefs]);
  const shown = blocks.map((block, at) => ({ ...block, lines: forms[at]?.at(-1) ?? block.lines }));
  let left = room - sizeOf(shown);
  for (let form = largest(forms.map(({ length }) => length)) - 2; form >= 0; form -= 1) {
    for (const [at, block] of shown.entries()) {
      const lines = forms[at]?.[form] ?? block.lines;
      left -= sizeOf([{ ...block, lines }]) - sizeOf([block]);
      if (left < 0) {
        return shown;
      }
      shown[at] = { ...block, lines };
    }
  }
  return shown;
}

/** Returns the blocks from the start that fit. If not all fit, a long one keeps only its first lines. */
function takeBlocks(blocks: readonly Block[], room: number): readonly Block[] {
  if (sizeOf(blocks) <= room) {
    return blocks;
  }
  const taken: Block[] = [];
  let left = room;
  for (const { kind, lines } of blocks) {
    const isLong = sizeOf([{ kind, lines }]) > left * SHARE;
    const block = { kind, lines: isLong ? takeLines(lines, Math.max(left * SHARE, MIN_BLOCK), MORE) : lines };
    left -= sizeOf([block]);
    if (left < 0 || block.lines[0] === MORE) {
      break;
    }
    taken.push(block);
  }
  return taken;
}

const MORE = '    …';
/** Room in which the first line of any change fits. */
const MIN_BLOCK = MAX_LINE_LENGTH + 100;

function sizeOf(blocks: readonly Block[]): number {
  return blocks.reduce((sum, { lines }) => lines.reduce((size, line) => size + line.length + 1, sum), 0);
}

function sectionMarkdown({ section, shown }: CutSection): string {
  const { title, isFolded, syntax, blocks, files } = section;
  const leftOut = blocks.slice(shown.length);
  const kinds = leftOut.every(({ kind }) => kind === '') ? '' : ` (${kindCounts(leftOut)})`;
  const rest = leftOut.length === 0 ? [] : [`    … and ${leftOut.length} more${kinds}`];
  const lines = [...shown.flatMap((block) => block.lines), ...rest];
  const body = [fenced(lines.join('\n'), syntax), ...(files === '' ? [] : [files])].join('\n\n');
  return isFolded ? `<details><summary>${title}</summary>\n\n${body}\n\n</details>` : `**${title}**\n\n${body}`;
}

/** Returns a fenced block whose fence is longer than any run of backticks in it. */
export function fenced(text: string, syntax = 'text'): string {
  const fence = '`'.repeat(Math.max(3, longestRun(text) + 1));
  return `${fence}${syntax}\n${text}\n${fence}`;
}

/**
 * Formats one line of printable text as code. Escapes are not enough: forges search the rendered Markdown for mentions,
 * references and addresses, and skip only code.
 */
export function codeSpan(text: string, longest = MAX_NAME_LENGTH): string {
  const short = shortened(text.replaceAll(/\s+/g, ' ').trim(), longest);
  const mark = '`'.repeat(longestRun(short) + 1);
  const room = short === '' || /^`|`$/.test(short) ? ' ' : '';
  return `${mark}${room}${short}${room}${mark}`;
}

function longestRun(text: string): number {
  return largest(
    [...text.matchAll(/`+/g)].map(([run]) => run.length),
    0,
  );
}
