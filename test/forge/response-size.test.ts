// Responses of a forge that do not end.

import type { ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { createGzip } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { openForge } from '../../src/forge/open-forge.ts';
import { pickCases } from '../support/campaign.ts';
import { serveLocally } from '../support/local-server.ts';
import { FORGES, pullAt } from './samples.ts';

const CHUNK = Buffer.alloc(1024 * 1024, ' ');

function* endless() {
  for (;;) {
    yield CHUNK;
  }
}

/** Responds to each request with a body without an end. */
async function startEndless(isCompressed: boolean) {
  const send = (response: ServerResponse) => {
    response.writeHead(200, {
      'content-type': 'application/json',
      ...(isCompressed && { 'content-encoding': 'gzip' }),
    });
    const body = Readable.from(endless());
    const sent = isCompressed ? body.pipe(createGzip()).pipe(response) : body.pipe(response);
    response.on('close', () => body.destroy());
    sent.on('error', () => body.destroy());
  };
  return serveLocally((_, response) => send(response));
}

// All forges read responses with the same function.
describe.each(pickCases(FORGES, 1))('$name', ({ name, repository }) => {
  test.each([
    ['plain', false],
    ['compressed', true],
  ])('a response without an end is an error at 64 MiB: %s', async (_, isCompressed) => {
    await using server = await startEndless(isCompressed);
    const pull = pullAt({ apiUrl: server.url }, name, repository);
    const forge = openForge(pull, 'token', new AbortController().signal, 'octavo/0');
    await expect(forge?.create('text')).rejects.toMatchObject({
      code: 'not-the-platform',
      message: expect.stringMatching(/^\w+ was asked to .+: the response is larger than 64 MiB; /),
    });
  });
});
