import { createParser } from 'eventsource-parser';
import { NotThePlatformError, TransientError } from '../../core/errors.ts';
import { parseBounded } from '../../core/json.ts';

/** Data of the last event. Source: docs/platform-notes.md#ask */
const END = 'done';

/**
 * Reads the events of a stream as JSON, up to the event `done`, without waiting for more. `name` is that of the
 * operation. Throws NotThePlatformError for an event that is not JSON, and TransientError if the stream ends before
 * `done`.
 */
export async function* readEvents(name: string, chunks: AsyncIterable<string>): AsyncGenerator<unknown> {
  const found: string[] = [];
  const parser = createParser({ onEvent: ({ data }) => found.push(data) });
  for await (const chunk of closed(chunks)) {
    parser.feed(chunk);
    for (const text of found.splice(0).flatMap(linesOf)) {
      if (text === END) {
        return;
      }
      yield parseEvent(name, text);
    }
  }
  throw new TransientError(`${name}: the answer ended before it was complete`, true);
}

/** The last event is also read if no blank line follows it. */
async function* closed(chunks: AsyncIterable<string>): AsyncGenerator<string> {
  yield* chunks;
  yield '\n\n';
}

/** Reads each line as an event, with or without blank lines between them: the platform's JSON has no line breaks. */
function linesOf(data: string): string[] {
  return data
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');
}

function parseEvent(name: string, text: string): unknown {
  try {
    return parseBounded(text, `${name}: an event`);
  } catch (error) {
    if (error instanceof NotThePlatformError) {
      throw error;
    }
    throw new NotThePlatformError(`${name}: the platform sent an event that is not JSON`, { cause: error });
  }
}
