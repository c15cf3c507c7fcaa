/** Rights of people for what concerns several organizations, or the daemon itself. */
import type { Backend } from '../../views/model/backend.ts';
import type { Visibility } from '../../views/model/notification-reader.ts';
import type { Viewer } from '../page.ts';
import { isOperator } from './operator.ts';

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
