/** Fields that responses have in the latest version, and not in the one that the API document describes. */

type Fields = Readonly<Record<string, unknown>>;

const isFields = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Fields to add to a resource, by its `object`. Source: docs/platform-notes.md#changes-by-version */
const ADDED: Readonly<Record<string, (resource: Fields) => Fields>> = {
  member: () => ({ sites: 0 }),
  'openapi-spec': ({ lastProcessedErrors }) => ({
    lastProcessedErrorCount: Array.isArray(lastProcessedErrors) ? lastProcessedErrors.length : 0,
  }),
  organization: ({ billing, permissions }) => ({
    ...(isFields(billing) ? { billing: { ...billing, ...BILLING } } : {}),
    ...(isFields(permissions) ? { permissions: { access: true, ...permissions } } : {}),
  }),
  site: ({ type, urls }) => ({
    appliedType: type,
    ...(isFields(urls) ? { urls: { ...urls, preview: `${urls.app}/preview` } } : {}),
  }),
  translation: ({ language, result }) => (isFields(result) ? { result: { language, ...result } } : {}),
};

const BILLING = {
  aiCreditAlertThreshold: null,
  canChangeInterval: true,
  canCheckout: true,
  canUseSAML: true,
  creditsBundle: null,
};

/** Adds the fields to every resource in a response. */
export function withCurrentFields(value: unknown): unknown {
  if (Array.isArray(value)) {
    return value.map(withCurrentFields);
  }
  if (!isFields(value)) {
    return value;
  }
  const members = Object.fromEntries(Object.entries(value).map(([name, member]) => [name, withCurrentFields(member)]));
  return { ...members, ...ADDED[String(value.object)]?.(members) };
}
