/**
 * Attacks through the content of manifests: YAML that expands without end, and texts that a terminal or a forge
 * interprets.
 */
import type { Attack } from './scene.ts';

function yaml(name: string, content: string | Uint8Array, validate: number | null = 3, says?: string | RegExp): Attack {
  return {
    name: `yaml: ${name}`,
    validate,
    ...(says === undefined ? {} : { says }),
    set: (trap) => {
      trap.write('manifests/x.yaml', content);
      trap.commit();
    },
  };
}

/** Nine levels of nine aliases each. */
function aliases(): string {
  const levels = Array.from({ length: 9 }, (_, level) => {
    const item = level === 0 ? 'lol' : `*a${level - 1}`;
    return `a${level}: &a${level} [${Array.from({ length: 9 }, () => item).join(', ')}]`;
  });
  return `${levels.join('\n')}\nteams:\n  x: { title: T, members: *a8 }\n`;
}

const documents: readonly Attack[] = [
  yaml('a billion aliases', aliases(), 3, /x\.yaml:\d+/),
  yaml('an alias of itself', 'teams: &t\n  x: { title: X, members: *t }\n'),
  yaml('merge keys', 'base: &b { title: X }\nteams:\n  x: { <<: *b }\n'),
  yaml('1,000 nested lists', `teams: ${'['.repeat(1000)}${']'.repeat(1000)}\n`),
  yaml('100,000 nested lists', `teams: ${'['.repeat(100_000)}\n`),
  yaml('5,000 nested mappings', Array.from({ length: 5000 }, (_, at) => `${' '.repeat(at)}a:`).join('\n')),
  yaml('a title of 5 MB', `teams:\n  x: { title: ${'x'.repeat(5_000_000)} }\n`),
  yaml('a key of 5 MB', `teams:\n  ${'x'.repeat(5_000_000)}: { title: X }\n`),
  yaml('11 MB', `teams: {}\n${'#'.repeat(11 * 1_048_576)}\n`, 3, 'the limit for a manifest is 10 MB'),
  yaml('__proto__ as a section', '__proto__: { polluted: true }\nteams: {}\n'),
  yaml('__proto__ as a key', 'teams:\n  __proto__: { title: X }\n'),
  yaml('__proto__ and constructor as fields', 'teams:\n  x: { title: X, __proto__: { a: 1 }, constructor: 1 }\n'),
  yaml('a tag that names a function', 'teams:\n  x: { title: !!js/function "function () { process.exit(9) }" }\n'),
  yaml('a tag of its own', 'teams:\n  x: { title: !evil X }\n'),
  yaml('binary', 'teams:\n  x: { title: !!binary aGk= }\n'),
  yaml('a key twice', 'teams:\n  x: { title: X }\n  x: { title: Y }\n'),
  yaml('a NUL', 'teams:\n  x: { title: "a\\0b" }\n', null),
  yaml('UTF-16', Buffer.from('\ufeffteams: {}\n', 'utf16le')),
  yaml('bytes that are no UTF-8', Buffer.from([0x74, 0x3a, 0x20, 0xff, 0x0a])),
  yaml('a byte order mark', '\ufeffteams:\n  x: { title: X }\n', 0),
  yaml('1,000 documents', '---\nteams: {}\n'.repeat(1000), 0),
  // biome-ignore lint/suspicious/noTemplateCurlyInString: configuration variables, which manifests do not have
  yaml('a variable', 'teams:\n  x: { title: "${env:OCTAVO_TOKEN}${CANARY}$CANARY" }\n', 0),
  // biome-ignore lint/suspicious/noTemplateCurlyInString: as above
  yaml('a file by a variable', 'openapi:\n  x: { source: { file: "${env:HOME}/.netrc" } }\n'),
  yaml('a directive for another file', '%INCLUDE job.env\n---\nteams: {}\n'),
];

/** A text that another program would interpret: valid or not, it is shown as text. */
function title(name: string, text: string): Attack {
  return yaml(`a title that ${name}`, `teams:\n  odd: { title: ${JSON.stringify(text)} }\n`, null);
}

const obeyed: readonly Attack[] = [
  title('clears the terminal', 'a\u001b[2J\u001b]0;owned\u0007b'),
  title('turns the reading direction', 'a\u202eb\u2066c'),
  title('hides what came before', 'ok\rapplied'),
  title('is a command of a workflow’s runner', '::add-mask::x\n::set-env name=A::b'),
  title('is HTML and mentions', '--><script>alert(1)</script> @everyone <!-- octavo:plan -->'),
  title('ends a code block', '```\n# Approved\n```'),
  title('is a C1 control', 'a\u009b2Jb'),
];

/** Attacks through the text of manifests. */
export const textAttacks: readonly Attack[] = [...documents, ...obeyed];
