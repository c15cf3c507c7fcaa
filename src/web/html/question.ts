/** A question that readers ask, in pages: its impact, its trend, the answer to it so far, and what an operator can do. */
import { createHash } from 'node:crypto';
import { html } from 'hono/html';
import { counted } from '../../plan/render/words.ts';
import { spark } from '../charts/spark.ts';
import { questionPath } from '../model/paths.ts';
import type { QuestionRequest, QuestionSpace, QuestionView } from '../model/questions.ts';
import type { Html } from '../page.ts';
import { age, link, type StateLabel, shown, stateBadge } from './elements.ts';
import { actionForm, lengthField, reasonField } from './form.ts';

/** Weeks that a trend always has room for: three months. */
export const WEEKS = 13;

/** Number of spaces up to which each form lists them. */
const LISTED_SPACES = 100;

/** Returns the id of the element of a question, which stays the same when the order changes. */
function elementOf(cluster: string): string {
  return `q-${createHash('sha256').update(cluster).digest('hex').slice(0, 12)}`;
}

/** Surroundings of a question: the organization, the spaces for a change request, and the page to return to. */
interface QuestionFrame {
  readonly organization: string;
  readonly spaces: readonly QuestionSpace[];
  readonly back: string;
  readonly isOperator: boolean;
  /** Milliseconds since the epoch. */
  readonly now: number;
}

/** Returns a question as a row of a list. */
export function questionItem(frame: QuestionFrame, question: QuestionView): Html {
  const { id, label, weeklyPulse, trend, examples } = question;
  return html`<li id="${elementOf(id)}"><div class="question">
<h3>${link(questionPath(frame.organization, id), shown(label))}</h3>
<p class="trend"><span class="${trend.direction === 'rising' ? '' : 'faint'}">${trend.words}</span> ${spark(weeklyPulse, 'busy', null, WEEKS)}</p>
<p class="faint">${numbersText(question, frame.now)}</p>
${examples.length === 0 ? '' : html`<p>${examples.map((text) => html`<q>${shown(text)}</q> `)}</p>`}
${answerText(question, frame.now)}
${frame.isOperator ? questionActions(frame, question) : ''}
</div></li>
`;
}

/** Age from which numbers are said to be old: every question is read once a day. */
const OLD = 2 * 86_400_000;

const IMPACTS: ReadonlyMap<string | null, string> = new Map([
  ['high', 'High impact'],
  ['medium', 'Medium impact'],
  ['low', 'Low impact'],
  [null, 'Impact unknown'],
]);

/** `High impact, 5 conversations in all`, and when that was read, if it is old. */
export function numbersText({ impact, conversations, readAt }: QuestionView, now: number): Html {
  const old = now - Date.parse(readAt) < OLD ? '' : html`, read ${age(readAt, now)}`;
  const words = IMPACTS.get(impact) ?? `Impact ${shown(impact ?? '', 40)}`;
  return html`${words}, ${counted(conversations, 'conversation')} in all${old}`;
}

/** The change requests that are open; without one, the last one that was, and why there is no other. */
export function answerText(question: QuestionView, now: number): Html {
  const { changeRequests, closed, reason, isSelected, mute } = question;
  if (changeRequests.length > 0) {
    return html`${changeRequests.map((each) => html`<p>${stateBadge(STATES[each.state])} ${requestText(each)}</p>`)}`;
  }
  const until = mute === null || mute.until === null ? '' : html` It is unmuted ${age(mute.until, now)}.`;
  const why = mute === null || mute.reason === '' ? '' : html` “${shown(mute.reason, 500)}”`;
  const text = reason ?? (closed !== null ? null : isSelected ? 'Not opened yet: the next run decides' : 'Not opened');
  return html`${closed === null ? '' : html`<p>${closedBadge(closed, question, now)} ${requestText(closed)}</p>`}
${text === null ? '' : html`<p>${shown(text, 500)}.${until}${why}</p>`}`;
}

/** `merged 3 days ago, still asked`. */
function closedBadge(closed: QuestionRequest, { isStillAsked }: QuestionView, now: number): Html {
  const { state, mergedAt } = closed;
  const when = mergedAt === null ? '' : html` ${age(mergedAt, now)}`;
  return html`${stateBadge(STATES[state])}${when}${isStillAsked ? html`, <b>still asked</b>` : ''}:`;
}

