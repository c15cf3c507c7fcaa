/** Proposes drift in a pull request: its branch, its commit and its text, and the one that is open for it. */
import { createHash } from 'node:crypto';
import type { Address } from '../core/address.ts';
import type { FieldChange } from '../core/change.ts';
import type { Clock } from '../core/clock.ts';
import { RejectedError, TransientError } from '../core/errors.ts';
import { ROOT_SCOPE } from '../core/scope.ts';
import { fieldLines } from '../plan/render/field-text.ts';
import { codeSpan, fenced } from '../plan/render/markdown.ts';
import { takeLines } from '../plan/render/text-layout.ts';
import { counted, printable, printableLines } from '../plan/render/words.ts';
import { fitted, isSame } from './comment.ts';
import type { OpenPull, PullBranches, PullText } from './forge.ts';
import type { Pulls } from './open-forge.ts';
import { isLimit, withRetries } from './requests.ts';

/** Drifted resource, with the field changes that bring the manifests from the declared to the actual values. */
export interface DriftedResource {
  readonly action: 'update' | 'move' | 'delete';
  readonly address: Address;
  readonly file: string;
  readonly line: number;
  readonly fields: readonly FieldChange[];
}

/** Changes on the platform that are not in the manifests. */
export interface DriftReport {
  /** Id of the organization; `title` is its display name. */
  readonly organization: string;
  readonly title: string;
  /** Resources that are written to manifests. */
  readonly resources: readonly DriftedResource[];
  /** Resources that are not written, with the reason. */
  readonly omitted: readonly { readonly address: Address; readonly reason: string }[];
}

const MARKS = { update: '~', move: '→', delete: '-' } as const;
/** Maximum number of resources listed in a commit message. */
const MAX_LISTED = 100;
const TRAILER = 'Octavo-Tree: ';

/**
 * Returns the branch for the drift of an organization, one per scope. The name is valid for git and safe in a shell for
 * any organization and scope.
 */
export function driftBranch(organization: string, scope = ROOT_SCOPE): string {
  const part = scope === ROOT_SCOPE ? '' : `.${branchName(scope)}`;
  return `octavo/drift/${branchName(organization)}${part}`;
}

function branchName(text: string): string {
  // A branch name must not end in ".lock".
  if (/^(?!lock$)[A-Za-z0-9_][A-Za-z0-9_-]{0,99}$/.test(text)) {
    return text;
  }
  const plain = text
    .replace(/[^A-Za-z0-9_]+/g, '-')
    .slice(0, 80)
    .replace(/^-|-$/g, '');
  const digest = createHash('sha256').update(Buffer.from(text, 'utf16le')).digest('hex').slice(0, 8);
  return `${plain === '' ? '' : `${plain}-`}${digest}`;
}

/** Builds the commit message. Its last line is the tree that was written, which identifies Octavo's own commits. */
export function driftMessage(report: DriftReport, tree: string): string {
  const lines = report.resources.map(({ action, address, fields }) => {
    const what = { update: fields.map(({ path }) => path).join(', '), move: 'moved', delete: 'gone' }[action];
    return `- ${inert(address)}: ${what}`;
  });
  const more = lines.length - MAX_LISTED;
  const rest = more > 0 ? [`- and ${more} more`] : [];
  const list = [...lines.slice(0, MAX_LISTED), ...rest].join('\n');
  return `${driftTitle(report)}\n\n${list}\n\n${TRAILER}${tree}\n`;
}

/** Returns whether a commit with this message and this tree is unchanged since Octavo wrote it. */
export function isDriftCommit(message: string, tree: string): boolean {
  return message.trimEnd().split('\n').at(-1) === TRAILER + tree;
}

/** Builds the text of the pull request. `isTaken`: another author has committed to its branch. */
export function driftPull(report: DriftReport, longest: number, options: { readonly isTaken: boolean }): PullText {
  const lines = report.resources.flatMap(resourceLines).map(withoutDirectives);
  const left = report.omitted.map(
    ({ address, reason }) => `  ${withoutDirectives(printable(`${address}: ${reason}`))}`,
  );
  const text = [...lines, ...(left.length === 0 ? [] : ['', 'Not written:', ...left])];
  const around = (block: string, note: string) =>
    `### ${codeSpan(withoutDirectives(printable(report.title)))} differs from its manifests\n\n**${summaryOf(report)}**\n${
      options.isTaken ? TAKEN : ''
    }\n${block}\n${note}\n${ADVICE}\n`;
  const note = '\nShortened to the maximum length of a description. The commit contains all changes.\n';
  const shorten = (room: number) => takeLines(text, room).join('\n');
  return { title: driftTitle(report), body: fitted(text.join('\n'), longest, around, note, shorten) };
}

