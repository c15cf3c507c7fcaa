/** A plan in one sentence: what a person decides on, the dangerous first. */
import { type Address, kindOf } from '../../core/address.ts';
import { type AccessChange, EVERYONE, WHOLE_ORGANIZATION } from '../../core/change.ts';
import { maskUrls } from '../../core/text/safe-url.ts';
import { type ChangeDocument, changeTitle, type PlanDocument } from './document.ts';
import { capital, counted, isDeletion, kindWords, printable } from './words.ts';

/** People and resources that are named; of more, there is only a number. */
const NAMED = 2;

/**
 * Returns what changes do, in words: `Deletes 21 spaces, makes Acme Team public, cy@acme.example gets the role admin`. `access`:
 * the access that they change. Empty if there are no changes.
 *
 * @param quoted formats a name that comes from elsewhere
 */
export function planSentence(
  { changes, access }: Pick<PlanDocument, 'changes' | 'access'>,
  quoted: Quoted = printable,
): string {
  const verb = (word: string, some: readonly ChangeDocument[] = []) => verbPart(word, some, quoted);
  const others = Map.groupBy(
    changes.filter(({ isReplacement }) => !isReplacement),
    ({ action }) => action,
  );
  const replaced = changes.filter(({ action, isReplacement }) => isReplacement && action === 'create');
  const [explained, rest] = [new Set(access.map(({ change }) => change)), others.get('update') ?? []];
  const parts = [
    ...verb('deletes', others.get('delete')),
    ...verb('replaces', replaced),
    ...accessParts(access, changes, quoted),
    ...verb('creates', others.get('create')),
    ...verb(
      'updates',
      rest.filter(({ address }) => !explained.has(address)),
    ),
    ...verb('moves', others.get('move')),
  ];
  return capital(parts.join(', '));
}

/** Returns what an approval of this checksum of a plan does, in words: of what is held, or of the whole plan. */
export function approvalSentence(plan: PlanDocument, checksum: string): string {
  if (checksum === plan.checksum) {
    return planSentence(plan);
  }
  return partSentence(plan, heldApart(plan));
}

/** Returns what some changes of a plan do, in words. */
export function partSentence({ access }: Pick<PlanDocument, 'access'>, changes: readonly ChangeDocument[]): string {
  const addresses = new Set(changes.map(({ address }) => address));
  return planSentence({ changes, access: access.filter(({ change }) => addresses.has(change)) });
}

/** `deletes 10 spaces, 1 site`: the deletions that wait for approval; null if there are none. */
export function waitingDeletions({ changes, verdict }: Pick<PlanDocument, 'changes' | 'verdict'>): string | null {
  const waits = changes.filter(
    (change) => isDeletion(change) && change.paused === null && (change.held !== null || verdict.state === 'held'),
  );
  return waits.length === 0 ? null : `deletes ${kindCounts(waits)}`;
}

type Verdict = Pick<PlanDocument, 'changes' | 'verdict' | 'heldChecksum'>;

/** Returns the changes that wait for approval: all if the whole plan is held, none if it is refused. */
export function waitingChanges(plan: Verdict): readonly ChangeDocument[] {
  if (plan.verdict.state === 'held') {
    return plan.changes;
  }
  return plan.verdict.state === 'refused' || plan.heldChecksum === null ? [] : heldApart(plan);
}

/** Returns the number of changes that wait for approval. */
export function heldChanges(plan: Verdict): number {
  return waitingChanges(plan).length;
}

/** Returns the changes that are held on their own, and that an approval of these alone releases. */
function heldApart({ changes }: Pick<PlanDocument, 'changes'>): readonly ChangeDocument[] {
  return changes.filter(({ held, approvable }) => held !== null && approvable);
}

/** Formats a name that comes from elsewhere, so that nothing in it has an effect where it is shown. */
type Quoted = (name: string) => string;

