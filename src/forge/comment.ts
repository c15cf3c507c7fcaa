/** Publishes plans: the text of their comments and commit statuses, and the one comment that a pull request has of each. */
import type { Plan } from '../core/change.ts';
import type { Clock } from '../core/clock.ts';
import { TransientError } from '../core/errors.ts';
import { ROOT_SCOPE, scopeSuffix } from '../core/scope.ts';
import { heldChecksums } from '../plan/guard.ts';
import { codeSpan, fenced, type MarkdownPlace, renderPlanMarkdown, shortenedNote } from '../plan/render/markdown.ts';
import { heldChanges, waitingDeletions } from '../plan/render/sentence.ts';
import { summaryLine } from '../plan/render/text.ts';
import { type Approval, takeLines } from '../plan/render/text-layout.ts';
import { printable, printableLines } from '../plan/render/words.ts';
import type { RunNumber } from './ci-job.ts';
import type { CommitStatus, ForgeComment } from './forge.ts';
import type { Forge } from './open-forge.ts';
import { ignoreNotFound, isLimit, withRetries } from './requests.ts';

/** Hidden marker of Octavo's comments. */
export interface Marker {
  readonly organization: string;
  /** Distinguishes the manifest directories of one organization. */
  readonly scope: string;
  /** The run that wrote it. */
  readonly run: RunNumber;
}

const START = '<!-- octavo:plan ';

/** Writes the first line of a comment. No organization id can end the line early. */
export function writeMarker({ organization, scope, run }: Marker): string {
  const part = scope === ROOT_SCOPE ? '' : ` scope=${encode(scope)}`;
  return `${START}organization=${encode(organization)}${part} run=${run.join('.')} -->`;
}

/**
 * Reads the first marker that begins a line; null if there is none. A person may have edited the comment around it. Quoted
 * text and the indented text of a plan do not begin a line with it.
 */
export function readMarker(body: string): Marker | null {
  const [, organization, scope, run, attempt] =
    /^<!-- octavo:plan organization=([\w~.]*)(?: scope=([\w~.]+))? run=(\d{1,15})\.(\d{1,15}) -->/m.exec(body) ?? [];
  return organization === undefined
    ? null
    : {
        organization: decode(organization),
        scope: scope === undefined ? ROOT_SCOPE : decode(scope),
        run: [Number(run), Number(attempt)],
      };
}

/** Writes the second line of a comment: the commit that was planned, and the checksums that approve what waits; empty without any. */
function writeOffer(plan: Plan, head: string): string {
  const { checksum } = plan;
  const [first] = heldChanges(plan) === 0 ? [] : heldChecksums(plan, 'one');
  const checksums = first === undefined ? [] : [...new Set([first, checksum])];
  return checksums.length === 0
    ? ''
    : `<!-- octavo:approve commit=${head} checksums=${checksums.map((each) => each.replace('sha256:', '')).join()} -->\n`;
}

/** Reads the second line of a comment; null if it has none, because nothing in its plan can be approved. */
export function readOffer(body: string): { readonly commit: string; readonly checksums: readonly string[] } | null {
  const [, commit, checksums] =
    /^[^\n]*\n<!-- octavo:approve commit=([0-9a-f]{40,64}) checksums=([0-9a-f,]{64,129}) -->\r?\n/.exec(body) ?? [];
  return commit === undefined || checksums === undefined ? null : { commit, checksums: checksums.split(',') };
}

/** Compares runs; negative if `a` is the earlier one. */
export function compareRuns(a: RunNumber, b: RunNumber): number {
  return a[0] - b[0] || a[1] - b[1];
}

function encode(text: string): string {
  return [...text.toWellFormed()]
    .map((character) => (/[A-Za-z0-9_.]/.test(character) ? character : `~${character.codePointAt(0)?.toString(16)}~`))
    .join('');
}

function decode(text: string): string {
  return text.replaceAll(/~([0-9a-f]{1,6})~/g, (_all, code: string) => {
    const point = Number.parseInt(code, 16);
    return point > 0x10_ff_ff ? '\ufffd' : String.fromCodePoint(point);
  });
}

/** Maximum length of a commit status, in characters, at the forge with the lowest limit. */
const MAX_DESCRIPTION_LENGTH = 140;

/**
 * Builds the comment that shows a plan of the commit `head`, below a hidden marker. If the plan is longer than a comment may be, the riskiest
 * changes are kept, the others are counted, and a link leads to the whole plan.
 */
export function planComment(
  plan: Plan,
  marker: Marker,
  place: MarkdownPlace,
  head: string,
  approval?: Approval,
): string {
  const start = `${writeMarker(marker)}\n${writeOffer(plan, head)}`;
  return start + renderPlanMarkdown(plan, approval, { ...place, maxLength: place.maxLength - start.length });
}

/** Builds the comment for a commit without a plan. It lists the problems and replaces an earlier, outdated plan. */
export function failureComment(
  message: string,
  commit: string,
  marker: Marker,
  place: Omit<MarkdownPlace, 'filesUrl'>,
): string {
  const scope = marker.scope === ROOT_SCOPE ? '' : `, scope ${marker.scope}`;
  const head = `### No plan for ${codeSpan(printable(`${marker.organization}${scope}`))}: commit ${commit.slice(0, 7)}\n\n**Planning failed**`;
  // Quoted text never starts a line, because forges execute some lines as commands.
  const text = printableLines(message)
    .split('\n')
    .map((line) => `  ${line}`)
    .join('\n');
  const around = (block: string, note: string) => `${writeMarker(marker)}\n${head}\n\n${block}\n${note}`;
  const shorten = (longest: number) => takeLines(text.split('\n'), longest).join('\n');
  return fitted(text, place.maxLength, around, `\n${shortenedNote(place, 'text')}\n`, shorten);
}

