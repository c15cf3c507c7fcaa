/** Forms that ask the daemon to do something. They work without JavaScript. */
import { html } from 'hono/html';
import type { Html } from '../model/page.ts';
import type { PauseView } from '../model/status.ts';
import { organizationPath } from '../model/words.ts';
import { safeHref, shown, stateBadge } from './elements.ts';

export interface ActionForm {
  readonly organization: string;
  readonly action: string;
  /** Fields that the person does not see. */
  readonly hidden?: Readonly<Record<string, string>>;
  /** Visible fields, with their labels. */
  readonly fields?: Html;
  readonly button: string;
  /** Name of the button for screen readers, which starts with its text; for buttons with the same text in one page. */
  readonly label?: string;
  /** Page to return to: a path on this host. */
  readonly back: string;
  readonly class?: 'danger' | 'primary';
}

/** Returns a form for an action on an organization. */
export function actionForm(form: ActionForm): Html {
  const { organization, action, hidden = {}, fields = html``, button, back } = form;
  const values = Object.entries({ action, ...hidden, back: safeHref(back) ?? '/' });
  const label = form.label === undefined ? '' : html` aria-label="${form.label}"`;
  return html`<form class="action" method="post" action="${organizationPath(organization, '/actions')}">
${values.map(([name, value]) => html`<input type="hidden" name="${name}" value="${value}">`)}
${fields}
<button class="${form.class ?? ''}"${label}>${button}</button>
</form>`;
}

/** Returns a field for the reason of an action. `id` is unique on the page. */
export function reasonField(id: string, isRequired: boolean): Html {
  const label = isRequired ? 'Reason' : 'Reason (optional)';
  return html`<p class="field"><label for="${id}">${label}</label>
<input id="${id}" name="reason" maxlength="500" autocomplete="off"${isRequired ? html` required` : ''}></p>`;
}

/** Lengths of a pause; the values are those of `octavo pause --for`. */
const LENGTHS = [
  ['1h', '1 hour'],
  ['4h', '4 hours'],
  ['24h', '1 day'],
  ['168h', '1 week'],
  ['forever', 'until it is resumed'],
] as const;

/** Returns a field for how long something lasts. `usual`: value that is chosen. */
export function lengthField(
  id: string,
  lengths: readonly (readonly [value: string, text: string])[],
  usual: string,
): Html {
  return html`<p class="field"><label for="${id}">For</label> <select id="${id}" name="for">${lengths.map(
    ([value, text]) => html`<option value="${value}"${value === usual ? html` selected` : ''}>${text}</option>`,
  )}</select></p>`;
}

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
    ? html`<details class="menu" id="pause"><summary>Pause…</summary>
<p>While it is paused, nothing is written. Plans are still made.</p>
${actionForm({ ...common, action: 'pause', button: `Pause ${what}`, fields: html`${reasonField('pause-reason', true)}${lengthField('pause-for', LENGTHS, '4h')}` })}
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
