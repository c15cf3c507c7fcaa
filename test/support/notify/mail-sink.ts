/** Mail server on a real socket that keeps what it accepts, with faults. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import PostalMime, { type Email } from 'postal-mime';
import { SMTPServer, type SMTPServerSession } from 'smtp-server';

export interface ReceivedMail {
  readonly to: readonly string[];
  readonly isEncrypted: boolean;
  readonly user: string | undefined;
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

export class MailSink implements AsyncDisposable {
  readonly mails: ReceivedMail[] = [];
  fault: MailFault | null = null;
  /** Addresses that do not exist. */
  readonly unknown = new Set<string>();
  onSilence: () => void = () => undefined;
  readonly #server: SMTPServer;

  constructor({ secure = false, startTls = true, key, cert, password }: MailSinkOptions = {}) {
    this.#server = new SMTPServer({
      secure,
      ...(key === undefined || cert === undefined ? {} : { key, cert }),
      disabledCommands: startTls || secure ? [] : ['STARTTLS'],
      authOptional: password === undefined,
      allowInsecureAuth: true,
      closeTimeout: 100,
      onConnect: (_, callback) => this.#connect(callback),
      onAuth: (auth, _, callback) =>
        auth.password === password
          ? callback(null, { user: auth.username })
          : callback(new Error(`no ${auth.password}`)),
      onMailFrom: (_, __, callback) => callback(this.#refusal('MAIL FROM')),
      onRcptTo: ({ address }, _, callback) =>
        callback(this.unknown.has(address) ? smtpError(550) : this.#refusal('RCPT TO')),
      onData: (stream, session, callback) => void this.#receive(stream, session, callback),
    });
    this.#server.on('error', () => undefined);
  }

  get port(): number {
    return (this.#server.server.address() as AddressInfo).port;
  }

  async listen(host = '127.0.0.1'): Promise<this> {
    await new Promise<void>((resolve) => this.#server.listen(0, host, resolve));
    return this;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await new Promise<void>((resolve) => this.#server.close(() => resolve()));
  }

  #connect(callback: (error?: Error | null) => void): void {
    if (this.fault === 'mute') {
      this.onSilence();
      return;
    }
    callback();
  }

  #refusal(step: string): Error | null {
    const { fault } = this;
    return typeof fault === 'object' && fault?.at === step ? smtpError(fault.reply) : null;
  }

  async #receive(
    stream: AsyncIterable<Buffer>,
    session: SMTPServerSession,
    callback: (error?: Error | null) => void,
  ): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of stream) {
      chunks.push(chunk);
    }
    const refusal = this.#refusal('DATA');
    if (refusal !== null) {
      callback(refusal);
      return;
    }
    if (this.fault === 'dropped') {
      this.#disconnect();
      return;
    }
    const source = Buffer.concat(chunks).toString();
    this.mails.push({
      to: session.envelope.rcptTo.map(({ address }) => address),
      isEncrypted: session.secure,
      user: typeof session.user === 'string' ? session.user : undefined,
      source,
      mail: await new PostalMime().parse(source),
    });
    if (this.fault === 'lost') {
      this.#disconnect();
    } else if (this.fault === 'silent') {
      this.onSilence();
    } else {
      callback();
    }
  }

  #disconnect(): void {
    for (const connection of this.#server.connections) {
      (connection as unknown as { _socket: { destroy(): void } })._socket.destroy();
    }
  }
}

function smtpError(responseCode: number): Error {
  return Object.assign(new Error('canary of the server'), { responseCode });
}

/** Creates a certificate for `localhost` and the addresses of this machine. */
export function createCertificate(): { readonly key: string; readonly cert: string } {
  const folder = mkdtempSync(join(tmpdir(), 'octavo-mail-'));
  const names = 'subjectAltName=DNS:localhost,IP:127.0.0.1,IP:0.0.0.0';
  const script = `openssl req -x509 -newkey rsa:2048 -nodes -days 2 -keyout key.pem -out cert.pem -subj /CN=localhost -addext ${names}`;
  try {
    execFileSync('sh', ['-c', script], { cwd: folder, stdio: 'ignore' });
    const [key, cert] = ['key.pem', 'cert.pem'].map((name) => readFileSync(join(folder, name), 'utf8'));
    return { key: key ?? '', cert: cert ?? '' };
  } finally {
    rmSync(folder, { recursive: true });
  }
}
