/** All pages. */
import type { Page } from '../page.ts';
import { organizationsPage } from './organizations.ts';

export const pages: readonly Page[] = [organizationsPage];
