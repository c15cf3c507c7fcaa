/** Rights of people in pages. */
import type { PageRequest } from '../page.ts';

/** Returns true if the person may use the actions of an operator. */
export function isOperator({ viewer }: Pick<PageRequest, 'viewer'>, organization: string): boolean {
  const role = viewer.role(organization);
  return role === 'operator' || role === 'approver';
}
