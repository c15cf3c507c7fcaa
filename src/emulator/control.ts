/** Control interface of a running emulator, served over HTTP together with the API. */

import { z } from 'zod';
import type { Written } from './content/edit.ts';
import { type ContentSeed, contentSeedSchema, type PageSeed, pageSeedsSchema } from './content/records.ts';
import type { ClusterSeed, IssueSeed } from './conversations/seed.ts';
import { type FaultRule, faultRulesSchema } from './http/faults.ts';
import { type RateLimits, rateLimitsSchema } from './http/limits.ts';
import type { RequestLog } from './http/request-log.ts';
import { type ApiAnswer, ApiError, errorBody, noContent, ok } from './model/answers.ts';
import { ALL_FEATURES, type Features } from './model/features.ts';
import { parse } from './model/schema.ts';
import type { EmulatorState } from './model/store.ts';

/** Milliseconds added to every answer. */
export type Latency = number | { readonly min: number; readonly max: number };
const duration = z.number().nonnegative();
const latencySchema: z.ZodType<Latency> = z.union([duration, z.strictObject({ min: duration, max: duration })]);

const featuresSchema: z.ZodType<Partial<Features>> = z
  .strictObject(Object.fromEntries(Object.keys(ALL_FEATURES).map((name) => [name, z.boolean()])))
  .partial();

/** Prefix of the control interface's paths, which are not part of the API. */
export const CONTROL_PREFIX = '/_emulator/';

/** Change request that content is written to, and the user who writes it. */
export interface WriteOptions {
  readonly changeRequest?: string | undefined;
  readonly by?: string | undefined;
}

/** Site or space that gets Git Sync, and its repository. */
export interface GitSyncTarget {
  readonly site?: string;
  readonly space?: string;
  readonly repository: string;
  readonly branch: string;
  readonly priority: 'git' | 'gitbook';
}

/** Control of a running emulator from outside the API. */
export interface Controls {
  readonly requests: RequestLog;
  state(): EmulatorState;
  /** Adds a revision to the space as an edit would; returns its id. */
  reviseSpace(spaceId: string): string;
  /**
   * Writes pages into the space; a page with an existing path replaces the existing one. Returns their ids in order.
   */
  writePages(spaceId: string, pages: readonly PageSeed[]): string[];
  /**
   * Edits the space, or a change request in it (by id or number): pages, files, reusable contents and variables. `by`
   * is the email address of the author. Every edit makes a new revision.
   */
  writeContent(spaceId: string, content: ContentSeed, options?: WriteOptions): Written;
  /**
   * Writes clusters as if they had been created from conversations; a cluster with an existing id replaces the existing
   * one. Returns their ids in order. Throws a RangeError if the numbers of a cluster contradict each other.
   */
  writeClusters(organizationId: string, clusters: readonly ClusterSeed[]): string[];
  /** Adds issues to a cluster as if new conversations belonged to it, and updates the cluster. */
  writeIssues(clusterId: string, issues: readonly IssueSeed[]): void;
  /** Adds Git Sync to a site or a space, as a person does in the application. Returns the id of the installation. */
  installGitSync(target: GitSyncTarget): string;
  /** Writes the structure of a site from its `docs.yaml`, as a synchronization does. Throws ApiError if it breaks a rule. */
  syncSite(siteId: string, docs: unknown): void;
  /** Creates the token that an integration uses at run time; the API does not return it. */
  createToken(integration: string): string;
  setFaults(rules: readonly FaultRule[]): void;
  /** Switches features of the platform off or on; other features stay as they are. */
  setFeatures(features: Partial<Features>): void;
  setLatency(latency: Latency): void;
  setLimits(limits: RateLimits): void;
}

type Command = (controls: Controls, body: unknown, ids: readonly [string, string?]) => unknown;

/** Commands by method and path; `:` stands for an id. One without a result answers 204. */
const COMMANDS: ReadonlyMap<string, Command> = new Map<string, Command>([
  [
    'GET requests',
    ({ requests: { total, byOperation, byMethod, entries } }) => ({ total, byOperation, byMethod, entries }),
  ],
  ['POST requests/reset', ({ requests }) => requests.reset()],
  ['GET state', (controls) => controls.state()],
  ['POST faults', (controls, body) => controls.setFaults(parse('body', faultRulesSchema, body))],
  ['POST features', (controls, body) => controls.setFeatures(parse('body', featuresSchema, body))],
  ['POST latency', (controls, body) => controls.setLatency(parse('body', latencySchema, body))],
  ['POST limits', (controls, body) => controls.setLimits(parse('body', rateLimitsSchema, body))],
  ['POST revise/:', (controls, _, [space]) => ({ revision: controls.reviseSpace(space) })],
  [
    'POST pages/:',
    (controls, body, [space]) => ({ pages: controls.writePages(space, parse('body', pageSeedsSchema, body)) }),
  ],
  ['POST content/:', writeContent],
  ['POST content/:/:', writeContent],
  ['POST tokens/:', (controls, _, [integration]) => ({ token: controls.createToken(integration) })],
]);

function writeContent(controls: Controls, body: unknown, [space, changeRequest]: readonly [string, string?]): Written {
  return controls.writeContent(space, parse('body', contentSeedSchema, body), { changeRequest });
}

function dispatch(controls: Controls, method: string, path: string, body: unknown): ApiAnswer {
  const command = `${method} ${path.slice(CONTROL_PREFIX.length)}`;
  const [, id = '', ...more] = command.split('/');
  const run = COMMANDS.get(command) ?? COMMANDS.get(command.replaceAll(/(?<=\/)[^/]+/g, ':'));
  if (run === undefined) {
    throw new ApiError(404, 'Unknown control command');
  }
  const result = run(controls, body, [id, ...more] as [string, string?]);
  return result === undefined ? noContent() : ok(result);
}

/** Answers a control request. Control requests are not logged, rate limited, delayed or failed by faults. */
export function control(
  controls: Controls,
  admin: boolean,
  method: string,
  path: string,
  readBody: () => unknown,
): ApiAnswer {
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
