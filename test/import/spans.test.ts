import fc from 'fast-check';
import { expect, test } from 'vitest';
import { isMap, isSeq, parse, parseDocument, type YAMLMap, type YAMLSeq } from 'yaml';
import { applyEdits, itemSpans, ManifestText, removalAt } from '../../src/import/manifest-text.ts';

const BODIES = [
  (id: number) => `- id: ${id}\n`,
  (id: number) => `- { id: ${id}, text: "a # b" } # behind ${id}\n`,
  (id: number) => `- id: ${id} # behind ${id}\n  text: |\n    # no comment\n\n    one\n`,
  (id: number) => `- id: ${id}\n  list:\n    - 1 # inside ${id}\n    # at the end of ${id}\n`,
  (id: number) => `# above ${id}\n# above ${id} too\n- id: ${id}\n`,
];
const GAPS = ['', '\n', '\n# between\n\n'];
const items = fc.array(fc.tuple(fc.constantFrom(...BODIES), fc.constantFrom(...GAPS)), { minLength: 2, maxLength: 7 });
const indented = (text: string, by: string) => text.replace(/^(?=.)/gm, by);

function listIn(text: string) {
  const contents = parseDocument(text, { keepSourceTokens: true }).contents as YAMLMap.Parsed;
  const list = contents.items[0]?.value;
  if (!isMap(contents) || !isSeq(list)) {
    throw new Error('there is a list');
  }
  return { contents, list: list as YAMLSeq.Parsed };
}

/** Comments of an item, wherever they are. */
const own = (text: string, id: number) =>
  text.split('\n').filter((line) => new RegExp(`(above|behind|inside|end of) ${id}\\b`).test(line));

test('reorders items with their comments, and loses no line', () => {
  fc.assert(
    fc.property(items, fc.infiniteStream(fc.nat()), fc.boolean(), fc.boolean(), (drawn, keys, ends, windows) => {
      const unix = `list:\n${indented(drawn.map(([body, gap], id) => body(id) + gap).join(''), '  ')}rest: 1${ends ? '\n' : ''}`;
      const text = windows ? unix.replaceAll('\n', '\r\n') : unix;
      const ranks = drawn.map(() => keys.next().value as number);
      const order = ranks.map((_, index) => index).toSorted((a, b) => (ranks[a] ?? 0) - (ranks[b] ?? 0));
      const pieces = itemSpans(text, listIn(text).list) ?? [];
      const after = applyEdits(text, [], [{ pieces, order }]);
      expect((parse(after) as { list: { id: number }[] }).list.map(({ id }) => id)).toEqual(order);
      expect(after.split('\n').toSorted()).toEqual(text.split('\n').toSorted());
      for (const id of order) {
        expect(own(after, id)).toEqual(own(text, id));
      }
      expect(applyEdits(text, [], [{ pieces, order: order.toSorted((a, b) => a - b) }])).toBe(text);
    }),
  );
});

test('removes an item with its own comments, and nothing else', () => {
  fc.assert(
    fc.property(items, fc.nat(), (drawn, at) => {
      const text = `list:\n${indented(drawn.map(([body, gap], id) => body(id) + gap).join(''), '  ')}rest: 1\n`;
      const { list } = listIn(text);
      const gone = at % drawn.length;
      const edit = removalAt(new ManifestText(text), list.items[gone]?.range[0] ?? -1);
      const after = applyEdits(text, edit === null ? [] : [edit], []);
      const kept = drawn.map((_, id) => id).filter((id) => id !== gone);
      expect((parse(after) as { list: { id: number }[] }).list.map(({ id }) => id)).toEqual(kept);
      expect(own(after, gone)).toEqual([]);
      for (const id of kept) {
        expect(own(after, id)).toEqual(own(text, id));
      }
      expect(after.match(/# between/g)).toEqual(text.match(/# between/g));
    }),
  );
});
