// Loaded before a measured program: as it ends, writes what the operating system accounts to it on descriptor 3.
import { writeSync } from 'node:fs';

process.once('exit', () => {
  writeSync(3, JSON.stringify(process.resourceUsage()));
});
