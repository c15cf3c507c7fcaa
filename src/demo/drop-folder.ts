/** Folder of conversations of the demonstration. */
import { cp, readFile, rename } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { makeDirectory } from '../core/files/disk.ts';

/** The example files, in the order of the demonstration. */
export const TICKET_FILES = ['mailbox.mbox', 'zendesk-export.json'] as const;

/** The folder that the daemon watches, and the ticket files for it. */
export interface DemoDropFolder {
  readonly directory: string;
  /** Moves a copy of an example file into the folder. */
  drop(file: string): Promise<void>;
  /** Returns every email address in the example files, in lower case. */
  emails(): Promise<readonly string[]>;
}

const EMAIL = /[\w.+-]+@[\w-]+(?:\.[\w-]+)+/g;

/** Creates the folder for the files of `examples`. */
export async function makeDemoDropFolder(examples: URL, directory: string): Promise<DemoDropFolder> {
  makeDirectory(directory);
  return {
    directory,
    async drop(file) {
      // Renaming is atomic, so the daemon never reads an incomplete file.
      const unfinished = join(directory, `.${file}.part`);
      await cp(fileURLToPath(new URL(file, examples)), unfinished, { preserveTimestamps: true });
      await rename(unfinished, join(directory, file));
    },
    async emails() {
      const texts = await Promise.all(TICKET_FILES.map((file) => readFile(new URL(file, examples), 'utf8')));
      return [...new Set(texts.flatMap((text) => text.match(EMAIL) ?? []).map((email) => email.toLowerCase()))];
    },
  };
}
