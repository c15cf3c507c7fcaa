/** Attacks through files: links, named files outside of the repository, and endless files. */
import { rmSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { makeFifo } from '../support/fifo.ts';
import type { Attack, Trap } from './scene.ts';

/** A manifest that declares the content of a file as a specification. */
const naming = (file: string) => `openapi:\n  petstore: { source: { file: ${JSON.stringify(file)} } }\n`;

/** A manifest that names a forbidden file. */
function refused(name: string, file: string, says: string | RegExp, set: (trap: Trap) => void = () => {}): Attack {
  return {
    name: `file: ${name}`,
    validate: 3,
    says,
    set: (trap) => {
      trap.write('manifests/api.yaml', naming(file));
      set(trap);
      trap.commit();
    },
  };
}

/** A manifest that is not a regular file of the repository. */
function manifest(name: string, validate: number, set: (trap: Trap) => void, says?: string | RegExp): Attack {
  return { name: `manifest: ${name}`, validate, set, ...(says === undefined ? {} : { says }) };
}

const names: readonly Attack[] = [
  refused('the repository’s settings', '../.git/config', 'is outside the manifest directory'),
  {
    ...refused('the repository’s settings, from its root', '.git/config', 'is inside .git'),
    folder: '.',
    set: (trap) => {
      trap.write('api.yaml', naming('.git/config'));
      trap.commit();
    },
  },
  {
    ...refused('the repository’s settings, in capitals', '.GIT/config', 'is inside .git'),
    folder: '.',
    set: (trap) => {
      trap.write('api.yaml', naming('.GIT/config'));
      trap.commit();
    },
  },
  refused('a file of the job that is not tracked', 'job.env', /api\.yaml:2:\d+: .*not tracked by git/),
  refused('a file outside', '../../../outside.txt', 'is outside the manifest directory'),
  refused('an absolute path', '/etc/passwd', 'absolute path'),
  refused('its own environment', '/proc/self/environ', 'absolute path'),
  refused('a link out of the repository', 'link.txt', 'symbolic link', ({ link, outside }) =>
    link('manifests/link.txt', outside),
  ),
  refused('a link to its own environment', 'link.txt', 'symbolic link', ({ link }) =>
    link('manifests/link.txt', '/proc/self/environ'),
  ),
  refused('a link to a file that is not tracked', 'link.txt', 'not tracked', ({ link }) =>
    link('manifests/link.txt', 'job.env'),
  ),
  refused('a file behind a linked folder', 'up/outside.txt', 'symbolic link', ({ link }) =>
    link('manifests/up', '../../..'),
  ),
  refused('a file behind 50 links', 'l0', /does not exist in/, ({ link }) => {
    for (let index = 0; index < 50; index += 1) {
      link(`manifests/l${index}`, `l${index + 1}`);
    }
  }),
  refused('a link to itself', 'loop', 'does not exist in', ({ link }) => link('manifests/loop', 'loop')),
  refused('a FIFO', 'job.fifo', /not tracked|FIFO/, ({ manifests }) => makeFifo(join(manifests, 'job.fifo'))),
  refused('a device behind a link', 'zero', 'symbolic link', ({ link }) => link('manifests/zero', '/dev/zero')),
  refused('a file with a NUL in its name', 'a\u0000b', 'is not a path'),
  refused('a file with the name of an option', '--help', 'does not exist in'),
];

const replaced: readonly Attack[] = [
  manifest(
    'a link to the repository’s settings',
    3,
    (trap) => {
      trap.link('manifests/x.yaml', '../.git/config');
      trap.commit();
    },
    /symbolic link|\.git/,
  ),
  {
    ...manifest(
      'a link to the repository’s settings, from its root',
      3,
      (trap) => {
        trap.link('x.yaml', '.git/config');
        trap.commit();
      },
      'is a link into .git',
    ),
    folder: '.',
  },
  manifest(
    'a link to a file that is not tracked',
    3,
    (trap) => trap.link('manifests/x.yaml', 'job.env'),
    'not tracked',
  ),
  manifest('a link to a device', 3, (trap) => {
    trap.link('manifests/x.yaml', '/dev/zero');
    trap.commit();
  }),
  manifest('a FIFO', 3, ({ manifests }) => makeFifo(join(manifests, 'x.yaml'))),
  manifest(
    'a tracked file that is a FIFO now',
    3,
    ({ manifests }) => {
      rmSync(join(manifests, 'teams.yaml'));
      makeFifo(join(manifests, 'teams.yaml'));
    },
    'FIFO',
  ),
  manifest('a socket', 3, ({ manifests }) => {
    const server = createServer().listen(join(manifests, 'x.yaml'));
    server.unref();
  }),
  manifest(
    'a sparse file of a terabyte',
    3,
    ({ manifests }) => {
      writeFileSync(join(manifests, 'x.yaml'), '');
      truncateSync(join(manifests, 'x.yaml'), 2 ** 40);
    },
    'the limit for a manifest is 10 MB',
  ),
  manifest('a folder', 0, ({ write }) => write('manifests/x.yaml/inner.txt', 'x')),
  manifest('an ignore file that is a link to the settings', 1, (trap) => {
    trap.link('manifests/.octavoignore', '../.git/config');
    trap.commit();
  }),
  manifest('an ignore file with patterns that backtrack without end', 0, (trap) => {
    trap.write('manifests/.octavoignore', `${'**/a/'.repeat(30)}x\n${'*a'.repeat(60)}b\n`);
    trap.write(`manifests/${'a/'.repeat(60)}b.yaml`, 'teams: {}\n');
    trap.write(`manifests/${'a'.repeat(200)}.yaml`, 'teams: {}\n');
    trap.commit();
  }),
  manifest('an ignore file that is a FIFO', 1, ({ manifests }) => makeFifo(join(manifests, '.octavoignore'))),
];

/** A link in the place of the planned folder. */
function replacedFolder(name: string, target: (trap: Trap) => string): Attack {
  return {
    name: `folder: ${name}`,
    validate: 1,
    says: 'symbolic link',
    set: (trap) => {
      const to = target(trap);
      rmSync(trap.manifests, { recursive: true });
      symlinkSync(to, trap.manifests);
      trap.commit();
    },
  };
}

const folders: readonly Attack[] = [
  replacedFolder('a link out of the repository', () => '../../template/manifests'),
  replacedFolder('a link to the repository’s own .git', () => '.git'),
  replacedFolder('a link to the root of the machine', () => '/proc/self'),
  {
    name: 'folder: a link to the whole machine in it',
    set: (trap) => {
      trap.link('manifests/machine', '/');
      trap.link('manifests/self', '.');
      trap.commit();
    },
  },
];

/** Attacks through files. */
export const fileAttacks: readonly Attack[] = [...names, ...replaced, ...folders];
