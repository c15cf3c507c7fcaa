import { expect, test } from 'vitest';
import { pdf } from '../../src/emulator/content/operations.ts';
import { startSpace } from './fixture.ts';

/* Downloads that the API links to: files, and change requests as PDF. */

/** Objects in the file's table, as a PDF reader finds them. */
function objectsOf(file: Buffer): string[] {
  const all = file.toString('latin1');
  expect(all.startsWith('%PDF-1.4\n')).toBe(true);
  expect(all.endsWith('%%EOF\n')).toBe(true);
  const start = Number(/startxref\n(\d+)\n%%EOF\n$/.exec(all)?.[1]);
  const [, size = '', rows = ''] =
    /^xref\n0 (\d+)\n0{10} 65535 f \n((?:\d{10} 00000 n \n)+)trailer/.exec(all.slice(start)) ?? [];
  const offsets = rows.match(/\d{10}(?= 00000)/g)?.map(Number) ?? [];
  expect(offsets).toHaveLength(Number(size) - 1);
  return offsets.map((offset, index) => {
    const [object = '', number] = /^(\d+) 0 obj\n[\s\S]*?\nendobj/.exec(all.slice(offset)) ?? [];
    expect(number).toBe(String(index + 1));
    return object;
  });
}

/** Text of its pages, line by line. */
const shown = (file: Buffer) =>
  objectsOf(file).flatMap((object) => [...object.matchAll(/\(((?:\\.|[^\\)])*)\) Tj/g)].map((match) => match[1]));

test('writes a PDF with a correct cross-reference table and stream lengths', () => {
  const lines = Array.from({ length: 120 }, (_, at) => `line ${at}`);
  const objects = objectsOf(pdf(lines));
  expect(objects[1]).toContain('/Count 1');
  expect(objects[2]).toContain('/MediaBox [0 0 180 1780]');
  expect(shown(pdf(lines))).toEqual(lines);
  const [stream = ''] = objects.filter((one) => one.includes('stream'));
  const [, length, content = ''] = /\/Length (\d+) >>\nstream\n([\s\S]*)\nendstream/.exec(stream) ?? [];
  expect(content).toHaveLength(Number(length));
});

test.each([
  ['an empty line', '', ''],
  ['brackets and backslashes', 'a (b) \\c', 'a \\(b\\) \\\\c'],
  ['characters outside Latin-1 as question marks', 'é – “x” € 漢 💥', 'é ? ?x? ? ? ?'],
])('prints %s', (_, line, expected) => {
  expect(shown(pdf([line]))).toEqual([expected]);
});

test('prints all pages of a change request, one page with its child pages, or one page alone', async () => {
  const { emulator, space, at, call } = await startSpace();
  const pages = emulator.writePages(space, [
    { title: 'Guide', path: 'guide', body: '# Top\n\nSee **this** [link](x).\n\n| a | b |\n|---|---|\n| 1 | 2 |' },
    { title: 'Below', path: 'guide/below', body: '{% include "Note" %}' },
    { title: 'Else', path: 'else', body: '```\ncode\n```' },
    { title: 'Guides', path: 'guides', body: '- item' },
  ]);
  await call('POST', `/spaces/${space}/change-requests`, { subject: 's' });
  const note = { reusableContents: [{ title: 'Note', body: 'From <code class="expression">space.vars.v</code>.' }] };
  emulator.writeContent(space, { ...note, variables: { v: 'here' } }, { changeRequest: '1' });
  const print = async (query = '') => {
    const response = await fetch((await at('GET', `/change-requests/1/pdf${query}`)).url);
    expect(response.headers.get('content-type')).toBe('application/pdf');
    return shown(Buffer.from(await response.arrayBuffer())).filter((line) => line !== '');
  };
  const guide = ['Guide', 'Top', 'See this link.', 'a | b', '1 | 2'];
  expect(await print()).toEqual([...guide, 'Below', 'From here.', 'Else', 'code', 'Guides', 'item']);
  expect(await print(`?page=${pages[0]}`)).toEqual([...guide, 'Below', 'From here.']);
  expect(await print(`?page=${pages[0]}&only=true`)).toEqual(guide);
});

test('serves a PDF for an hour, without a token', async () => {
  const { space, at, call, clock } = await startSpace();
  await call('POST', `/spaces/${space}/change-requests`, { subject: 's' });
  const { url } = await at('GET', '/change-requests/1/pdf');
  clock.advance(3_599_999);
  expect((await fetch(url)).status).toBe(200);
  clock.advance(1);
  const late = await fetch(url);
  expect(late.status).toBe(404);
  expect(await late.json()).toEqual({ error: { code: 404, message: 'This address has expired' } });
});

test('serves files at their download address, also in the version of a change request', async () => {
  const { emulator, space, at, call } = await startSpace();
  const bytes = Buffer.from([0, 255, 128]);
  emulator.writeContent(space, { files: [{ name: 'a.bin', data: bytes.toString('base64') }] });
  await call('POST', `/spaces/${space}/change-requests`, { subject: 's' });
  emulator.writeContent(
    space,
    { files: [{ name: 'a.bin', text: 'new', contentType: 'text/x-new' }] },
    { changeRequest: '1' },
  );
  const read = async (path: string) => {
    const [file] = (await at('GET', path)).items;
    const response = await fetch(file.downloadURL);
    return [response.headers.get('content-type'), Buffer.from(await response.arrayBuffer()), file.size];
  };
  expect(await read('/content/files')).toEqual(['application/octet-stream', bytes, 3]);
  expect(await read('/change-requests/1/content/files')).toEqual(['text/x-new', Buffer.from('new'), 3]);
  expect((await fetch(`${emulator.url}/app/files/${space}/none/x`)).status).toBe(404);
  expect((await fetch(`${emulator.url}/app/s/${space}`)).status).toBe(404);
  expect((await fetch(`${emulator.url}/app/s/${space}`, { method: 'POST' })).status).toBe(404);
});
