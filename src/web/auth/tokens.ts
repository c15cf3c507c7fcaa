/** Tokens of people and programs. The configuration has only their hashes. */
import { createHash, timingSafeEqual } from 'node:crypto';
import type { UiConfig } from '../../config/ui.ts';

export type PageToken = UiConfig['tokens'][number];

/** Returns the entry of a token; null if there is none. Takes the same time whichever entry it is. */
export function findToken(tokens: readonly PageToken[], token: string): PageToken | null {
  const hash = createHash('sha256').update(token).digest();
  return tokens.filter(({ sha256 }) => timingSafeEqual(Buffer.from(sha256, 'hex'), hash)).at(0) ?? null;
}

/** Returns the token of an `Authorization: Bearer` header; null for any other header. */
export function bearerOf(header: string | undefined): string | null {
  return /^Bearer +(\S+) *$/i.exec(header ?? '')?.[1] ?? null;
}
