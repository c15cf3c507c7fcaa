import type { ConversationsConfig } from '../../config/conversations.ts';
import type { Ticket } from '../model/ticket.ts';
import { redactionOptions } from './options.ts';
import { createConversationRedactor } from './redactor.ts';

/** Redaction of single texts and URLs that the platform has derived from tickets. */
export interface TextRedaction {
  /** Version of the rules and the options. */
  readonly version: string;
  text(text: string): string;
  /** Returns the URL, or null if it contains private data, because a redacted URL would not work. */
  url(url: string): string | null;
}

/** Creates the redaction for the settings of an organization. Throws ConfigError for an invalid pattern. */
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
