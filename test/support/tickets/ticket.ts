/** A generated ticket: its text with labels, its people, and the regions that its organization has configured. */
import type { CountryCode } from 'libphonenumber-js';
import type { Person } from '../../../src/conversations/model/ticket.ts';
import type { Fragment } from './marked-text.ts';

export interface GeneratedTicket {
  readonly fragment: Fragment;
  readonly people: readonly Person[];
  readonly region: CountryCode;
  /** True if the organization has sixteen regions; otherwise it has the region alone. */
  readonly manyRegions: boolean;
}
