/** Phrases of support tickets in the languages of the generator, and wordings of credentials in many languages. */
import words from './credential-words.json' with { type: 'json' };
import phrases from './phrases.json' with { type: 'json' };

/** Alternatives of each phrase. */
export interface Language {
  readonly hello: readonly string[];
  readonly bye: readonly string[];
  /** Sentences that introduce the writer; `{}` is a name. */
  readonly intro: readonly string[];
  /** Sentences that mention a person; `{}` is a name. */
  readonly mention: readonly string[];
  /** Forms of address around a family name. */
  readonly title: readonly string[];
  readonly mail: readonly string[];
  readonly call: readonly string[];
  readonly name: readonly string[];
  readonly email: readonly string[];
  readonly phone: readonly string[];
  readonly address: readonly string[];
  readonly born: readonly string[];
  /** Labels of a forwarded mail: from, sent, to, subject. */
  readonly forward: readonly string[];
  /** Introduces a quoted mail; `{}` is its author. */
  readonly wrote: readonly string[];
  /** Sentences without private data. */
  readonly filler: readonly string[];
  /** Particles of family names; `{}` is the name. */
  readonly particles: readonly string[];
  /** Domains of providers of private mailboxes. */
  readonly providers: readonly string[];
}

/** Wordings of credentials in tickets. */
export interface CredentialWords {
  /** Labels of a password. */
  readonly password: readonly string[];
  /** Labels of a key or token. */
  readonly token: readonly string[];
  /** Sentences that contain a password; `{}` is the value. */
  readonly sentences: readonly string[];
  /** Sentences about passwords and keys without anything private. */
  readonly harmless: readonly string[];
}

export type LanguageCode = keyof typeof phrases;
export const LANGUAGES: Record<LanguageCode, Language> = phrases;
export const CREDENTIAL_WORDS: Readonly<Record<string, CredentialWords>> = words;
