import { cp, mkdir, readFile, rename } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The example files, in the order in which the story drops them. */
export const TICKET_FILES = ['mailbox.mbox', 'zendesk-export.json'] as const;

/** The folder that the daemon watches, and the files of tickets that the story has for it. */
export interface DropBox {
  readonly directory: string;
  /** Puts one of the example files into it. */
  drop(file: string): Promise<void>;
  /** Every email address in the example files, in lower case. */
  emails(): Promise<readonly string[]>;
}

const EMAIL = /[\w.+-]+@[\w-]+(?:\.[\w-]+)+/g;

/** Makes the folder, for the files of `examples`. */
export async function makeDropBox(examples: URL, directory: string): Promise<DropBox> {
  await mkdir(directory, { recursive: true });
  return {
    directory,
    async drop(file) {
      // As it ought to be done: nobody reads half a file, and one that is moved in whole is read at once.
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
