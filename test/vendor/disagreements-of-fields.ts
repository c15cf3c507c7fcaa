/** Known differences in single fields. */
import { adds, asked, type Known, known, lacks } from './known.ts';
import { LATER } from './sources.ts';

const NEWER = {
  because: 'The field came after the version that the API document describes.',
  says: 'docs/platform-notes.md#sources-of-facts',
};
const customization = [
  ...lacks('SiteCustomizationSettingsBase', 'socialAccounts'),
  ...lacks('SiteCustomizationSettingsBase/properties/pageActions', 'items'),
  ...lacks('SiteCustomizationSettingsBase/properties/styling', 'codeTheme'),
];

/** Fields that 0.202 requires, of resources that 0.146 does not have. */
export const newer: readonly Known[] = known(
  LATER,
  [
    ...lacks('Integration/properties/urls', 'publicContentEndpoint'),
    ...lacks('IntegrationInstallation/properties/urls', 'publicContentEndpoint'),
    ...lacks('IntegrationContentInstallationBase/properties/urls', 'publicContentEndpoint'),
    ...lacks('OpenAPISpec', 'lastProcessedErrorCount'),
    ...lacks('Organization/properties/permissions', 'access'),
    ...lacks(
      'OrganizationBilling',
      'aiCreditAlertThreshold',
      'canChangeInterval',
      'canCheckout',
      'canUseSAML',
      'creditsBundle',
    ),
    ...lacks('OrganizationMember', 'sites'),
    ...lacks('RevisionBase', 'tags'),
    ...lacks('RevisionPageDocument/allOf/2', 'tags'),
    ...lacks('RevisionPageLayoutOptions', 'actions', 'anchors', 'coverMask', 'tags'),
    ...lacks('SearchPageResult', 'description', 'rank', 'score'),
    ...lacks('SearchSectionResult', 'score'),
    ...lacks('SearchSpaceResult', 'score', 'type'),
    ...lacks('Site', 'appliedType', 'defaultLevel', 'permissions'),
    ...lacks('Site/properties/urls', 'preview'),
    ...lacks('SiteSection', 'draft'),
    ...lacks('SiteSectionGroup', 'draft'),
    ...lacks('SiteSpace', 'draft'),
    ...lacks('TranslationResult', 'language'),
    ...customization,
    ...asked(customization),
  ],
  NEWER,
);

/** Fields of a customization that 0.202 has renamed or removed. */
export const older: readonly Known[] = known(
  LATER,
  [
    ...adds('SiteCustomizationSettings', 'git', 'pdf'),
    ...adds('SiteCustomizationSettingsBase/properties/pageActions', 'externalAI', 'markdown', 'mcp'),
    ...asked(adds('SiteCustomizationSettingsBase', 'git', 'pdf')),
    ...asked(adds('SiteCustomizationSettingsBase/properties/pageActions', 'externalAI', 'markdown', 'mcp')),
  ],
  {
    because: 'The field is one of the version that the API document describes.',
    says: 'docs/platform-notes.md#customization',
  },
);
