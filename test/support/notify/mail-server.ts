/** Process of the mail server of {@link MailSink}: asks the test about every step. */
import type { AddressInfo } from 'node:net';
import { SMTPServer, type SMTPServerSession } from 'smtp-server';
import type { MailAnswer, MailQuestion, MailSinkOptions } from './mail-sink.ts';

type Callback = (error?: Error | null) => void;

const {
  host,
  secure = false,
  startTls = true,
  password,
  ...certificate
} = JSON.parse(process.env.OPTIONS ?? '{}') as MailSinkOptions & { readonly host: string };
const asked = new Map<number, (answer: MailAnswer) => void>();
let number = 0;

const server = new SMTPServer({
  ...{ secure, ...certificate, allowInsecureAuth: true, authOptional: password === undefined },
  disabledCommands: startTls || secure ? [] : ['STARTTLS'],
  onConnect: (_, callback) => ask({ step: 'CONNECT' }, callback),
  onAuth: (auth, _, callback) =>
    auth.password === password ? callback(null, { user: auth.username }) : callback(new Error(`no ${auth.password}`)),
  onMailFrom: (_, __, callback) => ask({ step: 'MAIL FROM' }, callback),
  onRcptTo: ({ address }, _, callback) => ask({ step: 'RCPT TO', address }, callback),
  onData: (stream, session, callback) => void receive(stream, session, callback),
});

async function receive(stream: AsyncIterable<Buffer>, session: SMTPServerSession, callback: Callback): Promise<void> {
  const source = Buffer.concat(await Array.fromAsync(stream)).toString();
  const to = session.envelope.rcptTo.map(({ address }) => address);
  const user = typeof session.user === 'string' ? session.user : null;
  ask({ step: 'DATA', source, to, user, isEncrypted: session.secure }, callback);
}

function ask(question: MailQuestion, callback: Callback): void {
  number += 1;
  asked.set(number, (answer) => {
    if (answer === 'disconnect') {
      disconnect();
    } else {
      callback(answer === 'accept' ? null : Object.assign(new Error('canary of the server'), { responseCode: answer }));
    }
  });
  process.send?.({ id: number, question });
}

function disconnect(): void {
  for (const connection of server.connections) {
    (connection as unknown as { _socket: { destroy(): void } })._socket.destroy();
  }
}

server.on('error', () => undefined);
process.on('message', ({ id, answer }: { readonly id: number; readonly answer: MailAnswer }) => {
  asked.get(id)?.(answer);
  asked.delete(id);
});
// The test has ended, in whatever way.
process.on('disconnect', () => process.exit());
server.listen(0, host, () => process.send?.((server.server.address() as AddressInfo).port));
