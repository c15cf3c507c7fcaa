import type { Place } from '../content.ts';
import type { Target } from '../content-links.ts';
import type { PageRecord } from '../content-records.ts';
import { organizationAt } from '../lookup.ts';
import type { Context } from '../operation.ts';
import { viewCollection, viewSpace } from './content.ts';
import { viewOrganization } from './organization.ts';
import { viewFile, viewPageAlone } from './page.ts';
import { viewUserOf } from './people.ts';
import { viewReusable, viewRevisionAlone } from './revision.ts';
import { viewSpec } from './spec.ts';

/** The place that a target is in: another space where the reference leads there. */
function placeOf(context: Context, place: Place, space: string): Place {
  const other = space === place.space.id ? undefined : context.store.spaces.get(space);
  return other === undefined ? place : { space: other };
}

function whereabouts(context: Context, place: Place) {
  return {
    organization: viewOrganization(context, organizationAt(context.store, place.space.organization)),
    space: viewSpace(context, place.space),
    versionContext: { type: 'revision', revision: viewRevisionAlone(context, place) },
  };
}

/** A page that refers to something. Source: docs/platform-notes.md#links-and-backlinks */
export function viewLocation(context: Context, place: Place, page: PageRecord, anchor?: string): unknown {
  return {
    kind: 'page',
    ...whereabouts(context, place),
    page: viewPageAlone(context, place, page),
    internalLocation: anchor === undefined ? undefined : { type: 'anchor', anchor },
  };
}

/** The complete target of a reference. Source: docs/platform-notes.md#links-and-backlinks */
export function viewTarget(context: Context, place: Place, target: Target): unknown {
  const organization = () => viewOrganization(context, organizationAt(context.store, place.space.organization));
  switch (target.kind) {
    case 'url':
      return { kind: 'url', url: target.url };
    case 'page':
      return viewLocation(context, placeOf(context, place, target.space), target.page, target.anchor);
    case 'file': {
      const within = placeOf(context, place, target.space);
      const file = viewFile(context, within, target.file, { metadata: true });
      return { kind: 'file', ...whereabouts(context, within), file };
    }
    case 'reusable-content': {
      const reusableContent = viewReusable(target.reusable, { metadata: true });
      return {
        kind: 'reusable-content',
        ...whereabouts(context, placeOf(context, place, target.space)),
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
