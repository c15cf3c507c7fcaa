/** One run of the campaign: random steps of people and of the store, then rest, and everything that must hold then. */
import { expect } from 'vitest';
import type { SqlDatabase } from '../../../src/store/sql/database.ts';
import { createDice, type Dice } from '../../fleet/fault-schedule.ts';
import type { StoreFate } from '../../support/store-faults.ts';
import { FailingDaemon } from './failing-daemon.ts';
import { findWrong } from './final-state.ts';

const SECOND = 1000;
const MINUTE = 60 * SECOND;
/** Steps of a run, and the virtual time in which everything has to recover. */
const STEPS = 10;
const RECOVERY = 45 * MINUTE;
/** Minutes after which messages, conditions and statuses have to be complete. */
const SETTLING = 30;
/** Percent of the operations that fail in a phase. */
const LEVELS = [0, 10, 30, 60, 100] as const;
const BROKEN = 'teams:\n  writers: { titel: Writers }\n';

export class CampaignRun {
  readonly #daemon: FailingDaemon;
  readonly #dice: Dice;
  #level = 0;
  #teams: readonly string[] = [];
  #numbers = 0;
  readonly #tickets: string[] = [];
  /** Tickets that the webhook has not accepted yet. */
  #refused: readonly string[] = [];
  #isBroken = false;
  #commit = '';

  private constructor(daemon: FailingDaemon, seed: number) {
    this.#daemon = daemon;
    this.#dice = createDice(seed);
  }

  /** Runs a seed. Rejects with the story of the run if something is wrong at the end. */
  static async run(seed: number, openDatabase?: (folder: string) => SqlDatabase): Promise<void> {
    await using daemon = await FailingDaemon.open(openDatabase);
    const rejections: unknown[] = [];
    const onRejection = (reason: unknown) => rejections.push(reason);
    process.on('unhandledRejection', onRejection);
    try {
      await new CampaignRun(daemon, seed).#go();
      await new Promise((resolve) => setImmediate(resolve));
      expect(rejections).toEqual([]);
    } catch (error) {
      const story = [`seed ${seed}`, ...daemon.log].join('\n');
      throw new Error(`${(error as Error).message}\n${story}`, { cause: error });
    } finally {
      process.off('unhandledRejection', onRejection);
    }
  }

