/** Every operation: accepted requests with their answers, and refused requests with their messages. */
import { collaborationRows } from './operation-rows-collaboration.ts';
import { contentRows } from './operation-rows-content.ts';
import { conversationRows } from './operation-rows-conversations.ts';
import { documentRows } from './operation-rows-documents.ts';
import { integrationRows } from './operation-rows-integrations.ts';
import { laterRows } from './operation-rows-later.ts';
import { organizationRows } from './operation-rows-organization.ts';
import { permissionRows } from './operation-rows-permissions.ts';
import { siteRows } from './operation-rows-site.ts';
import { siteSettingsRows } from './operation-rows-site-settings.ts';
import type { Row, Rows } from './operation-world.ts';

/** Rows of operations, by what they are about. */
export const tables: Rows = {
  ...organizationRows,
  ...contentRows,
  ...conversationRows,
  ...siteRows,
  ...permissionRows,
  ...siteSettingsRows,
  ...collaborationRows,
  ...documentRows,
  ...integrationRows,
  ...laterRows,
};

/** All rows. */
export const rows: readonly Row[] = Object.values(tables).flat();
