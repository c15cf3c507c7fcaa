import { contentOf, type Place, revisionOf } from '../content.ts';
import type { ReusableRecord } from '../content-records.ts';
import type { Context } from '../operation.ts';
import { viewChangeRequest } from './change-request.ts';
import { appOf, type PageOptions, viewFile, viewGit, viewPages } from './page.ts';

export function viewReusable(reusable: ReusableRecord, options: { readonly metadata: boolean }): unknown {
  return { id: reusable.id, title: reusable.title, git: viewGit(reusable.git, options) };
}

/** What a revision is besides what it contains. */
function viewFrame(context: Context, place: Place) {
  const { space, changeRequest } = place;
  const id = revisionOf(place);
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
    urls: { app: `${appOf(context, place)}/~/revisions/${id}` },
  };
}

/** Revision: the latest of a space or change request, with all its content. Source: docs/platform-notes.md#content */
export function viewRevision(context: Context, place: Place, options: PageOptions): unknown {
  const { files, reusableContents, variables } = contentOf(context.store, place);
  const git = context.store.revisions.get(revisionOf(place))?.git;
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
export function viewRevisionAlone(context: Context, place: Place): unknown {
  return { ...viewFrame(context, place), pages: [], files: [], reusableContents: [] };
}
