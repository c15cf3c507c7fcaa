/** Credentials as tickets show them: after labels in many languages, in commands, configuration and headers. */

import type { Dice } from './dice.ts';
import { CREDENTIAL_WORDS } from './languages.ts';
import { type Fragment, fill, mark, neutral, t } from './marked-text.ts';
import { jsonWebToken, privateKey, uuid } from './vendor-keys.ts';

/** A password of the kind that people choose, without spaces. */
export function password(dice: Dice): string {
  const english = dice.faker('en_US');
  const word = () => english.word.noun({ length: { min: 4, max: 9 } }).replaceAll(/[^a-zA-Z]/g, '');
  const capitalized = () => word().replace(/^./, (letter) => letter.toUpperCase());
  const symbol = () => dice.pick([...'!#$%&*+-?@_~^=.']);
  return dice.pick([
    () => `${capitalized()}${dice.int(1, 9999)}${symbol()}`,
    () => `${capitalized()}${symbol()}${dice.int(10, 999)}`,
    () => `${word()}${dice.int(10, 99_999)}`,
    () => `${capitalized()}${capitalized()}${dice.int(1, 99)}`,
    () => `${word()}-${word()}-${word()}-${dice.int(1, 99)}`,
    () => dice.chars('alnum', dice.int(8, 20)),
    () =>
      `${dice.chars('alnum', dice.int(5, 9))}${symbol()}${dice.chars('alnum', dice.int(3, 8))}${symbol()}${dice.int(0, 9)}`,
    () =>
      `${word().replaceAll('o', '0').replaceAll('e', '3').replaceAll('a', '@').replaceAll('i', '1')}${dice.int(1, 999)}${symbol()}`,
    () =>
      `${dice.pick(['Summer', 'Winter', 'Sommer', 'Verano', 'Welcome', 'Qwerty', 'Passw0rd', 'Admin', 'Letmein', 'Dragon'])}${dice.int(1, 2026)}${dice.pick(['', '!', '#', '$'])}`,
    () => dice.chars('lowerDigit', dice.int(10, 16)),
    () => `${dice.chars('digit', dice.int(6, 10))}`,
    () => `v${dice.int(1, 9)}${dice.chars('alnum', dice.int(8, 16))}`,
  ])();
}

/** A key or token without a recognizable prefix. */
export function token(dice: Dice): string {
  return dice.pick([
    () => dice.chars('alnum', dice.int(20, 48)),
    () => dice.chars('hex', dice.pick([32, 40, 64])),
    () => dice.chars('base64url', dice.int(24, 64)),
    () => `${dice.chars('base64', dice.pick([42, 43, 86]))}=`,
    () => uuid(dice),
    () => `v${dice.int(1, 4)}.${dice.chars('hex', 40)}`,
    () => `v${dice.int(1, 9)}${dice.chars('alnum', dice.int(20, 32))}`,
    () => `v2.local.${dice.chars('base64url', 60)}`,
    () => `${dice.chars('lower', 4)}_${dice.chars('alnum', 32)}`,
  ])();
}

const SEPARATORS = [': ', ': ', ': ', ':', ' : ', '：', ' = ', '=', ' -> ', ': `', ': "', ':\t', ' – '];

/** A credential after its name in one of many languages. */
export function labelledCredential(dice: Dice): Fragment {
  const words = CREDENTIAL_WORDS[dice.pick(Object.keys(CREDENTIAL_WORDS))] ?? CREDENTIAL_WORDS.en;
  if (words === undefined) {
    throw new Error('no credential words');
  }
  const isPassword = dice.chance(0.7);
  const value = isPassword ? mark('password', password(dice)) : mark('token', token(dice));
  if (isPassword && dice.chance(0.35)) {
    return fill(dice.pick(words.sentences), quoted(dice, value));
  }
  const label = dice.pick(isPassword ? words.password : words.token);
  const separator = dice.pick(SEPARATORS);
  const closing = separator.endsWith('`') ? '`' : separator.endsWith('"') ? '"' : '';
  return dice.pick<() => Fragment>([
    () => t`${label}${separator}${value}${closing}`,
    () => t`${label}${separator}${value}${closing}`,
    () => t`${label}${separator}${value}${closing}`,
    () => t`**${label}:** ${value}`,
    () => t`- ${label}: ${value}`,
    () => t`| ${label} | ${value} |`,
    () => t`| User | admin |\n|---|---|\n| ${label} | ${value} |`,
    () => t`<b>${label}:</b> ${value}`,
    () => t`<p><strong>${label}</strong>: ${value}</p>`,
    () => t`<tr><td>${label}</td><td>${value}</td></tr>`,
    () => t`<td>${label}:</td>\n<td>${value}</td>`,
    () => t`${label}:\n${value}`,
    () => t`user: admin, ${label}: ${value}`,
    () => t`${label} (staging): ${value}`,
  ])();
}