/** `deletes the space Playground and the site Help`, `deletes 10 spaces, 1 site`: deletions are named if they are few. */
function verbPart(word: string, changes: readonly ChangeDocument[], quoted: Quoted): readonly string[] {
  if (changes.length === 0) {
    return [];
  }
  const isNamed = changes.length === 1 || (word === 'deletes' && changes.length <= NAMED);
  const names = isNamed ? changes.map((change) => `the ${kindWords(change.kind)} ${quoted(nameIn(change))}`) : [];
  return [`${word} ${isNamed ? names.join(' and ') : kindCounts(changes)}`];
}

/** `10 spaces, 1 site` */
export function kindCounts(changes: readonly Pick<ChangeDocument, 'kind'>[]): string {
  const kinds = [...Map.groupBy(changes, ({ kind }) => kind)].toSorted(([, a], [, b]) => b.length - a.length);
  return kinds.map(([kind, of]) => counted(of.length, kindWords(kind))).join(', ');
}

function accessParts(
  access: readonly AccessChange[],
  changes: readonly ChangeDocument[],
  quoted: Quoted,
): readonly string[] {
  const affected = new Set(access.map(placeIn));
  const named = changes.filter(({ address }) => affected.has(address));
  const titles = new Map(named.map((change) => [change.address as string, titleIn(change)]));
  const places = (some: readonly AccessChange[]) => {
    const addresses = unique(some.map(placeIn));
    return addresses.length > NAMED
      ? kindCounts(addresses.map((address) => ({ kind: kindOf(address as Address) })))
      : addresses.map((address) => quoted(titles.get(address) ?? address)).join(' and ');
  };
  const isPublic = ({ person, from, to }: AccessChange) =>
    person.startsWith(EVERYONE) && (from === null) !== (to === null);
  const isRole = ({ to, from, role, field }: AccessChange) =>
    field === undefined && to === WHOLE_ORGANIZATION && from === WHOLE_ORGANIZATION && role.includes(' → ');
  const opened = access.filter((each) => isPublic(each) && each.to !== null);
  const closed = access.filter((each) => isPublic(each) && each.to === null);
  const roles = access.filter(isRole);
  const rest = access.filter((each) => !isPublic(each) && !isRole(each));
  const who = (some: readonly AccessChange[]) => unique(some.map(({ person }) => quoted(maskUrls(person))));
  return [
    ...(opened.length === 0 ? [] : [`makes ${places(opened)} public`]),
    ...(closed.length === 0 ? [] : [`makes ${places(closed)} private`]),
    ...(roles.length > NAMED
      ? [`changes the role of ${counted(who(roles).length, 'person', 'people')}`]
      : roles.map(
          ({ person, role }) =>
            `${quoted(maskUrls(person))} gets the role ${quoted(maskUrls(role.split(' → ').at(-1) ?? role))}`,
        )),
    ...effect('gives', 'access', who(rest.filter(({ from }) => from === null))),
    ...effect('takes access from', '', who(rest.filter(({ to }) => to === null))),
    ...effect('changes access of', '', who(rest.filter(({ from, to }) => from !== null && to !== null))),
  ];
}

function placeIn({ to, from }: AccessChange): string {
  return to ?? from ?? '';
}

function effect(before: string, after: string, people: readonly string[]): readonly string[] {
  const named = people.length > NAMED ? audienceCounts(people) : people.join(' and ');
  return people.length === 0 ? [] : [[before, named, after].filter((part) => part !== '').join(' ')];
}

/** `3 people and 2 groups`: only persons have an email address; the others are such as everyone with the link. */
function audienceCounts(names: readonly string[]): string {
  const persons = names.filter((name) => name.includes('@')).length;
  const groups = names.length - persons;
  return [
    ...(persons === 0 ? [] : [counted(persons, 'person', 'people')]),
    ...(groups === 0 ? [] : [`${counted(groups, 'group')} of people`]),
  ].join(' and ');
}

function unique(names: readonly string[]): readonly string[] {
  return [...new Set(names)];
}

/** Returns the title of a resource, or its key: its kind is said before. */
function nameIn(change: ChangeDocument): string {
  const title = titleIn(change);
  return title === change.address ? title.slice(title.indexOf('/') + 1) : title;
}

/** Returns the title of a resource, or its address. */
function titleIn(change: ChangeDocument): string {
  const title = changeTitle(change);
  return maskUrls(title === '' ? change.address : title);
}
