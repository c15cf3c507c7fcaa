/** Forms that ask the daemon to do something. They work without JavaScript. */
import { html } from 'hono/html';
import { organizationPath } from '../../views/model/paths.ts';
import type { Html } from '../page.ts';
import { safeHref } from './link.ts';

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
