// Rules for keys that only a vendor's name near them distinguishes from other text.

import type { RuleSource } from './key-prefix-rules.ts';

/** Keys that are recognized by their context: a value of a known shape, assigned to a name that contains the vendor. */
export interface VendorRule {
  readonly id: string;
  readonly source: RuleSource;
  /** Lower case; matched in any case. */
  readonly vendors: readonly string[];
  /** Regular expression source of the whole value. Every repeat is bounded, and there is no lookaround. */
  readonly value: string;
}

/** Keys that are recognized by a pattern in the middle or at the end. */
export interface AnchorRule {
  readonly id: string;
  readonly source: RuleSource;
  /** Pattern that every such key contains, without repeats, because it is searched first. */
  readonly anchor: RegExp;
  readonly shape: string;
}

type Row = readonly [vendors: string, values: string, source?: RuleSource];

const UUID = '[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}';

/** Vendors are separated by spaces, shapes by ` | `. */
const ROWS: readonly Row[] = [
  ['adafruit', '[a-z0-9_-]{32}'],
  ['adobe', '[a-f0-9]{32}'],
  ['airtable', '[a-z0-9]{17}'],
  ['algolia', '[a-z0-9]{32}'],
  ['alibaba aliyun', '[a-z0-9]{30}'],
  ['asana', '[a-z0-9]{32} | [0-9]{16}'],
  ['atlassian confluence jira', '[a-z0-9]{20}[a-f0-9]{4}'],
  ['azure_storage accountkey', '[a-z0-9+/]{86}==', 'detect-secrets'],
  ['bitbucket', '[a-z0-9_=-]{32} | [a-z0-9_=-]{64}'],
  ['bittrex', '[a-z0-9]{32}'],
  ['chargebee', '(?:live|test)_[a-z0-9]{24,48}', 'vendor'],
  ['cloudant', '[a-f0-9]{64}', 'detect-secrets'],
  ['cloudflare', '[a-z0-9_-]{40} | [a-f0-9]{37}'],
  ['codecov', '[a-z0-9]{32} | [a-f0-9]{8}-[a-f0-9]{4}-[a-f0-9]{4}-[a-f0-9]{4}-[a-f0-9]{12}'],
  ['cohere co_api_key', '[a-z0-9]{40}'],
  ['coinbase', '[a-z0-9_-]{64}'],
  ['confluent', '[a-z0-9]{16} | [a-z0-9]{64}'],
  ['contentful', '[a-z0-9_=-]{43}'],
  ['datadog dd_api_key dd_app_key', '[a-z0-9]{40} | [a-f0-9]{32}'],
  ['discord', '[a-f0-9]{64} | [0-9]{18} | [a-z0-9_=-]{32} | [a-z0-9_-]{24,28}\\.[a-z0-9_-]{6}\\.[a-z0-9_-]{27,40}'],
  ['droneci', '[a-z0-9]{32}'],
  ['dropbox', '[a-z0-9]{15} | [a-z0-9]{11}aaaaaaaaaa[a-z0-9_=-]{43} | sl\\.[a-z0-9_=-]{100,160}'],
  ['etsy', '[a-z0-9]{24}'],
  ['facebook', '[a-f0-9]{32}'],
  ['fastly', '[a-z0-9_=-]{32}'],
  ['finicity', '[a-f0-9]{32} | [a-z0-9]{20}'],
  ['finnhub', '[a-z0-9]{20}'],
  ['flickr', '[a-z0-9]{32}'],
  ['freemius', 'sk_[\\w.+/-]{29}'],
  ['freshbooks', '[a-z0-9]{64}'],
  ['gitter', '[a-z0-9_-]{40}'],
  ['gocardless', 'live_[a-z0-9_=-]{40}'],
  ['heroku', UUID],
  ['hubspot', UUID],
  ['ibm_cloud ibmcloud ibm_iam iam_api', '[a-z0-9_-]{44}', 'detect-secrets'],
  ['ibm_cos cos_hmac', '[a-f0-9]{48}', 'detect-secrets'],
  ['intercom', '[a-z0-9_=-]{60}'],
  ['jfrog artifactory bintray xray', '[a-z0-9]{73} | [a-z0-9]{64}'],
  ['kraken', '[a-z0-9/=_+-]{80,90}'],
  ['kucoin', `[a-f0-9]{24} | ${UUID}`],
  ['launchdarkly', '[a-z0-9_=-]{40}'],
  ['linear', '[a-f0-9]{32}'],
  ['linkedin linked_in linked-in', '[a-z0-9]{14} | [a-z0-9]{16}'],
  ['looker', '[a-z0-9]{20} | [a-z0-9]{24}'],
  ['mailgun', '[a-h0-9]{32}-[a-h0-9]{8}-[a-h0-9]{8}'],
  ['mattermost', '[a-z0-9]{26}'],
  ['meraki', '[0-9a-f]{40}'],
  ['messagebird message_bird message-bird', `[a-z0-9]{25} | ${UUID}`],
  ['netlify', '[a-z0-9_=-]{40,46}'],
  ['newrelic new_relic new-relic', '[a-z0-9]{64}'],
  ['nytimes newyorktimes', '[a-z0-9_=-]{32}'],
  ['okta', '00[a-z0-9_=-]{40}'],
  ['plaid', '[a-z0-9]{24} | [a-z0-9]{30}'],
  ['privateai private_ai private-ai', '[a-z0-9]{32}'],
  ['rapidapi', '[a-z0-9_-]{50}'],
  ['sendbird', `${UUID} | [a-f0-9]{40}`],
  ['sentry', '[a-f0-9]{64}'],
  ['contribsys__com', '[a-f0-9]{8}:[a-f0-9]{8}'],
  ['snyk', UUID],
  ['softlayer', '[a-z0-9]{64}', 'detect-secrets'],
  ['sonar', '[a-z0-9_=-]{40}'],
  ['sourcegraph', '[a-f0-9]{40}'],
  ['squarespace', UUID],
  ['sumologic sumo_', 'su[a-z0-9]{12} | [a-z0-9]{64}'],
  ['telegram', '[0-9]{5,16}:a[a-z0-9_-]{34}'],
  ['travis', '[a-z0-9]{22}'],
  ['twilio', '[a-f0-9]{32}', 'vendor'],
  ['twitch', '[a-z0-9]{30}'],
  ['twitter', '[a-z0-9]{45} | [0-9]{15,25}-[a-z0-9]{20,40} | [a-z0-9]{25} | [a-z0-9]{50} | a{22}[a-z0-9%]{80,100}'],
  ['yandex', 'yc[a-z0-9_-]{38}'],
  ['zendesk', '[a-z0-9]{40}'],
];

