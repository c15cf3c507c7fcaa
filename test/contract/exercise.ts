/** Calls every operation of the client and records the exchanges. */
import { OPERATIONS } from '../../src/emulator/families.ts';
import type { Writer } from '../../src/platform/client.ts';
import { operations } from '../../src/platform/operations/index.ts';
import type { AnyInput, Operation } from '../../src/platform/operations/model/operation.ts';
import { organizationCases } from './cases-organization.ts';
import { conversationCases, integrationCases } from './cases-others.ts';
import { commentCasesOfBoth, requestCases } from './cases-requests.ts';
import { siteCases } from './cases-sites.ts';
import { spaceCases } from './cases-spaces.ts';
import { signature } from './documented-operations.ts';
import type { Case, Cases, Stage } from './operation-world.ts';

/** Every operation of the client. A missing one is a type error, and fails the coverage test. */
export const cases: Cases = {
  ...organizationCases,
  ...spaceCases,
  ...commentCasesOfBoth,
  ...requestCases,
  ...siteCases,
  ...integrationCases,
  ...conversationCases,
};

/** Result of one call, and the exchange that the platform received. */
export interface Outcome {
  readonly value?: unknown;
  readonly error?: unknown;
  /** The answers: operation as method and path, and status. */
  readonly answers: readonly { readonly operation: string; readonly status: number | null }[];
}

/** Results of both calls of an operation. */
export interface Exercise {
  readonly operation: Operation;
  readonly good: Outcome;
  readonly bad: Outcome;
  readonly case: Case<Operation>;
}

const signatures = new Map(
  OPERATIONS.map((operation) => [operation.name, signature(operation.method, `/v1${operation.path}`)]),
);

/** Operations of the embedded platform, as method and path. */
export const emulated: readonly string[] = [...signatures.values()];

/** Makes the call for any type of operation. */
export function call(writer: Writer, operation: Operation, input: AnyInput): Promise<unknown> {
  const { get, send, stream } = writer as unknown as Record<
    'get' | 'send' | 'stream',
    (operation: Operation, input: AnyInput) => Promise<unknown>
  >;
  if (operation.streamed) {
    return Array.fromAsync(stream(operation, input) as unknown as AsyncIterable<unknown>);
  }
  return operation.method === 'GET' ? get(operation, input) : send(operation, input);
}

/** Calls every operation, with a valid and an invalid call, each on a platform in its initial or final state. */
export async function exerciseAll(stage: Stage): Promise<readonly Exercise[]> {
  const { emulator, ids } = stage;
  const state = emulator.state();
  const attempt = async (writer: Writer, operation: Operation, input: AnyInput): Promise<Outcome> => {
    emulator.restore(state);
    emulator.requests.reset();
    const outcome = await call(writer, operation, input).then(
      (value) => ({ value }),
      (error: unknown) => ({ error }),
    );
    const answers = emulator.requests.entries.map((entry) => ({
      operation: signatures.get(entry.operation) ?? entry.operation,
      status: entry.status,
    }));
    return { ...outcome, answers };
  };
  const done: Exercise[] = [];
  for (const operation of Object.values(operations) as readonly Operation[]) {
    const made = cases[operation.name as keyof Cases] as unknown as Case<Operation> | undefined;
    if (made !== undefined) {
      const input = made.good(ids) as AnyInput;
      const [last = ''] = /\w+(?=\}[^{}]*$)/.exec(operation.path) ?? [];
      const missing = { ...input, path: { ...input.path, [last]: 'none' } };
      const good = await attempt(stage.as(made.goodBy ?? 'admin'), operation, input);
      const bad = await attempt(stage.as(made.badBy ?? 'admin'), operation, (made.bad?.(ids) as AnyInput) ?? missing);
      done.push({ operation, good, bad, case: made });
    }
  }
  emulator.restore(state);
  return done;
}
