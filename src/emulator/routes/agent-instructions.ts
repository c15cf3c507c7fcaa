import { z } from 'zod';
import type { Json } from '../../core/json.ts';
import { ok } from '../answers.ts';
import { callingUser, organizationAt } from '../lookup.ts';
import { type Context, type Operation, operation } from '../operation.ts';
import type { OrganizationRecord } from '../records.ts';
import { requireDocument } from '../rich-document.ts';
import { richDocument } from '../views/document.ts';

const INSTRUCTIONS = '/orgs/{organizationId}/agent-instructions';

/** Before anybody writes any they are empty, as if from whoever is there longest: the answer has to name somebody. */
function unwritten({ store }: Context, organization: OrganizationRecord) {
  const [first] = store.members.by('organization', organization.id);
  return { document: richDocument([]) as Json, updatedAt: organization.createdAt, updatedBy: first?.user ?? '' };
}

function viewInstructions(context: Context, organization: OrganizationRecord): unknown {
  const { document, updatedAt, updatedBy } = organization.agentInstructions ?? unwritten(context, organization);
  return {
    object: 'agent-instructions',
    instructions: document,
    updatedAt,
    updatedBy,
    urls: { location: `${context.base}/v1/orgs/${organization.id}/agent-instructions` },
  };
}

/**
 * Operations on the instructions of an organization's documentation agent. Source: docs/platform-notes.md#organizations
 */
export const agentInstructionOperations: readonly Operation[] = [
  operation({
    name: 'getAgentInstructions',
    method: 'GET',
    path: INSTRUCTIONS,
    handle: (call) => ok(viewInstructions(call, organizationAt(call.store, call.params.organizationId))),
  }),
  operation({
    name: 'setAgentInstructions',
    method: 'PUT',
    path: INSTRUCTIONS,
    body: z.strictObject({ instructions: z.unknown() }),
    handle: (call) => {
      const organization = organizationAt(call.store, call.params.organizationId);
      const document = requireDocument(call.body.instructions, 'body.instructions');
      const updatedBy = callingUser(call.store, call.caller)?.id ?? call.caller.user;
      const agentInstructions = { document, updatedAt: call.at, updatedBy };
      return ok(viewInstructions(call, call.store.organizations.put({ ...organization, agentInstructions })));
    },
  }),
];
