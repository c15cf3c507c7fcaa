/** Planned changes in pages: what would change, why it waits, where it is declared, and how two plans differ. */
import { html } from 'hono/html';
import type { ChangeView, DifferingChange, PlanDifference, SourceView } from '../model/plan.ts';
import type { Html } from '../page.ts';
import { link } from './link.ts';
import { RESULT_LABELS, stateBadge } from './state.ts';
import { shown } from './text.ts';

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

/** Returns a list of changes with the values of their fields. */
export function changeList(changes: readonly ChangeView[]): Html {
  return html`<ol class="changes">${changes.map(changeItem)}</ol>`;
}

function changeItem(change: ChangeView): Html {
  const { action, address, path, isReplacement, source } = change;
  const replaced = isReplacement ? html` <span class="faint">(replacement)</span>` : '';
  return html`<li class="change ${action}">
<p class="head"><span class="action">${actionWord(action)}</span> ${link(path, shown(address))}${replaced}
${source === null ? '' : sourceText(source)}${statusText(change.status)}</p>
${remarks(change)}
${fieldDiff(change.lines)}
</li>
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

function remarks({ impact, paused, held }: ChangeView): Html {
  const until = paused === null || paused.until === null ? '' : ` until ${shown(paused.until)}`;
  return html`${impact === '' ? '' : html`<p class="impact">${shown(impact)}</p>`}
${paused === null ? '' : html`<p>${stateBadge({ tone: 'wait', word: `paused${until}` })} ${shown(paused.reason)}</p>`}
${held === null ? '' : html`<p>${stateBadge({ tone: 'wait', word: 'held' })} ${shown(held)}</p>`}`;
}

/** Returns the fields of a change with their old and new values. */
function fieldDiff(lines: ChangeView['lines']): Html {
  if (lines.length === 0) {
    return html``;
  }
  return html`<dl class="fields">${lines.map(
    ({ name, text }) => html`<div><dt>${name}</dt><dd class="${lineClass(name, text)}">${text}</dd></div>`,
  )}</dl>`;
}

/** Lines of a text that are removed or added have no name. */
function lineClass(name: string, text: string): string {
  if (name === '' && text.startsWith('- ')) {
    return 'removed';
  }
  return name === '' && text.startsWith('+ ') ? 'added' : '';
}

/** Returns what the present plan has that another one had not, and a link to it. */
export function differenceSection({
  path,
  difference,
}: {
  readonly path: string;
  readonly difference: PlanDifference;
}): Html {
  return html`<section aria-labelledby="difference"><h2 id="difference">What differs in the ${link(path, 'present plan')}</h2>
${differenceList(difference)}</section>`;
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
