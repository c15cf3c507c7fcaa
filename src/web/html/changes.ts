/** Plans and their changes: as data, compared with other plans, and as HTML. */

import { diffWordsWithSpace } from 'diff';
import { html } from 'hono/html';
import { type AccessChange, changeId } from '../../core/change.ts';
import { sameJson } from '../../core/json.ts';
import { type ChangeDocument, changeTitle, type PlanDocument } from '../../plan/render/document.ts';
import { orderByEffect } from '../../plan/render/effects.ts';
import { type FieldLine, fieldLines, withEmoji } from '../../plan/render/field-text.ts';
import { planSentence } from '../../plan/render/sentence.ts';
import { accessPlace, accessWords, costWords, listRows, RANK, summaryLine } from '../../plan/render/text.ts';
import { counted } from '../../plan/render/words.ts';
import type { Html } from '../model/page.ts';
import { type ForgeLinks, resourcePath } from '../model/words.ts';
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

/** Differences of words that are looked for; values that differ in more are replaced as a whole. */
const MAX_EDITS = 40;
/** Part of the longer value that has to stay for a comparison by words to be readable. */
const MIN_COMMON = 0.3;
const LONGEST = 400;

/** Returns the old and the new value of a line, with emoji instead of their code points unless both are the same emoji. */
function lineValues({ name, from = '', to = '' }: FieldLine): readonly [before: string, after: string] {
  const [before, after] = [withEmoji(name, from), withEmoji(name, to)];
  return before === after ? [from, to] : [before, after];
}

/** Returns what a line about a field says. */
function lineDiff(line: FieldLine): Html {
  const { name, text, value, from, to, items } = line;
  if (items !== undefined) {
    return html`${items.map((item, index) => html`${index === 0 ? '' : ' '}${signed(item)}`)}`;
  }
  if (value !== undefined) {
    return html`${withEmoji(name, value)}`;
  }
  const [before, after] = lineValues(line);
  if (from !== undefined && to !== undefined) {
    return wordDiff(before, after);
  }
  if (before + after === '') {
    return signed(text);
  }
  return from === undefined ? html`<ins>${after}</ins>` : html`<del>${before}</del>`;
}

/** Returns a text that begins with a sign as removed or added. */
function signed(text: string): Html {
  const rest = text.slice(2);
  if (text.startsWith('- ')) {
    return html`<del>${rest}</del>`;
  }
  return text.startsWith('+ ') ? html`<ins>${rest}</ins>` : html`${text}`;
}

function wordDiff(before: string, after: string): Html {
  const isShort = before.length <= LONGEST && after.length <= LONGEST;
  const parts = isShort ? diffWordsWithSpace(before, after, { maxEditLength: MAX_EDITS }) : undefined;
  const common = (parts ?? []).filter(({ added, removed }) => !added && !removed).map(({ value }) => value.trim());
  const length = common.reduce((sum, value) => sum + value.length, 0);
  if (parts === undefined || length < MIN_COMMON * Math.max(before.length, after.length)) {
    return html`<del>${before}</del> → <ins>${after}</ins>`;
  }
  return html`${parts.map(({ added, removed, value }) => (removed ? html`<del>${value}</del>` : added ? html`<ins>${value}</ins>` : value))}`;
}

const MAX_LISTED = 100;

/** Difference between two plans. Every list is cut to `MAX_LISTED`; the counts are complete. */
export type PlanDifference = ReturnType<typeof comparePlans>;
/** A change of two plans, by its action and address. */
type DifferingChange = PlanDifference['added'][number];

/** Compares two plans, change by change. */
export function comparePlans(before: PlanDocument, after: PlanDocument) {
  const old = new Map(before.changes.map((change) => [changeId(change), change]));
  const now = new Set(after.changes.map(changeId));
  const removed = before.changes.filter((change) => !now.has(changeId(change)));
  const added = after.changes.filter((change) => !old.has(changeId(change)));
  const changed = after.changes.filter((change) => {
    const other = old.get(changeId(change));
    return other !== undefined && !sameJson(other.fields, change.fields);
  });
  const same = after.changes.length - added.length - changed.length;
  return {
    added: listed(added),
    removed: listed(removed),
    /** Changes of both plans, with other values. */
    changed: listed(changed),
    counts: { added: added.length, removed: removed.length, changed: changed.length, same },
  };
}

function listed(changes: readonly ChangeDocument[]) {
  return changes.slice(0, MAX_LISTED).map(({ action, address }) => ({ action, address }));
}

/** Changes and access changes of one page. */
const PAGE_SIZE = 100;
const MAX_NOTES = 50;

type PlanOverview = ReturnType<typeof describePlan>;
/** Overviews by their plan: describing 100,000 changes takes longer than a page may take. */
const overviews = new WeakMap<PlanDocument, PlanOverview>();

function overviewOf(plan: PlanDocument): PlanOverview {
  const overview = overviews.get(plan) ?? describePlan(plan);
  overviews.set(plan, overview);
  return overview;
}

function describePlan(plan: PlanDocument) {
  const all = orderByEffect(plan);
  return {
    all,
    /** `Deletes 21 spaces, makes Acme Team public`. */
    sentence: planSentence(plan),
    /** Effects of the whole plan, with the number of changes by kind. */
    effects: [...Map.groupBy(all, ({ effect }) => effect)].map(([effect, of]) => ({
      effect,
      count: of.length,
      kinds: [...Map.groupBy(of, ({ change }) => change.kind)].map(([kind, each]) => ({ kind, count: each.length })),
    })),
  };
}

