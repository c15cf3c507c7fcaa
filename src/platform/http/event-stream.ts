import { createParser } from 'eventsource-parser';
import { NotThePlatformError, TransientError } from '../../core/errors.ts';

/** Data of the last event. Source: docs/platform-notes.md#ask */
const END = 'done';

/**
 * The events of a stream, read as JSON, up to the one that says `done`; what comes after it is not waited for. `name`
 * is the operation's. Throws NotThePlatformError for an event that is no JSON, and TransientError where the stream ends
 * before it was done.
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

/** A last event counts also where no blank line ends it. */
async function* closed(chunks: AsyncIterable<string>): AsyncGenerator<string> {
  yield* chunks;
  yield '\n\n';
}

/** Events are lines here, whether or not blank lines part them: a JSON text of the platform has no line break in it. */
function linesOf(data: string): string[] {
  return data
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');
}

function parseEvent(name: string, text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new NotThePlatformError(`${name}: the platform sent an event that is not JSON`, { cause: error });
  }
}
