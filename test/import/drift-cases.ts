/** Generates an organization, its manifests as text, and its later state; detects the drift without a platform. */
import fc from 'fast-check';
import { stringify } from 'yaml';
import type { Address } from '../../src/core/address.ts';
import type { Json } from '../../src/core/json.ts';
import { type Actual, type BaseEntry, type Declared, idRef, type Observation } from '../../src/core/resource.ts';
import { type Drift, resolveDrift } from '../../src/import/drift.ts';
import { kinds } from '../../src/kinds/registry.ts';
import { DEFAULT_POLICY } from '../../src/plan/guard.ts';
import { computePlan } from '../../src/plan/plan.ts';
import { baseOfManifests } from '../../src/reconcile/record.ts';
import { twoModels } from '../support/arbitrary-manifests.ts';
import { type Model, manifestsOf, NAMED_FILES } from '../support/model.ts';
import { declare, UNLIMITED } from '../support/world.ts';

export interface DriftCase {
  readonly files: Readonly<Record<string, string>>;
  /** The organization after the edits, as manifests that would declare it. */
  readonly edited: Model;
  readonly base: 'record' | 'commit' | 'none';
}

export interface DriftOutcome {
  readonly drift: Drift;
  readonly declared: ReadonlyMap<Address, Declared>;
  readonly bound: ReadonlyMap<Address, Actual>;
  readonly plans: number;
  /** After the drift has been written. */
  readonly after: {
    readonly texts: Readonly<Record<string, string>>;
    readonly declared: ReadonlyMap<Address, Declared>;
    readonly open: readonly {
      readonly action: string;
      readonly address: Address;

      readonly paths: readonly string[];
    }[];
  };
}

/** Far more than the places of any case. */
const MAX_PLANS = 500;
const NOW = Date.parse('2026-06-01T00:00:00Z');
const PEOPLE = new Map(['ana', 'bo', 'cy'].map((name) => [`${name}@acme.example`, `usr_${name}`]));

/** Detects the drift of a case, and plans with the updated manifests. */
export async function findDrift({ files, edited, base: kindOfBase }: DriftCase): Promise<DriftOutcome> {
  const declared = await declare(files);
  const observation = observationOf(await declare(manifestsOf(edited)));
  const base = kindOfBase === 'none' ? null : withIds(baseOfManifests(kinds, declared) ?? new Map(), kindOfBase);
  const planOver = (over: ReadonlyMap<Address, Declared>) =>
    computePlan({
      organization: 'org_1',
      commit: null,
      baseCommit: null,
      kinds,
      declared: over,
      base,
      observation,
      policy: { ...DEFAULT_POLICY, ...UNLIMITED, now: NOW },
      cost: () => ({ requests: { reads: 0, writes: 0 }, seconds: 0 }),
    });
  const { plan, identity } = planOver(declared);
  let plans = 0;
  const replan = async (texts: ReadonlyMap<string, string>) => {
    plans += 1;
    if (plans > MAX_PLANS) {
      throw new Error(`the search did not end after ${MAX_PLANS} plans`);
    }
    return planOver(await declare({ ...files, ...Object.fromEntries(texts) })).plan.changes;
  };
  const manifests = new Map(Object.entries(files));
  const input = { kinds, changes: plan.changes, declared, bound: identity.bound, base, observation, manifests };
  const drift = await resolveDrift(input, replan);
  const texts = { ...files, ...Object.fromEntries(drift.texts) };
  const declaredAfter = await declare(texts);
  const open = planOver(declaredAfter).plan.changes.map(({ action, address, fields }) => {
    return { action, address, paths: fields.map(({ path }) => path) };
  });
  return { drift, declared, bound: identity.bound, plans, after: { texts, declared: declaredAfter, open } };
}

function withIds(base: ReadonlyMap<Address, BaseEntry>, kindOfBase: 'record' | 'commit') {
  return kindOfBase === 'commit'
    ? base
    : new Map([...base].map(([address, entry]) => [address, { ...entry, id: idOf(address) }]));
}

/** Answers of a platform that has everything that manifests declare. A key keeps its id, whatever its title is. */
function observationOf(declared: ReadonlyMap<Address, Declared>): Observation {
  const found = new Map<string, Actual[]>(kinds.map((kind) => [kind.name, []]));
  for (const resource of declared.values()) {
    found.get(resource.kind)?.push(actualOf(resource));
  }
  if (found.get('organization')?.length === 0) {
    found.get('organization')?.push(organization());
  }
  return { kinds: found, people: PEOPLE };
}

