/** Renders the changes of a plan as text, riskiest first, each as a block of lines. */

import type { Action } from '../../core/change.ts';
import { largest } from '../../core/lists.ts';
import type { ChangeDocument, PlanDocument } from '../model/document.ts';
import { fieldLines } from './field-text.ts';
import { breakLongWords, type PlanTextOptions, wrap } from './text-layout.ts';
import { textWidth } from './text-width.ts';
import { counted, printable } from './words.ts';

/** Rank of a change: a lower one is shown earlier and left out later. */
export const RANK = { held: 0, delete: 1, access: 2, accessOfNew: 3, update: 4, move: 5, create: 6 } as const;

/** Text of one change, and its count in the summary when the text is left out. */
export interface ChangeBlock {
  readonly kind: string;
  readonly action: Action;
  readonly rank: number;
  /** The first line names the change; the others show its fields. */
  readonly lines: readonly string[];
}

/** Members of a change that decide its rank. */
type RankedChange = Pick<ChangeDocument, 'action' | 'address' | 'held' | 'accessFields' | 'weight'>;

const SIGNS = { create: '+', update: '~', move: '→', delete: '-' } as const;
/** Minimum width of the address column in a narrow terminal, in characters. */
const MIN_ADDRESS_COLUMN = 20;

/**
 * Returns one block per change: held changes, deletions (the heaviest first), access changes, then updates, moves and
 * creations.
 */
export function changeBlocks(plan: PlanDocument, options: PlanTextOptions): readonly ChangeBlock[] {
  let widest = 0;
  for (const { address } of plan.changes) {
    widest = Math.max(widest, textWidth(address));
  }
  const column = Math.min(widest, Math.max(MIN_ADDRESS_COLUMN, Math.floor(options.columns / 2) - 4));
  return rankChanges(plan).map(({ change, rank }) => ({
    kind: change.kind,
    action: change.action,
    rank,
    lines: [headLine(change, column, options), ...bodyLines(change, options)].join('\n').split('\n'),
  }));
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

/** `120 creations (100 team, 20 space), 1 held update (1 site)`. */
export function countBlocks(blocks: readonly ChangeBlock[]): string {
  const nouns = { create: 'creation', update: 'update', move: 'move', delete: 'deletion' } as const;
  const groups = Map.groupBy(blocks, ({ rank, action }) => `${rank === RANK.held ? 'held ' : ''}${nouns[action]}`);
  return [...groups]
    .map(([noun, group]) => {
      const kinds = [...Map.groupBy(group, ({ kind }) => kind)].map(([kind, each]) => `${each.length} ${kind}`);
      return `${counted(group.length, noun)} (${kinds.join(', ')})`;
    })
    .join(', ');
}

function headLine(change: ChangeDocument, column: number, options: PlanTextOptions): string {
  const { paint } = options;
  const tone = { create: paint.create, update: paint.change, move: paint.change, delete: paint.remove }[change.action];
  const address = printable(change.address);
  const sign = change.isReplacement ? (change.action === 'create' ? '+/-' : '-/+') : `  ${SIGNS[change.action]}`;
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

/** Returns the text after a change: why it waits, where it goes and what it damages. */
function remarks(change: ChangeDocument): string {
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
