import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { isObject } from '../../src/core/json.ts';
import { bodiesOf } from './arbitrary-bodies.ts';
import { all, call, callsOf, openStage, type Stage } from './exercise.ts';

/*
 * Everything that the client's schemas accept, the embedded platform's accept as well, except for fields that it does
 * not have: the client's schemas are made from the vendor's documents, and the platform's are not.
 */

let stage: Stage;

beforeAll(async () => {
  stage = await openStage();
  // The client accepts everything that any version of the platform accepts.
  const later = {
    authorMergeRules: true,
    bulkRedirects: true,
    permanentRedirects: true,
    systemTheme: true,
    traditionalChinese: true,
    visitorClaims: true,
  };
  stage.emulator.setFeatures({ sectionParents: true, ...later });
}, 60_000);
afterAll(() => stage.close());

/** Errors that depend on the state, which no schema can check. */
const OF_THE_STATE = [
  // A field of another version than the embedded platform has, within a value.
  /: unknown field$/,
  // Said of an operation of some versions, whatever the fault.
  /^only platforms like /,
  // Nothing is left without such fields.
  / was not sent: body: /,
  /cannot be inside itself$/,
  /does not exist$/,
  /not found$/,
  /must not be empty$/,
  /invalid position: /,
  /^Nothing to update: /,
  /is already in use$/,
  /the same space twice$/,
  /does not belong to the section$/,
  /is the language of the source$/,
  /is already (translated into|part of|there)\b/,
  /is (merged|archived)$/,
  // Follows an error of an operation that only one version has.
  /^only platforms like /,
];

/**
 * Values that the documents leave open, or to the platform: the client sends them unchanged and reports the platform's
 * answer.
 */
const LEFT_TO_THE_PLATFORM: Readonly<Record<string, RegExp>> = {
  applySpaceTemplate: /^body\.params\.contentRefs\./,
  askSite: /^body\.scope\.siteSpaceIds: must name at least one site space$/,
  createChangeRequest: /^body\.template\.params\.contentRefs\./,
  createSpace: /^body\.(template\.params\.contentRefs\.|emoji: must be an emoji)/,
  ingestConversations: /^body(\.\d)?\.metadata\.url: must be /,
  publishIntegration: /^body\.(configurations|contentSecurityPolicy)\b/,
  putContextRecords: /^body\.\d\.url: must be /,
  updateAdaptiveSchema: /^body\.jsonSchema\b/,
  // The documents disagree on `inherit`.
  updateOrganization: /^body\.mergeRules\.(?:rules\.|type: Invalid)/,
  // From 0.202, null creates a space.
  addSiteSpace: /^body\.spaceId: expected string, received null$/,
  createSection: /^body\.spaceId: expected string, received null$/,
  // All settings: the available ones are not documented.
  updateSiteCustomization: /^body\.\w+/,
  // One of the forms of an invited person is any text.
  inviteUsersToOrganization: /^body\.emails\.\d+: is not an email address$/,
  // Emoji are not checked before sending.
  updateSpace: /^body\.(mergeRules\.rules\.|emoji: must be an emoji)/,
};

const written = all.filter(({ body }) => body !== null);

describe.each(written.map((operation) => [operation.name, operation] as const))('%s', (name, operation) => {
  test('is accepted by the platform with every body that the client accepts', async () => {
    const { emulator, writer } = stage;
    const { path = {} } =
      callsOf(stage.ids)
        .get(name)
        ?.sent.find(({ status }) => status < 300)?.input ?? {};
    const ids = Object.values(stage.ids);
    const state = emulator.state();
    await fc.assert(
      fc.asyncProperty(bodiesOf(operation, ids), async (body) => {
        const send = (sent: unknown) => {
          emulator.restore(state);
          return call(writer, operation, { path, body: sent }).then(
            () => '',
            (error: Error) => error.message.replace(/^\w+: the platform refused it \(\d+\): /, ''),
          );
        };
        const unknown = [...(await send(body)).matchAll(/body\.(\w+): unknown field/g)].map(([, field]) => field);
        const known = isObject(body) ? Object.entries(body).filter(([field]) => !unknown.includes(field)) : [];
        const refusal = await send(isObject(body) ? Object.fromEntries(known) : body);
        const faults = refusal.split('; ').filter((fault) => fault !== '' && !isKnown(name, fault));
        expect(faults).toEqual([]);
      }),
      { numRuns: 15 },
    );
    emulator.restore(state);
  });
});

function isKnown(name: string, fault: string): boolean {
  // The last of many is truncated.
  return (
    fault.endsWith('…') ||
    OF_THE_STATE.some((pattern) => pattern.test(fault)) ||
    LEFT_TO_THE_PLATFORM[name]?.test(fault) === true
  );
}