/** Builds the comment for a drift that no longer exists. */
export function goneComment(report: DriftReport): string {
  const left = report.omitted.map(({ address, reason }) => `  ${printable(`${address}: ${reason}`)}`);
  const rest =
    left.length === 0
      ? ''
      : `\n\nThese resources still differ, because they could not be written to the manifests:\n\n${fenced(left.join('\n'))}`;
  return `The drift is gone: the manifests of ${codeSpan(printable(report.title))} now declare it, or it was reverted on the platform.${rest}\n`;
}

const TAKEN =
  '\n**Another author has committed to this branch, so Octavo does not update it.** The current differences are listed below; the branch may not contain all of them. Merge this pull request, or close it and delete the branch to get a new one.\n';
const ADVICE =
  'Merge this pull request to keep the changes that were made on the platform. To decline them, close it and keep the branch: Octavo does not propose the same changes again, and the next apply reverts them.';

function driftTitle({ organization, resources }: DriftReport): string {
  return `Drift: ${counted(resources.length, 'resource')} of ${inert(organization)} changed on the platform`;
}

function summaryOf({ resources, omitted }: DriftReport): string {
  const count = (action: DriftedResource['action']) => resources.filter((each) => each.action === action).length;
  const parts = [
    [count('update'), 'changed'],
    [count('move'), 'moved'],
    [count('delete'), 'gone'],
    [omitted.length, 'not written'],
  ] as const;
  return parts.flatMap(([number, word]) => (number > 0 ? [`${number} ${word}`] : [])).join(', ');
}

/** Formats a resource as in a plan. Quoted text never starts a line, because forges execute some lines as commands. */
export function resourceLines({ action, address, file, line, fields }: DriftedResource): readonly string[] {
  const head = `  ${MARKS[action]} ${printable(address)}  ${printable(file)}:${line}${action === 'delete' ? '  gone' : ''}`;
  return [
    head,
    ...fields.flatMap((field) => fieldLines(field)).map(({ name, text }) => `      ${name}  ${printableLines(text)}`),
  ];
}

/** Keywords that close the issue after them (GitLab, default issue closing pattern; GitHub, closing keywords). */
const CLOSING =
  /\b((?:clos(?:e[sd]?|ing)|fix(?:e[sd]|ing)?|resolv(?:e[sd]?|ing)|implement(?:s|ed|ing)?):?) (?= *(?:issues? +)?\S*\d)/gi;
/** Markers in a commit message that skip pipelines. */
const SKIPPING = /\[(?=(?:ci|skip|no|actions)[\s-]+(?:ci|skip|actions)\])/gi;

/**
 * Escapes text of a description even where it is code: GitLab searches the raw description for issues to close, and a
 * squash merge can make it a commit message, which has no code formatting.
 */
function withoutDirectives(text: string): string {
  return text
    .replace(CLOSING, '$1\\u0020')
    .replace(SKIPPING, '\\u005b')
    .replace(/(?<![A-Za-z0-9])@/g, '\\u0040');
}

/** Encodes a word of a commit message so that no forge finds a mention, a reference, a link or a command in it. */
function inert(text: string): string {
  return text.replace(/[^A-Za-z0-9@._/+-]|(?<![A-Za-z0-9])@|@(?![A-Za-z0-9])/gu, (character) =>
    [...new TextEncoder().encode(character)].map((byte) => `=${byte.toString(16).padStart(2, '0')}`).join(''),
  );
}

/** Result for a pull request. */
type UpsertedPull = { readonly pull: OpenPull; readonly outcome: 'opened' | 'updated' | 'unchanged' };

/** Number of searches for a pull request that another run has opened, and the milliseconds between them. */
const MAX_SEARCHES = 4;
const PAUSE = 1000;

/**
 * Creates or updates the open pull request between two branches. A forge has at most one: if another run created it
 * first, or the response was lost, the existing one is updated.
 */
export async function upsertPull(
  pulls: Pulls,
  branches: PullBranches,
  text: PullText,
  clock: Clock,
): Promise<UpsertedPull> {
  const found = await withRetries(clock, () => pulls.findOpen(branches));
  if (found !== null) {
    return updated(pulls, found, text, clock);
  }
  try {
    return { pull: await withRetries(clock, () => pulls.open(branches, text), isLimit), outcome: 'opened' };
  } catch (error) {
    const isThere = error instanceof RejectedError && (error.status === 409 || error.status === 422);
    if (!isThere && !(error instanceof TransientError)) {
      throw error;
    }
    for (let look = 0; look < MAX_SEARCHES; look += 1) {
      const other = await withRetries(clock, () => pulls.findOpen(branches));
      if (other !== null) {
        return updated(pulls, other, text, clock);
      }
      await clock.sleep(PAUSE);
    }
    throw error;
  }
}

async function updated(pulls: Pulls, pull: OpenPull, text: PullText, clock: Clock): Promise<UpsertedPull> {
  if (pull.title === text.title && isSame(pull.body, text.body)) {
    return { pull, outcome: 'unchanged' };
  }
  await withRetries(clock, () => pulls.update(pull.number, text));
  return { pull, outcome: 'updated' };
}
