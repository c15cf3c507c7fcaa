/** Rules of the channels, from the settings of notifications. */

import type { NotificationsConfig } from '../config/notifications.ts';
import { lastFiring } from '../config/windows.ts';
import { CONDITION_RULES } from '../core/condition-codes.ts';
import { largest } from '../core/lists.ts';
import type { Fact } from '../store/notifications.ts';
import type { Channel } from './channels/channel.ts';
import type { ChannelRules } from './model/plan.ts';

type Route = NotificationsConfig['routes'][number];

/** Returns the rules of channels at a time. */
export function channelRules(
  config: Pick<NotificationsConfig, 'routes' | 'quietHours'>,
  channels: readonly Pick<Channel, 'name' | 'isPager'>[],
  now: number,
): readonly ChannelRules[] {
  return channels.map(({ name, isPager }) => {
    const routes = config.routes.filter((route) => route.channels.includes(name));
    return {
      name,
      isPager,
      // A channel that fails cannot say so itself.
      wants: ({ fact }) => !isOwnFailure(fact, name) && routes.some((route) => leads(route, fact)),
      wantsEvent: ({ code, organization }) =>
        routes.some((route) => (route.codes?.includes(code) ?? false) && includes(route.organizations, organization)),
      ...quietTimes(config.quietHours, name, now),
    };
  });
}

function isOwnFailure({ code, subject }: Fact, channel: string): boolean {
  return code === 'channel-failing' && subject === channel;
}

function leads({ codes, severities, organizations }: Route, { code, scope }: Fact): boolean {
  return (
    (codes?.includes(code) ?? true) &&
    (severities?.includes(CONDITION_RULES[code].severity) ?? true) &&
    includes(organizations, scope.organization)
  );
}

/** Returns true if there is no list, or if it has the organization. */
function includes(organizations: readonly string[] | undefined, organization: string | null): boolean {
  return organizations === undefined || (organization !== null && organizations.includes(organization));
}

function quietTimes(
  quietHours: NotificationsConfig['quietHours'],
  channel: string,
  now: number,
): Pick<ChannelRules, 'quietUntil' | 'quietEndedAt'> {
  const ends = quietHours
    .filter(({ channels }) => channels.includes(channel))
    .flatMap((window) => {
      const start = lastFiring(window, now);
      return start === null ? [] : start + window.duration;
    });
  return {
    quietUntil: latest(ends.filter((end) => end > now)),
    quietEndedAt: latest(ends.filter((end) => end <= now)),
  };
}

function latest(times: readonly number[]): number | null {
  return times.length === 0 ? null : largest(times);
}