function organization(): Actual {
  const fields = { title: 'Acme', emailDomains: [], defaultRole: null, sso: false, ai: false, inviteLinks: false };
  return { kind: 'organization', id: 'org_1', title: 'Acme', fields, within: null, place: null };
}

function actualOf({ address, kind, fields, within, place }: Declared): Actual {
  const name = address.slice(address.lastIndexOf('/') + 1);
  const title = [fields.title, fields.label, kind === 'member' ? name : undefined, name].find(
    (value) => typeof value === 'string',
  );
  return {
    kind,
    id: idOf(address),
    title: String(title),
    fields: actualFields(kind, address, fields),
    within: within === null ? null : idOf(within),
    place: place === null ? null : { list: idOf(place.list), index: place.index },
    ...(kind === 'translation' ? { aliases: [`${idOf(address)}-result`] } : {}),
  };
}

function actualFields(kindName: string, address: Address, fields: Declared['fields']): Record<string, Json> {
  const rules = kinds.find(({ name }) => name === kindName)?.fields ?? {};
  const actual: Record<string, Json> = {};
  for (const [name, rule] of Object.entries(rules)) {
    const value = fields[name] ?? null;
    if (rule.declarationOnly !== true) {
      actual[name] = typeof value === 'string' && rule.references !== undefined ? reference(value) : (value as Json);
    }
  }
  if (kindName === 'openapi') {
    delete actual.source;
  }
  if (kindName === 'site-space' && typeof fields.path !== 'string') {
    actual.path = address.slice(address.lastIndexOf('/') + 1);
  }
  if (kindName === 'organization') {
    return {
      ...(organization().fields as Record<string, Json>),
      ...withoutNull(actual),
      defaultRole: actual.defaultRole ?? null,
    };
  }
  return actual;
}

function withoutNull(fields: Record<string, Json>): Record<string, Json> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== null));
}

/** Refers to the space that a translation creates. */
function reference(address: Address): Json {
  const [kind = ''] = address.split('/');
  return kind === 'translation' ? idRef(`${idOf(address)}-result`, 'space', 'translation') : idRef(idOf(address), kind);
}

function idOf(address: Address): string {
  return address === 'organization'
    ? 'org_1'
    : address.startsWith('member/')
      ? (PEOPLE.get(address.slice(7)) ?? address)
      : `id:${address}`;
}

const STYLES = ['block', 'flow', 'commented'] as const;

/** The model as manifests, in one of the styles that people write. */
function textsOf(drawn: Model, style: (typeof STYLES)[number], together: boolean): Record<string, string> {
  if (style === 'flow') {
    return manifestsOf(drawn);
  }
  let count = 0;
  const comment = (line: string) => {
    count += 1;
    return line === '' || style === 'block' || /[|>][-+]?\d*$/.test(line) ? line : `${line} # ${count}`;
  };
  const texts = Object.entries(drawn).flatMap(([section, entries]) => {
    const text = entries === undefined ? '' : stringify({ [section]: entries }, { lineWidth: 0 });
    return text === '' ? [] : [[section, text.split('\n').map(comment).join('\n')] as const];
  });
  return {
    ...NAMED_FILES,
    ...(together
      ? { 'octavo.yaml': texts.map(([, text]) => text).join('') }
      : Object.fromEntries(texts.map(([section, text]) => [`${section}.yaml`, text]))),
  };
}

/** Without multiline texts, because no comment can follow their lines. */
function oneLine(drawn: Model): Model {
  for (const each of Object.values(drawn.translations)) {
    each.instructions = undefined;
  }
  return JSON.parse(JSON.stringify(drawn)) as Model;
}

/** An organization as manifests declare it, and its state after out-of-band edits. */
export const driftCases: fc.Arbitrary<DriftCase> = fc
  .tuple(
    twoModels,
    fc.constantFrom(...STYLES),
    fc.boolean(),
    fc.constantFrom('record' as const, 'commit' as const, 'none' as const),
  )
  .map(([[before, after], style, together, base]) => ({
    files: textsOf(oneLine(structuredClone(before)), style, together),
    edited: oneLine(structuredClone(after)),
    base,
  }));
