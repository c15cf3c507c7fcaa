/** Thread that floods a daemon with connections, and replaces those that the daemon closes. */
import { connect } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { workerData } from 'node:worker_threads';

/** Address, text that is sent once, and text that is sent again and again. */
export type Target = readonly [address: string, first: string, more: string];

/** Milliseconds between two texts of a connection, and before a closed one is replaced. */
const EVERY = 200;
const REPLACED_AFTER = 5000;

const { targets, count } = workerData as { readonly targets: readonly Target[]; readonly count: number };

function open(index: number): void {
  const [address, first, more] = targets[index % targets.length] ?? ['', '', ''];
  const socket = connect(Number(new URL(address).port), '127.0.0.1', () => socket.write(first));
  const timer = setInterval(() => more !== '' && socket.writableLength < 100_000 && socket.write(more), EVERY);
  socket.on('error', () => undefined).resume();
  socket.once('close', () => {
    clearInterval(timer);
    setTimeout(open, REPLACED_AFTER, index);
  });
}

for (let index = 0; index < count; index += 1) {
  open(index);
  if (index % 100 === 99) {
    await pause(5);
  }
}
