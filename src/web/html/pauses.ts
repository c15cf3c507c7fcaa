/** Pauses in pages, with the forms that set and end them. */
import { html } from 'hono/html';
import type { PauseView } from '../../views/organization.ts';
import type { Html } from '../page.ts';
import { actionForm, reasonField } from './form.ts';
import { stateBadge } from './state.ts';
import { shown } from './text.ts';

/** Lengths of a pause; the values are those of `octavo pause --for`. */
const LENGTHS = [
  ['1h', '1 hour'],
  ['4h', '4 hours'],
  ['24h', '1 day'],
  ['168h', '1 week'],
  ['forever', 'until it is resumed'],
] as const;

export interface PauseFormOptions {
  readonly organization: string;
  /** Resource; empty for the organization. */
  readonly address: string;
  readonly pause: PauseView | null;
  readonly back: string;
}

/** Returns the form that pauses, or for something that is paused the one that resumes. */
export function pauseForm({ organization, address, pause, back }: PauseFormOptions): Html {
  const what = address === '' ? 'this organization' : 'this resource';
  const common = { organization, hidden: { address }, back };
  return pause === null
    ? html`<details class="ask" id="pause"><summary>Pause ${what}</summary>
<p>While it is paused, nothing is written. Plans are still made.</p>
${actionForm({ ...common, action: 'pause', button: `Pause ${what}`, fields: html`${reasonField('pause-reason', true)}${lengthField()}` })}
</details>`
    : actionForm({ ...common, action: 'resume', button: `Resume ${what}` });
}

/** Returns a pause as a notice. */
export function pauseNotice({ address, sentence, endsSoon }: PauseView): Html {
  const soon = endsSoon ? ' It ends within an hour.' : '';
  return html`<p class="notice">${stateBadge({ tone: 'wait', word: 'paused' })} ${
    address === '' ? '' : html`<code>${shown(address)}</code> `
  }${shown(sentence)}.${soon}</p>`;
}

function lengthField(): Html {
  return html`<p class="field"><label for="pause-for">For</label> <select id="pause-for" name="for">${LENGTHS.map(
    ([value, text]) => html`<option value="${value}"${value === '4h' ? html` selected` : ''}>${text}</option>`,
  )}</select></p>`;
}
