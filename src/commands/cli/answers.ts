/** Schemas of the daemon's answers: the members that commands read. A daemon of another version may answer differently. */
import { type ZodType, z } from 'zod';
import type { OrganizationStatus } from '../../web/model/status.ts';
import type { AuditView } from '../../web/pages/audit.ts';
import type { ClustersView } from '../../web/pages/clusters.ts';
import type { ConditionsView } from '../../web/pages/conditions.ts';
import type { ConversationsView } from '../../web/pages/conversations.ts';
import type { OrganizationView } from '../../web/pages/organization.ts';
import type { OrganizationsView } from '../../web/pages/organizations.ts';
import type { PassesView } from '../../web/pages/passes.ts';
import type { ReplicasView } from '../../web/pages/replicas.ts';

const text = z.string();
const count = z.number();
const optionalText = text.nullable();
/** A count that the summary of a store may leave out. */
const optionalCount = count.nullish();
const json = z.json();

/** Returns the schema of a view with the members that commands read. */
function view<V>(members: z.ZodRawShape): ZodType<V> {
  return z.object(members) as unknown as ZodType<V>;
}

/** States of an organization that commands have an exit code for. */
const ORGANIZATION_STATES = [
  ...['unowned', 'failed', 'stale', 'held', 'paused'],
  ...['waiting', 'applying', 'unknown', 'in-sync', 'unmanaged'],
] as const satisfies readonly OrganizationStatus[];
const state = z.enum(ORGANIZATION_STATES);

/** Views by page. */
export const VIEWS = {
  organizations: view<OrganizationsView>({
    organizations: z.array(
      z.object({
        id: text,
        sentence: text,
        state,
        commit: optionalText,
        approval: optionalText,
        freshness: z.object({ ageSeconds: count.nullable() }),
      }),
    ),
    next: optionalText,
  }),
  organization: view<OrganizationView>({
    sentence: text,
    state,
    nextCheck: optionalText,
    approval: optionalText,
    waiting: z.array(z.object({ text })),
    webhook: z.object({ lastAt: optionalText, sentence: text, needsAttention: z.boolean() }).nullable(),
  }),
  conversations: view<ConversationsView>({ isConfigured: z.boolean(), sentence: text }),
  clusters: view<ClustersView>({ isEnabled: z.boolean(), sentence: text }),
  audit: view<AuditView>({
    entries: z.array(
      z.object({
        at: text,
        actor: z.object({ name: text, method: text }),
        organization: text,
        action: text,
        subject: text,
        outcome: text,
        detail: text,
        reason: text,
      }),
    ),
    next: optionalText,
  }),
  passes: view<PassesView>({
    commits: z.array(
      z.object({
        passes: z.array(
          z.object({
            endedAt: text,
            number: count,
            outcome: text,
            times: count,
            commit: optionalText,
            subject: text,
            summary: text,
            error: optionalText,
            checksum: optionalText,
          }),
        ),
      }),
    ),
    next: count.nullable(),
  }),
  conditions: view<ConditionsView>({ firing: conditions(), pending: conditions(), notShown: count }),
  replicas: view<ReplicasView>({
    sentence: text,
    replicas: z.array(
      z.object({
        id: text,
        address: text,
        state: text,
        organizations: count,
        weight: count,
        version: text,
        startedAt: text,
        seenAt: text,
        isThis: z.boolean(),
      }),
    ),
    unowned: z.array(z.object({ organization: text, seconds: count.nullable() })),
    unownedTotal: count,
    configuration: z.array(
      z.object({
        replicas: z.array(text),
        problem: optionalText,
        more: count,
        since: text,
        usedSince: text,
        isPartial: z.boolean().default(false),
      }),
    ),
    database: z.object({ state: text }).nullable(),
  }),
} as const;

function conditions() {
  return z.array(
    z.object({
      since: text,
      state: text,
      severity: text,
      code: text,
      organization: optionalText,
      path: optionalText,
      summary: text,
      details: z.array(text),
      inhibits: count,
    }),
  );
}

/** Answers to actions. */
export const ACTIONS = {
  approve: z.object({ organization: text, approved: z.array(text), isComplete: z.boolean() }),
  organization: z.object({ organization: text }),
  pause: z.object({ organization: text, until: optionalText }),
  any: z.object({}),
  events: z.object({ events: count }),
  ended: z.object({ ended: count }),
  sessions: z.object({ sessions: z.array(z.object({ name: optionalText, method: optionalText, until: text })) }),
} as const;

/** State of the sender of conversations. */
const sender = z.object({ kind: text, reason: text.optional() });

/** Answers to commands about conversations, by subcommand. */
export const CONVERSATIONS = {
  status: z.object({
    sources: z.array(
      z.object({
        source: text,
        cursor: json.optional(),
        counts: z.record(text, count).optional(),
        waiting: count,
        sending: count,
        deadLetters: count,
        error: optionalText,
        pollAgeSeconds: optionalCount,
        oldestWaitSeconds: optionalCount,
      }),
    ),
    outdated: z.record(text, count).optional(),
    sender,
  }),
  'dead list': z.object({
    deadLetters: z.array(z.object({ key: text, source: text, refusedAt: text, reason: text })),
    more: count,
  }),
  'dead show': z.object({ key: text }),
  'dead retry': z.object({ count }),
  'dead drop': z.object({ count }),
  resync: z.object({}),
  push: z.object({
    files: z.array(z.object({ file: text, tickets: count, skipped: count, rejected: count, rejectFile: optionalText })),
    sender,
  }),
} as const;

const changeRequest = z.object({ id: json.optional(), status: text, url: optionalText.optional() });

/** Answers to commands about issue clusters, by subcommand. */
export const CLUSTERS = {
  list: z.object({
    clusters: z.array(
      z.object({ id: text, label: text, wouldOpen: z.boolean().optional(), changeRequests: z.array(changeRequest) }),
    ),
  }),
  open: z.object({ outcome: text, cluster: text }),
  mute: z.object({ cluster: text, label: text, changed: z.boolean() }),
} as const;
