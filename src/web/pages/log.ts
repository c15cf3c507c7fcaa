/** Page of the latest records of the log. */

import { html } from 'hono/html';
import { queryOf } from '../html/link.ts';
import { stateDot, type Tone } from '../html/state.ts';
import { paging } from '../html/table.ts';
import { age, organizationLink, shown } from '../html/text.ts';
import type { Backend } from '../model/backend.ts';
import { LOG_LEVELS, type LogRecord, type RecordLevel } from '../model/log-buffer.ts';
import { definePage, type Html, type PageRequest, wholeNumber } from '../page.ts';

/** Number of records in a page. */
const LISTED = 100;

type LogView = Awaited<ReturnType<typeof load>>;

/**
 * Returns the records of an organization, or of all that the viewer may see. Records about the daemon itself are for
 * people who may see every organization.
 */
async function load(backend: Backend, { viewer, query }: PageRequest) {
  const level = LOG_LEVELS.find((each) => each === query.level) ?? 'info';
  const organization = query.organization || null;
  const all = backend.organizations().map(({ id }) => id);
  const visible = all.filter((id) => viewer.role(id) !== null);
  const own = new Set(visible);
  const seesAll = visible.length === all.length;
  const records = backend.log.read({
    level,
    includes: (id) =>
      organization !== null ? id === organization && own.has(id) : id === null ? seesAll : own.has(id),
    before: wholeNumber(query.before, undefined),
    limit: LISTED + 1,
  });
  const shown = records.slice(0, LISTED);
  return {
    level,
    /** Null for all that the viewer may see. */
    organization,
    organizations: visible,
    /** Newest first. */
    records: shown,
    /** Value of `before` for the next page; null if this is the last one. */
    next: records.length > LISTED ? (shown.at(-1)?.number ?? null) : null,
  };
}

export const logPage = definePage<LogView>({
  path: '/log',
  load,
  title: () => 'Log',
  render: (view, { now }) => html`<h1>Log</h1>
<p>The latest records of this daemon since it started, without secrets. The level of the configuration, <code>log.level</code>, decides what is recorded.</p>
${filters(view)}
${recordList(view.records, now)}
${pages(view)}`,
  topics: () => ['log'],
});

function pages({ level, organization, next }: LogView): Html {
  return paging(null, next === null ? null : `/log${queryOf({ level, organization, before: next })}`, 'records');
}

function filters({ level, organization, organizations }: LogView): Html {
  const option = (value: string, text: string, selected: string) =>
    html`<option value="${value}"${value === selected ? html` selected` : ''}>${text}</option>`;
  const levels = LOG_LEVELS.map((each) => option(each, each === 'fatal' ? each : `${each} and above`, level));
  // A list of a thousand organizations would be most of the page.
  const suggestions = organizations.slice(0, MAX_SUGGESTIONS).map((id) => html`<option value="${id}"></option>`);
  return html`<form class="filter" method="get" action="/log" role="search">
<p class="field"><label for="level">Level</label><select id="level" name="level">${levels}</select></p>
<p class="field"><label for="organization">Organization</label><input id="organization" name="organization" list="organizations" autocomplete="off" value="${organization ?? ''}"><datalist id="organizations">${suggestions}</datalist></p>
<button>Filter</button>
</form>`;
}

const MAX_SUGGESTIONS = 100;

const TONES: Readonly<Record<RecordLevel, Tone>> = {
  trace: 'none',
  debug: 'none',
  info: 'none',
  warn: 'busy',
  error: 'bad',
  fatal: 'bad',
};

/** One line a record: level, what happened, and what it is about as far as there is room; the rest when it is opened. */
function recordList(records: readonly LogRecord[], now: number): Html {
  const items = records.map(({ at, level, organization, message, fields }) => {
    const about = organization === null ? '' : organizationLink(organization);
    const detail = Object.entries(fields).filter(([, value]) => value !== undefined);
    const head = html`${stateDot({ tone: TONES[level], word: level })}<span class="level">${level}</span>${about}`;
    const text = shown(message, MAX_MESSAGE);
    const line =
      detail.length === 0
        ? html`<p>${text}</p>`
        : html`<details><summary>${text} ${describeFields(detail)}</summary></details>`;
    return html`<li>${head}${line}<span class="end faint">${at === '' ? '' : age(at, now)}</span></li>
`;
  });
  return items.length === 0
    ? html`<p class="empty">There is no such record.</p>`
    : html`<ul class="rows log">${items}</ul>`;
}

/** Longest message, and longest text of the fields of a record. */
const MAX_MESSAGE = 1000;
const MAX_FIELDS = 1000;

/** `reason: timeout, attempt: 3`, with the keys dimmed; long ones are cut. */
function describeFields(fields: readonly (readonly [string, unknown])[]): Html {
  let left = MAX_FIELDS;
  const parts = fields.flatMap(([name, value]) => {
    const text = shown(typeof value === 'string' ? value : JSON.stringify(value), Math.max(0, left));
    left -= name.length + text.length;
    return left + text.length <= 0 ? [] : [html` <i>${shown(name, 60)}</i> ${text}`];
  });
  return html`${parts}`;
}
