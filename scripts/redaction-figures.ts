import { pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';
import { type Example, figuresOf, readCorpus, readExamples } from '../test/conversations/redact/corpus.ts';
import { FULL_SIZE, generateCorpus } from '../test/support/tickets/generate.ts';
import { type Finding, measure, type Share, touched } from '../test/support/tickets/measure.ts';

/**
 * Measures redaction: precision and recall per type on the corpus and on generated tickets, and the percentage of
 * technical texts that lose something. `--seed N` selects the generated tickets, `--misses` prints each error, and
 * `--details` lists the examples of the corpus with errors. `--texts FILE` measures only the texts of a file.
 */
const { values } = parseArgs({
  options: {
    seed: { type: 'string', default: '1' },
    misses: { type: 'boolean', default: false },
    details: { type: 'boolean', default: false },
    texts: { type: 'string' },
  },
});
const seed = Number(values.seed);

function print(title: string, head: readonly string[], rows: readonly (readonly (string | number)[])[]): void {
  const line = ([first = '', ...cells]: readonly (string | number)[]) =>
    `${String(first).padEnd(18)}${cells.map((cell) => String(cell).padStart(10)).join('')}`;
  process.stdout.write(`${[title, line(head), ...rows.map(line)].join('\n')}\n\n`);
}

function printExamples(name: string, corpus: readonly Example[]): void {
  const traps = corpus.filter(({ marks }) => marks.length === 0).length;
  const figures = figuresOf(corpus);
  print(
    `${name}: ${corpus.length} examples, ${traps} of them with nothing to remove`,
    ['type', 'marked', 'found', 'wrong', 'precision', 'recall'],
    figures.map(({ type, marked, found, wrong, precision, recall }) => [
      type,
      marked,
      found,
      wrong.length,
      precision.toFixed(3),
      recall.toFixed(3),
    ]),
  );
  if (values.details) {
    for (const { type, missed, wrong } of figures) {
      process.stdout.write(`${type}: missed ${missed.join(' ')}; wrong ${wrong.join(' ')}\n`);
    }
  }
}

const shareRows = (shares: readonly Share[]) =>
  shares.map(({ type, total, good }) => [type, total, good, (good / total).toFixed(4)]);

function quoteAll(title: string, findings: readonly Finding[]): void {
  if (values.misses) {
    const lines = findings.map(({ id, type, shown }) => `  ${type} ${id} ${shown}`).sort();
    process.stdout.write(`${[title, ...lines].join('\n')}\n\n`);
  }
}

function printGenerated(): void {
  const corpus = generateCorpus(seed, FULL_SIZE);
  const started = process.cpuUsage();
  for (const part of ['private', 'disguised'] as const) {
    const { recall, precision, missed, wrong } = measure(corpus[part]);
    const title = `Generated with seed ${seed}: ${corpus[part].length} ${part} tickets`;
    print(`${title}, by label`, ['label', 'values', 'found', 'recall'], shareRows(recall));
    print(`${title}, by removal`, ['type', 'removals', 'right', 'precision'], shareRows(precision));
    quoteAll('Missed:', missed);
    quoteAll('Wrong:', wrong);
  }
  for (const regions of ['one', 'sixteen'] as const) {
    const { share, findings } = touched(corpus.technical, regions);
    const title = `${(share * 100).toFixed(2)} % of ${corpus.technical.length} technical tickets touched (${regions} phone region${regions === 'one' ? '' : 's'})`;
    process.stdout.write(`${title}\n`);
    quoteAll('Touched:', findings);
  }
  const size = [...corpus.private, ...corpus.disguised, ...corpus.technical, ...corpus.technical]
    .map(({ text }) => text.length / 1024)
    .reduce((sum, next) => sum + next, 0);
  const { user, system } = process.cpuUsage(started);
  process.stdout.write(
    `\nProcessor time: ${((user + system) / 1000 / size).toFixed(3)} ms per 1,024 characters, ${Math.round(size)} times 1,024 in all\n`,
  );
}

if (values.texts === undefined) {
  printExamples('Corpus', readCorpus());
  printGenerated();
} else {
  printExamples(values.texts, readExamples(pathToFileURL(values.texts)));
}
