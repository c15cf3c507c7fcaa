/** Planned changes in pages: what would change, why it waits, where it is declared, and how two plans differ. */
import { html } from 'hono/html';
import type { FieldLine } from '../../plan/render/field-text.ts';
import { counted } from '../../plan/render/words.ts';
import type { ChangeView, DifferingChange, PlanDifference, SourceView } from '../model/plan.ts';
import type { Html } from '../page.ts';
import { lineDiff, lineValues } from './diff.ts';
import { type IconName, icon, link, RESULT_LABELS, shown, stateBadge } from './elements.ts';

const WORDS: ReadonlyMap<string, string> = new Map([
  ['create', 'Create'],
  ['update', 'Update'],
  ['move', 'Move'],
  ['delete', 'Delete'],
]);

/** Returns the word of an action. */
export function actionWord(action: string): string {
  return WORDS.get(action) ?? shown(action);
}

const ICONS: Readonly<Record<string, IconName>> = {
  create: 'diff-added',
  update: 'diff-modified',
  move: 'diff-renamed',
  delete: 'diff-removed',
};

/** Changes of a kind that are shown at once; the rest is folded. */
const UNFOLDED = 20;

/** Returns a list of changes with the values of their fields; of many, the rest is folded. `isSplit`: old and new in columns. */
export function changeRows(changes: readonly ChangeView[], isSplit = false): Html {
  const [first, rest] = [changes.slice(0, UNFOLDED), changes.slice(UNFOLDED)];
  const list = (some: readonly ChangeView[]) =>
    html`<ul class="rows changes">${some.map((change) => changeItem(change, isSplit))}</ul>`;
  return rest.length === 0
    ? list(first)
    : html`${list(first)}
<details><summary>${rest.length} more</summary>${list(rest)}</details>`;
}

function changeItem(change: ChangeView, isSplit: boolean): Html {
  const { action, address, title, path, isReplacement, source, status, impact } = change;
  const name = title === '' ? address : title;
  // It begins with the title.
  const consequences = impact.startsWith(`"${title}", `) ? impact.slice(title.length + 4) : impact;
  return html`<li class="${action}"><div class="change"><span class="sign">${icon(ICONS[action] ?? 'diff-modified')}<span class="hidden">${actionWord(action)}</span></span>
<div>${link(path, shown(name), { class: 'name' })}${title === '' ? '' : html` <span class="address">${shown(address)}</span>`}${isReplacement ? html` <span class="faint">replaced</span>` : ''}${statusText(status)}${consequences === '' ? '' : html` <span class="impact">${shown(consequences)}</span>`}</div>
<div>${fieldDiff(change, isSplit)}${remarks(change)}</div>
${source === null ? '' : html`<span class="end small">${sourceText(source)}</span>`}</div></li>
`;
}

function statusText(status: string | null): Html {
  return status === null
    ? html``
    : html` ${stateBadge(RESULT_LABELS.get(status) ?? { tone: 'none', word: shown(status) })}`;
}

/** Returns `teams.yaml:12`, with a link to the forge if there is one. */
export function sourceText({ file, line, url }: SourceView): Html {
  const text = html`<code>${shown(file)}:${line}</code>`;
  return url === null ? text : link(url, text);
}

function remarks({ paused, held }: ChangeView): Html {
  const until = paused === null || paused.until === null ? '' : ` until ${shown(paused.until)}`;
  return html`${paused === null ? '' : html`<p>${stateBadge({ tone: 'wait', word: `paused${until}` })} ${shown(paused.reason)}</p>`}
${held === null ? '' : html`<p>${stateBadge({ tone: 'wait', word: 'held' })} ${shown(held)}</p>`}`;
}

/** Returns the fields of a change with their old and new values; those of a new resource are folded. */
function fieldDiff({ action, lines }: ChangeView, isSplit: boolean): Html {
  if (lines.length === 0) {
    return html``;
  }
  const list = html`<dl class="fields">${lines.map((line) => html`<div><dt>${line.name}</dt>${isSplit && line.from !== undefined ? columns(line) : html`<dd>${lineDiff(line)}</dd>`}</div>`)}</dl>`;
  return action === 'create'
    ? html`<details><summary>${counted(lines.length, 'field')}</summary>${list}</details>`
    : list;
}

/** Returns the old and the new value in two columns. */
function columns(line: FieldLine): Html {
  const [before, after] = lineValues(line);
  return html`<dd><del>${before}</del></dd><dd>${after === '' ? '' : html`<ins>${after}</ins>`}</dd>`;
}

/** Returns what the present plan has that another one had not, and a link to it. */
export function differenceSection({
  path,
  difference,
}: {
  readonly path: string;
  readonly difference: PlanDifference;
}): Html {
  const { counts } = difference;
  const words = `${counts.added} new, ${counts.removed} gone, ${counts.changed} with other values`;
  return html`<details id="difference"><summary>What differs in the present plan: ${words}</summary>
<p>${link(path, 'The present plan')}</p>
${differenceList(difference)}</details>`;
}

/** Returns the changes that were added, removed and changed. */
function differenceList({ added, removed, changed, counts }: PlanDifference): Html {
  if (counts.added + counts.removed + counts.changed === 0) {
    return html`<p>Nothing: its changes are the same.</p>`;
  }
  return html`${part('Only in the present plan', counts.added, added)}
${part('No longer in the plan', counts.removed, removed)}
${part('With other values', counts.changed, changed)}
<p class="faint">${counts.same} ${counts.same === 1 ? 'change is' : 'changes are'} the same.</p>`;
}

function part(title: string, count: number, changes: readonly DifferingChange[]): Html {
  if (count === 0) {
    return html``;
  }
  const more = count - changes.length;
  return html`<h3>${title} (${count})</h3>
<ul>${changes.map(({ action, address }) => html`<li>${actionWord(action)} <code>${shown(address)}</code></li>`)}</ul>
${more === 0 ? '' : html`<p>${more} more</p>`}`;
}
