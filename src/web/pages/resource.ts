/** Page of one resource: where it is declared, what the platform had, what waits, and its last changes. */

import { html } from 'hono/html';
import type { Json } from '../../core/json.ts';
import type { Declared } from '../../core/resource.ts';
import { kinds } from '../../kinds/registry.ts';
import { normalizeFields } from '../../plan/diff.ts';
import type { ChangeDocument } from '../../plan/render/document.ts';
import { plainText } from '../../plan/render/field-text.ts';
import { kindWords } from '../../plan/render/words.ts';
import { actionWord, changeRows, changeView, sourceText, sourceView, statusesOf } from '../html/changes.ts';
import {
  age,
  commitText,
  kindIcon,
  link,
  RESOURCE_LABELS,
  RESULT_LABELS,
  shown,
  shownLines,
  stateBadge,
  table,
} from '../html/elements.ts';
import { pauseForm, pauseNotice } from '../html/form.ts';
import {
  defineOrganizationPage,
  type Html,
  isOperator,
  type KnownResources,
  type OrganizationState,
  type PageRequest,
  type ReconcilerState,
} from '../model/page.ts';
import {
  pauseOf,
  type ResourceState,
  type ResourceStates,
  resourceStates,
  resourceTree,
  titleOf,
} from '../model/resources.ts';
import { checkTimes, pauseView } from '../model/status.ts';
import { type ForgeLinks, forgeLinks, isoTime, passPath, planPath, resourcePath } from '../model/words.ts';

/** Past changes that are shown. */
const CHANGES = 20;
const KINDS = new Map(kinds.map((kind) => [kind.name, kind]));

export type ResourceView = NonNullable<Awaited<ReturnType<typeof load>>>;

/** Describes a resource. Null if it is neither declared nor part of the last plan, nor known to the history. */
async function load(state: OrganizationState, { params, now }: PageRequest) {
  const { id, reconciler } = state;
  const address = params['*'] ?? '';
  if (reconciler === null) {
    return null;
  }
  const { freshness } = await checkTimes(state, now);
  const states = resourceStates(reconciler, freshness.isStale);
  const resources = await state.resources();
  const declared = resources?.declared.get(address);
  const changes = states.changesOf(address);
  const past = await state.history.changesOf(address, CHANGES);
  if (declared === undefined && changes.length === 0 && past.length === 0) {
    return null;
  }
  const links = forgeLinks(state.config.source);
  const commit = reconciler.lastDesired?.commit ?? null;
  const pause = pauseOf(address, await state.history.pauses(now));
  return {
    organization: id,
    ...identityOf(address, declared, changes),
    /** Id on the platform; null if it does not exist there, or is not known. */
    id: changes.find((change) => change.id !== null)?.id ?? resources?.ids.get(address) ?? null,
    state: declared === undefined && changes.length === 0 ? 'unknown' : states.state(address),
    freshness,
    /** Null for a resource that no manifest declares any more. */
    source: sourceView(declared?.source ?? null, commit, links),
    commit,
    /** Resource that it is part of. */
    parent: resources === null || declared === undefined ? null : parentView(id, declared, resources),
    fields: fieldViews(declared, changes, states, reconciler.lastCheck !== null),
    changes: changes.map((change) => plannedChange(id, change, { commit, links, states, reconciler })),
    /** Page of the plan that the changes are part of; null if there are none. */
    planPath: changes.length === 0 ? null : planPath(id, reconciler.lastCheck?.plan.checksum ?? ''),
    /** Why it cannot be created yet; null if it can, or exists. */
    pending: states.pendingReason(address) ?? null,
    /** Pause that the manifest declares. */
    declaredPause: declared?.paused ?? null,
    /** Pause that a person set, for the resource or for the organization. */
    pause: pause === null ? null : pauseView(pause, now),
    /** Newest first. */
    history: past.map(({ pass, commit: by, at, ...rest }) => ({
      ...rest,
      commit: by,
      commitUrl: by === null ? null : links.commit(by),
      at: isoTime(at),
      pass: { number: pass, path: passPath(id, pass) },
    })),
  };
}

function identityOf(address: string, declared: Declared | undefined, [change]: readonly ChangeDocument[]) {
  const kind = declared?.kind ?? change?.kind ?? address.split('/', 1)[0] ?? '';
  return { address, kind, title: titleOf({ fields: declared?.fields ?? change?.actual ?? {} }) };
}

function parentView(id: string, resource: Declared, { declared }: KnownResources) {
  const parent = resourceTree(declared).parentOf(resource);
  return parent === null ? null : { address: parent.address, path: resourcePath(id, parent.address) };
}

