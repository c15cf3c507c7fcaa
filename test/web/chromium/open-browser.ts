/** Starts Chromium for tests of the web page. */
import { existsSync } from 'node:fs';
import { type Browser, chromium } from 'playwright-core';

/** Path of Debian's Chromium. */
const EXECUTABLE = '/usr/bin/chromium';

/** Host name that leads to this machine in the browser, as an adversary’s name could. */
export const OTHER_HOST = 'other.example';

/** True if there is a browser. In CI there must be one. */
export const hasBrowser = existsSync(EXECUTABLE) || process.env.CI !== undefined;

/** Starts the browser. It has no sandbox, because tests may run as root. */
export function openBrowser(): Promise<Browser> {
  return chromium.launch({
    executablePath: EXECUTABLE,
    args: ['--no-sandbox', '--disable-gpu', `--host-resolver-rules=MAP ${OTHER_HOST} 127.0.0.1`],
  });
}
