/** Credential names of one language, and the words that link them to a value. */
export interface CredentialLanguage {
  readonly language: string;
  /** Alternatives are separated by `|`. A trailing star marks a stem: up to six letters of inflection may follow. */
  readonly password: string;
  /** Names of short numeric codes. */
  readonly pin?: string;
  /** Names of keys, tokens and secrets. */
  readonly token?: string;
  /** Forms of "is" between a name and its value. */
  readonly is?: string;
  /** Possessives that may follow the name: "kata sandi saya". */
  readonly possessives?: string;
}
