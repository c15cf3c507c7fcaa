/** Settings of support conversations. */
import * as z from 'zod';
import { redactionPatternProblem } from '../core/text/pattern.ts';
import { choice, count, duration, flag, pattern, positive, secret, section, setting, text } from './settings.ts';
import { readBaseUrl, readText } from './values.ts';

/** Columns of a CSV file. The first three are required. */
const CSV_COLUMNS = [
  'ticket_id',
  'author_role',
  'body',
  'subject',
  'created_at',
  'public',
  'status',
  'url',
  'author_name',
  'author_email',
] as const;

const baseUrl = () => setting('an http or https URL, such as https://helpdesk.example', readBaseUrl);
/** A label of a host name: without characters that could change the host of a URL. */
const label = (what: string) =>
  setting(what, (value) => (/^[a-z0-9][a-z0-9-]{0,62}$/i.test(readText(value) ?? '') ? String(value) : undefined));
const repository = () =>
  setting('a repository such as acme/product', (value) =>
    /^[\w.-]+\/[\w.-]+$/.test(readText(value) ?? '') ? String(value) : undefined,
  );

/** Reads flags that affect what a regular expression matches; excludes flags such as `g` and `y`. */
function readFlags(value: unknown): string | undefined {
  const flags = readText(value);
  return flags !== undefined && /^(?!.*(.).*\1)[imsu]*$/.test(flags) ? flags : undefined;
}

/** Zendesk: an API token with its owner's email, an OAuth token, or an OAuth client with a refresh token. */
const zendesk = z.strictObject({
  subdomain: label('the subdomain, such as acme in acme.zendesk.com'),
  token: secret('the API token or OAuth access token').optional(),
  clientId: text('the identifier of the OAuth client').optional(),
  clientSecret: secret('the secret of the OAuth client').optional(),
  refreshToken: secret('a refresh token of the OAuth client').optional(),
  email: text('the email of the owner of the API token; leave it out for an OAuth token').optional(),
  webhookSecret: secret('the signing secret of the webhook').optional(),
  baseUrl: baseUrl().optional(),
});

const intercom = z.strictObject({
  appId: label('the workspace id, as in the URLs of its inbox'),
  token: secret('the access token'),
  region: choice(['us', 'eu', 'au']).prefault('us'),
  lookback: positive('how far back each poll reads again, such as 24h').prefault('1d'),
  clientSecret: secret('the client secret, which signs webhooks').optional(),
  baseUrl: baseUrl().optional(),
});

const freshdesk = z.strictObject({
  domain: label('the domain, such as acme in acme.freshdesk.com'),
  token: secret('the API key'),
  lookback: positive('how far back each poll reads again, such as 24h').prefault('1d'),
  webhookHeader: label('the header of the webhook that holds its secret').prefault('x-octavo-secret'),
  webhookSecret: secret('the secret that the webhook sends in that header').optional(),
  baseUrl: baseUrl().optional(),
});

function hasOneWayIn({ token, email, clientId, clientSecret, refreshToken }: z.output<typeof zendesk>): boolean {
  const oauth = [clientId, clientSecret, refreshToken];
  return token === undefined
    ? email === undefined && oauth.every((setting) => setting !== undefined)
    : oauth.every((setting) => setting === undefined);
}

/** GitHub: a token, or the installation of an app. */
const github = z.strictObject({
  repositories: z.array(repository()).min(1),
  token: secret('the token').optional(),
  app: z
    .strictObject({
      id: count(1, Number.MAX_SAFE_INTEGER),
      installationId: count(1, Number.MAX_SAFE_INTEGER),
      privateKey: secret('the private key as PEM'),
    })
    .optional(),
  teamMembers: z.array(text('the login of a team member')).prefault([]),
  includeNotPlanned: flag().prefault(false),
  webhookSecret: secret('the secret of the webhook').optional(),
  baseUrl: baseUrl().prefault('https://api.github.com'),
});

/** Account of a source. It identifies conversations together with their ids, and stays the same if the source is renamed. */
const account = () => label('a name of letters, digits and dashes that identifies its conversations').optional();

const webhook = z.strictObject({
  account: account(),
  secrets: z.array(secret('a key that starts with whsec_')).min(1),
});

