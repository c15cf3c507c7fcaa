/** Links that grant access by their path or query, and file names that hold a person's name. */
import type { Dice } from './dice.ts';
import { type Fragment, mark, neutral, t } from './marked-text.ts';
import type { Character } from './people.ts';
import { uuid } from './vendor-keys.ts';

const FILES =
  'screenshot.png|error.png|Screenshot 2024-03-04 at 15.12.08.png|passport.png|invoice.pdf|log.txt|video.mov|image001.png|export.csv|contract-signed.pdf|scan.jpg|IMG_4012.HEIC'.split(
    '|',
  );

/** Link to an uploaded file: anyone with the link can read the file. */
export function attachmentLink(dice: Dice): Fragment {
  const company = dice
    .faker('en_US')
    .word.noun()
    .toLowerCase()
    .replaceAll(/[^a-z]/g, '');
  const file = encodeURIComponent(dice.pick(FILES));
  const secret = (text: string) => mark('attachment', text);
  const aws = () =>
    t`${neutral(`?X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Credential=`)}${neutral(`${dice.chars('base32', 20)}%2F20240304%2F${dice.pick(['us-east-1', 'eu-west-1'])}%2Fs3%2Faws4_request&X-Amz-Date=20240304T151208Z&X-Amz-Expires=${dice.int(60, 86_400)}&X-Amz-SignedHeaders=host&X-Amz-Signature=`)}${secret(dice.chars('hex', 64))}`;
  const kinds: readonly (() => Fragment)[] = [
    () =>
      t`${neutral(`https://${company}.zendesk.com/attachments/token/`)}${secret(dice.chars('alnum', dice.int(20, 26)))}${neutral(`/?name=${file}`)}`,
    () =>
      t`${neutral(`https://${company}.zendesk.com/attachments/token/`)}${secret(dice.chars('alnum', 25))}${neutral(`?name=${file}`)}`,
    () =>
      t`${neutral('https://downloads.intercomcdn.com/i/o/')}${secret(`${dice.chars('digit', 9)}/${dice.chars('hex', 24)}`)}${neutral(`/${file}`)}`,
    () =>
      t`${neutral(`https://${company}.intercom-attachments-${dice.int(1, 9)}.com/i/o/`)}${secret(`${dice.chars('lowerDigit', 8)}/${dice.chars('digit', 10)}/${dice.chars('hex', 32)}`)}${neutral(`/${file}?expires=17${dice.chars('digit', 8)}&signature=`)}${secret(dice.chars('hex', 64))}`,
    () =>
      t`${neutral('https://attachment.freshdesk.com/inline/attachment?token=')}${secret(`eyJ${dice.chars('base64url', 33)}.eyJ${dice.chars('base64url', 60)}.${dice.chars('base64url', 43)}`)}`,
    () =>
      t`${neutral(`https://s3.amazonaws.com/cdn.freshdesk.com/data/helpdesk/attachments/production/${dice.chars('digit', 11)}/original/${file}`)}${aws()}`,
    () => t`${neutral('https://github.com/user-attachments/assets/')}${secret(uuid(dice))}`,
    () =>
      t`${neutral(`https://github.com/user-attachments/files/`)}${secret(dice.chars('digit', 8))}${neutral(`/${file}`)}`,
    () =>
      t`${neutral(`https://private-user-images.githubusercontent.com/${dice.chars('digit', 8)}/${dice.chars('digit', 9)}-${uuid(dice)}.png?jwt=`)}${secret(`eyJ${dice.chars('base64url', 33)}.eyJ${dice.chars('base64url', 120)}.${dice.chars('base64url', 43)}`)}`,
    () =>
      t`${neutral(`https://user-images.githubusercontent.com/${dice.chars('digit', 8)}/`)}${secret(`${dice.chars('digit', 9)}-${uuid(dice)}`)}${neutral('.png')}`,
    () =>
      t`${neutral(`https://files.slack.com/files-pri/`)}${secret(`T${dice.chars('upperDigit', 8)}-F${dice.chars('upperDigit', 10)}`)}${neutral(`/${file}`)}`,
    () =>
      t`${neutral(`https://${company}-uploads.s3.${dice.pick(['eu-central-1', 'us-east-2'])}.amazonaws.com/${dice.chars('hex', 12)}/${file}`)}${aws()}`,
    () =>
      t`${neutral(`https://${company}.s3.amazonaws.com/${file}?AWSAccessKeyId=${dice.chars('base32', 20)}&Expires=17${dice.chars('digit', 8)}&Signature=`)}${secret(encodeURIComponent(`${dice.chars('base64', 27)}=`))}`,
    () =>
      t`${neutral(`https://storage.googleapis.com/${company}-docs/${file}?X-Goog-Algorithm=GOOG4-RSA-SHA256&X-Goog-Expires=3600&X-Goog-Signature=`)}${secret(dice.chars('hex', 128))}`,
    () =>
      t`${neutral(`https://${company}.blob.core.windows.net/files/${file}?sv=2022-11-02&st=2024-03-04T15%3A12%3A08Z&se=2024-04-04T15%3A12%3A08Z&sr=b&sp=r&sig=`)}${secret(encodeURIComponent(`${dice.chars('base64', 43)}=`))}`,
    () =>
      t`${neutral('https://firebasestorage.googleapis.com/v0/b/')}${neutral(`${company}.appspot.com/o/${file}?alt=media&token=`)}${secret(uuid(dice))}`,
    () =>
      t`${neutral('https://drive.google.com/file/d/')}${secret(dice.chars('base64url', 33))}${neutral('/view?usp=sharing')}`,
    () =>
      t`${neutral('https://www.dropbox.com/scl/fi/')}${secret(dice.chars('lowerDigit', 21))}${neutral(`/${file}?rlkey=`)}${secret(dice.chars('lowerDigit', 25))}${neutral('&dl=0')}`,
    () => t`${neutral('https://we.tl/t-')}${secret(dice.chars('alnum', 10))}`,
    () =>
      t`${neutral('https://cdn.discordapp.com/attachments/')}${neutral(`${dice.chars('digit', 18)}/${dice.chars('digit', 18)}/${file}?ex=${dice.chars('hex', 8)}&is=${dice.chars('hex', 8)}&hm=`)}${secret(dice.chars('hex', 64))}`,
  ];
  return dice.pick(kinds)();
}

