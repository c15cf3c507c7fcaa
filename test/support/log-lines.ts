/** Destination of a logger that keeps the lines. */
import { Writable } from 'node:stream';
import type { LogLine } from './octavo-process.ts';

export function keepLines(lines: LogLine[]): Writable {
  return new Writable({
    write: (chunk, _encoding, done) => {
      lines.push(JSON.parse(String(chunk)) as LogLine);
      done();
    },
  });
}
