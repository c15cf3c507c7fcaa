import * as z from 'zod';
import { optionalFlag, optionalNumber, optionalText, permissions, string, user } from './shapes.ts';

/** Member, as read. */
export const member = z.looseObject({
  id: string,
  /** Null means guest. */
  role: optionalText,
  user: user.nullish(),
  disabled: optionalFlag,
  joinedAt: optionalText,
  lastSeenAt: optionalText,
  sso: optionalFlag,
  spaces: optionalNumber,
  teams: optionalNumber,
});

/** Team, as read. */
export const team = z.looseObject({
  id: string,
  title: string,
  members: optionalNumber,
  spaces: optionalNumber,
  createdAt: optionalText,
  permissions,
});
