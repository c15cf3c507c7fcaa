// Responses of a forge that do not end.
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Readable } from 'node:stream';
import { createGzip } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { openForge } from '../../src/forge/open-forge.ts';
import { pickCases } from '../support/campaign.ts';
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
  const server = createServer((_, response) => send(response));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
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