/** Describes a change that the last check planned. */
function plannedChange(
  id: string,
  change: ChangeDocument,
  about: {
    readonly commit: string | null;
    readonly links: ForgeLinks;
    readonly states: ResourceStates;
    readonly reconciler: ReconcilerState;
  },
) {
  const result = about.states.result(change);
  const source = sourceView(change.source, about.commit, about.links);
  return {
    ...changeView(id, change, source, statusesOf(result === undefined ? [] : [result])(change)),
    /** True if it undoes what somebody changed on the platform. */
    isDrift: about.reconciler.lastCheck?.drift.has(change) === true,
    error: result?.error ?? null,
  };
}

/** Lists the declared fields with their values on the platform, and for a deletion the fields that were last seen. */
function fieldViews(
  declared: Declared | undefined,
  changes: readonly ChangeDocument[],
  states: ResourceStates,
  isChecked: boolean,
): FieldView[] {
  const kind = KINDS.get(declared?.kind ?? changes[0]?.kind ?? '');
  if (kind === undefined) {
    return [];
  }
  const wanted = new Map(Object.entries(declared === undefined ? {} : normalizeFields(kind, declared.fields)));
  const waiting = changes.filter((change) => states.result(change)?.status !== 'applied');
  const removed = waiting.find(({ action }) => action === 'delete');
  if (declared === undefined) {
    return Object.entries(removed === undefined ? {} : normalizeFields(kind, removed.actual)).map(([name, live]) =>
      fieldView(name, undefined, live, false),
    );
  }
  const isMissing =
    waiting.some(({ action }) => action === 'create') || states.pendingReason(declared.address) !== undefined;
  const differing = new Map(
    waiting
      .filter(({ action }) => action === 'update' || action === 'move')
      .flatMap(({ fields }) => fields.map((field) => [field.path, field.from] as const)),
  );
  const names = [...wanted.keys()].filter((name) => kind.fields[name]?.declarationOnly !== true);
  return [...new Set([...names, ...differing.keys()])].map((name) => {
    const value = wanted.get(name);
    if (isMissing) {
      return fieldView(name, value, undefined, value !== undefined);
    }
    return differing.has(name)
      ? fieldView(name, value, differing.get(name), true)
      : fieldView(name, value, isChecked ? value : undefined, false);
  });
}

type FieldView = ReturnType<typeof fieldView>;

/** Describes a field, as declared and as the platform had it when it was last checked. */
function fieldView(name: string, declared: Json | undefined, live: Json | undefined, differs: boolean) {
  return {
    name,
    /** Absent if the field is not declared, or the resource is not. */
    declared,
    /** Absent if the resource or the value does not exist, or is not known. */
    live,
    /** Short forms, for people. */
    declaredText: declared === undefined ? '' : plainText(name, declared),
    liveText: live === undefined ? '' : plainText(name, live),
    differs,
  };
}

export const resourcePage = defineOrganizationPage<ResourceView>({
  path: '/r/*',
  load,
  title: ({ address }) => shown(address, 80),
  render: (view, request) => html`${titleSection(view, request)}
${facts(view, request.now)}
${view.pause === null ? '' : pauseNotice(view.pause)}
${changesSection(view)}
${fieldsSection(view)}
${historySection(view.history, request.now)}`,
  topic: ({ organization }) => organization,
});

/** The title and the state, with what a person can do next to them. */
function titleSection(view: ResourceView, request: PageRequest): Html {
  const { title, address, state, kind } = view;
  const name = title === '' ? shown(address) : html`${shown(title)} <span class="address">${shown(address)}</span>`;
  return html`<div class="head"><h1>${kindIcon(kind)} ${name} <span class="badge">${stateBadge(RESOURCE_LABELS[state])}</span></h1>${actions(view, request)}</div>
<p class="lead">${stateSentence(view)}</p>`;
}

function facts(view: ResourceView, now: number): Html {
  const { kind, source, id, state, freshness, pending, declaredPause, parent } = view;
  return html`<dl class="facts">
<div><dt>Kind</dt><dd>${kindWords(kind)}</dd></div>
${parent === null ? '' : html`<div><dt>Part of</dt><dd>${link(parent.path, shown(parent.address, 80))}</dd></div>`}
<div><dt>Declared at</dt><dd>${source === null ? 'No manifest declares it' : sourceText(source)}</dd></div>
<div><dt>Id</dt><dd>${id === null ? html`<span class="faint">none</span>` : html`<code>${shown(id)}</code>`}</dd></div>
<div><dt>Last check</dt><dd>${age(freshness.asOf, now)}</dd></div>
${pending === null || state === 'pending' ? '' : html`<div><dt>Pending</dt><dd>${shown(pending)}</dd></div>`}
${declaredPause === null ? '' : html`<div><dt>Paused in the manifest</dt><dd>${shown(declaredPause.reason)}${declaredPause.until === null ? '' : `, until ${shown(declaredPause.until)}`}</dd></div>`}
</dl>`;
}

