/** Shifts the wall clock of a process. It is loaded before the program, and its timers and monotonic clock are not shifted. */
const VARIABLE = 'OCTAVO_TEST_CLOCK_SHIFT';

/** Environment of a process whose wall clock is wrong by this many milliseconds. */
export function shiftClock(milliseconds: number): Readonly<Record<string, string>> {
  return { NODE_OPTIONS: `--import=${import.meta.url}`, [VARIABLE]: String(milliseconds) };
}

const shift = Number(process.env[VARIABLE] ?? 0);
if (shift !== 0) {
  const SystemDate = Date;
  globalThis.Date = class extends SystemDate {
    constructor(...given: readonly (number | string | Date)[]) {
      if (given.length === 0) {
        super(SystemDate.now() + shift);
      } else {
        super(...(given as [number]));
      }
    }
    static override now(): number {
      return SystemDate.now() + shift;
    }
  } as DateConstructor;
}
