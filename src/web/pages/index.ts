/** All pages. */

import { type Backend, canSeeOrganization, type PageDefinition, type PageRequest, type Viewer } from '../model/page.ts';
import { titlesOf } from '../model/status.ts';
import { auditPage, organizationAuditPage } from './audit.ts';
import { budgetPage } from './budget.ts';
import { conditionsPage } from './conditions.ts';
import { conversationsPage } from './conversations.ts';
import { deadLetterPage, deadLettersPage } from './dead-letters.ts';
import { deliveriesPage } from './deliveries.ts';
import { logPage } from './log.ts';
import { organizationPage } from './organization.ts';
import { organizationsPage } from './organizations.ts';
import { passesPage, passPage } from './passes.ts';
import { planFilePage, planPage } from './plan.ts';
import { clustersPage, questionPage } from './questions.ts';
import { redactionPage } from './redaction.ts';
import { replicasPage } from './replicas.ts';
import { resourcePage } from './resource.ts';

export const pages: readonly PageDefinition[] = [
  organizationsPage,
  organizationPage,
  resourcePage,
  planPage,
  planFilePage,
  passesPage,
  passPage,
  conversationsPage,
  redactionPage,
  deadLettersPage,
  deadLetterPage,
  clustersPage,
  questionPage,
  conditionsPage,
  deliveriesPage,
  budgetPage,
  replicasPage,
  auditPage,
  organizationAuditPage,
  logPage,
];

/**
 * Returns the view model of the page at a path with its query, such as `/o/acme/history?before=20`. Null if there is no
 * such page, or if the person may not see it.
 */
export async function loadView(
  backend: Backend,
  handlers: PageRequest['handlers'],
  viewer: Viewer,
  path: string,
): Promise<object | null> {
  const url = URL.parse(path, 'http://octavo');
  for (const page of url === null ? [] : pages) {
    const found = new URLPattern({ pathname: page.path }).exec({ pathname: url?.pathname ?? '' });
    const params = found === null ? null : decode(found.pathname.groups);
    if (url !== null && params !== null) {
      await backend.refresh();
      const query = Object.fromEntries(url.searchParams);
      return canSeeOrganization(backend, viewer, params.organization)
        ? page.load(backend, {
            params,
            query,
            fields: {},
            viewer,
            handlers,
            titleOf: titlesOf(backend),
            now: backend.clock.now(),
          })
        : null;
    }
  }
  return null;
}

/** Decodes the parameters of a path; null if that is not possible. `*` is the rest of the path. */
function decode(groups: Readonly<Record<string, string | undefined>>): Record<string, string> | null {
  try {
    const decoded = Object.entries(groups).map(([name, text = '']) => [name, decodeURIComponent(text)] as const);
    return Object.fromEntries(decoded.map(([name, text]) => [name === '0' ? '*' : name, text]));
  } catch {
    return null;
  }
}
