/** Rights of people, also for what concerns several organizations or the daemon itself. */
import type { Backend } from '../model/backend.ts';
import type { PageRequest, Viewer } from '../page.ts';

/** Subjects that a person may see: some organizations, or all of them and the daemon itself. */
export interface Visibility {
  readonly seesAll: boolean;
  readonly seesNone: boolean;
  readonly isVisible: (organization: string) => boolean;
}

/** Returns true if a person may see something of an organization, or of the daemon itself (null). */
export function canSee({ seesAll, isVisible }: Visibility, organization: string | null): boolean {
  return organization === null ? seesAll : isVisible(organization);
}

/** Returns what a person may see. */
export function visibilityOf(backend: Pick<Backend, 'organizations'>, viewer: Viewer): Visibility {
  const all = backend.organizations();
  return {
    seesAll: all.every(({ id }) => viewer.role(id) !== null),
    seesNone: all.length > 0 && all.every(({ id }) => viewer.role(id) === null),
    isVisible: (organization) => viewer.role(organization) !== null,
  };
}

/** Returns true if the person may use the actions of an operator for an organization, or for all of them (null). */
export function canOperate(
  backend: Pick<Backend, 'organizations'>,
  viewer: Viewer,
  organization: string | null,
): boolean {
  return organization === null
    ? backend.organizations().every(({ id }) => isOperator({ viewer }, id))
    : isOperator({ viewer }, organization);
}

/** Returns true if the person may use the actions of an operator. */
export function isOperator({ viewer }: Pick<PageRequest, 'viewer'>, organization: string): boolean {
  const role = viewer.role(organization);
  return role === 'operator' || role === 'approver';
}
