import { ROOT_SCOPE } from '../core/scope.ts';
import type { RunNumber } from './pull-request.ts';

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
