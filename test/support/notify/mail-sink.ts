/** Mail server, a process of its own, that keeps what it accepts, with faults. */
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import PostalMime, { type Email } from 'postal-mime';
import { fork } from '../programs.ts';

export interface ReceivedMail {
  readonly to: readonly string[];
  readonly isEncrypted: boolean;
  readonly user: string | null;
  /** As it was sent. */
  readonly source: string;
  readonly mail: Email;
}

/**
 * Fault of one mail. `reply`: the server refuses a step. `lost` and `silent`: it keeps the mail, and closes the
 * connection or says nothing. `dropped`: it closes the connection at the step.
 */
export type MailFault =
  | { readonly at: 'MAIL FROM' | 'RCPT TO' | 'DATA'; readonly reply: number }
  | 'lost'
  | 'silent'
  | 'dropped'
  | 'mute';

export interface MailSinkOptions {
  /** TLS from the start. */
  readonly secure?: boolean;
  /** Offers STARTTLS, if it is not secure. */
  readonly startTls?: boolean;
  readonly key?: string;
  readonly cert?: string;
  readonly password?: string;
}

/** Question of the server process, before it answers a step. */
export type MailQuestion =
  | { readonly step: 'CONNECT' | 'MAIL FROM' }
  | { readonly step: 'RCPT TO'; readonly address: string }
  | ({ readonly step: 'DATA' } & Omit<ReceivedMail, 'mail'>);
/** `accept`, a code of SMTP, or the end of the connection; nothing at all if the server is to be silent. */
export type MailAnswer = 'accept' | 'disconnect' | number;

/** Server process. It asks this one about every step, so that a fault holds as soon as it is set. */
export class MailSink implements AsyncDisposable {
  readonly mails: ReceivedMail[] = [];
  fault: MailFault | null = null;
  /** Addresses that do not exist. */
  readonly unknown = new Set<string>();
  onSilence: () => void = () => undefined;
  port = 0;
  readonly #options: MailSinkOptions;
  #process: ChildProcess | null = null;

  constructor(options: MailSinkOptions = {}) {
    this.#options = options;
  }

  async listen(host = '127.0.0.1'): Promise<this> {
    const options = JSON.stringify({ host, ...this.#options });
    const started = fork(new URL('./mail-server.ts', import.meta.url), { env: { OPTIONS: options }, execArgv: [] });
    this.#process = started;
    this.port = await new Promise<number>((resolve, reject) => {
      started.once('message', (port) => resolve(Number(port)));
      started.once('exit', (code) => reject(new Error(`the mail server ended with ${code}`)));
    });
    started.on('message', async (message) => {
      const { id, question } = message as { readonly id: number; readonly question: MailQuestion };
      const answer = await this.#answer(question);
      if (answer === null) {
        this.onSilence();
      } else {
        started.send({ id, answer });
      }
    });
    return this;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const started = this.#process;
    if (started !== null && started.exitCode === null) {
      const ended = once(started, 'exit');
      started.kill('SIGKILL');
      await ended;
    }
    this.#process = null;
  }

  /** Returns null if the server says nothing. */
  async #answer(question: MailQuestion): Promise<MailAnswer | null> {
    const { fault } = this;
    switch (question.step) {
      case 'CONNECT':
        return fault === 'mute' ? null : 'accept';
      case 'RCPT TO':
        return this.unknown.has(question.address) ? 550 : this.#reply('RCPT TO');
      case 'DATA': {
        const reply = this.#reply('DATA');
        if (reply !== 'accept' || fault === 'dropped') {
          return fault === 'dropped' ? 'disconnect' : reply;
        }
        const { step: _, ...received } = question;
        this.mails.push({ ...received, mail: await new PostalMime().parse(received.source) });
        return fault === 'lost' ? 'disconnect' : fault === 'silent' ? null : 'accept';
      }
      default:
        return this.#reply(question.step);
    }
  }

  #reply(step: string): MailAnswer {
    const { fault } = this;
    return typeof fault === 'object' && fault?.at === step ? fault.reply : 'accept';
  }
}
