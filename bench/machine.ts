/** Use of the machine by other processes, which makes timings unreliable. */
import { readFileSync } from 'node:fs';
import { loadavg } from 'node:os';
import type { Conditions } from './figures.ts';

/** Clock ticks per second in /proc: fixed on Linux. */
const TICKS = 100;

/** Starts to watch the processor; the function that it returns reports the conditions since then. */
export function watchMachine(): () => Conditions {
  const [started, all, own] = [performance.now(), busySeconds(), ownSeconds()];
  return () => {
    const elapsed = (performance.now() - started) / 1000;
    const others = busySeconds() - all - (ownSeconds() - own);
    return { load: loadavg()[0] ?? 0, othersCores: Math.max(0, others / elapsed) };
  };
}

/** CPU time of all processes. */
function busySeconds(): number {
  const [user = 0, nice = 0, system = 0, , , irq = 0, softirq = 0, steal = 0] =
    /^cpu +(.*)$/m.exec(readFileSync('/proc/stat', 'utf8'))?.[1]?.split(' ').map(Number) ?? [];
  return (user + nice + system + irq + softirq + steal) / TICKS;
}

/** CPU time of this process and of the children that have ended. */
function ownSeconds(): number {
  return statFields('self')
    .slice(11, 15)
    .reduce((sum, ticks) => sum + Number(ticks) / TICKS, 0);
}

/** CPU time of a running process, threads included. */
export function cpuSeconds(pid: number): number {
  const fields = statFields(String(pid));
  return (Number(fields[11]) + Number(fields[12])) / TICKS;
}

/** Resident memory of a running process in megabytes, and its peak. */
export function residentMegabytes(pid: number): { readonly now: number; readonly peak: number } {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  const megabytes = (name: string) => Number(new RegExp(`${name}:\\s+(\\d+)`).exec(status)?.[1]) / 1024;
  return { now: megabytes('VmRSS'), peak: megabytes('VmHWM') };
}

/** Fields after the name, which is in brackets and may contain blanks. */
function statFields(pid: string): readonly string[] {
  return readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1)?.split(' ') ?? [];
}
