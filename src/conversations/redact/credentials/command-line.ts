/** Finds credentials in the options of well-known commands: `mysql -px`, `sshpass -p x`, `curl -u name:x`. */

import { isExpression, isPlaceholder } from './non-secrets.ts';
import type { TextSpan } from './spans.ts';

interface Tool {
  /** Names of the command, separated by `|`. */
  readonly names: string;
  /** Patterns with one group, the credential. They are matched against the command up to the end of its line. */
  readonly options: readonly string[];
}

/** A value in quotes or without. */
const VALUE = `(?:\\\\{0,2}"([^"\\\\\\r\\n]{1,256})|\\\\{0,2}'([^'\\\\\\r\\n]{1,256})|((?:[^\\s"'|;&<>\\\\]|\\\\(?!["'nrt])){1,256}))`;
/** Start of an option. */
const OPTION = '(?<=\\s)';

const TOOLS: readonly Tool[] = [
  {
    names: 'mysql|mysqldump|mysqladmin|mysqlimport|mysqlsh|mariadb|mariadb-dump|mycli|mysqlcheck',
    options: [`${OPTION}-p(?=[^\\s-])${VALUE}`],
  },
  { names: 'sshpass', options: [`${OPTION}-p\\s{0,2}${VALUE}`] },
  {
    names: 'curl|wget|http|https|xh|hurl|aria2c|ab',
    options: [
      `${OPTION}(?:-u|--user|-U|--proxy-user|-a|--auth|-A(?=\\s[^\\s:]{1,64}:))[ =]{0,2}(?=\\\\{0,2}["']?[^\\s:"'/]{0,64}:)${VALUE}`,
      `${OPTION}(?:-b|--cookie)[ =]{0,2}(?=\\\\{0,2}["']?[^\\s"'=]{1,80}=)${VALUE}`,
      `${OPTION}--(?:oauth2-bearer|pass|proxy-pass|tlspassword|http-password|ftp-password|http-passwd)[ =]{1,2}${VALUE}`,
    ],
  },
  { names: 'redis-cli|keydb-cli|valkey-cli', options: [`${OPTION}(?:-a|--pass)[ =]{1,2}${VALUE}`] },
  {
    names:
      'mongo|mongosh|mongodump|mongorestore|mongoexport|mongoimport|docker login|podman login|buildah login|nerdctl login|helm registry login|oc login|az login|cqlsh|influx|influxd|trino|presto|neo4j-admin|cypher-shell|rabbitmqadmin|psexec|winexe|kinit|iscsiadm|ipmitool|smbmap|crackmapexec|skopeo login|argocd login|jfrog|mosquitto_pub|mosquitto_sub|tsm|tabcmd|clickhouse-client|vault login|certutil|isql-fb|ejabberdctl|restic|oras login|crane auth login|cf login|ibmcloud login|bx login|svn',
    options: [`${OPTION}(?:-p|-P|--pwd|--pass|--token|--creds|--dest-creds|--src-creds)[ =]{1,2}${VALUE}`],
  },
  { names: 'sqlcmd|bcp|osql|ipmitool|zip|unzip', options: [`${OPTION}-P\\s{0,2}${VALUE}`] },
  { names: 'ldapsearch|ldapmodify|ldapadd|ldapdelete|ldapwhoami|ldappasswd', options: [`${OPTION}-w\\s{1,2}${VALUE}`] },
  { names: '7z|7za|7zz|rar|unrar', options: [`${OPTION}-p(?=[^\\s-])${VALUE}`] },
  { names: 'plink|pscp|psftp|putty|putty.exe|plink.exe', options: [`${OPTION}-pw\\s{1,2}${VALUE}`] },
  {
    names: 'openssl',
    options: [`${OPTION}-(?:passin|passout|pass|k|K)\\s{1,2}(?:pass:)?(?!env:|file:|stdin|fd:)${VALUE}`],
  },
  {
    names: 'keytool|jarsigner|apksigner',
    options: [
      `${OPTION}-{1,2}(?:storepass|keypass|srcstorepass|deststorepass|ks-pass|key-pass)\\s{1,2}(?:pass:)?(?!env:|file:)${VALUE}`,
    ],
  },
  { names: 'xfreerdp|wlfreerdp|rdesktop', options: [`${OPTION}(?:/p:|-p\\s{1,2})${VALUE}`] },
  { names: 'smbclient|rpcclient|winexe|net rpc', options: [`${OPTION}-U\\s{0,2}["']?[^\\s"'%]{1,64}%${VALUE}`] },
  {
    names: 'sqlplus|impdp|expdp|sqlldr|rman',
    options: [`${OPTION}["']?[A-Za-z]\\w{0,40}/(?!nolog)([^\\s@"'/]{1,128})(?=@|["']?\\s|$)`],
  },
  {
    names: 'net use',
    options: [`${OPTION}\\\\\\\\\\S{1,200}\\s{1,2}(?:/[A-Za-z]{1,12}:\\S{1,100}\\s{1,2})?(?!/|\\*)${VALUE}`],
  },
  {
    names: 'aws configure set',
    options: ['(?:aws_secret_access_key|aws_session_token|aws_access_key_id)\\s{1,2}([^\\s"\']{8,2000})'],
  },
  {
    names: 'npm config set|yarn config set|pnpm config set',
    options: ['(?:_authToken|_auth|_password)[ =]{1,2}([^\\s"\']{4,2000})'],
  },
  { names: 'chpasswd|passwd|useradd|usermod', options: [`${OPTION}-p\\s{1,2}${VALUE}`] },
  {
    names: 'htpasswd',
    options: [
      `${OPTION}-[A-Za-z]{0,6}b[A-Za-z]{0,6}\\s{1,2}(?<!-[A-Za-z]{0,6}n[A-Za-z]{0,6}\\s{1,2})\\S{1,200}\\s{1,2}\\S{1,64}\\s{1,2}${VALUE}`,
      `${OPTION}-(?=[A-Za-z]{0,6}n)[A-Za-z]{0,6}b[A-Za-z]{0,6}\\s{1,2}\\S{1,64}\\s{1,2}${VALUE}`,
    ],
  },
  { names: 'ConvertTo-SecureString', options: [`^\\s{1,3}(?:-String\\s{1,3})?${VALUE}`] },
  { names: 'gh auth login|glab auth login|docker login|az acr login', options: [`<<<\\s{0,2}${VALUE}`] },
  { names: 'gpg|gpg2', options: [`${OPTION}--passphrase[ =]{1,2}${VALUE}`] },
  {
    names: 'rabbitmqctl add_user|rabbitmqctl change_password',
    options: [`${OPTION}(?!-)[^\\s"']{1,64}\\s{1,2}${VALUE}`],
  },
];

