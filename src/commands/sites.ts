/** Commands on single sites that no manifest can declare. */
import { CancelledError, ConfigError, EXIT, type ExitCode } from '../core/errors.ts';
import { didYouMean, quote } from '../core/text/suggest.ts';
import { printable } from '../plan/render/words.ts';
import { openReader, openWriter } from '../platform/client.ts';
import { operations, type Site } from '../platform/operations/index.ts';
import { readTarget } from './cli/config.ts';
import { type CommandContext, printResult, untilAborted } from './cli/context.ts';
import { withPlatform } from './cli/session.ts';

interface SiteFlags {
  readonly format: 'text' | 'json';
  readonly yes?: boolean;
  readonly config?: string;
  readonly organization?: string;
}

/**
 * Runs `octavo sites regenerate-key SITE`: makes a new key for the tokens of visitors, after confirmation. The key is shown
 * nowhere. Returns 1 if it was not confirmed.
 */
export async function regenerateKeyCommand(
  wanted: string,
  flags: SiteFlags,
  context: CommandContext,
): Promise<ExitCode> {
  const target = await readTarget(flags, context);
  const { organization } = target;
  return withPlatform(target, context, async ({ connection, signal }) => {
    const client = { organization: organization.id, priority: 'person', signal } as const;
    const sites = await Array.fromAsync(openReader(connection, client).pages(operations.listSites));
    const site = chooseSite(sites, wanted);
    if (!(await isConfirmed(site, flags, context))) {
      context.terminal.err('\nNothing was changed.\n');
      return EXIT.failed;
    }
    await openWriter(connection, client).send(operations.regenerateSitePublishingAuthById, {
      path: { siteId: site.id },
    });
    const title = printable(site.title ?? '');
    printResult(context, flags.format, { format: 'octavo.site-key/1', site: site.id, title }, [
      `${title} (${site.id}) has a new key. Copy it from the application to what signs the tokens of visitors.`,
    ]);
    return EXIT.done;
  });
}

/** Finds a site by id, by the short name of its path, or by title. Throws ConfigError unless exactly one matches. */
function chooseSite(sites: readonly Site[], wanted: string): Site {
  const found = [
    sites.filter(({ id }) => id === wanted),
    sites.filter(({ basename }) => basename === wanted),
    sites.filter(({ title }) => title === wanted),
  ].find((some) => some.length > 0);
  const [site, other] = found ?? [];
  if (site === undefined) {
    const names = sites.flatMap(({ id, title }) => [id, title ?? '']);
    throw new ConfigError(`no site has the id, path or title ${quote(wanted)}${didYouMean(wanted, names)}`);
  }
  if (other !== undefined) {
    throw new ConfigError(`${found?.length} sites are called ${quote(wanted)}; pass an id, such as ${site.id}`);
  }
  return site;
}

async function isConfirmed(site: Site, { yes }: SiteFlags, { terminal, signal }: CommandContext): Promise<boolean> {
  if (yes === true) {
    return true;
  }
  if (terminal.ask === null) {
    throw new ConfigError('no terminal to ask for confirmation; pass --yes to replace the key');
  }
  terminal.err(
    `Visitors of ${printable(site.title ?? '')} (${site.id}) cannot sign in until their tokens are signed with the new key.\n`,
  );
  const answer = terminal.ask('\nType yes to replace the key: ');
  const reply = await Promise.race([answer, untilAborted(signal).then(() => '')]);
  if (signal.aborted) {
    throw new CancelledError('the key was not replaced');
  }
  return reply.trim().toLowerCase() === 'yes';
}
