/** An OpenID Connect provider in a process of its own. */
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { fork } from '../../support/programs.ts';

export interface IdentityProvider extends AsyncDisposable {
  readonly issuer: string;
  /** Sets the claims of the account that a person signs in to with this name; null removes it. */
  setAccount(id: string, claims: Readonly<Record<string, unknown>> | null): Promise<void>;
  /** Ends the process. */
  stop(): Promise<void>;
}

/** Starts a provider. `redirectUris`: redirect URL by client; the secret of `name` is `secret-of-name`. */
export async function startIdentityProvider(redirectUris: Readonly<Record<string, string>>): Promise<IdentityProvider> {
  const child = fork(fileURLToPath(new URL('provider-process.ts', import.meta.url)), {
    env: {},
    execArgv: [],
    stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
  });
  const { issuer } = (await ask(child, { redirectUris })) as { issuer: string };
  const stop = async () => {
    if (child.exitCode === null && child.signalCode === null) {
      child.kill('SIGKILL');
      await once(child, 'exit');
    }
  };
  return {
    issuer,
    setAccount: async (id, claims) => void (await ask(child, { id, claims })),
    stop,
    [Symbol.asyncDispose]: stop,
  };
}

/** Sends a message and returns the answer. Throws if the process ends instead. */
async function ask(child: ChildProcess, message: object): Promise<unknown> {
  const failed = once(child, 'exit').then(() => {
    throw new Error('the process of the provider has ended');
  });
  const answered = once(child, 'message').then(([answer]: unknown[]) => answer);
  child.send(message);
  return Promise.race([answered, failed]);
}
