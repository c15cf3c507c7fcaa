import { configFromEnvironment, type OrganizationConfig } from '../../src/config/config.ts';
import { kinds } from '../../src/kinds/registry.ts';

/** Default configuration of an organization, or one without required approvals. */
export function organizationConfig(id: string, held: boolean): OrganizationConfig {
  const env = { OCTAVO_BASE_URL: 'https://platform.example', OCTAVO_TOKEN: 'none', OCTAVO_ORGANIZATION: id };
  const { organizations } = configFromEnvironment(env, kinds);
  const [organization] = organizations;
  if (organization === undefined) {
    throw new Error('no organization');
  }
  return held
    ? organization
    : { ...organization, requireApproval: [], limits: { maxDeletions: 1e6, maxChangedPercent: 100 } };
}
