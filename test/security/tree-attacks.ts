/** Attacks through git objects that git itself would not create, and through their expansion. */
import { type Attack, blobOf, commitRoot, commitTree, type Trap } from './scene.ts';

const HOOK = (command: string) => `#!/bin/sh\n${command}\n`;

/** A tree with an executable in a place that some file system treats as the repository’s own folder. */
function disguised(name: string, folder: string): Attack {
  return {
    name: `tree: ${name}`,
    set: (trap) => {
      const hook = blobOf(trap, HOOK(trap.command));
      const config = blobOf(trap, `[core]\n\tfsmonitor = "${trap.command}"\n`);
      const hooks = trap.feed(`100755 blob ${hook}\tpost-checkout\0`, 'mktree', '-z');
      const inner = trap.feed(`100644 blob ${config}\tconfig\0` + `040000 tree ${hooks}\thooks\0`, 'mktree', '-z');
      commitTree(trap, [`040000 tree ${inner}\t${folder}`]);
    },
  };
}

/** A file with a name that no ordinary commit has. */
function named(name: string, file: string | Uint8Array): Attack {
  return {
    name: `tree: ${name}`,
    set: (trap) => {
      const blob = blobOf(trap, 'teams:\n  odd: { title: Odd }\n');
      commitTree(trap, [Buffer.concat([Buffer.from(`100644 blob ${blob}\t`), Buffer.from(file)])]);
    },
  };
}

/** Ten levels of ten folders each: ten billion files in eleven objects. */
function bomb(trap: Trap): void {
  let entries = `100644 blob ${blobOf(trap, 'teams: {}\n')}\tf.yaml\0`;
  let tree = trap.feed(entries, 'mktree', '-z');
  for (let level = 0; level < 10; level += 1) {
    entries = Array.from({ length: 10 }, (_, index) => `040000 tree ${tree}\td${index}\0`).join('');
    tree = trap.feed(entries, 'mktree', '-z');
  }
  commitRoot(trap, trap.feed(`040000 tree ${tree}\tmanifests\0`, 'mktree', '-z'));
}

function deep(trap: Trap): void {
  let tree = trap.feed(`100644 blob ${blobOf(trap, 'teams: {}\n')}\tf.yaml\0`, 'mktree', '-z');
  for (let level = 0; level < 40; level += 1) {
    tree = trap.feed(`040000 tree ${tree}\td\0`, 'mktree', '-z');
  }
  commitRoot(trap, trap.feed(`040000 tree ${tree}\tmanifests\0`, 'mktree', '-z'));
}

export const treeAttacks: readonly Attack[] = [
  disguised('a .git', '.git'),
  disguised('a .GIT', '.GIT'),
  disguised('a short name of .git', 'git~1'),
  disguised('a .git with a code point that is ignored', '.g\u200cit'),
  disguised('a .git with a stream', '.git::$INDEX_ALLOCATION'),
  disguised('a .git behind a backslash', 'a\\.git'),
  disguised('a parent folder', '..'),
  {
    name: 'tree: a link and a folder that differ by case, with a hook behind',
    set: (trap) => {
      const hook = trap.feed(`100755 blob ${blobOf(trap, HOOK(trap.command))}\tpost-checkout\0`, 'mktree', '-z');
      const hooks = trap.feed(`040000 tree ${hook}\thooks\0`, 'mktree', '-z');
      commitTree(trap, [`120000 blob ${blobOf(trap, '../.git')}\ta`, `040000 tree ${hooks}\tA`]);
    },
  },
  {
    name: 'tree: a link and a folder of the same name, with a hook behind',
    set: (trap) => {
      const hook = trap.feed(`100755 blob ${blobOf(trap, HOOK(trap.command))}\tpost-checkout\0`, 'mktree', '-z');
      const hooks = trap.feed(`040000 tree ${hook}\thooks\0`, 'mktree', '-z');
      commitTree(trap, [`120000 blob ${blobOf(trap, '../.git')}\ta`, `040000 tree ${hooks}\ta`]);
    },
  },
  {
    name: 'tree: the same file twice',
    set: (trap) =>
      commitTree(trap, [
        `100644 blob ${blobOf(trap, 'teams: {}\n')}\tx.yaml`,
        `100644 blob ${blobOf(trap, 'teams:\n  evil: { title: Evil }\n')}\tx.yaml`,
      ]),
  },
  named('a name that is an option', '--upload-pack=x.yaml'),
  named('a name with a line feed', 'a\nb.yaml'),
  named('a name with a carriage return', 'a\r.yaml'),
  named('a name that obeys on a terminal', '\u001b]0;owned\u0007\u001b[2J.yaml'),
  named('a name that turns the reading direction', '\u202elmay.yaml'),
  named('a name that a workflow’s runner obeys', '::set-output name=x::y.yaml'),
  named('a name in Markdown', '<!-- octavo --> @everyone ![x](http:y).yaml'),
  named('a name that is no UTF-8', Buffer.from([0xff, 0xfe, 0x2e, 0x79, 0x61, 0x6d, 0x6c])),
  named('a name of 255 bytes', `${'n'.repeat(250)}.yaml`),
  named('a name that is __proto__', '__proto__.yaml'),
  named('a name of pathspec magic', ':(top,exclude)*.yaml'),
  {
    name: 'tree: a link whose target has 20 MB',
    set: (trap) => commitTree(trap, [`120000 blob ${blobOf(trap, 'a/'.repeat(10_000_000))}\tlong.yaml`]),
  },
  {
    name: 'tree: a manifest of 100 MB that is 100 kB of objects',
    set: (trap) => commitTree(trap, [`100644 blob ${blobOf(trap, Buffer.alloc(100_000_000))}\tzeros.yaml`]),
  },
  {
    name: 'tree: an object that is missing',
    set: (trap) => commitTree(trap, [`100644 blob ${'1'.repeat(40)}\tgone.yaml`]),
  },
  { name: 'tree: ten billion files in eleven objects', set: bomb },
  { name: 'tree: 40 folders in each other', set: deep },
  {
    name: 'tree: a message that obeys on a terminal',
    set: (trap) => {
      trap.git('commit', '--quiet', '--allow-empty', '-m', '\u001b[2J\u001b]0;owned\u0007 @everyone <!-- x -->');
    },
  },
];