const NAMES = TOOLS.flatMap(({ names }) => names.split('|'));
const COMMAND = new RegExp(
  `(?<![\\w.-])(?:${[...new Set(NAMES)]
    .toSorted((a, b) => b.length - a.length)
    .map((name) => name.replaceAll('.', '\\.'))
    .join('|')})(?=[ \\t])`,
  'g',
);
const OPTIONS: ReadonlyMap<string, readonly RegExp[]> = new Map(
  [...new Set(NAMES)].map((name) => [
    name,
    TOOLS.filter(({ names }) => names.split('|').includes(name)).flatMap(({ options }) =>
      options.map((option) => new RegExp(option, 'dg')),
    ),
  ]),
);
/** Quick test for options, and for commands that take credentials without an option; most texts contain neither. */
const MAY_HAVE_OPTIONS =
  /\s-[A-Za-z-]|sqlplus|impdp|expdp|sqlldr|rman|net use|config set|configure set|rabbitmqctl|freerdp/;
/** Longest command, in characters. */
const MAX_LENGTH = 4000;

/** Finds the credentials. Pure; takes linear time, because each option is searched only up to the next command. */
export function findCommandSecrets(text: string): readonly TextSpan[] {
  if (!MAY_HAVE_OPTIONS.test(text)) {
    return [];
  }
  const commands = [...text.matchAll(COMMAND)];
  return commands.flatMap(({ index, 0: name }, position) => {
    const from = index + name.length;
    const next = commands[position + 1]?.index ?? text.length;
    const command = text.slice(from, endOfCommand(text, from, Math.min(next, from + MAX_LENGTH)));
    return (OPTIONS.get(name) ?? []).flatMap((option) => credentialsIn(command, option, from));
  });
}

/** Returns the end of the command, including lines that a backslash continues. */
function endOfCommand(text: string, from: number, until: number): number {
  for (let at = text.indexOf('\n', from); at >= 0 && at < until; at = text.indexOf('\n', at + 1)) {
    if (!/[\\^`]\r?$/.test(text.slice(Math.max(from, at - 2), at))) {
      return at;
    }
  }
  return until;
}

function credentialsIn(command: string, option: RegExp, offset: number): readonly TextSpan[] {
  return [...command.matchAll(option)].flatMap((match) => {
    const group = match.findLastIndex((part, index) => index > 0 && part !== undefined);
    const [start, end] = match.indices?.[group] ?? [0, 0];
    const value = match[group] ?? '';
    const secret = value.slice(value.indexOf(':') + 1);
    // `docker run -u 1000:1000`: user and group ids are not credentials.
    const isNone =
      isPlaceholder(value.replace(/:$/, '')) ||
      isPlaceholder(secret) ||
      isExpression(value) ||
      /^\d{1,6}:\d{1,6}$/.test(value);
    return group <= 0 || isNone ? [] : [{ start: offset + start, end: offset + end }];
  });
}
