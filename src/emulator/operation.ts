import type { z } from 'zod';
import type { Answer } from './answers.ts';
import type { CreationDefaults } from './creation-defaults.ts';
import type { IntegrationScope } from './integration-vocabulary.ts';
import type { LimitClass } from './limits.ts';
import { noBody, noQuery, parse } from './schema.ts';
import type { Store } from './store.ts';

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

/** What a token may do: everything, read only, or nothing. */
export type Permission = 'admin' | 'read' | 'none';

/** Who calls. */
export interface Caller {
  /** Email of the token's user, or the installation whose token it is. */
  readonly user: string;
  readonly permission: Permission;
  /** What the conversations that it ingests come from, where it is an installation's token. */
  readonly source?: string | undefined;
  /** Whose token it is, where it is an integration's or an installation's. */
  readonly integration?: string | undefined;
  /** Where an installation's token may do what. */
  readonly installation?: { readonly organization: string; readonly scopes: readonly IntegrationScope[] } | undefined;
}

/** Features that differ between versions of the platform. Source: docs/platform-notes.md#changes-by-version */
export interface Features {
  /**
   * An organization's list of change requests without a `status` has every status; with the feature off, only open
   * ones. Source: docs/platform-notes.md#change-request-lists
   */
  readonly changeRequestDrafts: boolean;
  /**
   * A change request can be created with a cluster and a description. Source: docs/platform-notes.md#change-requests
   */
  readonly changeRequestLinks: boolean;
  /** Sites have context records and topics: from 0.167. Source: docs/platform-notes.md#context-records */
  readonly contextRecords: boolean;
  /** Conversations, issues and clusters: removed in 0.167. Source: docs/platform-notes.md#conversations */
  readonly conversations: boolean;
  /** A request may ingest an array of conversations. Source: docs/platform-notes.md#conversations */
  readonly conversationLists: boolean;
  /** Tokens of users may ingest, in addition to those of integrations. Source: docs/platform-notes.md#conversations */
  readonly ingestionByUsers: boolean;
  /**
   * Tokens of users may list installations and create tokens for them, in addition to the integration's own.
   * Source: docs/platform-notes.md#integration-tokens
   */
  readonly installationsByUsers: boolean;
  /** OpenAPI `source.text`. */
  readonly openapiText: boolean;
  /** Publishing and unpublishing a site. */
  readonly publish: boolean;
  /** Reviews of a change request can be requested. Source: docs/platform-notes.md#reviews */
  readonly requestedReviewers: boolean;
  /** Creating a space. */
  readonly spaceCreation: boolean;
  /** Sites have findings, grouped by topic: from 0.181. Source: docs/platform-notes.md#findings */
  readonly siteFindings: boolean;
  /** Sites have issues, the predecessors of findings: in 0.167. Source: docs/platform-notes.md#findings */
  readonly siteIssues: boolean;
  /** Reading and sorting a site's structure. */
  readonly structure: boolean;
  /** Sites have `agentsContext`: removed in 0.167. Source: docs/platform-notes.md#sites */
  readonly agentsContext: boolean;
  /** An organization's list of change requests takes one status. Source: docs/platform-notes.md#change-request-lists */
  readonly changeRequestStatus: boolean;
  /**
   * An organization's list of change requests takes several statuses, with `open` as default: from 0.167.
   * Source: docs/platform-notes.md#change-request-lists
   */
  readonly changeRequestStatuses: boolean;
  /** The structure of a site can have external links: from 0.201. Source: docs/platform-notes.md#external-links */
  readonly externalLinks: boolean;
  /** Site spaces have `hidden`. Source: docs/platform-notes.md#site-spaces */
  readonly hiddenSiteSpaces: boolean;
  /** Links and backlinks can be listed: removed in 0.201. Source: docs/platform-notes.md#links-and-backlinks */
  readonly linkListings: boolean;
  /**
   * Writes with `prefer: return=minimal` are answered without a body: from 0.201.
   * Source: docs/platform-notes.md#answers-without-a-body
   */
  readonly minimalAnswers: boolean;
  /**
   * A group has operations to add and remove sections: removed in 0.181. Source: docs/platform-notes.md#section-groups
   */
  readonly sectionGroupMembers: boolean;
  /** The update of a section takes its group: from 0.181. Source: docs/platform-notes.md#sections */
  readonly sectionParents: boolean;
  /** Merge rules that require an approval or the author: from 0.167. Source: docs/platform-notes.md#merge-rules */
  readonly authorMergeRules: boolean;
  /** A site can follow the theme of the visitor's system: from 0.181. Source: docs/platform-notes.md#customization */
  readonly systemTheme: boolean;
  /** Integrations can read visitors' claims: from 0.201. Source: docs/platform-notes.md#integration-scopes */
  readonly visitorClaims: boolean;
  /** Traditional Chinese (`zh-tw`) is a language: from 0.181. Source: docs/platform-notes.md#enumerations */
  readonly traditionalChinese: boolean;
  /** A space can be transferred: removed in 0.181. Source: docs/platform-notes.md#spaces */
  readonly spaceTransfer: boolean;
  /** Ids in paths have a pattern: from 0.167. Source: docs/platform-notes.md#conventions */
  readonly strictPatterns: boolean;
  /** Applying a template to content answers 201: from 0.167. Source: docs/platform-notes.md#write-status-codes */
  readonly templateCreates: boolean;
}