/** Why a resource is not in sync. */
const WAITS_FOR: Readonly<Record<Exclude<ResourceState, 'in-sync' | 'stale' | 'unknown' | 'pending'>, string>> = {
  failed: 'The last run could not change it.',
  held: 'What differs waits for approval.',
  paused: 'What differs waits until its pause ends.',
  planned: 'The next run changes what differs.',
};

function stateSentence({ state, changes, source, pending }: ResourceView): string {
  if (source === null && changes.length === 0) {
    return 'It is not declared, and the platform did not have it.';
  }
  switch (state) {
    case 'in-sync':
      return 'At the last check, the platform had it as declared.';
    case 'stale':
      return 'At the last check, the platform had it as declared. It has not been checked since then.';
    case 'unknown':
      return 'It has not been checked since the daemon started.';
    case 'pending':
      return `It waits for something outside of Octavo${pending === null ? '' : `: ${shown(pending)}`}.`;
    default:
      return `${changes.some(({ isDrift }) => isDrift) ? 'Somebody changed it on the platform. ' : ''}${WAITS_FOR[state]}`;
  }
}

function changesSection({ changes, state, planPath }: ResourceView): Html {
  const waiting = changes.filter(({ status }) => status !== 'applied');
  if (waiting.length === 0) {
    return html``;
  }
  const errors = waiting.flatMap(({ error }) => (error === null ? [] : [shownLines(error)]));
  const heading = waiting.every(({ isDrift }) => isDrift) ? 'Changed on the platform' : 'What differs';
  return html`<section aria-labelledby="changes"><h2 id="changes">${heading}</h2>
${changeRows(waiting)}
${planPath === null ? '' : html`<p>${link(planPath, 'The plan that it is part of')}</p>`}
${state === 'failed' ? errors : ''}</section>`;
}

function fieldsSection({ fields }: ResourceView): Html {
  const rows = fields.map((field) => [
    html`<code>${shown(field.name)}</code>`,
    html`${field.declaredText === '' ? html`<span class="faint">not declared</span>` : html`${shown(field.declaredText)}`}`,
    liveCell(field),
  ]);
  return html`<section aria-labelledby="fields"><h2 id="fields">Fields</h2>
<p class="faint">Values of the platform are those of the last check. Large texts are shown as digests.</p>
${table({ caption: 'Declared and live values', head: ['Field', 'Declared', 'On the platform'], rows, empty: 'No fields are declared.' })}</section>`;
}

function liveCell({ liveText, differs, declaredText }: FieldView): Html {
  const text =
    liveText === ''
      ? html`<span class="faint">${declaredText === '' ? 'not known' : 'none'}</span>`
      : html`${shown(liveText)}`;
  return differs ? html`${stateBadge({ tone: 'busy', word: 'differs' })} ${text}` : text;
}

function historySection(history: ResourceView['history'], now: number): Html {
  const rows = history.map(({ at, action, status, error, commit, commitUrl, subject, pass }) => [
    age(at, now),
    actionWord(action),
    html`${stateBadge(RESULT_LABELS.get(status) ?? { tone: 'none', word: shown(status) })}${error === null ? '' : html` ${shown(error)}`}`,
    html`${commitText(commit, commitUrl)} ${shown(subject, 80)}`,
    link(pass.path, `#${pass.number}`),
  ]);
  return html`<section aria-labelledby="history"><h2 id="history">Last changes</h2>
${table({ caption: 'Changes by Octavo, newest first', head: ['Time', 'Change', 'Result', 'Commit', 'Run'], rows, empty: 'Octavo has not changed it since its history begins.' })}</section>`;
}

function actions({ organization, address, pause, source, changes }: ResourceView, request: PageRequest): Html {
  const isKnown = source !== null || changes.length > 0;
  if (!isKnown || !isOperator(request, organization) || (pause !== null && pause.address === '')) {
    return html``;
  }
  const back = resourcePath(organization, address);
  return html`<div class="actions">${pauseForm({ organization, address, pause, back })}</div>`;
}
