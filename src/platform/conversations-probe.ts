/** Detection of conversations, which some versions of the platform lack. */
import { AuthError, RejectedError } from '../core/errors.ts';
import type { Reader } from './client.ts';
import { NOT_THERE } from './http/answers.ts';
import { operations } from './operations/index.ts';

/** Returns true if an error reports that an operation or a resource does not exist. */
export function isMissingOperation(error: unknown): error is RejectedError {
  return error instanceof RejectedError && NOT_THERE.includes(error.status);
}

/**
 * Detects whether a platform has conversations and clusters, or context records and topics of sites in their place. It
 * requests the list of clusters once and keeps the result until `forget`: the list may be missing for another reason.
 * Source: docs/platform-notes.md#changes-by-version
 */
export class ConversationsProbe {
  /** Number of results that were forgotten. */
  generation = 0;
  #asked: Promise<boolean> | null = null;

  /** Throws AppError if there is no response. */
  async has(reader: Reader, signal?: AbortSignal): Promise<boolean> {
    this.#asked ??= ask(reader, signal);
    try {
      return await this.#asked;
    } catch (error) {
      this.#asked = null;
      throw error;
    }
  }

  /** Forgets the result, which may be outdated, unless another caller has forgotten that of this generation. */
  forget(generation = this.generation): void {
    if (generation === this.generation) {
      this.generation += 1;
      this.#asked = null;
    }
  }
}

async function ask(reader: Reader, signal: AbortSignal | undefined): Promise<boolean> {
  try {
    const call = signal === undefined ? {} : { signal };
    await reader.get(operations.listConversationClusters, { query: { limit: 1 } }, call);
    return true;
  } catch (error) {
    if (isMissingOperation(error)) {
      return false;
    }
    // A token that may not read conversations may still send them. A refused operation exists.
    if (error instanceof RejectedError || error instanceof AuthError) {
      return true;
    }
    throw error;
  }
}
