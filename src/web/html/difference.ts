/** Difference of two plans in pages. */
import { html } from 'hono/html';
import type { DifferingChange, PlanDifference } from '../../views/model/shown-plan.ts';
import type { Html } from '../page.ts';
import { actionWord } from './changes.ts';
import { link } from './link.ts';
import { shown } from './text.ts';

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
