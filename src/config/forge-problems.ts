/** Checks the settings of commit statuses and deployments. See docs/commit-statuses.md. */
import type { Problem } from '../core/errors.ts';
import { isObject } from '../core/json.ts';
import { type ForgeConfig, type ForgeType, forgeSchema } from './forge.ts';
import { type ForgeTarget, forgeTarget } from './forge-target.ts';
import type { ConfigDocument, Path } from './model/document.ts';

/** Forge whose type, API and repository are all known. */
export type StatusForge = { readonly [Name in keyof ForgeTarget]: NonNullable<ForgeTarget[Name]> };
type Settings = Pick<ForgeConfig, 'type' | 'apiUrl' | 'repository'>;

const NEEDED = {
  type: 'forge.type to one of github, gitlab, gitea, bitbucket',
  apiUrl: 'forge.apiUrl to the address of its API, such as https://git.acme.example/api/v4',
  repository: 'forge.repository to the repository, such as acme/docs',
} as const satisfies Record<keyof StatusForge, string>;

/** Returns the forge of a repository; otherwise the settings that have to be set, because its URL does not show them. */
export function findStatusForge(settings: Settings, gitUrl: string): StatusForge | readonly (keyof StatusForge)[] {
  const { type, apiUrl, repository } = forgeTarget(settings, gitUrl);
  const named = repository !== null && (type === null || isRepository(repository, type)) ? repository : null;
  return type !== null && apiUrl !== null && named !== null
    ? { type, apiUrl, repository: named }
    : (Object.keys(NEEDED) as (keyof StatusForge)[]).filter(
        (name) => ({ type, apiUrl, repository: named })[name] === null,
      );
}

/** Returns true if a text can name a repository at a forge. */
function isRepository(text: string, type: ForgeType): boolean {
  const parts = text.split('/');
  const isPath = parts.every((part) => /^(?!\.{1,2}$)[\w.~-]+$/.test(part));
  return type === 'gitlab' ? /^\d+$/.test(text) || (isPath && parts.length >= 2) : isPath && parts.length === 2;
}

/** Checks the settings of every organization. They use raw values, like all checks that involve several settings. */
export function forgeProblems(document: ConfigDocument): readonly Problem[] {
  const root = isObject(document.values) ? document.values : {};
  const organizations = Array.isArray(root.organizations) ? root.organizations : [];
  return organizations.flatMap((organization: unknown, index) => {
    const forge = isObject(organization) ? organization.forge : undefined;
    return isObject(organization) && isObject(forge)
      ? problemsOf(document, ['organizations', index, 'forge'], forge, organization.source)
      : [];
  });
}

function problemsOf(
  document: ConfigDocument,
  at: Path,
  forge: Readonly<Record<string, unknown>>,
  source: unknown,
): readonly Problem[] {
  const problem = (name: string, message: string) => [document.problemAt([...at, name], message)];
  if (forge.token === undefined) {
    return ['statusContext', 'environment']
      .filter((name) => forge[name] !== undefined)
      .flatMap((name) => problem(name, 'does nothing without a token; set forge.token'));
  }
  const url = isObject(source) && isObject(source.git) ? source.git.url : undefined;
  if (typeof url !== 'string') {
    return problem('token', 'sets commit statuses, which require source.git; set it, or leave out the token');
  }
  const { success, data } = forgeSchema().safeParse(forge);
  if (!success) {
    return [];
  }
  const found = findStatusForge(data, url);
  if (!('type' in found)) {
    const needed = found.map((name) => NEEDED[name]).join(', and ');
    return [document.problemAt(at, `cannot be derived from source.git.url; set ${needed}`)];
  }
  const hasDeployments = found.type === 'github' || found.type === 'gitlab';
  return forge.environment === undefined || hasDeployments
    ? []
    : problem('environment', 'is for GitHub and GitLab, which have deployments; leave it out');
}
