/** Kind of the instructions of an organization's documentation agent. */
import { operations } from '../platform/operations/index.ts';
import { singleKind } from './model/derived-kind.ts';
import { instructionsField } from './model/instructions.ts';

/** Instructions of the agent. They are never created or deleted. Source: docs/platform-notes.md#organizations */
export const agentInstructions = singleKind({
  name: 'agent-instructions',
  section: 'agentInstructions',
  summary: "Instructions of the organization's documentation agent.",
  operations: { read: operations.getAgentInstructions, update: operations.updateAgentInstructions },
  fields: {
    text: instructionsField('The instructions', { max: 20_000, example: 'Write short sentences.' }),
  },
  example: 'text: "Write short sentences. Call the product *Acme Cloud*."',
});
