/** Forge, state file and sender of commit statuses, for tests. */
import { WakeUpSignal } from '../../../src/core/clock.ts';
import type { CommitStatuses, Deployments } from '../../../src/forge/forge.ts';
import { changeProgress, supersede } from '../../../src/notify/status-progress.ts';
import { StatusRecords, type StatusRequest, StatusSender } from '../../../src/notify/status-sender.ts';
import type { StatusContent } from '../../../src/store/commit-statuses.ts';
import { openMemoryStore } from '../../../src/store/memory.ts';

/** Returns a commit id. */
export const commitOf = (number: number) => String(number).repeat(40).slice(0, 40);
const CONTEXT = 'octavo/org_1';

/** Forge and state file that survive kills of the sender. */
export class World {
  now = 1_000_000;
  readonly store = openMemoryStore();
  readonly shown = new Map<string, StatusContent['state']>();
  readonly descriptions = new Map<string, string>();
  readonly deployments: { commit: string; states: string[] }[] = [];
  readonly requests: string[] = [];
  readonly reported: StatusRequest[] = [];
  /** Called before (`false`) and after (`true`) each request takes effect; may throw. */
  fault: (name: string, isDone: boolean) => void = () => undefined;
  /** Called right before each request that changes something; may throw. */
  checkSend: () => void = () => undefined;
  /** Called for each wait of a sender that runs. */
  sleep: (milliseconds: number) => Promise<void> = () => Promise.resolve();
  readonly stopping = new AbortController();
  records = this.#openRecords();
  sender = this.#open();

  /** Starts again after a kill: everything in memory is gone. */
  restart(): void {
    this.records = this.#openRecords();
    this.sender = this.#open();
  }

  want(number: number, state: StatusContent['state'], description: string = state): Promise<void> {
    return this.records.change((records) => {
      const changed = changeProgress(records, {
        ...{ commit: commitOf(number), context: CONTEXT, progress: { state, description }, url: null },
        ...{ hasDeployments: true, now: this.now },
      });
      return changed === null ? [] : [changed];
    });
  }

  see(number: number): Promise<void> {
    return this.records.change((records) => supersede(records, commitOf(number), this.now));
  }

  /** Sends until nothing is left, and returns the number of requests. */
  async settle(): Promise<number> {
    const before = this.requests.length;
    for (let round = 0; round < 200; round += 1) {
      const wait = await this.sender.sendDue();
      if (wait === null) {
        return this.requests.length - before;
      }
      this.now += wait;
    }
    throw new Error('it does not settle');
  }

  #clock() {
    return { now: () => this.now, monotonic: () => this.now, sleep: (wait: number) => this.sleep(wait) };
  }

  #openRecords(): StatusRecords {
    const table = this.store.commitStatuses('org_1');
    const repeat = { clock: this.#clock(), signal: this.stopping.signal, onError: () => undefined };
    return new StatusRecords({ table, onChange: () => undefined, repeat });
  }

  #open(): StatusSender {
    return new StatusSender({
      ...{ records: this.records, forge: this.#forge(), environment: 'docs', wake: new WakeUpSignal() },
      clock: this.#clock(),
      random: () => 0.5,
      signal: this.stopping.signal,
      onRequest: (request) => this.reported.push(request),
      checkSend: () => this.checkSend(),
    });
  }

  #request<T>(name: string, effect: () => T): T {
    this.requests.push(name);
    this.fault(name, false);
    const answer = effect();
    this.fault(name, true);
    return answer;
  }

  #forge(): CommitStatuses {
    const deployments: Deployments = {
      createdState: null,
      create: async ({ commit }) =>
        this.#request(`create ${commit}`, () => String(this.deployments.push({ commit, states: [] }) - 1)),
      find: async ({ commit }) =>
        this.#request(`find ${commit}`, () => {
          const at = this.deployments.findLastIndex((each) => each.commit === commit);
          return at === -1 ? null : String(at);
        }),
      setState: async (id, state) =>
        this.#request(`deployment ${id} ${state}`, () => void this.deployments[Number(id)]?.states.push(state)),
    };
    return {
      ...{ label: 'Fake', maxDescription: 140, deployments },
      setStatus: async (commit, { state, description }) =>
        this.#request(`status ${commit} ${state}`, () => {
          this.shown.set(commit, state);
          this.descriptions.set(commit, description);
        }),
    };
  }
}