function quoted(dice: Dice, value: Fragment): Fragment {
  return dice.pick<Fragment>([value, value, value, t`"${value}"`, t`'${value}'`, t`\`${value}\``, t`**${value}**`]);
}

/** A value that needs no quotes in a shell. */
function plain(dice: Dice): string {
  return dice.pick([dice.chars('alnum', dice.int(8, 20)), password(dice).replaceAll(/[^\w.-]/g, 'x')]);
}

/** A credential on a command line. */
export function commandWithCredential(dice: Dice): Fragment {
  const secret = (text = plain(dice)) => mark('password', text);
  const key = () => mark('token', token(dice).replaceAll(/[^\w.-]/g, 'x'));
  const host = dice.pick(['db.internal', 'localhost', 'staging.acme.io', 'registry.acme.dev', 'api.acme.io']);
  const user = dice.pick(['root', 'admin', 'deploy', 'app', 'ci']);
  const quote = dice.pick(['', "'", '"']);
  const name = dice.pick(
    'PGPASSWORD|DB_PASSWORD|MYSQL_ROOT_PASSWORD|API_KEY|GITHUB_TOKEN|AUTH_TOKEN|SECRET_KEY|DOCS_API_TOKEN|AWS_SECRET_ACCESS_KEY|NPM_TOKEN|CLIENT_SECRET|ENCRYPTION_KEY'.split(
      '|',
    ),
  );
  return dice.pick<() => Fragment>([
    () => t`mysql -u ${user} -p${secret()} -h ${host} docs`,
    () => t`mysqldump -u${user} --password=${secret()} docs > dump.sql`,
    () => t`sshpass -p ${quote}${secret()}${quote} ssh ${user}@staging`,
    () => t`curl -u ${neutral(user)}:${secret()} https://${host}/api/v2/pages`,
    () => t`curl --user "${neutral(user)}:${secret()}" -X POST https://${host}/hooks`,
    () => t`curl -b "${neutral('session=')}${mark('token', dice.chars('alnum', 32))}" https://${host}/`,
    () => t`curl -H "Authorization: Bearer ${key()}" https://${host}/v1/spaces`,
    () => t`curl -H 'X-Api-Key: ${key()}' -H 'Accept: application/json' https://${host}/v1/spaces`,
    () => t`curl -X POST -d '{"username":"${user}","password":"${secret()}"}' https://${host}/login`,
    () => t`curl -d "grant_type=client_credentials&client_id=docs&client_secret=${key()}" https://${host}/oauth/token`,
    () => t`docker login -u ${user} -p ${secret()} ${host}`,
    () => t`${name}=${quote}${key()}${quote} npm run build`,
    () => t`export ${name}=${quote}${key()}${quote}`,
    () => t`$env:${name} = "${key()}"`,
    () => t`docker run -e ${name}=${key()} acme/docs:latest`,
    () => t`redis-cli -h ${host} -a ${secret()} ping`,
    () => t`npm config set //registry.acme.dev/:_authToken ${key()}`,
    () => t`octo --token ${key()} publish`,
    () => t`gh auth login --with-token <<< ${key()}`,
    () => t`kubectl create secret generic docs --from-literal=password=${secret()}`,
    () => t`wget --user=${user} --password=${secret()} https://${host}/export.zip`,
    () => t`ldapsearch -D cn=${user} -w ${secret()} -b dc=acme`,
    () => t`openssl pkcs12 -in cert.p12 -passin pass:${secret()}`,
    () => t`az login --service-principal -u app -p ${secret()} --tenant acme`,
    () => t`htpasswd -b .htpasswd ${user} ${secret()}`,
    () => t`smbclient //share/docs -U ${user}%${secret()}`,
    () => t`helm install docs ./chart --set auth.password=${secret()}`,
    () => t`vault login token=${key()}`,
    () => t`psql "host=${host} user=${user} password=${secret()} dbname=docs"`,
    () => t`http POST ${host}/login username=${user} password=${secret()}`,
  ])();
}