/**
 * Builds the commit status of a plan. A held plan is a success, because it waits only when it is applied; the status says
 * first what is deleted then.
 */
export function planStatus(plan: Plan): CommitStatus {
  const { state } = plan.verdict;
  const deletions = waitingDeletions(plan);
  const waits = plan.summary.held > 0 || state === 'held' ? 'waits for approval: ' : '';
  const verdict = state === 'refused' ? 'refused: ' : `${waits}${deletions === null ? '' : `${deletions}; `}`;
  return {
    state: state === 'refused' ? 'failure' : 'success',
    context: statusContext(plan),
    description: [...`${verdict}${summaryLine(plan)}`].slice(0, MAX_DESCRIPTION_LENGTH).join(''),
  };
}

/** Builds the commit status for a plan that failed. */
export function failureStatus(of: Pick<Plan, 'organization' | 'scope'>): CommitStatus {
  return { state: 'error', context: statusContext(of), description: 'planning failed' };
}

function statusContext({ organization, scope }: Pick<Plan, 'organization' | 'scope'>): string {
  return `octavo/plan/${organization}${scopeSuffix(scope)}`;
}

/** Returns a text in a block with what is around it; shortened, and with a note, if the whole is too long. */
export function fitted(
  text: string,
  maxLength: number,
  around: (block: string, note: string) => string,
  note: string,
  shorten: (longest: number) => string,
): string {
  const whole = around(fenced(text), '');
  if (whole.length <= maxLength) {
    return whole;
  }
  // The fence may be longer than the remaining text needs, never shorter.
  const room = maxLength - around(fenced(text), note).length + text.length;
  return around(fenced(shorten(room)), note);
}

/** Result for a comment. `outdated`: the comment of a later run exists and is kept. */
type Published = 'created' | 'updated' | 'outdated';

/** Number of checks, because another run may write at the same time. */
const MAX_CHECKS = 5;
/** Pause before the comments are listed again, in milliseconds. */
const PAUSE = 1000;

/**
 * Ensures that a pull request has exactly one comment for a scope of an organization, from the latest run.
 *
 * Forges have no conditional writes, so each run checks again after it has written:
 *
 * | finding | action | |---|---| | no comment of this scope | creates one and checks again; not twice if the first one
 * certainly exists | | several | keeps the oldest and removes the others | | one by a later run | keeps it | | one by
 * an earlier run, or an outdated one of its own | updates it and checks again | | its own, up to date | ends |
 *
 * Two runs that create a comment at the same time both see the older one when they check again, and agree on it. After
 * a lost response, a run searches for the comment before it creates another. A comment that is deleted in the meantime
 * is created again.
 */
export async function publish(forge: Forge, marker: Marker, body: string, clock: Clock): Promise<Published> {
  let wrote: Exclude<Published, 'outdated'> | null = null;
  let isMade = false;
  for (let round = 0; round < MAX_CHECKS; round += 1) {
    const [oldest, ...later] = await listOf(forge, marker, clock);
    if (oldest === undefined) {
      // A comment that certainly exists may not be listed yet, or be listed under another author: it is not created again.
      isMade = isMade ? await clock.sleep(PAUSE).then(() => true) : await create(forge, body, clock);
      wrote = 'created';
      continue;
    }
    const latest = later.reduce((best, next) => (compareRuns(runOf(next), runOf(best)) > 0 ? next : best), oldest);
    // The text of a later run is kept when its comment is removed.
    const isOurs = compareRuns(runOf(latest), marker.run) <= 0;
    const wanted = isOurs ? body : latest.body;
    const isThere = compareRuns(runOf(oldest), isOurs ? marker.run : runOf(latest)) === 0;
    if (later.length === 0 && isThere && (!isOurs || wrote !== null || isSame(oldest.body, body))) {
      return isOurs ? (wrote ?? 'updated') : 'outdated';
    }
    if (!isThere || (isOurs && wrote === null)) {
      await withRetries(clock, () => forge.update(oldest.id, wanted)).catch(ignoreNotFound);
      wrote ??= 'updated';
    }
    for (const extra of later) {
      await withRetries(clock, () => forge.remove(extra.id));
    }
  }
  throw isMade
    ? new TransientError(
        `${forge.label} accepted the comment, but does not list it among the comments of this token`,
        true,
      )
    : new TransientError(`the comments at ${forge.label} change faster than they can be written`, true);
}

async function listOf(forge: Forge, { organization, scope }: Marker, clock: Clock): Promise<readonly ForgeComment[]> {
  const own = await withRetries(clock, () => forge.listOwn());
  return own.filter(({ body }) => {
    const found = readMarker(body);
    return found !== null && found.organization === organization && found.scope === scope.toWellFormed();
  });
}

/** Creates a comment. Returns false if the response was lost; the next check shows whether it exists. */
async function create(forge: Forge, body: string, clock: Clock): Promise<boolean> {
  try {
    await withRetries(clock, () => forge.create(body), isLimit);
    return true;
  } catch (error) {
    if (!(error instanceof TransientError)) {
      throw error;
    }
    await clock.sleep(PAUSE);
    return false;
  }
}

function runOf({ body }: ForgeComment): Marker['run'] {
  return readMarker(body)?.run ?? [0, 0];
}

/** Compares texts without regard to surrounding white space and line breaks, which forges change. */
export function isSame(a: string, b: string): boolean {
  const plain = (text: string) => text.replaceAll('\r\n', '\n').trim();
  return plain(a) === plain(b);
}
