import { describe, expect, it } from 'vitest';
import { redactText } from './redacted.ts';

const UUID = '1b2c3d4e-1111-2222-3333-444455556666';
const HEX = '0123456789abcdef'.repeat(2);

describe('a link that grants access to anyone who has it', () => {
  it.each([
    ['https://acme.zendesk.com/attachments/', 'token/AbCdEf123456/?name=passport.png'],
    ['https://downloads.intercomcdn.com/i/o/', `123456/${HEX}/image.png?expires=1700000000&signature=${HEX}`],
    ['https://acme.intercom-attachments-7.com/', `i/o/1/${HEX}/scan.pdf`],
    ['https://acme.freshdesk.com/helpdesk/attachments/', '43012345678'],
    ['https://github.com/user-attachments/files/', '12345678/trace.txt'],
    ['https://private-user-images.githubusercontent.com/', '1/2-3.png?x=y'],
    ['https://files.slack.com/files-pri/', 'T0123-F0456/image.png'],
    ['https://acme.s3.eu-west-1.amazonaws.com/', `a/b.pdf?X-Amz-Expires=300&X-Amz-Signature=${HEX}`],
    ['https://storage.googleapis.com/', `acme/a.pdf?X-Goog-Algorithm=GOOG4&X-Goog-Signature=${HEX}`],
    ['https://acct.blob.core.windows.net/', 'c/f.pdf?sv=2020-01-01&se=2024-01-01&sig=Ab12Cd34Ef56%3D'],
    ['https://drive.google.com/file/d/', '1AbCdEfGhIjKlMnOpQrStUvWxYz/view?usp=sharing'],
    ['https://www.dropbox.com/scl/fi/', 'abc123/x.pdf?rlkey=1a2b3c4d&dl=0'],
    ['https://acme-my.sharepoint.com/:w:/', 'g/personal/ana_acme/EabcDEF123?e=abc'],
    ['https://we.tl/t-', 'AbCdEf1234'],
    ['https://www.loom.com/share/', HEX],
    ['https://app.acme.example/reset-password/', HEX],
    ['https://app.acme.example/invite/', 'ABcd1234EFgh5678'],
    ['https://git.acme.example/acme/docs/', `uploads/${HEX}/shot.png`],
    ['https://attachments.office.net/owa/', `x/service.svc/s/GetAttachmentThumbnail?id=${UUID}`],
  ])('%s keeps its host without its key', (start, key) => {
    expect(redactText(`see ${start}${key} please`)).toBe(`see ${start}[SECRET_1] please`);
    expect(redactText(`[file](${start}${key}), ok`)).toBe(`[file](${start}[SECRET_1]), ok`);
  });

  it('keeps parameters that do not grant access', () => {
    expect(redactText('https://app.acme.example/invite?code=ABcd1234EFgh5678&lang=en')).toBe(
      'https://app.acme.example/invite?code=[SECRET_1]&lang=en',
    );
  });

  it('is found without a scheme', () => {
    expect(redactText('drive.google.com/file/d/1AbCdEfGhIjKlMnOpQrStUvWxYz/view')).toBe(
      'drive.google.com/file/d/[SECRET_1]',
    );
  });
});

describe('a public link', () => {
  it.each([
    'https://docs.github.com/en/rest/users?apiVersion=2022-11-28',
    'https://github.com/acme/docs/issues/123#issuecomment-1234567890',
    'https://github.com/acme/docs/blob/main/docs/files/README.md#L10-L20',
    'https://raw.githubusercontent.com/acme/docs/main/README.md',
    'https://gitlab.com/acme/docs/-/issues/12#note_123456',
    'https://docs.acme.example/getting-started/reset-password/step-2',
    'https://stackoverflow.com/questions/12345678/how-to-reset-password',
    'https://app.gitbook.com/o/AbCdEf123456/s/XyZ987654321abcd/getting-started',
    'https://developer.mozilla.org/en-US/docs/Web/API/Window/open#parameters',
    'https://support.google.com/drive/answer/2494822?hl=en&co=GENIE.Platform%3DDesktop',
    'https://slack.com/help/articles/201330256-Invite-new-members',
    'https://acme.zendesk.com/agent/tickets/123',
    'https://registry.packages.example/@acme/docs/-/docs-1.2.3.tgz',
    'https://cdn.jsdelivr.net/npm/vue@3.4.21/dist/vue.global.prod.js',
    'https://api.acme.example/v1/share/{id}?token=<token>',
  ])('%s stays unchanged', (link) => {
    expect(redactText(`see ${link} please`)).toBe(`see ${link} please`);
  });
});
