/** Topics of live updates: what a page shows, and what has changed. */

/** An organization, or something that belongs to none: an organization may have any of these names. */
export type Topic = (typeof GLOBAL_TOPICS)[number] | `organization/${string}`;

const GLOBAL_TOPICS = ['audit', 'budget', 'configuration', 'log', 'notifications', 'replicas'] as const;
const ORGANIZATION = 'organization/';

export function organizationTopic(id: string): Topic {
  return `${ORGANIZATION}${id}`;
}

/** Returns the id of the organization that a topic is about; null for other topics. */
export function organizationOf(topic: Topic): string | null {
  return topic.startsWith(ORGANIZATION) ? topic.slice(ORGANIZATION.length) : null;
}

/** Reads a topic that another replica has sent. Earlier versions send ids of organizations as they are. */
export function readTopic(text: string): Topic {
  const isTopic = text.startsWith(ORGANIZATION) || (GLOBAL_TOPICS as readonly string[]).includes(text);
  return isTopic ? (text as Topic) : organizationTopic(text);
}
