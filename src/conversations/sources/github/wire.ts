import * as z from 'zod';

const text = z.string().nullish();
const count = z.number().int().nonnegative();

/** Null if the account was deleted. */
const userSchema = z.object({ login: z.string(), type: text, name: text, email: text }).nullish();

/** Members of an issue that the scan needs; the others are read for each issue. */
export const listSchema = z.array(
  z.looseObject({ node_id: z.string(), updated_at: z.string(), pull_request: z.unknown().optional() }),
);
export type ListedIssue = z.output<typeof listSchema>[number];

export const issueSchema = z.object({
  node_id: z.string().min(1),
  number: count,
  title: text,
  body: text,
  html_url: text,
  state: z.string(),
  state_reason: text,
  labels: z.array(z.union([z.string(), z.object({ name: text })])).nullish(),
  comments: count.nullish(),
  created_at: text,
  updated_at: text,
  closed_at: text,
  user: userSchema,
  author_association: text,
  pull_request: z.unknown().optional(),
});
export type GithubIssue = z.output<typeof issueSchema>;

export const commentSchema = z.object({
  node_id: z.string(),
  body: text,
  created_at: text,
  user: userSchema,
  author_association: text,
  /** Set if the comment was hidden by the team; not always present. */
  minimized: z.unknown().optional(),
});
export type GithubComment = z.output<typeof commentSchema>;

export const commentsSchema = z.array(commentSchema);
