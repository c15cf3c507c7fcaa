import { AuthError, RejectedError } from '../core/errors.ts';
import type { Reader } from './client.ts';
import { operations } from './operations/index.ts';

/** What a platform answers where it has no such operation; nothing else means so. */
const NOT_THERE: readonly number[] = [404, 405, 410];

/** Whether an error says that there is no such operation, or no such thing. */
export function saysNotThere(error: unknown): error is RejectedError {
  return error instanceof RejectedError && NOT_THERE.includes(error.status);
}

/**
 * Detects whether a platform has conversations and clusters, or context records and topics of sites in their place. It
 * requests the list of clusters once and keeps the result until `forget`: the list may be missing for another reason.
 * Source: docs/platform-notes.md#changes-by-version
 */
export class ConversationsProbe {
  #asked: Promise<boolean> | null = null;

  /** Throws AppError where no answer came. */
  async has(reader: Reader, signal?: AbortSignal): Promise<boolean> {
    this.#asked ??= ask(reader, signal);
    try {
      return await this.#asked;
    } catch (error) {
      this.#asked = null;
      throw error;
    }
  }

  /** What was found out may hold no more. */
  forget(): void {
    this.#asked = null;
  }
}

async function ask(reader: Reader, signal: AbortSignal | undefined): Promise<boolean> {
  try {
    const call = signal === undefined ? {} : { signal };
    await reader.get(operations.listConversationClusters, { query: { limit: 1 } }, call);
    return true;
  } catch (error) {
    if (saysNotThere(error)) {
      return false;
    }
    // Whoever may not read them may still be allowed to send them; what is refused is there.
    if (error instanceof RejectedError || error instanceof AuthError) {
      return true;
    }
    throw error;
  }
}
