/** Actions of people in pages. */
import { html } from 'hono/html';
import type { Actor } from '../../store/history.ts';
import type { Html } from '../page.ts';
import { age } from './age.ts';
import { stateBadge } from './state.ts';
import { shown } from './text.ts';

/** Entry of the audit, as pages show it. */
export interface AuditLine {
  readonly at: string;
  readonly by: string;
  readonly method: Actor['method'];
  readonly action: string;
  readonly subject: string;
  readonly reason: string;
  readonly outcome: 'done' | 'refused';
  readonly detail: string;
}

/** Returns the name of a person, and how Octavo knows who it is. */
export function personText(name: string, method: Actor['method']): Html {
  return html`<b>${name === '' ? 'unknown' : shown(name)}</b> <span class="faint">(${method})</span>`;
}

/** Returns the cells of an entry: time, person, action, reason and result. */
export function auditCells(entry: AuditLine, now: number): readonly Html[] {
  const { outcome, detail, reason, subject, action } = entry;
  const tone = outcome === 'done' ? 'ok' : 'bad';
  return [
    age(entry.at, now),
    personText(entry.by, entry.method),
    html`${shown(action)}${subject === '' ? '' : html` <code>${shown(subject)}</code>`}`,
    html`${shown(reason)}`,
    html`${stateBadge({ tone, word: outcome })} ${shown(detail)}`,
  ];
}
