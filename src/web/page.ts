/** Interface of a page: a path, a view model and its HTML. The JSON of a page is its view model. */
import type { html } from 'hono/html';
import type { RequestHandlers } from '../server/requests.ts';
import type { Actor } from '../store/history.ts';
import type { Backend, OrganizationState } from './model/backend.ts';
import { organizationTopic, type Topic } from './model/topics.ts';

/** Escaped HTML, made by the `html` tag of hono. */
export type Html = ReturnType<typeof html>;

/** Rights of a person: each role includes those before it. */
export type ViewerRole = 'viewer' | 'operator' | 'approver';

/** The person who asks for a page. */
export interface Viewer {
  readonly actor: Actor;
  /** Returns the role for an organization; null if the person may not see it. */
  role(organization: string): ViewerRole | null;
}

export interface PageRequest {
  /** Parameters of the path, decoded. */
  readonly params: Readonly<Record<string, string>>;
  /** Parameters of the query; of repeated ones, the last. */
  readonly query: Readonly<Record<string, string>>;
  /** Fields of the form that the person sent to the page; none if the page was opened. */
  readonly fields: Readonly<Record<string, string>>;
  readonly viewer: Viewer;
  /** Handlers of what is recorded when the person reads it. */
  readonly handlers: Pick<RequestHandlers, 'conversations'>;
  /** Returns the title of an organization, or its id. */
  titleOf(organization: string): string;
  /** Milliseconds since the epoch. */
  readonly now: number;
}

/** A page at a path such as `/o/:organization`. The server answers 404 for organizations that the viewer may not see. */
export interface PageDefinition<View extends object = object> {
  readonly path: string;
  /** Returns null if there is no such thing. */
  load(backend: Backend, request: PageRequest): Promise<View | null>;
  title(view: View): string;
  /** Returns the content of `<main>`. Null: the answer is always JSON. */
  readonly render: ((view: View, request: PageRequest) => Html | Promise<Html>) | null;
  /** Returns the name of the file for a page that is downloaded. Default: it is shown. */
  readonly fileName?: (request: PageRequest) => string;
  /** Size of the largest form that people send to the page, in bytes. Default: the page takes none. */
  readonly longestForm?: number;
  /** Topics whose changes reload the page; `*` is any organization. None: never. */
  topics(view: View): readonly (Topic | '*')[];
}

/** Erases the view type, for lists of pages. */
export function definePage<View extends object>(page: PageDefinition<View>): PageDefinition {
  return page as unknown as PageDefinition;
}

/** A page of one organization. `path` is below the organization's. */
interface OrganizationPageDefinition<View> extends Pick<PageDefinition, 'path' | 'fileName' | 'longestForm'> {
  load(state: OrganizationState, request: PageRequest, backend: Backend): Promise<View | null>;
  title(view: View): string;
  readonly render: ((view: View, request: PageRequest) => Html) | null;
  /** Returns the id of the organization, whose changes reload the page; null: nothing does. */
  readonly topic: ((view: View) => string) | null;
}

/** Defines a page of one organization. */
export function defineOrganizationPage<View extends object>({
  path,
  load,
  topic,
  ...page
}: OrganizationPageDefinition<View>): PageDefinition {
  return definePage<View>({
    ...page,
    path: `/o/:organization${path}`,
    load: async (backend, request) => {
      const state = backend.organizations().find(({ id }) => id === request.params.organization);
      return state === undefined ? null : load(state, request, backend);
    },
    topics: (view) => (topic === null ? [] : [organizationTopic(topic(view))]),
  });
}

/** Reads a whole number of a query; `otherwise` if it is missing or something else. */
export function wholeNumber<T>(text: string | undefined, otherwise: T): number | T {
  return text !== undefined && /^\d{1,9}$/.test(text) ? Number(text) : otherwise;
}