/**
 * The platform of the API document with all operations of the OpenAPI document of 0.146. Later features are off.
 * Source: docs/platform-notes.md#how-facts-are-known
 */
export const ALL_FEATURES: Features = {
  changeRequestDrafts: false,
  changeRequestLinks: true,
  contextRecords: false,
  conversations: true,
  conversationLists: true,
  ingestionByUsers: true,
  installationsByUsers: true,
  openapiText: true,
  publish: true,
  requestedReviewers: true,
  siteFindings: false,
  siteIssues: false,
  spaceCreation: true,
  structure: true,
  agentsContext: true,
  changeRequestStatus: true,
  changeRequestStatuses: false,
  externalLinks: false,
  hiddenSiteSpaces: true,
  linkListings: true,
  minimalAnswers: false,
  sectionGroupMembers: true,
  sectionParents: false,
  spaceTransfer: true,
  strictPatterns: false,
  templateCreates: false,
  authorMergeRules: false,
  systemTheme: false,
  visitorClaims: false,
  traditionalChinese: false,
};

/** Milliseconds that processing takes. */
export interface Processing {
  readonly openapi: number;
  readonly translation: number;
  /** Until a conversation is worked into an issue and clusters. */
  readonly conversations: number;
}

/** What every operation can see. */
export interface Context {
  readonly store: Store;
  /** Milliseconds since the epoch, by the injected clock. */
  readonly now: number;
  /** The same as ISO 8601. */
  readonly at: string;
  readonly caller: Caller;
  /** Address of the emulator, without a path. */
  readonly base: string;
  readonly features: Features;
  readonly processing: Processing;
  /** What new resources have where their creation does not say. */
  readonly defaults: CreationDefaults;
  readonly pageSize: number;
}

type ParamNames<Path extends string> = Path extends `${string}{${infer Name}}${infer Rest}`
  ? Name | ParamNames<Rest>
  : never;

/** The ids that a path names, by name. */
export type Params<Path extends string> = Readonly<Record<ParamNames<Path>, string>>;

/** One request to one operation, its query and body already checked. */
export interface Call<Path extends string = string, Query = unknown, Body = unknown> extends Context {
  readonly operation: string;
  readonly params: Params<Path>;
  readonly query: Query;
  readonly body: Body;
}

interface Definition<Path extends string, Query, Body> {
  readonly name: string;
  readonly method: Method;
  /** Below `/v1`, with `{names}` for ids. */
  readonly path: Path;
  readonly feature?: keyof Features;
  /** Tokens that may only read may call it too, though it is no GET. */
  readonly readersMay?: boolean;
  /** Answers 204 without a body where that is preferred, in versions that have it. */
  readonly minimal?: boolean;
  /** Which rate limit it counts against, where that is not what its method says. */
  readonly limit?: LimitClass;
  /** How long its body may be, where that is less than for others. */
  readonly maxBytes?: number;
  readonly query?: z.ZodType<Query>;
  readonly body?: z.ZodType<Body>;
  handle(call: Call<Path, Query, Body>): Answer;
}

/** An operation of the API, ready for the router. */
export interface Operation {
  readonly name: string;
  readonly method: Method;
  readonly path: string;
  readonly feature: keyof Features | undefined;
  readonly writes: boolean;
  readonly minimal: boolean;
  readonly limit: LimitClass;
  readonly maxBytes: number | undefined;
  /** What it takes. */
  readonly query: z.ZodType;
  readonly body: z.ZodType;
  run(context: Context, params: Readonly<Record<string, string>>, query: unknown, body: unknown): Answer;
}

/** Declares an operation: what it takes is checked before it is handled, and nothing else is let through. */
export function operation<const Path extends string, Query = Record<string, never>, Body = undefined>(
  definition: Definition<Path, Query, Body>,
): Operation {
  const querySchema = definition.query ?? (noQuery as unknown as z.ZodType<Query>);
  const bodySchema = definition.body ?? (noBody as unknown as z.ZodType<Body>);
  return {
    name: definition.name,
    method: definition.method,
    path: definition.path,
    feature: definition.feature,
    writes: definition.method !== 'GET' && definition.readersMay !== true,
    minimal: definition.minimal === true,
    limit: definition.limit ?? (definition.method === 'GET' ? 'read' : 'write'),
    maxBytes: definition.maxBytes,
    query: querySchema,
    body: bodySchema,
    run: (context, params, query, body) =>
      definition.handle({
        ...context,
        operation: definition.name,
        params: params as Params<Path>,
        query: parse('query', querySchema, query),
        body: parse('body', bodySchema, body),
      }),
  };
}

/** Whether a token that may write may also ingest conversations. */
export function mayIngest(caller: Caller, features: Features): boolean {
  const mayAtAll = features.ingestionByUsers || caller.source !== undefined;
  const isInScope = caller.installation?.scopes.includes('conversations:ingest') ?? true;
  return features.conversations && mayAtAll && isInScope;
}