const STATES: Readonly<Record<QuestionRequest['state'], StateLabel>> = {
  begun: { tone: 'busy', word: 'being created' },
  draft: { tone: 'busy', word: 'draft' },
  open: { tone: 'wait', word: 'open' },
  merged: { tone: 'ok', word: 'merged' },
  archived: { tone: 'none', word: 'archived' },
};

/** The subject of a change request, with its page on the platform, and its space. */
function requestText({ url, subject, label, space, spaceTitle }: QuestionRequest): Html {
  const text = shown(subject === '' ? label : subject);
  const place = spaceTitle === null ? html`<code>${shown(space, 80)}</code>` : html`${shown(spaceTitle, 80)}`;
  return html`${url === null ? html`${text}` : link(url, text)} <span class="faint">in ${place}</span>`;
}

/** Returns a list of change requests, with what happened to each last, as far as it is known. */
export function requestList(requests: readonly QuestionRequest[], now: number): Html {
  const items = requests.map(
    (
      request,
    ) => html`<li>${stateBadge(STATES[request.state])} <span>${requestText(request)}</span><span class="end faint">${
      request.mergedAt === null
        ? html`created ${age(request.requestedAt, now)}`
        : html`merged ${age(request.mergedAt, now)}`
    }</span></li>
`,
  );
  return html`<ul class="rows">${items}</ul>`;
}

/** Lengths of a mute; the values are those of `octavo pause --for`. */
const LENGTHS = [
  ['7d', '1 week'],
  ['30d', '30 days'],
  ['90d', '90 days'],
  ['forever', 'until somebody unmutes it'],
] as const;

/** Returns the buttons of an operator. */
export function questionActions({ organization, spaces, back }: QuestionFrame, question: QuestionView): Html {
  const { id, label, muted, changeRequests } = question;
  const element = elementOf(id);
  const common = { organization, back };
  const of = html`<span class="hidden">: ${shown(label)}</span>`;
  const open = html`<details class="menu" id="${element}-open" name="${element}"><summary>Open change request…${of}</summary>
<p>Octavo describes the question <q>${shown(label)}</q> for a writer, in a change request of the space.</p>
${actionForm({
  ...common,
  action: 'cluster-open',
  hidden: { cluster: id },
  fields: spaceField(`${element}-space`, spaces),
  button: 'Open change request',
  label: `Open change request: ${shown(label)}`,
  class: 'primary',
})}
</details>`;
  const mute = html`<details class="menu" id="${element}-mute" name="${element}"><summary>Mute…${of}</summary>
<p>Octavo opens no change request for <q>${shown(label)}</q> while it is muted. Its numbers are still read, and a change request that is open stays open.</p>
${actionForm({
  ...common,
  action: 'cluster-mute',
  fields: html`${reasonField(`${element}-reason`, false)}${lengthField(`${element}-for`, LENGTHS, 'forever')}`,
  button: 'Mute',
  hidden: { cluster: id, muted: 'true' },
  label: `Mute: ${shown(label)}`,
})}
</details>`;
  const unmute = actionForm({
    ...common,
    action: 'cluster-mute',
    hidden: { cluster: id, muted: 'false' },
    button: 'Unmute',
    label: `Unmute: ${shown(label)}`,
  });
  return html`<div class="actions">${changeRequests.length === 0 && !muted ? open : ''}${muted ? unmute : mute}</div>`;
}

/** A list of the spaces; of many, a field that suggests them. Without declared spaces, people know the id. */
function spaceField(field: string, spaces: readonly QuestionSpace[]): Html {
  if (spaces.length === 0 || spaces.length > LISTED_SPACES) {
    const list = spaces.length === 0 ? '' : html` list="spaces"`;
    const what = spaces.length === 0 ? 'its id' : 'its key';
    return html`<p class="field"><label for="${field}">Space (${what}); if it is empty, Octavo chooses</label> <input id="${field}" name="space" maxlength="200" autocomplete="off"${list}></p>`;
  }
  return html`<p class="field"><label for="${field}">Space</label> <select id="${field}" name="space"><option value="">Octavo chooses</option>
${spaces.map(spaceOption)}</select></p>`;
}

/** Returns the suggestions that fields for one of many spaces share; a page has them once. */
export function spaceSuggestions(spaces: readonly QuestionSpace[]): Html {
  return spaces.length > LISTED_SPACES ? html`<datalist id="spaces">${spaces.map(spaceOption)}</datalist>` : html``;
}

function spaceOption({ key, title }: QuestionSpace): Html {
  return html`<option value="${key}">${shown(title, 80)}</option>`;
}