/** A credential in configuration, source code or an HTTP dump. */
export function configWithCredential(dice: Dice): Fragment {
  const secret = (text = plain(dice)) => mark('password', text);
  const key = () => mark('token', token(dice));
  const base64 = (text: string) => Buffer.from(text).toString('base64');
  const user = dice.pick(['admin', 'deploy', 'app']);
  const name = dice.pick(['password', 'db_password', 'dbPassword', 'adminPassword', 'smtp_password', 'passwd']);
  const keyName = dice.pick(
    'apiKey|api_key|secretKey|client_secret|accessToken|auth_token|privateToken|signingSecret|webhook_secret|jwtSecret'.split(
      '|',
    ),
  );
  return dice.pick<() => Fragment>([
    () => t`{ "user": "${user}", "${name}": "${secret()}", "ssl": true }`,
    () => t`{"${keyName}":"${key()}"}`,
    () => t`database:\n  host: localhost\n  ${name}: ${secret()}\n  port: 5432`,
    () => t`database:\n  ${name}: "${secret(password(dice))}"`,
    () => t`const ${keyName} = '${key()}';`,
    () => t`${keyName} = "${key()}"`,
    () => t`client = Client(${keyName}="${key()}")`,
    () => t`new DocsClient({ ${keyName}: "${key()}", timeout: 5000 })`,
    () => t`spring.datasource.password=${secret()}`,
    () => t`Server=db;Database=docs;User Id=${user};Password=${secret()};Encrypt=true`,
    () => t`define('DB_PASSWORD', '${secret()}');`,
    () => t`ALTER USER ${user} IDENTIFIED BY '${secret()}';`,
    () => t`CREATE USER ${user} WITH PASSWORD '${secret()}';`,
    () => t`<password>${secret()}</password>`,
    () => t`<add key="ApiKey" value="${key()}" />`,
    () => t`<input type="password" name="pw" value="${secret()}">`,
    () => t`<input type=password value=${secret()}>`,
    () => t`machine api.acme.io login ${user} password ${secret()}`,
    () => t`localhost:5432:docs:${user}:${secret()}`,
    () => t`//registry.packages.example/:_authToken=${key()}`,
    () => t`_auth=${mark('token', base64(`${user}:${plain(dice)}`))}`,
    () => t`{"auths":{"registry.acme.dev":{"auth":"${mark('token', base64(`${user}:${plain(dice)}`))}"}}}`,
    () =>
      t`users:\n- name: ${user}\n  user:\n    client-key-data: ${mark('token', `LS0tLS1CRUdJTi${dice.chars('base64', 120)}`)}`,
    () => t`users:\n- user:\n    token: ${key()}`,
    () => t`Authorization: Basic ${mark('token', base64(`${user}:${plain(dice)}`))}`,
    () => t`Authorization: Bearer ${key()}`,
    () => t`authorization: Bearer ${mark('token', jsonWebToken(dice))}`,
    () => t`Authorization: token ${key()}`,
    () =>
      t`Authorization: ${neutral(`Digest username="${user}", realm="docs", nonce="${dice.chars('hex', 16)}", uri="/", response="`)}${mark('token', dice.chars('hex', 32))}"`,
    () => t`X-Api-Key: ${key()}`,
    () => t`PRIVATE-TOKEN: ${key()}`,
    () => t`Cookie: ${neutral('theme=dark; session_id=')}${mark('token', dice.chars('alnum', 32))}`,
    () =>
      t`Set-Cookie: ${neutral('sid=')}${mark('token', dice.chars('base64url', 40))}${neutral('; Path=/; HttpOnly')}`,
    () =>
      t`[default]\naws_access_key_id = ${mark('vendor-key', `AKIA${dice.chars('base32', 16)}`)}\naws_secret_access_key = ${mark('token', dice.chars('base64', 40))}`,
    () =>
      t`AccountName=acmedocs;AccountKey=${mark('token', `${dice.chars('base64', 86)}==`)};EndpointSuffix=core.windows.net`,
    () => t`otpauth://totp/Acme:${user}?secret=${mark('token', dice.chars('base32', 32))}&issuer=Acme`,
    () => t`ansible_password: ${secret()}`,
    () => t`RAILS_MASTER_KEY=${mark('token', dice.chars('hex', 32))}`,
    () => mark('vendor-key', privateKey(dice)),
    () => mark('vendor-key', jsonWebToken(dice)),
    () =>
      t`{"type":"service_account","private_key_id":"${neutral(dice.chars('hex', 40))}","private_key":"${mark('vendor-key', privateKey(dice).replaceAll('\n', '\\n'))}"}`,
    () =>
      t`client_id=docs&client_secret=${mark('token', dice.chars('base64url', 40))}&grant_type=authorization_code&code=${neutral(dice.chars('alnum', 20))}`,
  ])();
}
