/** States to start an emulator with. */

import type { Role } from '../model/schema.ts';
import { type EmulatorState, STATE_FORMAT } from '../model/store.ts';
import type { EmulatedOrganization, MemberRecord, UserRecord } from './people.ts';

/** A member of an organization. */
export interface MemberSeed {
  readonly email: string;
  /** Null is a guest. */
  readonly role: Role | null;
  readonly displayName?: string;
  readonly sso?: boolean;
}

/** An initial organization. */
export interface OrganizationSeed {
  readonly id: string;
  readonly title: string;
  readonly members: readonly MemberSeed[];
  readonly settings?: Partial<Omit<EmulatedOrganization, 'id' | 'seq' | 'title' | 'createdAt'>>;
}

/** Fills in the names of an organization's members. */
export function emptyOrganization(seed: OrganizationSeed): OrganizationSeed {
  return { ...seed, members: seed.members.map((member) => ({ displayName: nameOf(member.email), ...member })) };
}

function nameOf(email: string): string {
  const name = email.split('@')[0] ?? email;
  return name.charAt(0).toUpperCase() + name.slice(1);
}

/** Creates an initial state of 2026-01-01. The same email address in two organizations is the same user. */
export function createState(seed: { readonly organizations: readonly OrganizationSeed[] }): EmulatorState {
  const at = '2026-01-01T00:00:00.000Z';
  const users = new Map<string, UserRecord>();
  const members: MemberRecord[] = [];
  const organizations: EmulatedOrganization[] = [];
  let sequence = 0;
  const next = () => {
    sequence += 1;
    return sequence;
  };
  for (const organization of seed.organizations) {
    organizations.push({ ...newOrganization(organization, at), seq: next() });
    for (const member of organization.members) {
      const email = member.email.toLowerCase();
      const seq = next();
      const user = users.get(email) ?? {
        id: `usr_${seq.toString(36).padStart(4, '0')}`,
        seq,
        email: member.email,
        displayName: member.displayName ?? nameOf(member.email),
      };
      users.set(email, user);
      members.push({
        id: `${organization.id}/${user.id}`,
        seq,
        organization: organization.id,
        user: user.id,
        role: member.role,
        disabled: false,
        joinedAt: at,
        sso: member.sso ?? false,
      });
    }
  }
  return { format: STATE_FORMAT, sequence, organizations, users: [...users.values()], members };
}

function newOrganization(seed: OrganizationSeed, at: string): Omit<EmulatedOrganization, 'seq'> {
  return {
    id: seed.id,
    title: seed.title,
    createdAt: at,
    emailDomains: [],
    defaultRole: null,
    sso: false,
    ai: true,
    inviteLinks: false,
    mergeRules: { type: 'none' },
    ...seed.settings,
  };
}

/** Returns the initial state of an emulator without a seed. */
export function defaultState(): EmulatorState {
  return createState({
    organizations: [
      emptyOrganization({
        id: 'org_acme',
        title: 'Acme',
        members: [
          { email: 'ana@acme.example', role: 'admin', displayName: 'Ana' },
          { email: 'bo@acme.example', role: 'edit', displayName: 'Bo' },
          { email: 'cy@acme.example', role: 'read', displayName: 'Cy' },
        ],
      }),
    ],
  });
}