  async #go(): Promise<void> {
    const daemon = this.#daemon;
    daemon.fate = (operation) => this.#fate(operation);
    this.#addTeams();
    this.#level = this.#pick(LEVELS);
    for (let step = 0; step < STEPS; step += 1) {
      await this.#step();
    }
    this.#tell('the store works again');
    this.#level = 0;
    if (this.#isBroken) {
      this.#addTeams();
    }
    await this.#start();
    await this.#recover('everything is done');
    // Still alive: what is new is carried out.
    this.#addTeams();
    this.#addTicket();
    await this.#recover('what is new is done', 5 * MINUTE);
    await this.#settle();
    await daemon.stop();
  }

  /** Waits until nothing is wrong, and left over, any more. */
  async #settle(): Promise<void> {
    const find = () => findWrong(this.#daemon, { teams: this.#numbers, tickets: this.#tickets });
    let wrong = await find();
    for (let minutes = 0; wrong.length > 0 && minutes < SETTLING; minutes += 1) {
      await this.#daemon.clock.advance(MINUTE);
      wrong = await find();
    }
    if (wrong.length > 0) {
      throw new Error(wrong.join('\n'));
    }
  }

  #fate(operation: 'read' | 'write'): StoreFate {
    if (this.#dice(100) >= this.#level) {
      return 'works';
    }
    return operation === 'write' && this.#dice(2) === 0 ? 'lost' : 'refused';
  }

  #pick<T>(list: readonly T[]): T {
    return list[this.#dice(list.length)] as T;
  }

  #tell(what: string): void {
    this.#daemon.tell(`===== ${what} (${this.#level} % fail)`);
  }

  async #start(): Promise<void> {
    const daemon = this.#daemon;
    for (let attempt = 0; !daemon.isRunning && attempt < 3; attempt += 1) {
      await daemon
        .start(() => this.#dice(1000) / 1000)
        .catch((error: unknown) => {
          this.#tell(`does not start: ${(error as Error).message}`);
          expect(this.#level, (error as Error).stack).toBeGreaterThan(0);
        });
    }
  }

  async #step(): Promise<void> {
    const daemon = this.#daemon;
    await this.#start();
    switch (this.#dice(8)) {
      case 0:
      case 1:
        this.#addTeams();
        break;
      case 2:
        this.#isBroken = true;
        daemon.commit(BROKEN, 'A mistake');
        this.#tell('a mistake');
        break;
      case 3:
      case 4:
        this.#addTicket();
        break;
      case 5:
        if (daemon.isRunning && this.#dice(3) === 0) {
          this.#tell('stop');
          await daemon.stop();
        }
        break;
      default:
        this.#level = this.#pick(LEVELS);
        this.#tell('another level');
    }
    await this.#deliverRefused();
    await daemon.clock.advance(this.#pick([SECOND, 10 * SECOND, 40 * SECOND, 3 * MINUTE]));
  }

  /** Declares new teams, and removes one of the others. */
  #addTeams(): void {
    const kept = this.#dice(3) === 0 ? this.#teams.slice(1) : this.#teams;
    const added = Array.from({ length: 1 + this.#dice(3) }, () => `Team${this.#next()}`);
    this.#teams = [...kept, ...added];
    this.#isBroken = false;
    const lines = this.#teams.map((title) => `  ${title.toLowerCase()}: { title: ${title} }\n`);
    this.#commit = this.#daemon.commit(`teams:\n${lines.join('')}`, `Teams ${this.#numbers}`);
    this.#tell(`teams ${this.#teams.join()} in ${this.#commit.slice(0, 7)}`);
  }

  #addTicket(): void {
    const ids = Array.from({ length: 1 + this.#dice(3) }, () => `t${this.#next()}`);
    this.#tickets.push(...ids);
    if (this.#dice(2) === 0) {
      this.#tell(`drop ${ids.join()}`);
      this.#daemon.drop(ids);
    } else {
      this.#tell(`deliver ${ids.join()}`);
      this.#refused = [...this.#refused, ...ids];
    }
  }

  #next(): number {
    this.#numbers += 1;
    return this.#numbers;
  }

  /** Delivers what the webhook has refused, as its sender does. */
  async #deliverRefused(): Promise<void> {
    const refused: string[] = [];
    for (const id of this.#daemon.isRunning ? this.#refused : []) {
      if (!(await this.#daemon.deliver(id))) {
        refused.push(id);
      }
    }
    this.#refused = this.#daemon.isRunning ? refused : this.#refused;
  }

  /** Waits until everything is as people want it. */
  async #recover(what: string, limit = RECOVERY): Promise<void> {
    const { clock } = this.#daemon;
    const until = clock.monotonic() + limit;
    let missing = 'nothing was checked';
    while (clock.monotonic() < until) {
      await this.#deliverRefused();
      await clock.advance(10 * SECOND);
      missing = this.#missing();
      if (missing === '') {
        this.#tell(what);
        return;
      }
    }
    throw new Error(`not within ${limit / MINUTE} min: ${what}; ${missing}`);
  }

  /** Returns what is not yet as people want it. */
  #missing(): string {
    const { work, conversations, dropped, forge } = this.#daemon;
    const teams = work.teams();
    const wanted = [...this.#teams].sort();
    const status = forge.of(this.#commit).at(-1) ?? 'none';
    return [
      teams.join() === wanted.join() ? '' : `teams are ${teams.join()}, not ${wanted.join()}`,
      this.#tickets.every((id) => conversations.has(id)) ? '' : `conversations are ${[...conversations.keys()].join()}`,
      dropped.length === 0 ? '' : `files are left: ${dropped.join()}`,
      status.startsWith('success') ? '' : `the status of ${this.#commit.slice(0, 7)} is ${status}`,
    ]
      .filter((text) => text !== '')
      .join('; ');
  }
}
