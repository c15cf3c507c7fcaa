// Operations on the instructions of an organization's agent.

import { z } from 'zod';
import type { Json } from '../../core/json.ts';
import { richDocument } from '../documents/build.ts';
import { requireDocument } from '../documents/rich-document.ts';
import { ok } from '../model/answers.ts';
import { type ApiOperation, type Context, operation } from '../model/operation.ts';
import { findCallingUser, requireOrganization } from './people.ts';
import type { EmulatedOrganization } from './records.ts';

const INSTRUCTIONS = '/orgs/{organizationId}/agent-instructions';

/**
 * Returns empty instructions for organizations without instructions. Their author is the longest-standing member, since
 * the answer must name one.
 */
function unwritten({ store }: Context, organization: EmulatedOrganization) {
  const [first] = store.members.by('organization', organization.id);
  return { document: richDocument([]) as Json, updatedAt: organization.createdAt, updatedBy: first?.user ?? '' };
}

function viewInstructions(context: Context, organization: EmulatedOrganization): unknown {
  const { document, updatedAt, updatedBy } = organization.agentInstructions ?? unwritten(context, organization);
  return {
    object: 'agent-instructions',
    instructions: document,
    updatedAt,
    updatedBy,
    urls: { location: `${context.base}/v1/orgs/${organization.id}/agent-instructions` },
  };
}

const updateAgentInstructionsBody = z.strictObject({ instructions: z.unknown() });

/**
 * Operations on the instructions of an organization's documentation agent. Source: docs/platform-notes.md#organizations
 */
export const agentInstructionOperations: readonly ApiOperation[] = [
  operation('getAgentInstructions', 'GET', INSTRUCTIONS, {}, (call) =>
    ok(viewInstructions(call, requireOrganization(call))),
  ),
  operation('updateAgentInstructions', 'PUT', INSTRUCTIONS, { body: updateAgentInstructionsBody }, (call) => {
    const organization = requireOrganization(call);
    const document = requireDocument(call.body.instructions, 'body.instructions');
    const updatedBy = findCallingUser(call)?.id ?? call.caller.user;
    const agentInstructions = { document, updatedAt: call.at, updatedBy };
    return ok(viewInstructions(call, call.store.organizations.put({ ...organization, agentInstructions })));
  }),
];
