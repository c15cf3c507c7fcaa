/** Rights of people, also for what concerns several organizations or the daemon itself. */
import { includesRole } from '../auth/roles.ts';
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

/** Returns true if a page about an organization, or about no single one, exists for a person. */
export function canSeeOrganization(
  backend: Pick<Backend, 'organizations'>,
  viewer: Viewer,
  organization: string | undefined,
): boolean {
  return (
    organization === undefined ||
    (viewer.role(organization) !== null && backend.organizations().some(({ id }) => id === organization))
  );
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

/** Returns true if the person may use the actions of an operator for every organization. */
export function canOperate(backend: Pick<Backend, 'organizations'>, viewer: Viewer): boolean {
  return backend.organizations().every(({ id }) => isOperator({ viewer }, id));
}

/** Returns true if the person may use the actions of an operator. */
export function isOperator({ viewer }: Pick<PageRequest, 'viewer'>, organization: string): boolean {
  return includesRole(viewer.role(organization), 'operator');
}
