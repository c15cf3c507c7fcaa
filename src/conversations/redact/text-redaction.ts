import type { ConversationsConfig } from '../../config/conversations.ts';
import type { Ticket } from '../model/ticket.ts';
import { redactionOptions } from './options.ts';
import { createConversationRedactor } from './redactor.ts';

/** Redacts single texts and addresses, for what the platform has made of tickets. */
export interface TextRedaction {
  /** Changes with every change of the rules and the options. */
  readonly version: string;
  text(text: string): string;
  /** The address; null where it holds something private, as it leads nowhere without. */
  url(url: string): string | null;
}

/** The redaction that an organization configures. Throws ConfigError for a pattern that is none. */
export function createTextRedaction(settings: ConversationsConfig['redact']): TextRedaction {
  const { version, text, explain } = createConversationRedactor(redactionOptions(settings));
  const isPrivate = (url: string) => explain({ ...NOTHING, url }).some(({ spans }) => spans.length > 0);
  return {
    version,
    text: (value) => text(value),
    url: (url) => (isPrivate(url) || isPrivate(decoded(url)) ? null : url),
  };
}

const NOTHING: Ticket = {
  key: '',
  subject: '',
  createdAt: null,
  settledAt: null,
  url: null,
  attributes: {},
  parts: [],
  people: [],
  completeness: null,
};

function decoded(url: string): string {
  try {
    return decodeURIComponent(url);
  } catch {
    return url;
  }
}
