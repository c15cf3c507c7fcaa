import { z } from 'zod';
import type { Written } from './content/edit.ts';
import { type ContentSeed, contentSeedSchema, type PageSeed, pageSeedsSchema } from './content/seed.ts';
import type { ClusterSeed, IssueSeed } from './conversations/seed.ts';
import { type FaultRule, faultRulesSchema } from './http/faults.ts';
import { type RateLimits, rateLimitsSchema } from './http/limits.ts';
import type { RequestLog } from './http/request-log.ts';
import { type Answer, ApiError, errorBody, noContent, ok } from './model/answers.ts';
import type { Features } from './model/features.ts';
import { parse } from './model/schema.ts';
import type { EmulatorState } from './model/store.ts';

/** Milliseconds added to every answer. */
export type Latency = number | { readonly min: number; readonly max: number };
const duration = z.number().nonnegative();
const latencySchema: z.ZodType<Latency> = z.union([duration, z.strictObject({ min: duration, max: duration })]);

const featuresSchema: z.ZodType<Partial<Features>> = z
  .strictObject({
    changeRequestDrafts: z.boolean(),
    changeRequestLinks: z.boolean(),
    contextRecords: z.boolean(),
    conversations: z.boolean(),
    conversationLists: z.boolean(),
    ingestionByUsers: z.boolean(),
    installationsByUsers: z.boolean(),
    openapiText: z.boolean(),
    publish: z.boolean(),
    requestedReviewers: z.boolean(),
    siteFindings: z.boolean(),
    siteIssues: z.boolean(),
    spaceCreation: z.boolean(),
    structure: z.boolean(),
    agentsContext: z.boolean(),
    changeRequestStatus: z.boolean(),
    changeRequestStatuses: z.boolean(),
    externalLinks: z.boolean(),
    hiddenSiteSpaces: z.boolean(),
    linkListings: z.boolean(),
    minimalAnswers: z.boolean(),
    sectionGroupMembers: z.boolean(),
    sectionParents: z.boolean(),
    spaceTransfer: z.boolean(),
    strictPatterns: z.boolean(),
    templateCreates: z.boolean(),
  })
  .partial();

/** Where the control over HTTP lies; not part of the API. */
export const CONTROL_PREFIX = '/_emulator/';

/** Where and in whose name content is written. */
export interface WriteOptions {
  readonly changeRequest?: string | undefined;
  readonly by?: string | undefined;
}

/** What can be done to a running emulator from outside the API. */
export interface Controls {
  readonly requests: RequestLog;
  state(): EmulatorState;
  /** As if somebody edited the space: its new revision. */
  reviseSpace(spaceId: string): string;
  /** As if somebody wrote pages in the space; one with the path of another takes its place. Their ids, in order. */
  writePages(spaceId: string, pages: readonly PageSeed[]): string[];
  /**
   * As if somebody edited the space, or a change request in it (by id or number): pages, files, reusable contents and
   * variables. `by` is the email of who did. Every edit makes a new revision.
   */
  writeContent(spaceId: string, content: ContentSeed, options?: WriteOptions): Written;
  /**
   * As if conversations had been worked into these clusters; with the id of one that is there, it takes its place. Their
   * ids, in order. A RangeError where the numbers of one contradict each other.
   */
  writeClusters(organizationId: string, clusters: readonly ClusterSeed[]): string[];
  /** As if conversations came that belong to the cluster, which is thereby updated. */
  writeIssues(clusterId: string, issues: readonly IssueSeed[]): void;
  /** A token such as an integration has where it runs; the API hands none out. */
  createToken(integration: string): string;
  setFaults(rules: readonly FaultRule[]): void;
  /** Switches operations off, as other versions of the platform lack them, or on; those not named stay as they are. */
  setFeatures(features: Partial<Features>): void;
  setLatency(latency: Latency): void;
  setLimits(limits: RateLimits): void;
}

/** Those whose path names something. */
function dispatchNamed(controls: Controls, command: string, body: unknown): Answer | undefined {
  const revised = /^POST revise\/([^/]+)$/.exec(command)?.[1];
  if (revised !== undefined) {
    return ok({ revision: controls.reviseSpace(revised) });
  }
  const written = /^POST pages\/([^/]+)$/.exec(command)?.[1];
  if (written !== undefined) {
    return ok({ pages: controls.writePages(written, parse('body', pageSeedsSchema, body)) });
  }
  const [, edited, changeRequest] = /^POST content\/([^/]+)(?:\/([^/]+))?$/.exec(command) ?? [];
  if (edited !== undefined) {
    return ok(controls.writeContent(edited, parse('body', contentSeedSchema, body), { changeRequest }));
  }
  const integration = /^POST tokens\/([^/]+)$/.exec(command)?.[1];
  return integration === undefined ? undefined : ok({ token: controls.createToken(integration) });
}

function dispatch(controls: Controls, method: string, path: string, body: unknown): Answer {
  const command = `${method} ${path.slice(CONTROL_PREFIX.length)}`;
  const named = dispatchNamed(controls, command, body);
  if (named !== undefined) {
    return named;
  }
  switch (command) {
    case 'GET requests': {
      const { total, byOperation, byMethod, entries } = controls.requests;
      return ok({ total, byOperation, byMethod, entries });
    }
    case 'POST requests/reset':
      controls.requests.reset();
      return noContent();
    case 'GET state':
      return ok(controls.state());
    case 'POST faults':
      controls.setFaults(parse('body', faultRulesSchema, body));
      return noContent();
    case 'POST features':
      controls.setFeatures(parse('body', featuresSchema, body));
      return noContent();
    case 'POST latency':
      controls.setLatency(parse('body', latencySchema, body));
      return noContent();
    case 'POST limits':
      controls.setLimits(parse('body', rateLimitsSchema, body));
      return noContent();
    default:
      throw new ApiError(404, 'No such control');
  }
}

/** Answers one request to the control: neither counted, nor limited, nor delayed, nor made to fail. */
export function control(
  controls: Controls,
  admin: boolean,
  method: string,
  path: string,
  readBody: () => unknown,
): Answer {
  try {
    if (!admin) {
      throw new ApiError(401, "The emulator's admin token is required");
    }
    return dispatch(controls, method, path, readBody());
  } catch (error) {
    if (error instanceof ApiError) {
      return { status: error.status, body: errorBody(error.status, error.message) };
    }
    throw error;
  }
}
