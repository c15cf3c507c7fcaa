/** Page on which operators try how a text is redacted. The text is in the request and in the answer, and nowhere else. */

import { html } from 'hono/html';
import { redactionOptions } from '../../conversations/redact/options.ts';
import { createConversationRedactor } from '../../conversations/redact/redactor.ts';
import { counted, printable, shortened } from '../../plan/render/words.ts';
import { shown, table } from '../html/elements.ts';
import {
  defineOrganizationPage,
  type Html,
  isOperator,
  type OrganizationState,
  PageError,
  type PageRequest,
} from '../model/page.ts';
import { organizationPath } from '../model/words.ts';

/** Longest text, in characters: about a tenth of a second of work. */
const LONGEST_TEXT = 20_000;
/** Longest form in bytes: a character takes nine in a form. */
const LONGEST_FORM = 10 * LONGEST_TEXT;
/** Longest value in the table. */
const LONGEST_VALUE = 60;

type RedactionView = ReturnType<typeof load>;

/** Redacts the text of the form with the settings of the organization. Throws PageError. */
function load({ id, config }: OrganizationState, request: PageRequest) {
  if (!isOperator(request, id)) {
    throw new PageError(403, 'Only operators can try redaction.');
  }
  const { text = '' } = request.fields;
  if (text.length > LONGEST_TEXT) {
    throw new PageError(413, `The text is longer than ${LONGEST_TEXT} characters. Try a part of it.`);
  }
  const [explained] =
    text === '' ? [] : createConversationRedactor(redactionOptions(config.conversations.redact)).explain(text);
  return {
    organization: id,
    text,
    /** Null: no text was sent. */
    redacted: explained?.redacted ?? null,
    /** Values by position. `line`: from 1. */
    found: (explained?.spans ?? []).map(({ type, rule, start, end, placeholder }) => ({
      type,
      rule,
      placeholder,
      value: text.slice(start, end),
      line: text.slice(0, start).split('\n').length,
    })),
  };
}

export const redactionPage = defineOrganizationPage<RedactionView>({
  path: '/conversations/redaction',
  longestForm: LONGEST_FORM,
  load: async (state, request) => load(state, request),
  title: () => 'Try redaction',
  render: (view) => html`<h1>Try redaction</h1>
<p class="lead">See what Octavo would remove from a text before it is sent, with the settings of this organization.</p>
<p class="faint">The text is not stored, logged or sent anywhere. In a ticket, Octavo also knows the names and addresses of its people, so it finds more.</p>
<form class="action" method="post" action="${organizationPath(view.organization, '/conversations/redaction')}#result">
<p class="field wide"><label for="text">Text, at most ${LONGEST_TEXT.toLocaleString('en')} characters</label>
<textarea id="text" name="text" rows="10" maxlength="${LONGEST_TEXT}" required autocomplete="off" spellcheck="false">
${view.text}</textarea></p>
<button class="primary">Redact</button>
</form>
${view.redacted === null ? '' : result(view.redacted, view.found)}`,
  topic: null,
});

function result(redacted: string, found: RedactionView['found']): Html {
  const rows = found.map(({ line, type, rule, value, placeholder }) => [
    html`<code>${printable(shortened(value, LONGEST_VALUE))}</code>`,
    String(line),
    type,
    shown(rule),
    html`<code>${shown(placeholder)}</code>`,
  ]);
  return html`<h2 id="result">As it is sent</h2>
<pre class="text" tabindex="0">${redacted.split(/\r?\n/).map(printable).join('\n')}</pre>
<h2>Removed</h2>
<p role="status">${found.length === 0 ? 'Nothing would be removed.' : `${counted(found.length, 'value')} would be removed.`}</p>
${found.length === 0 ? '' : table({ caption: 'Removed', head: ['Value', 'Line', 'Type', 'Rule', 'Placeholder'], rows, empty: '' })}`;
}
