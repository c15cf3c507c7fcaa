/** Repository of the demonstration. */
import { cp, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { isMap, isSeq, parseDocument } from 'yaml';
import { makeDirectory } from '../core/files/disk.ts';
import { repositoryIn } from '../git/repository.ts';
import { openGit } from '../git/run.ts';

const TIMEOUT = 30_000;

/** A git repository with the manifests of examples/acme, and the edits that the demonstration makes. */
export interface AcmeRepository {
  readonly directory: string;
  /** Commits the edits and returns the commit id. */
  commit(message: string): Promise<string>;
  renameTeam(): Promise<void>;
  moveSection(): Promise<void>;
  addTranslation(): Promise<void>;
  removePlayground(): Promise<void>;
}

/** Creates the repository from the example, with a first commit. */
export async function makeAcmeRepository(example: URL, directory: string): Promise<AcmeRepository> {
  makeDirectory(directory);
  await cp(example, directory, { recursive: true });
  const git = openGit({ repository: repositoryIn(directory), timeout: TIMEOUT });
  await git.raw(['init', '--quiet', '--initial-branch=main']);
  // Commits of the user must work without git settings.
  await git.raw(['config', 'user.name', 'Octavo demo']);
  await git.raw(['config', 'user.email', 'demo@acme.example']);
  const edit = async (file: string, change: (text: string) => string) => {
    const path = join(directory, file);
    await writeFile(path, change(await readFile(path, 'utf8')));
  };
  const repository: AcmeRepository = {
    directory,
    async commit(message) {
      await git.raw(['add', '--all']);
      await git.raw(['commit', '--quiet', '-m', message]);
      return (await git.raw(['rev-parse', 'HEAD'])).trim();
    },
    renameTeam: () => edit('teams.yaml', (text) => text.replace('title: Writers', 'title: Docs writers')),
    moveSection: () => edit('sites.yaml', changelogFirst),
    addTranslation: () => edit('translations.yaml', withGerman),
    removePlayground: async () => {
      const withoutPlayground = (text: string) => text.replaceAll(/^.*playground.*\n/gm, '');
      await edit('sites.yaml', withoutPlayground);
      await edit('spaces.yaml', withoutPlayground);
    },
  };
  await repository.commit('Acme’s documentation, as code');
  return repository;
}

/** Moves the last section, `changelog`, to the front; keeps comments. */
function changelogFirst(text: string): string {
  const document = parseDocument(text);
  const structure = document.getIn(['sites', 'help', 'structure']);
  if (isSeq(structure)) {
    const at = structure.items.findIndex((item) => isMap(item) && item.get('section') === 'changelog');
    const [changelog] = structure.items.splice(at, 1);
    structure.items.unshift(changelog);
  }
  return document.toString({ lineWidth: 0 });
}

function withGerman(text: string): string {
  const document = parseDocument(text);
  const german = document.createNode({ space: 'guides', from: 'en', to: 'de', rerun: 'on-change' });
  document.setIn(['translations', 'guides-de'], german);
  return document.toString({ lineWidth: 0 });
}
