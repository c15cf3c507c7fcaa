/** An issue in a hint: `acme/product#12:I_kwDOabc`, or without the node id if a person wrote it. */
export interface HintedIssue {
  readonly repository: string;
  readonly number: number;
  readonly nodeId: string | null;
}

/** Formats a hint. The node id reveals a deletion if the number leads nowhere or to another issue. */
export function hintOf(repository: string, issue: { readonly number: number; readonly node_id: string }): string {
  return `${repository}#${issue.number}:${issue.node_id}`;
}

/** Parses a hint; null if it is invalid. */
export function readHint(hint: string): HintedIssue | null {
  const [, repository, number, nodeId] = /^([\w.-]+\/[\w.-]+)#(\d{1,15})(?::([\w=+/-]{1,200}))?$/.exec(hint) ?? [];
  return repository === undefined ? null : { repository, number: Number(number), nodeId: nodeId ?? null };
}
