// Views of revisions, and of what pages refer to.

import type { Context } from '../model/operation.ts';
import { viewSpec } from '../openapi/openapi.ts';
import { viewOrganization } from '../organizations/organizations.ts';
import { organizationById, viewUserOf } from '../organizations/people.ts';
import { viewCollection, viewSpace } from '../spaces/views.ts';
import { viewChangeRequest } from './change-request.ts';
import { type ContentOwner, getContent, getRevisionId } from './content.ts';
import type { Target } from './links.ts';
import { getAppAddress, type PageOptions, viewFile, viewGit, viewPages, viewPageWithoutChildren } from './pages.ts';
import type { PageRecord, ReusableRecord } from './records.ts';

/** Returns the space of a target, which may be another than the reference's. */
function placeOf(context: Context, place: ContentOwner, space: string): ContentOwner {
  const other = space === place.space.id ? undefined : context.store.spaces.get(space);
  return other === undefined ? place : { space: other };
}

function locationOf(context: Context, place: ContentOwner) {
  return {
    organization: viewOrganization(context, organizationById(context.store, place.space.organization)),
    space: viewSpace(context, place.space),
    versionContext: { type: 'revision', revision: viewRevisionAlone(context, place) },
  };
}

/** Renders a page that has a reference. Source: docs/platform-notes.md#links-and-backlinks */
export function viewLocation(context: Context, place: ContentOwner, page: PageRecord, anchor?: string): unknown {
  return {
    kind: 'page',
    ...locationOf(context, place),
    page: viewPageWithoutChildren(context, place, page),
    internalLocation: anchor === undefined ? undefined : { type: 'anchor', anchor },
  };
}

/** Renders the target of a reference. Source: docs/platform-notes.md#links-and-backlinks */
export function viewTarget(context: Context, place: ContentOwner, target: Target): unknown {
  const organization = () => viewOrganization(context, organizationById(context.store, place.space.organization));
  switch (target.kind) {
    case 'url':
      return { kind: 'url', url: target.url };
    case 'page':
      return viewLocation(context, placeOf(context, place, target.space), target.page, target.anchor);
    case 'file': {
      const within = placeOf(context, place, target.space);
      const file = viewFile(context, within, target.file, { metadata: true });
      return { kind: 'file', ...locationOf(context, within), file };
    }
    case 'reusable-content': {
      const reusableContent = viewReusable(target.reusable, { metadata: true });
      return {
        kind: 'reusable-content',
        ...locationOf(context, placeOf(context, place, target.space)),
        reusableContent,
      };
    }
    case 'user':
      return { kind: 'user', user: viewUserOf(context, target.user.id) };
    case 'collection':
      return {
        kind: 'collection',
        organization: organization(),
        collection: viewCollection(context, target.collection),
      };
    case 'space':
      return { kind: 'space', organization: organization(), space: viewSpace(context, target.record) };
    case 'openapi':
      return { kind: 'openapi', organization: organization(), openAPISpec: viewSpec(context, target.spec) };
  }
}

function viewReusable(reusable: ReusableRecord, options: { readonly metadata: boolean }): unknown {
  return { id: reusable.id, title: reusable.title, git: viewGit(reusable.git, options) };
}

/** Renders a revision without its content. */
function viewFrame(context: Context, place: ContentOwner) {
  const { space, changeRequest } = place;
  const id = getRevisionId(place);
  const record = context.store.revisions.get(id);
  const initial = changeRequest === undefined ? [] : [changeRequest.revisionInitial];
  const merged = context.store.changeRequests.get(record?.mergedFrom ?? '');
  return {
    object: 'revision',
    id,
    parents: record?.parents ?? initial,
    type: record?.type === 'merge' && merged === undefined ? 'edits' : (record?.type ?? 'edits'),
    mergedFrom: merged === undefined ? undefined : viewChangeRequest(context, merged),
    createdAt: record?.createdAt ?? (changeRequest ?? space).createdAt,
    urls: { app: `${getAppAddress(context, place)}/~/revisions/${id}` },
  };
}

/** Revision: the latest of a space or change request, with all its content. Source: docs/platform-notes.md#content */
export function viewRevision(context: Context, place: ContentOwner, options: PageOptions): unknown {
  const { files, reusableContents, variables } = getContent(context.store, place);
  const git = context.store.revisions.get(getRevisionId(place))?.git;
  return {
    ...viewFrame(context, place),
    pages: viewPages(context, place, options),
    files: files.map((file) => viewFile(context, place, file, options)),
    reusableContents: reusableContents.map((reusable) => viewReusable(reusable, options)),
    variables,
    git: git === undefined || !options.metadata ? undefined : { ...git, createdByGitBook: false },
  };
}

/**
 * The revision that a reference is in. A decision of this emulator: its lists are empty there, as they would hold the
 * whole content once for each reference.
 */
function viewRevisionAlone(context: Context, place: ContentOwner): unknown {
  return { ...viewFrame(context, place), pages: [], files: [], reusableContents: [] };
}
