/** All pages. */
import type { Page } from '../page.ts';
import { organizationPage } from './organization.ts';
import { organizationsPage } from './organizations.ts';
import { passPage } from './pass.ts';
import { passesPage } from './passes.ts';
import { planPage } from './plan.ts';
import { resourcePage } from './resource.ts';

export const pages: readonly Page[] = [
  organizationsPage,
  organizationPage,
  resourcePage,
  planPage,
  passesPage,
  passPage,
];
