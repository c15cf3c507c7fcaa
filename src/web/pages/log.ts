/** Page of the latest records of the log. */

import { html } from 'hono/html';
import { organizationLink, paging, queryOf, shown, stateBadge, type Tone } from '../html/elements.ts';
import { LOG_LEVELS, type LogRecord, type RecordLevel } from '../model/log-buffer.ts';
import { type Backend, definePage, type Html, type PageRequest, wholeNumber } from '../model/page.ts';

/** Number of records in a page. */
const LISTED = 50;

type LogView = Awaited<ReturnType<typeof load>>;

/**
 * Returns the records of an organization, or of all that the viewer may see. Records about the daemon itself are for
 * people who may see every organization.
 */
async function load(backend: Backend, { viewer, query, titleOf }: PageRequest) {
  const level = LOG_LEVELS.find((each) => each === query.level) ?? 'info';
  const organization = query.organization?.trim() || null;
  const wanted = organization?.toLowerCase();
  const all = backend.organizations().map(({ id }) => id);
  const visible = all.filter((id) => viewer.role(id) !== null);
  const own = new Set(visible);
  const seesAll = visible.length === all.length;
  const records = backend.log.read({
    level,
    includes: (id) =>
      id === null
        ? organization === null && seesAll
        : own.has(id) && (wanted === undefined || id === organization || titleOf(id).toLowerCase() === wanted),
    before: wholeNumber(query.before, undefined),
    limit: LISTED + 1,
  });
  const shown = records.slice(0, LISTED);
  return {
    level,
    /** Id or title of the organizations that were asked for; null for all that the viewer may see. */
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
  render: (view, { titleOf }) => html`<h1>Log</h1>
<p>The latest records of this daemon since it started, without secrets. The level of the configuration, <code>log.level</code>, decides what is recorded.</p>
${filters(view, titleOf)}
${recordList(view.records, titleOf)}
${pages(view)}`,
  topics: () => ['log'],
});

function pages({ level, organization, next }: LogView): Html {
  return paging(null, next === null ? null : `/log${queryOf({ level, organization, before: next })}`, 'records');
}

function filters({ level, organization, organizations }: LogView, titleOf: PageRequest['titleOf']): Html {
  const option = (value: string, text: string, selected: string) =>
    html`<option value="${value}"${value === selected ? html` selected` : ''}>${text}</option>`;
  const levels = LOG_LEVELS.map((each) => option(each, each === 'fatal' ? each : `${each} and above`, level));
  // A list of a thousand organizations would be most of the page.
  const suggestions = organizations.slice(0, MAX_SUGGESTIONS).map((id) => {
    const title = titleOf(id);
    return html`<option value="${id}">${title === id ? '' : shown(title, 80)}</option>`;
  });
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

/** Records under the day on which they were written, each on a line that opens to its fields. */
function recordList(records: readonly LogRecord[], titleOf: PageRequest['titleOf']): Html {
  if (records.length === 0) {
    return html`<p class="empty">There is no such record.</p>`;
  }
  const days = Map.groupBy(records, ({ at }) => at.slice(0, DAY.length));
  return html`${[...days].map(
    ([
      day,
      own,
    ]) => html`<h2 class="day">${day === '' ? 'Time unknown' : html`${dayWords(day)} <span class="count">UTC</span>`}</h2>
<ul class="rows log">${own.map((record) => recordItem(record, titleOf))}</ul>`,
  )}`;
}

const DAY = '2026-11-27';

/** `27 November 2026` */
function dayWords(day: string): string {
  const at = Date.parse(day);
  return Number.isNaN(at)
    ? shown(day)
    : new Date(at).toLocaleDateString('en-GB', { day: 'numeric', month: 'long', year: 'numeric', timeZone: 'UTC' });
}

function recordItem(
  { number, at, level, organization, message, fields }: LogRecord,
  titleOf: PageRequest['titleOf'],
): Html {
  const about = organization === null ? '' : organizationLink(organization, titleOf(organization));
  const known = Object.entries(fields).filter(([, value]) => value !== undefined);
  const text = shown(message, MAX_MESSAGE);
  const line =
    known.length === 0
      ? html`<p>${text}</p>`
      : html`<details id="r-${number}"><summary>${text} <span class="faint">${startOf(known)}</span></summary>${fieldList(known)}</details>`;
  const time = at === '' ? '' : html`<time datetime="${at}">${shown(at.slice(DAY.length + 1, DAY.length + 9))}</time>`;
  return html`<li><span class="faint">${time}</span>${stateBadge({ tone: TONES[level], word: level })}<span class="about">${about}</span>${line}</li>
`;
}

/** Longest message, longest start of the fields after it, and longest text of all fields of a record. */
const MAX_MESSAGE = 500;
const MAX_START = 120;
const MAX_FIELDS = 800;

function valueText(value: unknown): string {
  return typeof value === 'string' ? value : (JSON.stringify(value) ?? '');
}

/** `reason timeout, attempt 3`: the first fields. */
function startOf(fields: readonly (readonly [string, unknown])[]): string {
  return shown(fields.map(([name, value]) => `${name} ${valueText(value).slice(0, MAX_START)}`).join(', '), MAX_START);
}

/** The fields by their names; long ones are cut. */
function fieldList(fields: readonly (readonly [string, unknown])[]): Html {
  let left = MAX_FIELDS;
  const parts = fields.flatMap(([name, value]) => {
    const text = shown(valueText(value), Math.max(1, left));
    left -= name.length + text.length;
    return left + text.length <= 0 ? [] : [html`<div><dt>${shown(name, 60)}</dt><dd>${text}</dd></div>`];
  });
  return html`<dl class="facts">${parts}</dl>`;
}