/** Names of CSV columns that differ from the defaults. */
const columns = z
  .strictObject(
    Object.fromEntries(
      CSV_COLUMNS.map((column) => [column, text(`the name of the ${column} column`).optional()]),
    ) as Record<(typeof CSV_COLUMNS)[number], z.ZodOptional<ReturnType<typeof text>>>,
  )
  .prefault({});

const folder = z.strictObject({
  path: text('a directory, such as /drop'),
  account: account(),
  afterRead: choice(['move', 'keep', 'delete']).prefault('move'),
  rejectDirectory: text('a directory for rejected files, such as /rejects').optional(),
  teamDomains: z.array(text('an email domain of the support team, such as acme.example')).prefault([]),
  columns,
});

const KINDS = ['zendesk', 'intercom', 'freshdesk', 'github', 'webhook', 'folder'] as const;

/** One source: exactly one of the kinds, and its polling interval. */
const source = z
  .strictObject({
    name: label('a name of letters, digits and dashes, used in URLs and metrics'),
    pollInterval: positive('the polling interval, such as 5m').prefault('5m'),
    since: positive('how far back the first poll reads, such as 30d').prefault('30d'),
    zendesk: zendesk.optional(),
    intercom: intercom.optional(),
    freshdesk: freshdesk.optional(),
    github: github.optional(),
    webhook: webhook.optional(),
    folder: folder.optional(),
  })
  .check(({ value, issues }) => {
    if (KINDS.filter((kind) => value[kind] !== undefined).length !== 1) {
      issues.push({ code: 'custom', input: value, message: `exactly one of ${KINDS.join(', ')}` });
    }
    if (value.zendesk !== undefined && !hasOneWayIn(value.zendesk)) {
      issues.push({
        code: 'custom',
        input: value,
        path: ['zendesk'],
        message: 'either token (with email for an API token), or clientId, clientSecret and refreshToken',
      });
    }
    if (value.github !== undefined && (value.github.token === undefined) === (value.github.app === undefined)) {
      issues.push({ code: 'custom', input: value, path: ['github'], message: 'either a token or an app' });
    }
  });

/** Settings for the sources of support conversations and their ingestion. See docs/conversations.md. */
export function conversationsSchema() {
  return section({
    sources: z
      .array(source)
      .prefault([])
      .check(({ value, issues }) => {
        const names = value.map(({ name }) => name);
        for (const [index, name] of names.entries()) {
          if (names.indexOf(name) !== index) {
            issues.push({ code: 'custom', input: name, path: [index, 'name'], message: 'a unique name' });
          }
        }
      }),
    site: text('the manifest key or the id of a site').nullable().default(null),
    settleDelay: duration('how long to wait before a solved ticket is sent, such as 1d').prefault('1d'),
    batch: section({
      maxConversations: count(1, 100).prefault(50),
      maxBytes: count(1024, 10_485_760).prefault(1_048_576),
    }),
    outbox: section({
      maxItems: count(1, 100_000_000).prefault(100_000),
      maxBytes: count(1024, Number.MAX_SAFE_INTEGER).prefault(1_073_741_824),
    }),
    redact: section({
      patterns: z
        .array(
          z.strictObject({
            name: label('a name for the placeholders'),
            pattern: pattern('a regular expression', redactionPatternProblem),
            flags: setting('regular expression flags: any of i, m, s and u, each at most once', readFlags).optional(),
          }),
        )
        .prefault([]),
      allow: z.array(text('a value or a domain (@acme.example) that is not redacted')).prefault([]),
      disabledTypes: z.array(choice(['secret', 'email', 'card', 'iban', 'ssn', 'phone', 'ip', 'person'])).prefault([]),
      phoneRegions: z.array(text('a region such as US')).prefault(['US']),
      guessNames: z.boolean().prefault(true),
    }),
  });
}

/** Converts the outbox limits to the form that the store uses. */
export function outboxLimit({ outbox }: Pick<ConversationsConfig, 'outbox'>): { items: number; bytes: number } {
  return { items: outbox.maxItems, bytes: outbox.maxBytes };
}

/** Validated settings of conversations. Durations are in milliseconds. */
export type ConversationsConfig = z.output<ReturnType<typeof conversationsSchema>>;
