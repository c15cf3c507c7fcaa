/** Kills processes at their writes and checks that another one recovers. */
import { cpSync, existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import type { EmulatorState, FaultRule } from '../../src/emulator/emulator.ts';
import { type RunningDaemon, startDaemonProcess } from '../daemon/daemon-process.ts';
import type { Death } from '../support/crashing-pass.ts';
import { addForeign } from '../support/foreign.ts';
import { OLDEST } from '../support/kind-samples.ts';
import { type Model, manifestsOf } from '../support/model.ts';
import { eventually, type OctavoProcess } from '../support/octavo-process.ts';
import { differences } from '../support/oracle.ts';
import { foreignRecords } from '../support/oracle-lookups.ts';
import { openWorkspace, type Workspace } from '../support/workspace.ts';
import { leftover, scenarioOf } from './scenario.ts';

const { nothing } = scenarioOf(OLDEST);

/** Nothing requires approval. */
const UNLIMITED = { organization: { requireApproval: [], limits: { maxDeletions: 1000, maxChangedPercent: 100 } } };

/** Initial state of a process: platform, repository and state file, as they were at the same moment. */
interface Beginning {
  readonly state: EmulatorState;
  readonly commit: string;
  /** Target of `refs/octavo/…/applied`; null if it does not exist. */
  readonly applied: string | null;
  /** A copy of the folder with the state file and the clones; null if there is none. */
  readonly folder: string | null;
  /** Number of writes from here when undisturbed. */
  readonly writes: number;
}

/** One program, on a machine of its own, that is killed repeatedly and always starts from the same state. */
export abstract class Victim implements AsyncDisposable {
  protected readonly work: Workspace;
  readonly #start: EmulatorState;
  #beginning: Beginning | null = null;
  #model: Model = nothing;

  constructor(work: Workspace) {
    this.work = work;
    this.#start = work.emulator.state();
  }

  /** Starts a process that applies the latest commit. */
  protected abstract begin(): Promise<OctavoProcess>;
  /** Runs a process until the commit is applied. */
  protected abstract finish(model: Model): Promise<void>;

  get writes(): number {
    return this.#beginning?.writes ?? 0;
  }

  /** Creates the initial state: all but the last model are applied in turn; the last is committed and not applied. */
  async prepare(models: readonly Model[]): Promise<void> {
    for (const [index, model] of models.entries()) {
      await this.rest();
      const commit = this.#commit(model);
      const applied = this.applied();
      const state = this.work.emulator.state();
      const folder = index === 0 ? null : this.#keep();
      const before = this.work.writes();
      await this.finish(model);
      this.#beginning = { state, commit, applied, folder, writes: this.work.writes() - before };
      this.#model = model;
      this.check(model);
    }
  }

  /** Kills a process at a write, and checks that another one recovers. */
  async dies(death: Death): Promise<void> {
    await this.rest();
    this.#restore();
    await this.#kill(death);
    await this.finish(this.#model);
    this.check(this.#model);
    await this.after();
  }

  /** Stops what is still running. */
  protected async rest(): Promise<void> {}

  /** Additional checks after the recovery. */
  protected async after(): Promise<void> {}

  async [Symbol.asyncDispose](): Promise<void> {
    await this.work[Symbol.asyncDispose]();
  }

  protected wrong(model: Model): string {
    const now = this.work.emulator.state();
    const touched =
      foreignRecords(this.#start, now) === foreignRecords(this.#start, this.#start) ? [] : ['others were touched'];
    return [...differences(model, this.#start, now), ...leftover(model, now), ...touched].join('\n');
  }

  protected check(model: Model): void {
    expect(this.wrong(model)).toBe('');
  }

  protected commitNothing(): void {
    this.#commit(nothing);
  }

  protected applied(): string | null {
    try {
      return this.work.repository.git('rev-parse', '--verify', '--quiet', this.#ref);
    } catch {
      return null;
    }
  }

  get #ref(): string {
    return `refs/octavo/${this.work.emulator.organization}/applied`;
  }

  async #kill({ write, when }: Death): Promise<void> {
    let victim: OctavoProcess | null = null;
    const match = { writes: true, nth: write };
    const kill: FaultRule = { match, fault: { kind: 'hook', when, run: () => victim?.child.kill('SIGKILL') } };
    this.work.emulator.setFaults([
      kill,
      { match, fault: { kind: when === 'before' ? 'reset-before' : 'reset-after' } },
    ]);
    victim = await this.begin();
    const { code } = await victim.ended;
    this.work.emulator.setFaults([]);
    // Null: ended by a signal.
    expect(code).toBe(null);
  }

  #commit(model: Model): string {
    const { repository } = this.work;
    for (const [path, text] of Object.entries(manifestsOf(model))) {
      repository.write(path, text);
    }
    if (model.organization === undefined && existsSync(join(repository.directory, 'organization.yaml'))) {
      rmSync(join(repository.directory, 'organization.yaml'));
    }
    return repository.commit('Next');
  }

  #keep(): string {
    const kept = join(this.work.folder, 'kept');
    if (existsSync(this.#folder)) {
      cpSync(this.#folder, kept, { recursive: true });
    }
    return kept;
  }

  #restore(): void {
    const { emulator, repository } = this.work;
    const beginning = this.#beginning as Beginning;
    emulator.restore(beginning.state);
    repository.git('reset', '--quiet', '--hard', beginning.commit);
    if (beginning.applied !== null) {
      repository.git('update-ref', this.#ref, beginning.applied);
    } else if (this.applied() !== null) {
      repository.git('update-ref', '-d', this.#ref);
    }
    rmSync(this.#folder, { recursive: true, force: true });
    if (beginning.folder !== null && existsSync(beginning.folder)) {
      cpSync(beginning.folder, this.#folder, { recursive: true });
    }
  }

  get #folder(): string {
    return join(this.work.folder, 'state');
  }
}

/** `octavo apply --record --base applied`. */
export class ApplyVictim extends Victim {
  protected async begin(): Promise<OctavoProcess> {
    const config = this.work.configure(UNLIMITED);
    return this.work.begin('apply', 'repository', '--record', '--base', 'applied', '--yes', '--config', config);
  }

  protected async finish(): Promise<void> {
    const { code, stderr } = await (await this.begin()).ended;
    expect(code, stderr).toBe(0);
  }

  protected override async after(): Promise<void> {
    // The ref points to the record, whose parent is the applied commit.
    const applied = this.work.repository.git('rev-parse', `${this.applied()}^`);
    expect(applied).toBe(this.work.repository.git('rev-parse', 'HEAD'));
    const config = this.work.configure(UNLIMITED);
    const flags = ['--base', 'applied', '--detailed-exitcode', '--config', config];
    const { code, stdout, stderr } = await this.work.inside(['plan', '.', ...flags]);
    expect(code, stdout + stderr).toBe(0);
  }
}

/** `octavo run`. */
export class DaemonVictim extends Victim {
  protected async begin(): Promise<OctavoProcess> {
    return this.work.begin('run', '--config', this.work.configure(UNLIMITED));
  }

  #daemon: RunningDaemon<OctavoProcess> | null = null;

  protected async finish(model: Model): Promise<void> {
    this.#daemon = await startDaemonProcess(this.work, UNLIMITED);
    await this.#until(model, this.#daemon.run);
    const { requests, outcome } = await this.#daemon.pass();
    expect([outcome, requests]).toMatchObject(['done', { writes: 0 }]);
  }

  protected override async rest(): Promise<void> {
    await this.#daemon?.run.stop();
    this.#daemon = null;
  }

  /** Everything that it created is owned: deleted when its declaration is removed. */
  protected override async after(): Promise<void> {
    this.commitNothing();
    const daemon = this.#daemon as RunningDaemon<OctavoProcess>;
    await this.#until(nothing, daemon.run);
    await daemon.run.stop('SIGKILL');
  }

  /** Checked when a pass has ended: a full comparison takes longer than most of the steps in between. */
  async #until(model: Model, daemon: OctavoProcess): Promise<void> {
    let looked = 0;
    const isDeclared = () => {
      const passes = daemon.stderr.split('"outcome":').length - 1;
      const isNews = passes > looked;
      looked = passes;
      return isNews && this.wrong(model) === '';
    };
    await eventually('the platform to be as declared', isDeclared, 60).catch((error: Error) => {
      const last = daemon.log.slice(-5).map(({ msg }) => msg);
      throw new Error([error.message, this.wrong(model), ...last].join('\n'));
    });
  }
}

/** A machine whose platform has undeclared resources. */
export async function machine(): Promise<Workspace> {
  const work = await openWorkspace();
  await addForeign(work);
  return work;
}
