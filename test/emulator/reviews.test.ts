import { beforeEach, describe, expect, test } from 'vitest';
import { as, document, memberId, sharedFixture } from './fixture.ts';

/* Reviews of change requests, and the merge rules that depend on them. */

const made = await sharedFixture({
  tokens: {
    bo: { user: 'bo@acme.example', permission: 'admin' },
    cy: { user: 'cy@acme.example', permission: 'admin' },
    nobody: { user: 'nobody@elsewhere.example', permission: 'admin' },
  },
});
const { call, org, emulator } = made;
const empty = emulator.state();
const [bo, cy] = [await memberId(made, 'bo@acme.example'), await memberId(made, 'cy@acme.example')];

let space: string;
let cr: string;

beforeEach(async () => {
  emulator.restore(empty);
  space = `/spaces/${(await org('POST', '/spaces', { title: 'Guides' })).id}`;
  cr = `${space}/change-requests/${(await call('POST', `${space}/change-requests`, { subject: 'Passwords' })).body.id}`;
});

const review = (status: string, token: string, comment?: unknown) =>
  call('POST', `${cr}/reviews`, comment === undefined ? { status } : { status, comment }, as(token));
const shown = async (query = '') => (await call('GET', `${cr}/reviews${query}`)).body.items;

describe('reviews', () => {
  test('of the same person replace earlier ones', async () => {
    await review('changes-requested', 'bo');
    await review('approved', 'cy');
    await review('approved', 'bo');
    expect(await shown()).toMatchObject([
      { status: 'changes-requested', outdated: true, reviewer: { id: bo } },
      { status: 'approved', outdated: false, reviewer: { id: cy } },
      { status: 'approved', outdated: false, reviewer: { id: bo } },
    ]);
    expect(await shown('?outdated=true')).toMatchObject([{ reviewer: { id: bo } }]);
    expect(await shown('?outdated=false')).toHaveLength(2);
  });

  test('name the requester and the revision', async () => {
    await call('POST', `${cr}/requested-reviewers`, { users: [bo] });
    const { revision } = (await call('GET', cr)).body;
    expect((await review('approved', 'bo')).body).toMatchObject({
      revision,
      requestedBy: { email: 'ana@acme.example' },
    });
    expect((await review('approved', 'cy')).body).not.toHaveProperty('requestedBy');
  });

  test('contain a comment of the change request in both forms', async () => {
    const { body } = await review('changes-requested', 'bo', { document: document('Not yet') });
    const { items } = (await call('GET', `${cr}/comments`)).body;
    expect(items).toEqual([body.comment]);
    expect(items).toMatchObject([{ body: { markdown: 'Not yet' }, postedBy: { id: bo }, target: { review: body.id } }]);
    expect(await shown('?format=document')).toMatchObject([{ comment: { body: { document: document('Not yet') } } }]);
    expect((await call('GET', cr)).body.comments).toBe(1);
  });

  test('are refused from unknown users and for archived change requests', async () => {
    expect((await review('approved', 'nobody')).status).toBe(403);
    await call('PATCH', cr, { status: 'archived' });
    expect(await review('approved', 'bo')).toMatchObject({ status: 400, body: { error: { code: 400 } } });
  });
});

describe('merge rules', () => {
  const rules = (...given: object[]) => ({ mergeRules: { type: 'rules', rules: given } });
  const merge = (token = 'cy') => call('POST', `${cr}/merge`, undefined, as(token));
  const specific = { rule: 'require_specific_reviewers', users: [bo, cy] };
  const someone = { rule: 'require_one_of_specific_reviewers', users: [bo, cy] };

  test.each<[string, object, () => Promise<unknown>]>([
    ['a review', { rule: 'require_at_least_one_review' }, () => review('changes-requested', 'bo')],
    [
      'approval of all reviewers',
      specific,
      async () => [await review('approved', 'bo'), await review('approved', 'cy')],
    ],
    ['approval of one reviewer', someone, () => review('approved', 'cy')],
    ['a subject', { rule: 'require_change_request_subject' }, () => call('PATCH', cr, { subject: 'Set' })],
    [
      'a description',
      { rule: 'require_change_request_description' },
      () => call('PATCH', cr, { description: document('D') }),
    ],
    ['an update from the space', { rule: 'require_up_to_date_change_request' }, () => call('POST', `${cr}/update`)],
  ])('block a merge until there is %s', async (_, rule, meet) => {
    await call('PATCH', space, rules(rule));
    await call('PATCH', cr, { subject: '' });
    emulator.reviseSpace(space.slice('/spaces/'.length));
    const refused = await merge();
    const { rule: name } = rule as { rule: string };
    expect(refused).toMatchObject({ status: 400, body: { error: { message: expect.stringContaining(name) } } });
    expect((await call('GET', cr)).body.status).toBe('draft');
    await meet();
    expect((await merge()).status).toBe(200);
  });

  test('accept the last review of each reviewer', async () => {
    await call('PATCH', space, rules({ rule: 'require_all_reviews_approved' }));
    await review('changes-requested', 'bo');
    expect((await merge()).status).toBe(400);
    await review('approved', 'bo');
    expect((await merge()).status).toBe(200);
  });

  test('are all named when they are not met', async () => {
    await call('PATCH', space, rules(specific, { rule: 'require_change_request_description' }));
    expect((await merge()).body.error.message).toMatch(
      /cannot be merged yet: require_specific_reviewers, require_change_request_description$/,
    );
  });

  test('can be bypassed only with that permission', async () => {
    await call('PATCH', space, rules(specific, { rule: 'allow_bypass', users: [bo] }));
    expect((await merge('cy')).status).toBe(400);
    expect((await merge('bo')).status).toBe(200);
  });

  test('are those of the organization for a space that inherits them', async () => {
    await org('PATCH', '', rules(specific));
    expect((await merge()).status).toBe(400);
    await call('PATCH', space, { mergeRules: { type: 'none' } });
    expect((await merge()).status).toBe(200);
  });
});
