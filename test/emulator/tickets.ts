/** A support desk's day: three topics, and single questions. */
export interface Ticket {
  readonly topic: 'login' | 'webhooks' | 'billing' | null;
  readonly subject?: string;
  readonly body: string;
}

const login = [
  ['SSO login loop', 'After we enabled SAML the login page redirects in a loop. Okta says the assertion is fine.'],
  ['Cannot sign in with SSO', 'Okta sends me back to the login page over and over. SAML is enabled for our domain.'],
  ['SAML redirect loop', 'Our users are sent from Okta to the login page and back again. A redirect loop, basically.'],
  [
    'Locked out since enabling SSO',
    'We turned on SAML with Azure AD and now nobody can log in. Please help, this is urgent.',
  ],
  ['Login with Azure AD fails', 'SSO login shows "invalid assertion" for every person in the Azure directory.'],
  ['invalid assertion on login', 'SAML assertion is rejected: invalid audience. We use Okta for SSO login.'],
  ['SSO: assertion rejected', '<p>Hello,</p><p>the SAML assertion gets rejected when anyone logs in through Okta.</p>'],
  ['Login loop on Safari', 'SSO login with SAML works in Chrome, but in Safari the redirect loop never ends.'],
  ['How do I set up SAML login?', 'Where do I find the audience and the redirect URL for SSO with Azure AD?'],
  [
    'Okta login broken',
    'Since this morning SSO through Okta redirects to the login page again. SAML settings unchanged.',
  ],
] as const;

const webhooks = [
  [
    'Webhook signature does not match',
    'The signature header of the webhook never matches what I compute from the payload.',
  ],
  ['Verifying webhook signatures', 'Which secret do I use for verifying the signature of a webhook payload?'],
  [
    'Signature mismatch',
    'Our endpoint rejects your webhook deliveries: the payload signature is a mismatch with the secret.',
  ],
  ['Webhook payload signature in Python', 'I compute the HMAC with the secret as in the docs, the signature differs.'],
  ['HMAC verification', 'The HMAC of the webhook payload is not the one in the signature header. Raw body or parsed?'],
  ['Webhooks: bad signature since rotation', 'We rotated the secret and every webhook has a bad signature since.'],
  [
    'Webhook retries',
    'Deliveries to our webhook endpoint are retried although it verifies the signature and answers 200.',
  ],
  [
    'Is the webhook secret base64?',
    'Should the secret be decoded before the HMAC signature of the payload is computed?',
  ],
  ['webhook signature header missing', 'Some webhook deliveries reach the endpoint without any signature header.'],
  ['Endpoint rejects webhook', 'The signature check of the payload fails in our endpoint. Node sample attached.'],
] as const;

const billing = [
  ['Charged twice', 'My credit card was charged twice for the invoice of March. I would like a refund.'],
  ['Double charge on invoice', 'There are two charges on my credit card for the same invoice, please refund one.'],
  [
    'Refund for duplicate payment',
    'We paid the invoice by card and were charged again. A refund of the duplicate, please.',
  ],
  [
    'Invoice shows wrong amount',
    'The invoice for this subscription charges 12 seats, our card should pay for 10. Refund?',
  ],
  ['Refund request', 'I cancelled the subscription, but the card was charged and an invoice came. Please refund.'],
  [
    'Card charged after cancelling',
    'The subscription was cancelled in May, the card is charged still. I need a refund.',
  ],
  ['Duplicate invoice', 'Two invoices for one subscription, and the credit card was charged for both.'],
  ['VAT missing on invoice', 'The invoice lacks our VAT number, accounting refuses it. The card was charged already.'],
  ['Payment charged twice this month', 'Credit card statement shows the subscription payment twice. Refund needed.'],
  ['Wrong charge', 'I was charged for a subscription I never bought. Please refund my card.'],
] as const;

const noise = [
  ['Dark mode', 'It would be lovely to have a dark theme in the editor at night.'],
  ['Speaking at your conference', 'We are organizing a meetup in Lisbon and look for speakers.'],
  ['Typo on pricing', 'The headline has a typo: "docmentation".'],
  ['Keyboard shortcuts', 'Is there a list of shortcuts for headings somewhere?'],
  ['Job application', 'I attach my CV for the frontend position in Berlin.'],
  ['Slow search', 'Typing into the search box lags on an old laptop.'],
  ['Emoji', 'Which emoji sets can be picked for a page?'],
  ['Mobile app', 'Do you plan an Android application?'],
  ['GDPR', 'Please send the data processing agreement for our lawyers.'],
  ['Comments', 'A colleague left, who owns the discussions they started?'],
] as const;

const of = (topic: Ticket['topic'], rows: readonly (readonly [string, string])[]): Ticket[] =>
  rows.map(([subject, body]) => ({ topic, subject, body }));

/** Forty tickets, topic by topic. */
export const TICKETS: readonly Ticket[] = [
  ...of('login', login),
  ...of('webhooks', webhooks),
  ...of('billing', billing),
  ...of(null, noise),
];
