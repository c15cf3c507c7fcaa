/** Runs cases one after the other, each in an empty folder of its own; a case that fails does not stop the others. */
import { mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { Conditions, Figure, Kind } from './figures.ts';
import type { Installed } from './install.ts';

/** Milliseconds after which a case fails. */
const TIME_LIMIT = 30 * 60_000;

/** One or more figures that are measured together. */
export interface Case {
  readonly name: string;
  /** Sentence for `--list`. */
  readonly title: string;
  /** Takes minutes, and runs only with `--full` or by its name. */
  readonly long?: boolean;
  measure(context: CaseContext): Promise<void>;
}

/** Resources of one case. */
export interface CaseContext {
  /** Empty when the case starts, and removed when it ends. */
  readonly folder: string;
  readonly installed: Installed;
  readonly runs: number;
  /** Aborted when the case ends; all its processes then end, too. */
  readonly signal: AbortSignal;
  /** Waits for something, such as the exit of a process, before the folder is removed. */
  atEnd(work: Promise<unknown>): void;
  record(name: string, kind: Kind, samples: readonly number[] | number, goal?: number | null): void;
}

export interface CaseResult {
  readonly name: string;
  readonly status: 'measured' | 'failed' | 'interrupted' | 'not run';
  readonly error: string | null;
  readonly conditions: Conditions;
  readonly figures: readonly Figure[];
}

export interface RunOptions {
  readonly installed: Installed;
  readonly runs: number;
  /** The folders of the cases are created in it. */
  readonly folder: string;
  readonly interrupt: AbortSignal;
  /** Milliseconds after which a case fails; half an hour by default. */
  readonly timeLimit?: number;
  /** Starts to watch the machine; the function that it returns reports the conditions since then. */
  watch(): () => Conditions;
  /** Called after every case, with all results so far. */
  save(results: readonly CaseResult[]): void;
}

export async function runCases(cases: readonly Case[], options: RunOptions): Promise<readonly CaseResult[]> {
  const results: CaseResult[] = [];
  const pending = cases.map(({ name }) => notRun(name));
  for (const each of cases) {
    if (options.interrupt.aborted) {
      break;
    }
    results.push(await runCase(each, options));
    options.save([...results, ...pending.slice(results.length)]);
  }
  return [...results, ...pending.slice(results.length)];
}

function notRun(name: string): CaseResult {
  return { name, status: 'not run', error: null, conditions: { load: 0, othersCores: 0 }, figures: [] };
}

async function runCase(each: Case, options: RunOptions): Promise<CaseResult> {
  const { installed, runs, interrupt, timeLimit = TIME_LIMIT } = options;
  const folder = mkdtempSync(join(options.folder, `${each.name}-`));
  const end = new AbortController();
  const signal = AbortSignal.any([interrupt, end.signal]);
  const ending: Promise<unknown>[] = [];
  const figures: Figure[] = [];
  const stopped = new Promise<never>((_resolve, reject) => {
    interrupt.addEventListener('abort', () => reject(new Error('interrupted')), { once: true, signal: end.signal });
    setTimeout(() => reject(new Error(`took longer than ${timeLimit / 60_000} minutes`)), timeLimit).unref();
  });
  const context: CaseContext = {
    folder,
    installed,
    runs,
    signal,
    atEnd: (work) => void ending.push(work),
    record(name, kind, samples, goal = null) {
      figures.push({ name, kind, samples: typeof samples === 'number' ? [samples] : samples, goal });
    },
  };
  const conditions = options.watch();
  let error: unknown = null;
  try {
    await Promise.race([each.measure(context), stopped]);
  } catch (cause) {
    error = cause;
  }
  const status = interrupt.aborted ? 'interrupted' : error === null ? 'measured' : 'failed';
  end.abort();
  await Promise.allSettled(ending);
  rmSync(folder, { recursive: true, force: true });
  const message = status === 'failed' ? String(error instanceof Error ? error.message : error) : null;
  return { name: each.name, status, error: message, conditions: conditions(), figures };
}
