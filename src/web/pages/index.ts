/** All pages. */
import type { PageDefinition } from '../model/page.ts';
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