/** Changes of a plan that a page shows. Empty texts select everything. */
export interface PlanSelection {
  /** Index of the first one, of those that are selected. */
  readonly from: number;
  readonly effect: string;
  /** Part of the title or address. */
  readonly text: string;
}

export const WHOLE_PLAN: PlanSelection = { from: 0, effect: '', text: '' };

/** Describes one page of a plan. `statusOf`: the results of its changes. */
export function planContent(
  organization: string,
  plan: PlanDocument,
  links: ForgeLinks,
  selection: PlanSelection,
  statusOf: (change: ChangeDocument) => string | null,
) {
  const { all, sentence, effects } = overviewOf(plan);
  const text = selection.text.toLowerCase();
  const isSelected = ({ change, effect }: PlanOverview['all'][number]) =>
    (selection.effect === '' || effect === selection.effect) &&
    (text === '' || `${change.address}\n${changeTitle(change)}`.toLowerCase().includes(text));
  const order = selection.effect === '' && text === '' ? all : all.filter(isSelected);
  const selected = order.length;
  const start = selection.from;
  const from = Number.isSafeInteger(start) && start > 0 && start < selected ? start : 0;
  const shown = order.slice(from, from + PAGE_SIZE);
  const { checksum, heldChecksum, commit, verdict, summary, access } = plan;
  return {
    checksum,
    heldChecksum,
    commit,
    verdict,
    summary,
    commitUrl: commit === null ? null : links.commit(commit),
    sentence,
    effects,
    /** Such as `1 to create, 2 held, 38 unchanged`. */
    summaryText: summaryLine(plan),
    cost: costWords(plan),
    /** Access changes of this page, and the number of all. */
    access: access.slice(from, from + PAGE_SIZE).map(accessView),
    accessTotal: access.length,
    selection: { effect: selection.effect, text: selection.text },
    /** Changes that the selection has. */
    selected,
    /** Changes of this page: deletions first, then access, each by kind. */
    changes: shown.map(({ change, effect, rank }) => ({
      ...changeView(organization, change, sourceView(change.source, commit, links), statusOf(change)),
      effect,
      /** Deletions, and everything that is held. */
      isDangerous: rank <= RANK.delete,
    })),
    /** Index of the first change of this page. */
    from,
    total: all.length,
    /** Value of `from` for the next page; null on the last one. */
    next: from + shown.length < selected ? from + shown.length : null,
    /** Resources that are adopted, pending, noted or not managed; of many, the first. */
    notes: listRows(plan)
      .slice(0, MAX_NOTES)
      .map(([name, text]) => ({ name, text })),
  };
}

/** Returns the statuses of changes that a pass reached, by the change. */
export function statusesOf(
  results: readonly { readonly action: string; readonly address: string; readonly status: string }[],
): (change: ChangeDocument) => string | null {
  const known = new Map(
    results.flatMap(({ action, address, status }) => (REACHED.has(status) ? [[`${action} ${address}`, status]] : [])),
  );
  return (change) => known.get(changeId(change)) ?? null;
}

/** Statuses of changes that did not wait. */
const REACHED: ReadonlySet<string> = new Set(['applied', 'failed', 'skipped']);

/** Location of a declaration, and its page at the forge. */
type SourceView = NonNullable<ReturnType<typeof sourceView>>;

/** Describes a location in the manifests. */
export function sourceView(source: ChangeDocument['source'], commit: string | null, links: ForgeLinks) {
  return source === null
    ? null
    : { file: source.file, line: source.line, url: links.file(commit, source.file, source.line) };
}

export type ChangeView = ReturnType<typeof changeView>;

/** Describes a change. `status`: result of the pass that made the plan; null if it did not reach the change, or is not known. */
export function changeView(
  organization: string,
  change: ChangeDocument,
  source: SourceView | null,
  status: string | null,
) {
  const { action, address, kind, isReplacement, held, paused, impact, accessFields = [] } = change;
  return {
    action,
    address,
    kind,
    /** Title of the resource; empty if it has none. */
    title: changeTitle(change),
    isReplacement,
    /** Why it needs approval; null if it does not. */
    held,
    paused,
    /** Consequences of a deletion; otherwise empty. */
    impact,
    source,
    status,
    path: resourcePath(organization, address),
    lines: change.fields.flatMap((field): FieldLine | readonly FieldLine[] =>
      action === 'move' && field.path === 'position' && typeof field.to === 'string'
        ? [{ name: 'position', text: field.to, value: field.to }]
        : fieldLines(field, accessFields.includes(field.path)),
    ),
  };
}

/** Describes a person or group of people that gains or loses access. */
function accessView(change: AccessChange) {
  const effect: 'gains' | 'loses' | 'changes' =
    change.from === null ? 'gains' : change.to === null ? 'loses' : 'changes';
  return {
    effect,
    person: change.person,
    /** As in the text of a plan, such as `ana@acme.example joins team/writers (member)`. */
    text: accessWords(change),
    /** Resource that they can access, with the role: `team/writers (member)`. */
    place: accessPlace(change),
    /** Resource whose change causes it. */
    address: change.change,
  };
}
