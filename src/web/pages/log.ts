/** Page of the latest records of the log. */

import { html } from 'hono/html';
import { queryOf } from '../html/link.ts';
import { stateBadge, type Tone } from '../html/state.ts';
import { paging, table } from '../html/table.ts';
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
${recordTable(view.records, now)}
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
  return html`<form class="filters" method="get" action="/log">
<label for="level">Level</label><select id="level" name="level">${levels}</select>
<label for="organization">Organization</label><input id="organization" name="organization" list="organizations" autocomplete="off" value="${organization ?? ''}"><datalist id="organizations">${suggestions}</datalist>
<button>Filter</button>
</form>`;
}

const MAX_SUGGESTIONS = 100;

const TONES: Readonly<Record<RecordLevel, Tone>> = {
  trace: 'none',
  debug: 'none',
  info: 'ok',
  warn: 'wait',
  error: 'bad',
  fatal: 'bad',
};

function recordTable(records: readonly LogRecord[], now: number): Html {
  const rows = records.map(({ at, level, organization, message, fields }) => [
    at === '' ? '' : age(at, now),
    stateBadge({ tone: TONES[level], word: level }),
    organization === null ? '' : organizationLink(organization),
    html`${shown(message, MAX_MESSAGE)}${Object.keys(fields).length === 0 ? '' : html` <code>${describeFields(fields)}</code>`}`,
  ]);
  return table({
    caption: 'Records, newest first',
    head: ['When', 'Level', 'Organization', 'Message'],
    rows,
    empty: 'There is no such record.',
  });
}

/** Longest message, and longest text of the fields of a record. */
const MAX_MESSAGE = 1000;
const MAX_FIELDS = 1000;

function describeFields(fields: LogRecord['fields']): string {
  const text = Object.entries(fields)
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => `${name}: ${typeof value === 'string' ? value : JSON.stringify(value)}`)
    .join(', ');
  return shown(text, MAX_FIELDS);
}
