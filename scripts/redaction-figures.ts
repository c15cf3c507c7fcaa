import { figuresOf, readCorpus } from '../test/conversations/redact/corpus.ts';

/** Prints how well redaction does on the corpus: precision and recall per type. */
const corpus = readCorpus();
const traps = corpus.filter(({ marks }) => marks.length === 0).length;
const rows = figuresOf(corpus).map(({ type, marked, found, wrong, precision, recall }) =>
  [type.padEnd(8), marked, found, wrong.length, precision.toFixed(3), recall.toFixed(3)]
    .map((cell) => String(cell).padStart(10))
    .join(''),
);
const head = ['type    ', 'marked', 'found', 'wrong', 'precision', 'recall'].map((cell) => cell.padStart(10)).join('');
process.stdout.write(
  `${[`${corpus.length} examples, ${traps} of them with nothing to take out`, '', head, ...rows].join('\n')}\n`,
);
if (process.argv.includes('--details')) {
  for (const { type, missed, wrong } of figuresOf(corpus)) {
    process.stdout.write(`${type}: missed ${missed.join(' ')}; wrong ${wrong.join(' ')}\n`);
  }
}
