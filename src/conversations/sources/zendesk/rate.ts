import { type RateHeaders, readRateHeaders } from '../../../queue/request.ts';

type HeaderRecord = Readonly<Record<string, string | readonly string[] | undefined>>;

const OF_ENDPOINT = 'zendesk-ratelimit-';

/**
 * Reads Zendesk's headers: the limit of the account (`X-Rate-Limit…`, `ratelimit-…`, per minute) and the limit of the
 * endpoint, if it has one (`zendesk-ratelimit-…: total=10; remaining=9; resets=41`). The limit with less remaining
 * applies. Source: docs/helpdesk-notes.md#zendesk
 */
export function readZendeskRate(headers: HeaderRecord): RateHeaders {
  const { retryAfter, date } = readRateHeaders(headers);
  const account = {
    limit: amount(headers['ratelimit-limit'] ?? headers['x-rate-limit']),
    remaining: amount(headers['ratelimit-remaining'] ?? headers['x-rate-limit-remaining']),
    reset: amount(headers['ratelimit-reset']),
  };
  let tightest = account;
  for (const [name, value] of Object.entries(headers)) {
    const own = name.startsWith(OF_ENDPOINT) ? ofEndpoint(value) : null;
    if (own !== null && own.remaining !== null && own.remaining < (tightest.remaining ?? Number.POSITIVE_INFINITY)) {
      tightest = own;
    }
  }
  return { ...tightest, retryAfter, date };
}

function ofEndpoint(value: HeaderRecord[string]) {
  const fields = new Map(
    String(value ?? '')
      .split(';')
      .map((field) => field.trim().split('=') as [string, string]),
  );
  return {
    limit: amount(fields.get('total')),
    remaining: amount(fields.get('remaining')),
    reset: amount(fields.get('resets')),
  };
}

function amount(value: HeaderRecord[string]): number | null {
  return typeof value === 'string' && /^\d+(?:\.\d+)?$/.test(value.trim()) ? Number(value) : null;
}
