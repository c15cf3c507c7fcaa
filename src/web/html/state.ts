/** States in pages: a dot with a color, and a word. */
import { html } from 'hono/html';
import type { PassRecord } from '../../store/history.ts';
import type { ResourceState } from '../model/resources.ts';
import type { OrganizationStatus } from '../model/status.ts';
import type { Html } from '../page.ts';

/** Color of a state: `bad` needs a person, `wait` is on hold, `old` is not known any more. */
export type Tone = 'ok' | 'busy' | 'wait' | 'bad' | 'old' | 'none';

export interface StateLabel {
  readonly tone: Tone;
  readonly word: string;
}

export const STATUS_LABELS: Readonly<Record<OrganizationStatus, StateLabel>> = {
  unowned: { tone: 'bad', word: 'no replica' },
  failed: { tone: 'bad', word: 'failed' },
  stale: { tone: 'old', word: 'not checked' },
  held: { tone: 'wait', word: 'needs approval' },
  paused: { tone: 'wait', word: 'paused' },
  applying: { tone: 'busy', word: 'applying' },
  waiting: { tone: 'busy', word: 'waiting' },
  unknown: { tone: 'none', word: 'not checked yet' },
  'in-sync': { tone: 'ok', word: 'in sync' },
  unmanaged: { tone: 'none', word: 'no manifests' },
};

export const RESOURCE_LABELS: Readonly<Record<ResourceState, StateLabel>> = {
  failed: { tone: 'bad', word: 'failed' },
  held: { tone: 'wait', word: 'needs approval' },
  paused: { tone: 'wait', word: 'paused' },
  planned: { tone: 'busy', word: 'planned' },
  pending: { tone: 'busy', word: 'pending' },
  stale: { tone: 'old', word: 'not checked lately' },
  unknown: { tone: 'none', word: 'not checked yet' },
  'in-sync': { tone: 'ok', word: 'in sync' },
};

export const OUTCOME_LABELS: Readonly<Record<PassRecord['outcome'], StateLabel>> = {
  failed: { tone: 'bad', word: 'failed' },
  held: { tone: 'wait', word: 'held' },
  done: { tone: 'ok', word: 'done' },
};

/** Labels of the results of changes; see `NewResourceChange.status`. */
export const RESULT_LABELS: ReadonlyMap<string, StateLabel> = new Map([
  ['applied', { tone: 'ok', word: 'applied' }],
  ['failed', { tone: 'bad', word: 'failed' }],
  ['held', { tone: 'wait', word: 'held' }],
  ['paused', { tone: 'wait', word: 'paused' }],
  ['skipped', { tone: 'busy', word: 'skipped' }],
  ['planned', { tone: 'busy', word: 'planned' }],
]);

/** Returns only the dot of a state; screen readers say its word. */
export function stateDot({ tone, word }: StateLabel): Html {
  return html`<span class="state ${tone}"><span class="hidden">${word}</span></span>`;
}

/** Returns the dot and the word of a state. */
export function stateBadge({ tone, word }: StateLabel): Html {
  return html`<span class="state ${tone}">${word}</span>`;
}