/** A URL that carries a credential in its user info, path or query. */
export function credentialUrl(dice: Dice): Fragment {
  const english = dice.faker('en_US');
  const host = `${english.word
    .noun()
    .toLowerCase()
    .replaceAll(/[^a-z]/g, '')}.${dice.pick(['example.com', 'acme.io', 'internal', 'corp.example.org', 'acme.dev'])}`;
  const user = dice.pick(['admin', 'root', 'deploy', 'app', 'postgres', 'ci-bot', 'oauth2', 'docs']);
  const secret = (text: string) => mark('url-credential', text);
  const password = () =>
    secret(
      dice.pick([
        `${english.word.adjective()}${dice.int(10, 9999)}`,
        dice.chars('alnum', dice.int(12, 24)),
        `${dice.chars('alnum', 8)}%21${dice.chars('digit', 2)}`,
      ]),
    );
  const path = dice.pick(['/', '/docs', '/api/v2/pages', '/repo.git', '/hooks/deploy', '/feed.xml']);
  const query = dice.pick(
    'access_token|token|api_key|apikey|key|private_token|sig|signature|auth|auth_token|client_secret|password|X-Api-Key|refresh_token|id_token|session_id|jwt'.split(
      '|',
    ),
  );
  const value = secret(
    dice.pick([
      dice.chars('alnum', dice.int(20, 40)),
      dice.chars('hex', 32),
      `v${dice.int(1, 9)}${dice.chars('alnum', 24)}`,
      `v1.${dice.chars('hex', 40)}`,
      uuid(dice),
      `${dice.chars('base64', 30).replaceAll(/[+/]/g, 'x')}%3D`,
    ]),
  );
  return dice.pick<() => Fragment>([
    () => t`https://${neutral(user)}:${password()}@${host}${path}`,
    () =>
      t`${dice.pick(['postgres', 'postgresql', 'mysql', 'mongodb', 'mongodb+srv', 'amqp', 'redis', 'ftp', 'sftp', 'smtp', 'ldap', 'mssql'])}://${neutral(user)}:${password()}@${host}:${String(dice.int(1024, 9999))}/${english.word.noun()}`,
    () => t`redis://:${password()}@${host}:6379/0`,
    () =>
      t`git clone https://${neutral(user)}:${secret(dice.chars('alnum', 36))}@${dice.pick(['github.com', 'gitlab.com', host])}/acme/docs.git`,
    () => t`${neutral(`https://${host}${path}?${query}=`)}${value}`,
    () => t`${neutral(`https://${host}${path}?page=${dice.int(1, 9)}&${query}=`)}${value}${neutral('&format=json')}`,
    () => t`https://${host}/callback#${dice.pick(['access_token', 'id_token'])}=${value}&token_type=bearer`,
    () => t`GET ${path}?${query}=${value} HTTP/1.1`,
    () => t`https://${host}/reset-password?token=${secret(dice.chars('base64url', 43))}`,
    () =>
      t`https://${host}/invite/accept?${dice.pick(['code', 'invite_token', 'token'])}=${secret(dice.chars('alnum', 32))}`,
  ])();
}

/** A file name that holds the name of a person. */
export function personalFileName(dice: Dice, { given, family, full }: Character): Fragment {
  const separator = dice.pick(['_', '-', ' ', '.', '%20', '+']);
  const written = (text: string) => mark('file-name', text.replaceAll(' ', separator));
  const isCjk = /[\p{Script=Han}\p{Script=Hangul}\p{Script=Hiragana}\p{Script=Katakana}]/u.test(full);
  const name = isCjk
    ? written(full)
    : dice.pick<Fragment>([written(full), written(full), written(`${given} ${family}`), written(`${family} ${given}`)]);
  const kind = dice.pick(
    'passport|CV|invoice|contract|Resume|id-card|signed-NDA|payslip|scan|Rechnung|curriculum|DNI'.split('|'),
  );
  const extension = dice.pick(['pdf', 'docx', 'png', 'jpg', 'xlsx', 'eml', 'zip']);
  return dice.pick<() => Fragment>([
    () => t`${neutral(`${kind}${separator}`)}${name}${neutral(`.${extension}`)}`,
    () => t`${name}${neutral(`${separator}${kind}.${extension}`)}`,
    () => t`${neutral(`${kind}${separator}`)}${name}${neutral(`${separator}${dice.int(2019, 2025)}.${extension}`)}`,
    () => t`${neutral('2024-03-04')}${neutral(separator)}${name}${neutral(`.${extension}`)}`,
  ])();
}
