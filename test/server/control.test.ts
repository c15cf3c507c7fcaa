/** The control socket: requests, refusals, and its file. */
import { existsSync, mkdtempSync, renameSync, rmSync, statSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import type { ClusterRequest } from '../../src/clusters/control-api.ts';
import type { ConversationRequest } from '../../src/conversations/control-api.ts';
import { CancelledError, ConfigError, RefusedPlanError, StoreError, TransientError } from '../../src/core/errors.ts';
import type { DeliveryRequest } from '../../src/notify/deliveries.ts';
import type { ActionRequest } from '../../src/reconcile/approvals.ts';
import { type ControlServer, openControl } from '../../src/server/control.ts';
import {
  type ControlRequest,
  callControl as callChecked,
  controlSocketPath,
  UnknownAnswerError,
} from '../../src/server/control-client.ts';
import type { Actor } from '../../src/store/history.ts';
import type { SessionRequest } from '../../src/store/sessions.ts';

let folder: string;
let path: string;
let control: ControlServer | undefined;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'octavo-control-'));
  path = controlSocketPath({ store: { path: 'octavo.db' }, runtime: { directory: folder } });
});
afterEach(async () => {
  await control?.close();
  control = undefined;
  rmSync(folder, { recursive: true });
});

/** Sends a request of a command with the version of the daemon. */
const callControl = (socket: string, request: ControlRequest, version = '1.2.3') =>
  callChecked(socket, request, version);

const approval = (checksum: string) =>
  ({ command: 'actions', user: 'ana', request: { subcommand: 'approve', checksum } }) as const;
const APPROVAL = approval('sha256:1');
const APPROVED = {
  by: { name: 'ana', method: 'socket' },
  organization: null,
  subcommand: 'approve',
  checksum: 'sha256:1',
  reason: '',
};
const handlers = {
  act: async (by: Actor, organization: string | null, request: ActionRequest) => {
    if ('checksum' in request && request.checksum !== 'sha256:1') {
      throw new RefusedPlanError(`no held plan has the checksum ${request.checksum}`);
    }
    return { by: { ...by }, organization, ...request };
  },
  conversations: async (_by: Actor, organization: string | null, request: ConversationRequest) => ({
    organization,
    ...request,
  }),
  clusters: async (_by: Actor, organization: string | null, request: ClusterRequest) => ({ organization, ...request }),
  deliveries: async (by: Actor, _none: unknown, request: DeliveryRequest) => ({ by: { ...by }, ...request }),
  sessions: async (by: Actor, _none: unknown, request: SessionRequest) => ({ by: { ...by }, ...request }),
};

const loadView = async (by: Actor, path: string) => (path === '/audit' ? { path, by: { ...by } } : null);

describe('the control socket', () => {
  test('a command of another version changes nothing, and the error names both versions and what to do', async () => {
    const act = vi.fn(handlers.act);
    control = await openControl(path, { ...handlers, act }, loadView, '1.2.3');
    const hint =
      'the daemon has version 1.2.3, and this command 1.3.0: use the octavo command of the same version, or upgrade and restart the daemon';
    for (const request of [APPROVAL, { command: 'views', path: '/audit' } as const]) {
      await expect(callControl(path, request, '1.3.0')).rejects.toThrow(
        new UnknownAnswerError(`the daemon on ${path} refused, and nothing was done; ${hint}`),
      );
    }
    expect(act).not.toHaveBeenCalled();
  });

  test('is accessible only to its user, and removed by close', async () => {
    control = await openControl(path, handlers, loadView, '1.2.3');
    expect(statSync(path).mode & 0o777).toBe(0o600);
    await control.close();
    expect(existsSync(path)).toBe(false);
  });

  test('accepts a push of 5,000 files', async () => {
    control = await openControl(path, handlers, loadView, '1.2.3');
    const files = Array.from({ length: 5000 }, (_, index) => `/exports/tickets-of-a-long-year-${index}.json`);
    const request = { subcommand: 'push', files, account: 'push' } as const;
    expect(await callControl(path, { command: 'conversations', request })).toMatchObject({ files });
  });

  test('distinguishes temporary failures from invalid requests', async () => {
    const failing = (error: Error) => ({ ...handlers, act: () => Promise.reject(error) });
    const asked = async (error: Error) => {
      control = await openControl(path, failing(error), loadView, '1.2.3');
      const result = await callControl(path, APPROVAL).catch((reason: unknown) => reason);
      await control.close();
      return result;
    };
    expect(await asked(new CancelledError('it was asked to stop'))).toEqual(
      new TransientError('the daemon refused: it was asked to stop', true),
    );
    expect(await asked(new StoreError('the disk is full'))).toBeInstanceOf(TransientError);
    expect(await asked(new ConfigError('no such source'))).toBeInstanceOf(ConfigError);
    control = undefined;
  });

  test('reports a daemon that stops before it responds', async () => {
    const dropping = createServer((socket) => socket.on('data', () => socket.destroy()));
    await new Promise<void>((done) => dropping.listen(path, done));
    const result = callControl(path, APPROVAL);
    await expect(result).rejects.toThrow(/stopped before it responded; run the command again/);
    await expect(result).rejects.toBeInstanceOf(TransientError);
    await new Promise((done) => dropping.close(done));
  });

  test('replaces the socket of a killed daemon, and refuses that of a running one', async () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    const dead = createServer().listen(path, resolve);
    await promise;
    await expect(openControl(path, handlers, loadView, '1.2.3')).rejects.toThrow(StoreError);
    // Renamed away and back, the file outlives its server, as after a kill.
    renameSync(path, `${path}.kept`);
    await new Promise((done) => dead.close(done));
    renameSync(`${path}.kept`, path);
    control = await openControl(path, handlers, loadView, '1.2.3');
    expect(await callControl(path, APPROVAL)).toEqual(APPROVED);
  });

  test('reports a path that is too long', async () => {
    await expect(openControl(join(folder, 'x'.repeat(120)), handlers, loadView, '1.2.3')).rejects.toThrow(
      /too long for a socket/,
    );
  });
});
