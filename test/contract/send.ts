import type { World } from '../support/world.ts';
import type { SampleRequest } from './samples.ts';

/** Sends a request of another client. Ids of people are written by the first part of their email address. */
export function send(world: World, [method, path, body]: SampleRequest, id: string): Promise<unknown> {
  const { sites = [], users = [] } = world.emulator.state();
  const ids = new Map([
    ['id', id],
    ['site', sites[0]?.id ?? ''],
    ...users.map(({ id: user, email }) => [email.slice(0, email.indexOf('@')), user] as const),
  ]);
  const filled = (text: string) => text.replace(/\{(\w+)\}/g, (name, key: string) => ids.get(key) ?? name);
  return world.call(method, filled(path), body === undefined ? undefined : JSON.parse(filled(JSON.stringify(body))));
}