export const VENDOR_RULES: readonly VendorRule[] = ROWS.flatMap(([vendors, values, source = 'gitleaks']) =>
  values.split(' | ').map((value, index) => ({
    id: `${vendors.split(' ')[0]}-${index + 1}`,
    source,
    vendors: vendors.split(' '),
    value,
  })),
);

export const ANCHOR_RULES: readonly AnchorRule[] = [
  {
    id: 'azure-client-secret',
    source: 'gitleaks',
    anchor: /\dQ~/,
    shape: '[A-Za-z0-9_~.-]{3}\\dQ~[A-Za-z0-9_~.-]{31,40}',
  },
  {
    id: 'discord-bot-token',
    source: 'detect-secrets',
    anchor: /\.[\w-]{6}\./,
    shape: '[MNO][A-Za-z0-9_-]{23,27}\\.[A-Za-z0-9_-]{6}\\.[A-Za-z0-9_-]{27,40}',
  },
  { id: 'facebook-app-token', source: 'gitleaks', anchor: /\d\|/, shape: '\\d{15,16}\\|[0-9A-Za-z_-]{27,40}' },
  { id: 'mailchimp-key', source: 'gitleaks', anchor: /[a-f0-9]-us\d/, shape: '[a-f0-9]{32}-us\\d{1,2}' },
  { id: 'maxmind-key', source: 'gitleaks', anchor: /_mmk/, shape: '[A-Za-z0-9]{6}_[A-Za-z0-9]{29}_mmk' },
  { id: 'telegram-bot-token', source: 'detect-secrets', anchor: /\d:AA/, shape: '\\d{8,10}:AA[A-Za-z0-9_-]{33}' },
  {
    id: 'terraform-cloud-token',
    source: 'gitleaks',
    anchor: /\.atlasv1\./,
    shape: '[A-Za-z0-9]{14}\\.atlasv1\\.[A-Za-z0-9_=-]{60,70}',
  },
  {
    id: 'private-key-base64',
    source: 'vendor',
    anchor: /LS0tLS1CRUdJTi/,
    shape: 'LS0tLS1CRUdJTi[A-Za-z0-9+/]{20,20000}={0,2}',
  },
];
