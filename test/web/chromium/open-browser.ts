/** Starts Chromium for tests of the web page. */
import { type Browser, chromium } from 'playwright-core';
import { findProgram } from '../../support/programs.ts';

const EXECUTABLE = findProgram('chromium');

/** Host name that leads to this machine in the browser, as an adversary’s name could. */
export const OTHER_HOST = 'other.example';

export const hasBrowser = EXECUTABLE !== null;

/** Starts the browser. It has no sandbox, because tests may run as root. */
export function openBrowser(): Promise<Browser> {
  return chromium.launch({
    executablePath: EXECUTABLE ?? '',
    args: ['--no-sandbox', '--disable-gpu', `--host-resolver-rules=MAP ${OTHER_HOST} 127.0.0.1`],
  });
}
