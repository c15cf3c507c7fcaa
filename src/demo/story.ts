/** The demonstration: its steps, and the output of the daemon. */
import { renderPlanText } from '../plan/render/text.ts';
import type { Approval } from '../plan/render/text-layout.ts';
import { counted, printable } from '../plan/render/words.ts';
import type { Reader, Writer } from '../platform/client.ts';
import { operations } from '../platform/operations/index.ts';
import type { PassEnd, PassEvents } from '../reconcile/pass.ts';
import type { AcmeRepository } from './acme-repository.ts';
import { type ClusterParts, openChangeRequests } from './clusters.ts';
import { type DemoContext, EventWaiter } from './context.ts';
import { ingestTickets, type TicketParts } from './tickets.ts';

/** Prints the passes of the daemon and waits for them. */
export function reportPasses(demo: DemoContext, approval: Approval) {
  const { say, paint, columns } = demo;
  const waiter = new EventWaiter<PassEnd>(demo);
  let printed = '';
  let lastError = '';
  const events: PassEvents = {
    onPlan: ({ plan }, drift) => {
      // A repeated pass with the same plan is not printed again.
      if (plan.changes.length === 0 || plan.checksum === printed) {
        return;
      }
      printed = plan.checksum;
      if (drift.length > 0) {
        const what = counted(drift.length, 'change');
        say(paint.warn(`\nThe platform was changed outside of the repository (${what}):\n`));
      }
      const text = renderPlanText(plan, { columns, paint, approval, hasSentence: true });
      say(`\n${text.replaceAll(/^(?=.)/gm, '  ').trimEnd()}\n`);
    },
    onSource: () => {
      lastError = '';
    },
    onBadSource: ({ message }) => {
      // The source is read repeatedly; the same error is printed once.
      if (message !== lastError) {
        lastError = message;
        const lines = message.split('\n').map((line) => `  ${printable(line)}`);
        say(paint.remove(`\nThe manifests are invalid; the daemon keeps the last valid ones:\n${lines.join('\n')}\n`));
      }
    },
    onPassEnd: (end) => {
      const { results, requests, milliseconds } = end;
      const applied = results.filter(({ status }) => status === 'applied').length;
      if (applied > 0) {
        const took = `${counted(requests.reads + requests.writes, 'request')}, ${(milliseconds / 1000).toFixed(1)} s`;
        say(`\n  ${paint.create('✓')} ${counted(applied, 'change')} applied (${took})\n`);
      }
      for (const { address, error } of results.filter(({ status }) => status === 'failed')) {
        say(`  ${paint.remove('✗')} ${address}: ${printable(error ?? '')}\n`);
      }
      waiter.emit(end);
    },
  };
  return { events, until: (isDone: (end: PassEnd) => boolean) => waiter.until(isDone) };
}

/** Parts of the demonstration. */
export interface DemoParts extends TicketParts, ClusterParts {
  readonly repository: AcmeRepository;
  readonly passes: ReturnType<typeof reportPasses>;
  /** Another user, who changes the platform directly. */
  readonly otherUser: Writer;
}

/** Returns true for a pass that found the platform as declared. */
function isSettled({ outcome, plan, results }: PassEnd): boolean {
  return outcome === 'done' && (plan?.changes.length ?? 1) === 0 && results.length === 0;
}

/** Runs the steps. Returns false as soon as one fails. */
export async function runStory(parts: DemoParts, demo: DemoContext): Promise<boolean> {
  const { say, paint } = demo;
  const chapter = (number: number, title: string) => say(`\n${paint.strong(`${number}. ${title}`)}\n`);
  const steps: readonly (readonly [string, () => Promise<boolean | 'reported'>])[] = [
    ['A commit declares the organization, and the daemon applies it', () => follow(parts)],
    ['A commit renames a team, moves a section and adds a translation', () => change(parts, demo)],
    ['Someone renames the team on the platform, and the daemon reverts it', () => drift(parts, demo)],
    ['A mailbox and a helpdesk export are ingested and grouped into issue clusters', () => ingestTickets(parts, demo)],
    ['The clusters with the highest impact become change requests', () => openChangeRequests(parts, demo)],
  ];
  for (const [index, [title, play]] of steps.entries()) {
    chapter(index + 1, title);
    const outcome = await play();
    if (outcome === false) {
      say(paint.remove(demo.signal.aborted ? '\nStopped.\n' : '\nThis step did not complete within 30 s.\n'));
    }
    if (outcome !== true) {
      return false;
    }
  }
  return true;
}

async function follow({ daemon, passes, reader }: DemoParts): Promise<boolean> {
  const settled = passes.until(isSettled);
  await daemon.start();
  return (await settled) && (await teamTitles(reader)).includes('Writers');
}

async function change({ repository, passes, reader }: DemoParts, { say, paint }: DemoContext): Promise<boolean> {
  await repository.renameTeam();
  await repository.moveSection();
  await repository.addTranslation();
  const commit = await repository.commit('Rename writers, move the changelog, add German');
  say(paint.faint(`   $ git commit -am "Rename writers, move the changelog, add German"   (${commit.slice(0, 7)})\n`));
  const done = await passes.until((end) => isSettled(end) && end.plan?.commit === commit);
  const translations = await Array.fromAsync(reader.pages(operations.listTranslations));
  const isTranslated = translations.some(({ language }) => language === 'de');
  return done && (await teamTitles(reader)).includes('Docs writers') && isTranslated;
}

async function drift({ passes, reader, otherUser }: DemoParts, { say, paint }: DemoContext): Promise<boolean> {
  const teams = await Array.fromAsync(reader.pages(operations.listTeams));
  const teamId = teams.find(({ title }) => title === 'Docs writers')?.id ?? '';
  const undone = passes.until((end) =>
    end.results.some(({ address, status }) => address === 'team/writers' && status === 'applied'),
  );
  await otherUser.send(operations.updateTeam, { path: { teamId }, body: { title: 'Renamed manually' } });
  say(paint.faint('   (someone renames "Docs writers" to "Renamed manually" on the platform)\n'));
  return (await undone) && (await teamTitles(reader)).includes('Docs writers');
}

/** Commits a deletion, and waits until only its approval is left to do. */
export async function holdDeletion({ repository, passes }: DemoParts, { say, paint }: DemoContext): Promise<void> {
  say(`\n${paint.strong('6. A commit deletes a space, and the daemon waits for approval')}\n`);
  await repository.removePlayground();
  const commit = await repository.commit('Remove the playground');
  say(paint.faint(`   $ git commit -am "Remove the playground"   (${commit.slice(0, 7)})\n`));
  await passes.until(
    ({ outcome, plan }) =>
      outcome === 'held' && plan?.commit === commit && plan.changes.every(({ held }) => held !== null),
  );
}

function teamTitles(reader: Reader): Promise<readonly string[]> {
  return Array.fromAsync(reader.pages(operations.listTeams), ({ title }) => title);
}
