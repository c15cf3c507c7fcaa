/** Answers a second click like the first one, so that an action is carried out once. */
import type { Clock } from '../../core/clock.ts';
import type { JsonObject } from '../../core/json.ts';
import type { Actor } from '../../store/history.ts';
import type { FormFields } from './action-fields.ts';

/** Milliseconds in which the same request again, such as a second click, gets the answer of the first one. */
const SAME_CLICK = 10_000;

interface LastAction {
  readonly key: string;
  readonly at: number;
  readonly answer: Promise<JsonObject>;
}

export class RepeatedActions {
  readonly #clock: Pick<Clock, 'monotonic'>;
  /** Last action by person and subject. */
  readonly #last = new Map<string, LastAction>();

  constructor(clock: Pick<Clock, 'monotonic'>) {
    this.#clock = clock;
  }

  /** Carries out an action on a subject, such as an organization; of two equal ones in a row, only the first. */
  async once(by: Actor, subject: string, fields: FormFields, work: () => Promise<JsonObject>): Promise<JsonObject> {
    const person = JSON.stringify([by.method, by.name, subject]);
    const key = JSON.stringify(Object.entries(fields).toSorted());
    const last = this.#last.get(person);
    if (last?.key === key && this.#clock.monotonic() - last.at < SAME_CLICK) {
      return last.answer;
    }
    const answer = work();
    this.#last.set(person, { key, at: this.#clock.monotonic(), answer });
    answer.catch(() => this.#last.delete(person));
    for (const [each, { at }] of this.#last) {
      if (this.#clock.monotonic() - at >= SAME_CLICK) {
        this.#last.delete(each);
      }
    }
    return answer;
  }
}
