/** Grammar of the technical parts of tickets: commands, code, configuration, dumps and tables without private data. */
import { CREDENTIAL_WORDS } from './credential-words.ts';
import type { Dice } from './dice.ts';
import { technicalOutput } from './technical-outputs.ts';
import {
  camel,
  capital,
  constant,
  digest,
  expression,
  figure,
  kebab,
  pascal,
  placeholder,
  productVersion,
  shellPlaceholder,
  snake,
  timestamp,
  version,
  word,
} from './technical-values.ts';
import { uuid } from './vendor-keys.ts';

const HOSTS = [
  'api.example.com',
  'docs.acme.dev',
  'localhost:3000',
  'registry.packages.example',
  'app.acme.io',
  'api.gitbook.com',
  '127.0.0.1:8080',
  'my-host',
];
const SECRET_NAMES = [
  'password',
  'token',
  'apiKey',
  'api_key',
  'secret',
  'client_secret',
  'accessToken',
  'authToken',
  'passwd',
  'credentials',
  'private_key',
  'sessionId',
  'jwt',
  'refreshToken',
  'passphrase',
];
const MIME = [
  'application/json',
  'text/html; charset=utf-8',
  'application/x-www-form-urlencoded',
  'image/svg+xml',
  'multipart/form-data; boundary=----WebKitFormBoundary',
  'text/event-stream',
  'application/vnd.api+json',
  'application/octet-stream',
];
const ALGORITHMS = [
  'HS256',
  'RS256',
  'ES256',
  'EdDSA',
  'AES-256-GCM',
  'SHA-256',
  'PBKDF2',
  'argon2id',
  'bcrypt',
  'RSA-OAEP-256',
  'ed25519',
  'TLS_AES_128_GCM_SHA256',
  'ECDHE-RSA-AES128-GCM-SHA256',
  'HMAC-SHA256',
  'v1',
  'v4',
  'S256',
];
const file = (dice: Dice) =>
  `${dice.pick(['src', 'docs', 'lib', 'test', 'app', 'pages', '.github/workflows'])}/${kebab(dice)}.${dice.pick(['ts', 'js', 'md', 'yaml', 'json', 'py', 'go', 'rs', 'tsx', 'mdx'])}`;

function shell(dice: Dice): string {
  const host = dice.pick(HOSTS);
  return dice.pick([
    () =>
      `curl -H "Authorization: Bearer ${shellPlaceholder(dice)}" https://${host}/v1/${word(dice)}s | jq '.items[] | .${word(dice)}'`,
    () =>
      `curl -X POST https://${host}/v1/${word(dice)}s -H "Content-Type: application/json" -H "X-Api-Key: ${shellPlaceholder(dice)}" -d '{"${word(dice)}": "${word(dice)}"}'`,
    () => `curl -u ${shellPlaceholder(dice)}: https://${host}/${word(dice)}`,
    () => `curl -u "$USER:$PASSWORD" https://${host}/${word(dice)}`,
    () => `curl -sSfL https://${host}/install.sh | sh -s -- -b /usr/local/bin ${version(dice)}`,
    () =>
      `docker run -u ${dice.int(0, 2000)}:${dice.int(0, 2000)} -p ${dice.int(1000, 9999)}:${dice.int(1000, 9999)} -v $(pwd):/app acme/${word(dice)}:${version(dice)}`,
    () => `docker run --rm -e ${constant(dice)}=${shellPlaceholder(dice)} acme/${kebab(dice)}:latest`,
    () => `docker login -u ${shellPlaceholder(dice)} -p ${shellPlaceholder(dice)} registry.${word(dice)}.dev`,
    () => `docker build -t acme/${word(dice)}:${version(dice)} --build-arg ${constant(dice)}=${word(dice)} .`,
    () => `rsync -avz -u ${word(dice)}:/var/www/${word(dice)} ./${word(dice)}`,
    () => `rsync -u host:/path/${word(dice)} backup-host:/srv/${word(dice)} --delete`,
    () => `scp ${kebab(dice)}.tar.gz ${word(dice)}-host:/tmp/`,
    () => `ssh -i ~/.ssh/id_ed25519 -p ${dice.int(22, 9999)} git@my-host`,
    () => `git clone git@github.com:acme/${kebab(dice)}.git`,
    () => `git checkout -b ${word(dice)}/${kebab(dice)} origin/main && git cherry-pick ${dice.chars('hex', 9)}`,
    () => `git log --oneline ${dice.chars('hex', 7)}..${dice.chars('hex', 7)} -- ${file(dice)}`,
    () => `git config --global user.name "$NAME"`,
    () => `git reset --hard ${dice.chars('hex', 40)}`,
    () => `kubectl get pods -n ${word(dice)} -l app=${kebab(dice)} -o jsonpath='{.items[0].metadata.name}'`,
    () =>
      `kubectl create secret generic ${kebab(dice)} --from-literal=${dice.pick(SECRET_NAMES)}=${shellPlaceholder(dice)}`,
    () => `kubectl port-forward svc/${word(dice)} ${dice.int(1000, 9999)}:${dice.int(80, 9999)}`,
    () =>
      `kubectl -n ${word(dice)} logs ${kebab(dice)}-${dice.chars('hex', 9)}-${dice.chars('lowerDigit', 5)} --since=${dice.int(1, 24)}h`,
    () => `npm install @acme/${kebab(dice)}@${version(dice)} --save-exact`,
    () => `npx ${kebab(dice)}@latest --token ${shellPlaceholder(dice)} --space ${word(dice)}`,
    () =>
      `npm ERR! code E${dice.pick(['401', '404', 'RESOLVE', 'INTEGRITY'])}\nnpm ERR! ${dice.int(400, 404)} ${pascal(dice)} - GET https://registry.packages.example/@acme%2f${kebab(dice)}`,
    () => `export ${constant(dice)}=${shellPlaceholder(dice)}`,
    () => `echo "$${constant(dice)}" | docker login --username "$USER" --password-stdin`,
    () => `mysql -u root -p ${word(dice)} < dump.sql`,
    () => `mysql --user=root --password=${shellPlaceholder(dice)} -e "SHOW PROCESSLIST"`,
    () => `psql -U postgres -p ${dice.int(5000, 5999)} -d ${word(dice)}`,
    () => `ssh-keygen -t ed25519 -C "${word(dice)}" -f ./${kebab(dice)}`,
    () => `openssl rand -base64 ${dice.int(16, 64)}`,
    () => `openssl x509 -in ${word(dice)}.pem -noout -dates`,
    () => `tar -xzf ${kebab(dice)}-${version(dice)}.tar.gz -C /opt/${word(dice)}`,
    () => `chown -R ${dice.int(0, 2000)}:${dice.int(0, 2000)} /data && chmod 0644 ${file(dice)}`,
    () => `aws s3 cp s3://acme-${word(dice)}/${word(dice)}.json - --region eu-west-${dice.int(1, 3)}`,
    () => `terraform import ${word(dice)}_${word(dice)}.${word(dice)} ${dice.chars('alnum', 20)}`,
    () =>
      `helm upgrade --install ${word(dice)} ./chart --set image.tag=${version(dice)} --set auth.existingSecret=${kebab(dice)}`,
    () => `grep -rn "${word(dice)}" src/ | awk -F: '{print $1}' | sort | uniq -c`,
    () =>
      `find . -name '*.${dice.pick(['md', 'ts'])}' -mtime -${dice.int(1, 30)} -exec sed -i 's/${word(dice)}/${word(dice)}/g' {} +`,
    () =>
      `[user@host ~]$ sudo systemctl restart ${word(dice)}\n[user@host ~]$ journalctl -u ${word(dice)} -n ${dice.int(10, 200)}`,
    () => `root@${kebab(dice)}:/app# node --max-old-space-size=${dice.int(1024, 8192)} ${file(dice)}`,
  ])();
}

function code(dice: Dice): string {
  const name = dice.pick(SECRET_NAMES);
  return dice.pick([
    () =>
      `const ${name} = ${expression(dice)};\nconst ${camel(dice)} = await client.${camel(dice)}({ ${name}, ${word(dice)}: ${dice.int(1, 99)} });`,
    () => `${name} = ${expression(dice)}`,
    () => `let ${name}: string | undefined = ${expression(dice)};`,
    () =>
      `if (${name} !== ${expression(dice)}) {\n  throw new Error('${name} is ${dice.pick(['missing', 'invalid', 'required'])}');\n}`,
    () =>
      `export function ${camel(dice)}({ ${name}, ${word(dice)} }: ${pascal(dice)}Props): ${pascal(dice)} {\n  return new ${pascal(dice)}(${name}, { retries: ${dice.int(1, 9)} });\n}`,
    () =>
      `interface ${pascal(dice)} {\n  ${name}: string;\n  ${camel(dice)}?: number;\n  readonly ${camel(dice)}: Record<string, ${pascal(dice)}>;\n}`,
    () =>
      `const ${camel(dice)}Schema = z.object({\n  email: z.string().email(),\n  ${name}: z.string().min(${dice.int(6, 16)}).max(${dice.int(32, 128)}),\n  ${camel(dice)}: z.number().int().positive(),\n});`,
    () => `Joi.object({ ${name}: Joi.string().min(${dice.int(6, 16)}).required(), ${word(dice)}: Joi.number() })`,
    () =>
      `class ${pascal(dice)}(BaseModel):\n    ${name}: str = Field(..., min_length=${dice.int(6, 16)})\n    ${snake(dice)}: Optional[int] = None`,
    () =>
      `def ${snake(dice)}(${name}: str, ${word(dice)}=None) -> dict:\n    return requests.get(f"https://${dice.pick(HOSTS)}/${word(dice)}", headers={"Authorization": f"Bearer {${name}}"}).json()`,
    () =>
      `@app.route("/${word(dice)}/<int:${word(dice)}_id>", methods=["POST"])\ndef ${snake(dice)}():\n    ${name} = request.json.get("${name}")`,
    () =>
      `@${pascal(dice)}({ selector: '${kebab(dice)}', providers: [${pascal(dice)}] })\nexport class ${pascal(dice)}Component {}`,
    () =>
      `func (c *Client) ${pascal(dice)}(ctx context.Context, ${name} string) (*${pascal(dice)}, error) {\n\treq.Header.Set("Authorization", "Bearer "+${name})\n\treturn c.do(ctx, req)\n}`,
    () =>
      `let ${name} = std::env::var("${constant(dice)}").expect("${constant(dice)} must be set");\nlet client = Client::new(&${name})?;`,
    () =>
      `pub struct ${pascal(dice)} {\n    pub ${name}: Option<String>,\n    ${snake(dice)}: u${dice.pick([8, 16, 32, 64])},\n}`,
    () =>
      `String ${name} = System.getenv("${constant(dice)}");\nlogger.info("${word(dice)} {} took {} ms", ${camel(dice)}, ${dice.int(1, 9999)});`,
    () =>
      `fetch('https://${dice.pick(HOSTS)}/v1/${word(dice)}s', {\n  headers: { Authorization: \`Bearer \${${name}}\`, 'X-${capital(word(dice))}-Id': ${camel(dice)} },\n})`,
    () => `headers: { 'Authorization': 'Bearer ' + ${name}, 'Content-Type': '${dice.pick(MIME)}' }`,
    () =>
      `<input type="password" name="${name}" placeholder="${capital(word(dice))}" autocomplete="current-password" />`,
    () =>
      `<label for="${name}">Password</label>\n<input id="${name}" type="password" value={${camel(dice)}} onChange={(e) => set${pascal(dice)}(e.target.value)} />`,
    () => `<${pascal(dice)} ${name}={${camel(dice)}} ${camel(dice)}="${word(dice)}" />`,
    () => `const [${name}, set${capital(name)}] = useState('');`,
    () => `expect(${camel(dice)}.${name}).toBe('${placeholder(dice)}');`,
    () =>
      `jwt.verify(token, publicKey, { algorithms: ['${dice.pick(ALGORITHMS)}'], issuer: '${word(dice)}' }, (err, decoded) => next(err));`,
    () => `const signature = createHmac('sha256', ${expression(dice)}).update(rawBody).digest('hex');`,
    () => `const PATTERN = /^[A-Za-z0-9._%+-]{${dice.int(1, 9)},${dice.int(10, 64)}}@(?:[a-z0-9-]+\\.)+[a-z]{2,}$/;`,
    () => `/^(?=.*[A-Z])(?=.*\\d)(?=.*[!@#$%^&*]).{${dice.int(8, 16)},}$/.test(${name})`,
    () => `re.compile(r"\\b\\d{3}-\\d{2}-\\d{4}\\b|\\+?\\d{1,3}[ -]\\d{${dice.int(2, 4)},${dice.int(5, 9)}}")`,
    () => `type ${pascal(dice)} = Omit<${pascal(dice)}, '${name}'> & { ${name}: never };`,
    () =>
      `.${kebab(dice)} { margin: ${dice.int(0, 64)}px ${dice.int(0, 64)}px; color: #${dice.chars('hex', 6)}; transition: all .${dice.int(1, 9)}s; }`,
    () => `$${name} = $_POST['${name}'];\n$hash = password_hash($${name}, PASSWORD_DEFAULT);`,
    () => `token = Lexer.next_token; secret = nil if token.type == :${word(dice)}`,
  ])();
}

function structured(dice: Dice): string {
  const name = dice.pick(SECRET_NAMES);
  return dice.pick([
    () =>
      `{\n  "id": "${uuid(dice)}",\n  "${word(dice)}": ${dice.int(0, 9999)},\n  "${camel(dice)}": "${kebab(dice)}",\n  "createdAt": "${timestamp(dice)}"\n}`,
    () =>
      `{"error":{"code":${dice.int(400, 504)},"message":"${capital(word(dice))} ${word(dice)} is ${dice.pick(['not found', 'invalid', 'expired', 'required'])}","type":"${snake(dice)}"}}`,
    () => `{"${name}": "${placeholder(dice)}", "${word(dice)}": ${dice.pick(['true', 'false', 'null'])}}`,
    () =>
      `{"type":"object","required":["${name}"],"properties":{"${name}":{"type":"string","minLength":${dice.int(6, 16)},"description":"The ${name} of the ${word(dice)}"}}}`,
    () =>
      `openapi: 3.${dice.int(0, 1)}.${dice.int(0, 3)}\ninfo:\n  title: ${capital(word(dice))} API\n  version: ${version(dice)}\npaths:\n  /${word(dice)}s/{${camel(dice)}}:\n    get:\n      operationId: ${camel(dice)}\n      security:\n        - bearerAuth: []`,
    () =>
      `components:\n  securitySchemes:\n    bearerAuth:\n      type: http\n      scheme: bearer\n      bearerFormat: JWT\n    apiKey:\n      type: apiKey\n      in: ${dice.pick(['header', 'query'])}\n      name: ${dice.pick(['X-API-Key', 'api_key', 'token'])}`,
    () =>
      `    ${pascal(dice)}:\n      type: object\n      properties:\n        ${name}:\n          type: string\n          format: password\n          example: ${placeholder(dice)}`,
    () =>
      `name: ${capital(word(dice))} ${word(dice)}\non:\n  push:\n    branches: [main]\njobs:\n  ${word(dice)}:\n    runs-on: ubuntu-${dice.int(20, 24)}.04\n    steps:\n      - uses: actions/checkout@v${dice.int(2, 5)}\n      - uses: actions/setup-node@${dice.chars('hex', 40)}\n        with:\n          ${name}: \${{ secrets.${constant(dice)} }}`,
    () =>
      `apiVersion: v1\nkind: Secret\nmetadata:\n  name: ${kebab(dice)}\nstringData:\n  ${name}: ${placeholder(dice)}`,
    () =>
      `env:\n  - name: ${constant(dice)}\n    valueFrom:\n      secretKeyRef:\n        name: ${kebab(dice)}\n        key: ${name}`,
    () =>
      `resources:\n  limits: { cpu: ${dice.int(100, 2000)}m, memory: ${dice.int(128, 4096)}Mi }\nreplicas: ${dice.int(1, 9)}\nimage: acme/${word(dice)}:${version(dice)}`,
    () =>
      `variable "${snake(dice)}_${name}" {\n  type      = string\n  sensitive = true\n  default   = ${dice.pick(['null', '""'])}\n}`,
    () =>
      `resource "${word(dice)}_${word(dice)}" "${word(dice)}" {\n  ${name} = var.${snake(dice)}\n  count = ${dice.int(1, 9)}\n}`,
    () => `[tool.poetry.dependencies]\npython = "^3.${dice.int(8, 13)}"\n${kebab(dice)} = "~${version(dice)}"`,
    () => `${constant(dice)}=${placeholder(dice)}\n${constant(dice)}_PORT=${dice.int(1000, 9999)}\nLOG_LEVEL=debug`,
    () => `# .env.example\nDB_PASSWORD=\nAPI_KEY=${placeholder(dice)}\nSESSION_SECRET=changeme`,
    () =>
      `server {\n  listen ${dice.int(80, 9999)} ssl http2;\n  server_name _;\n  ssl_protocols TLSv1.2 TLSv1.3;\n  location /${word(dice)} { proxy_pass http://127.0.0.1:${dice.int(1000, 9999)}; proxy_read_timeout ${dice.int(10, 600)}s; }\n}`,
    () =>
      `<dependency>\n  <groupId>com.acme.${word(dice)}</groupId>\n  <artifactId>${kebab(dice)}</artifactId>\n  <version>${version(dice)}</version>\n</dependency>`,
    () =>
      `SELECT ${snake(dice)}, COUNT(*) FROM ${word(dice)}s WHERE ${name} IS NOT NULL AND created_at > '${dice.int(2019, 2026)}-01-01' GROUP BY 1 LIMIT ${dice.int(10, 1000)};`,
    () => `INSERT INTO ${word(dice)}s (id, ${name}_hash, ${word(dice)}) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING;`,
    () =>
      `CREATE TABLE ${word(dice)}s (id BIGINT PRIMARY KEY, ${name} VARCHAR(${dice.int(32, 255)}) NOT NULL, ${snake(dice)} TIMESTAMPTZ);`,
    () => `UPDATE ${word(dice)}s SET ${name} = crypt(:${name}, gen_salt('bf')) WHERE id = ?;`,
    () =>
      `---\ntitle: ${capital(word(dice))} and ${word(dice)}\ndescription: How to ${word(dice)} a ${word(dice)}\nicon: ${kebab(dice)}\nlayout:\n  title: { visible: true }\n---`,
    () =>
      `{% hint style="${dice.pick(['info', 'warning'])}" %}\nPass your ${name} in the \`Authorization\` header.\n{% endhint %}`,
  ])();
}

function dump(dice: Dice): string {
  const host = dice.pick(HOSTS);
  return dice.pick([
    () =>
      `POST /v1/${word(dice)}s HTTP/1.1\nHost: ${host}\nAuthorization: Bearer ${placeholder(dice)}\nContent-Type: ${dice.pick(MIME)}\nAccept: */*\nContent-Length: ${dice.int(10, 9999)}`,
    () =>
      `GET /v1/${word(dice)} HTTP/2\nhost: ${host}\nauthorization: Basic ${placeholder(dice)}\nx-api-key: ${placeholder(dice)}\nuser-agent: Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/${dice.int(90, 130)}.0.${dice.int(0, 9)}.${dice.int(0, 9)} Safari/537.36`,
    () =>
      `HTTP/1.1 ${dice.pick(['401 Unauthorized', '403 Forbidden', '429 Too Many Requests'])}\nWWW-Authenticate: Bearer realm="${word(dice)}", error="invalid_token", error_description="The token is expired"\nRetry-After: ${dice.int(1, 120)}\nX-RateLimit-Reset: ${dice.int(1_600_000_000, 1_790_000_000)}`,
    () =>
      `< HTTP/2 ${dice.pick([200, 301, 304])}\n< content-type: ${dice.pick(MIME)}\n< ${digest(dice)}\n< cache-control: public, max-age=${dice.int(60, 31_536_000)}, s-maxage=${dice.int(60, 9999)}\n< strict-transport-security: max-age=31536000`,
    () =>
      `Use \`Authorization: Bearer ${placeholder(dice)}\` header. The ${word(dice)} then answers with ${dice.int(200, 204)}.`,
    () => `Set-Cookie: ${word(dice)}=${dice.pick(['deleted', ''])}; Path=/; Max-Age=0; SameSite=Lax`,
    () =>
      `${timestamp(dice)} ${dice.pick(['ERROR', 'WARN', 'INFO'])} [${kebab(dice)}] ${word(dice)} ${word(dice)} failed after ${dice.int(1, 9999)} ms (attempt ${dice.int(1, 9)}/${dice.int(3, 9)})`,
    () =>
      `${timestamp(dice)} level=${dice.pick(['info', 'error'])} msg="${word(dice)} ${word(dice)}" ${word(dice)}=${dice.int(1, 99_999)} ${digest(dice)}`,
    () =>
      `127.0.0.1 - - ${timestamp(dice)} "GET /${word(dice)}/${kebab(dice)} HTTP/1.1" ${dice.pick([200, 404, 500])} ${dice.int(100, 99_999)}`,
    () =>
      `TypeError: Cannot read properties of undefined (reading '${camel(dice)}')\n    at ${pascal(dice)}.${camel(dice)} (https://${host}/_next/static/chunks/main-${dice.chars('hex', 16)}.js:${dice.int(1, 9)}:${dice.int(1000, 999_999)})\n    at async ${camel(dice)} (webpack-internal:///./${file(dice)}:${dice.int(1, 999)}:${dice.int(1, 99)})`,
    () =>
      `Traceback (most recent call last):\n  File "/app/${word(dice)}/${snake(dice)}.py", line ${dice.int(1, 2000)}, in ${snake(dice)}\n    raise ${pascal(dice)}Error("${word(dice)} ${dice.int(1, 999_999_999)}")\n${pascal(dice)}Error: ${word(dice)} ${dice.int(1, 999_999_999)}`,
    () =>
      `java.lang.NullPointerException: ${word(dice)}\n\tat com.acme.${word(dice)}.${pascal(dice)}.${camel(dice)}(${pascal(dice)}.java:${dice.int(1, 2000)})\n\tat jdk.internal.reflect.GeneratedMethodAccessor${dice.int(1, 999)}.invoke(Unknown Source)`,
    () =>
      `goroutine ${dice.int(1, 999)} [running]:\nmain.${camel(dice)}(0x${dice.chars('hex', 10)}, 0x${dice.chars('hex', 2)})\n\t/go/src/${kebab(dice)}/main.go:${dice.int(1, 999)} +0x${dice.chars('hex', 3)}`,
    () =>
      `thread 'main' panicked at src/${word(dice)}.rs:${dice.int(1, 999)}:${dice.int(1, 99)}:\ncalled \`Option::unwrap()\` on a \`None\` value`,
    () =>
      `Warning: ${pascal(dice)}: ${camel(dice)} is deprecated since ${version(dice)} and will be removed in ${version(dice)}`,
    () =>
      `Error: ${constant(dice)}: ${word(dice)} ${dice.chars('alnum', 20)} not found in space ${dice.chars('alnum', 20)}`,
    () =>
      `commit ${dice.chars('hex', 40)}\nDate:   Mon Mar ${dice.int(1, 28)} ${dice.int(10, 23)}:12:08 2024 +0100\n\n    ${capital(word(dice))} the ${word(dice)} (#${dice.int(1, 9999)})`,
    () =>
      `diff --git a/${file(dice)} b/${file(dice)}\nindex ${dice.chars('hex', 7)}..${dice.chars('hex', 7)} 100644\n@@ -${dice.int(1, 99)},${dice.int(1, 9)} +${dice.int(1, 99)},${dice.int(1, 9)} @@\n-  ${camel(dice)}: '${word(dice)}',\n+  ${camel(dice)}: '${word(dice)}',`,
    () =>
      `"node_modules/${kebab(dice)}": { "version": "${dice.int(1, 9)}.${dice.int(0, 9)}.${dice.int(0, 9)}", "resolved": "https://registry.packages.example/${kebab(dice)}/-/${kebab(dice)}-${dice.int(1, 9)}.0.0.tgz", "integrity": "sha512-${dice.chars('base64', 86)}==" }`,
    () =>
      `-----BEGIN PUBLIC KEY-----\n${dice.chars('base64', 64)}\n${dice.chars('base64', 64)}\n${dice.chars('base64', 24)}\n-----END PUBLIC KEY-----`,
    () => `data:image/png;base64,iVBORw0KGgo${dice.chars('base64', dice.int(40, 200))}=`,
  ])();
}

function table(dice: Dice): string {
  const name = dice.pick(SECRET_NAMES);
  const row = () => [
    word(dice),
    dice.pick(['string', 'number', 'boolean', 'object']),
    dice.pick(['yes', 'no']),
    figure(dice),
  ];
  const rows = dice.times(2, 5, row);
  return dice.pick([
    () =>
      [
        ['Field', 'Type', 'Required', 'Example'],
        ['---', '---', '---', '---'],
        [name, 'string', 'yes', placeholder(dice)],
        ...rows,
      ]
        .map((cells) => `| ${cells.join(' | ')} |`)
        .join('\n'),
    () =>
      [
        'id,name,status,updated_at',
        ...dice.times(
          2,
          5,
          () =>
            `${dice.int(1, 99_999)},${kebab(dice)},${dice.pick(['active', 'draft'])},${timestamp(dice).replaceAll(',', '.')}`,
        ),
      ].join('\n'),
    () => ['| Password | Token | Secret |', '| --- | --- | --- |', '| required | optional | optional |'].join('\n'),
    () =>
      `| ${dice.pick(['Password', 'Token', 'API key', 'Secret'])} | ${dice.pick(['string', 'required', 'The password of the user', 'your token', 'n/a', 'yes', '✓', 'see below'])} |`,
    () =>
      [
        '| Browser | Version |',
        '| --- | --- |',
        ...dice.times(
          2,
          4,
          () =>
            `| ${dice.pick(['Chrome', 'Firefox', 'Edge', 'Safari'])} | ${dice.int(90, 130)}.0.${dice.int(0, 6000)}.${dice.int(0, 200)} |`,
        ),
      ].join('\n'),
    () =>
      [
        'Metric\tp50\tp95\tp99',
        ...dice.times(2, 4, () => `${word(dice)}\t${dice.int(1, 99)}\t${dice.int(100, 999)}\t${dice.int(1000, 9999)}`),
      ].join('\n'),
    () =>
      [
        '| Plan | Price | Seats |',
        '| --- | ---: | ---: |',
        ...dice.times(
          2,
          3,
          () => `| ${dice.pick(['Free', 'Plus', 'Pro', 'Ultimate'])} | ${figure(dice)} | ${dice.int(1, 500)} |`,
        ),
      ].join('\n'),
    () =>
      [
        'USER       PID %CPU %MEM COMMAND',
        ...dice.times(
          2,
          4,
          () =>
            `root ${dice.int(1, 99_999)} ${dice.int(0, 99)}.${dice.int(0, 9)} ${dice.int(0, 99)}.${dice.int(0, 9)} ${word(dice)}`,
        ),
      ].join('\n'),
  ])();
}

function note(dice: Dice): string {
  const words =
    CREDENTIAL_WORDS[dice.chance(0.5) ? 'en' : dice.pick(Object.keys(CREDENTIAL_WORDS))] ?? CREDENTIAL_WORDS.en;
  const harmless = () => dice.pick(words?.harmless ?? []);
  return dice.pick([
    harmless,
    harmless,
    harmless,
    () => `We are on ${productVersion(dice)}.`,
    () => `Browser: ${productVersion(dice)}`,
    () => `It happens since ${version(dice)}, ${digest(dice)}.`,
    () => `See ${digest(dice)}.`,
    () => `The answer has ${figure(dice)}, and ${figure(dice)}.`,
    () => `We were charged ${figure(dice)} for ${figure(dice)}.`,
    () => `${figure(dice)} / ${figure(dice)} / ${figure(dice)}`,
    () =>
      `Steps:\n1. Open \`${file(dice)}\`\n2. Change \`${camel(dice)}\` to \`${dice.int(1, 999)}\`\n3. Run \`${shell(dice).split('\n')[0]}\``,
    () =>
      `The JWT is signed with ${dice.pick(ALGORITHMS)}; the header is \`{"alg":"${dice.pick(ALGORITHMS)}","typ":"JWT"}\` and the payload has \`sub\`, \`iat\` and \`exp\`.`,
    () => `The token looks like \`eyJhbGciOi...\`, is that right?`,
    () =>
      `Signature: ${dice.pick(ALGORITHMS)}, token type: ${dice.pick(['Bearer', 'JWT', 'opaque'])}, algorithm=${dice.pick(ALGORITHMS)}`,
    () => `The signature scheme is ${dice.pick(['v0', 'v1', 'v2', 'v4'])} and the secret: ${placeholder(dice)}`,
    () =>
      `\`${dice.pick(SECRET_NAMES)}\` ${dice.pick(['is required', 'must be a string', 'was not sent', 'has the wrong type', 'defaults to null'])}.`,
    () =>
      `- ${dice.pick(SECRET_NAMES)} (string, ${dice.pick(['required', 'optional'])}): the ${word(dice)} of the ${word(dice)}`,
    () => `Content-Type must be ${dice.pick(MIME)}, not ${dice.pick(MIME)}.`,
    () =>
      `Our ${word(dice)} listens on ${dice.pick(['127.0.0.1', '0.0.0.0', 'localhost', '[::1]'])}:${dice.int(1024, 65_535)} with netmask 255.255.255.0.`,
    () =>
      `The decorator @${camel(dice)} and the package @acme/${kebab(dice)}@${version(dice)} conflict with ${kebab(dice)}@${version(dice)}.`,
    () =>
      `Files: ${kebab(dice)}_${version(dice)}.zip, ${snake(dice)}.${dice.int(2019, 2026)}-${dice.int(10, 12)}-${dice.int(10, 28)}.log, ${camel(dice)}.test.ts`,
    () =>
      `Breakpoints: ${[dice.int(320, 640), dice.int(768, 1024), dice.int(1280, 1920)].join(dice.pick([', ', '/', ' / ', '-']))}, ratio ${dice.int(1, 21)}:${dice.int(1, 9)}, dated ${timestamp(dice)}`,
    () => `Between ${timestamp(dice)} and ${timestamp(dice)} we saw ${figure(dice)}.`,
  ])();
}

/** Labels of forms that have another meaning in technical texts. */
function labelled(dice: Dice): string {
  return dice.pick([
    () => `address: ${dice.pick(['127.0.0.1', '0.0.0.0', 'localhost', '[::]'])}:${dice.int(1024, 65_535)}`,
    () => `listen_address = ":${dice.int(1024, 65_535)}"`,
    () => `Address: 0x${dice.chars('hex', 12)}`,
    () => `"address": { "type": "string", "maxLength": ${dice.int(32, 255)} }`,
    () => `address: ${pascal(dice)};\n  phone?: string;\n  dob: Date;\n  email: string;`,
    () =>
      `dob: z.coerce.date().optional(), phone: z.string().regex(/^\\+?[0-9 ]{${dice.int(5, 9)},${dice.int(10, 20)}}$/)`,
    () => `birth_date DATE, phone VARCHAR(${dice.int(16, 64)}), address TEXT, full_name VARCHAR(${dice.int(64, 255)})`,
    () => `| address | string | The billing address of the ${word(dice)} |`,
    () => `| phone | string | optional |\n| dob | date | optional |\n| name | string | ${kebab(dice)} |`,
    () => `Email address: must be a valid address`,
    () => `Address: required, Phone: optional, Date of birth: optional`,
    () => `Phone: this field is required`,
    () => `Name: ${kebab(dice)}\nType: ${word(dice)}\nStatus: ${dice.pick(['active', 'failed'])}`,
    () => `name: ${capital(word(dice))} ${word(dice)}\ndescription: ${capital(word(dice))} of the ${word(dice)}`,
    () => `Title: ${capital(word(dice))} ${capital(word(dice))}\nAuthor: Docs Team\nDate: ${timestamp(dice)}`,
    () =>
      `From: ${word(dice)}/${kebab(dice)}\nTo: main\nSubject: [PATCH ${dice.int(1, 9)}/9] ${capital(word(dice))} the ${word(dice)}`,
    () => `contact:\n  name: API Support\n  url: https://${dice.pick(HOSTS)}/support`,
    () => `Look at dot files first, then at ${camel(dice)}.at(${dice.int(0, 9)}) dot by dot.`,
    () => `The page at docs slash ${word(dice)} is fine, but at ${version(dice)} it breaks.`,
    () => `SHA1 Fingerprint=${Array.from({ length: 20 }, () => dice.chars('HEX', 2)).join(':')}`,
    () =>
      `use std::${word(dice)}::{${pascal(dice)}, ${pascal(dice)}};\nlet ${word(dice)} = ${pascal(dice)}::<u${dice.pick([8, 16, 32])}>::new();`,
    () => `link/ether ff:ff:ff:ff:ff:ff, default 00:00:00:00:00:00`,
    () => `duration ${dice.int(0, 23)}:${dice.int(10, 59)}:${dice.int(10, 59)}:${dice.int(10, 29)} at 25 fps`,
    () => `![${word(dice)}](https://${dice.pick(HOSTS)}/assets/${kebab(dice)}-${dice.chars('hex', 8)}.png)`,
    () =>
      `https://github.com/acme/${kebab(dice)}/blob/${dice.chars('hex', 40)}/${file(dice)}#L${dice.int(1, 99)}-L${dice.int(100, 900)}`,
    () =>
      `https://${dice.pick(HOSTS)}/${word(dice)}/${kebab(dice)}?page=${dice.int(1, 99)}&sort=${snake(dice)}&per_page=100#${kebab(dice)}`,
    () =>
      `https://${dice.pick(HOSTS)}/oauth/authorize?response_type=code&client_id=${placeholder(dice).replaceAll(/[^\w-]/g, '') || 'docs'}&scope=read&state=xyz`,
    () =>
      `@media (min-width: ${dice.int(320, 1920)}px) { .${kebab(dice)} { width: calc(100% - ${dice.int(1, 99)}px); } }`,
    () =>
      `Fig. ${dice.int(1, 9)}: ${word(dice)} = ${dice.int(10, 99)} °C at ${dice.int(10, 99)}°${dice.int(10, 59)}'${dice.int(10, 59)}" N`,
  ])();
}

const LANGUAGES_OF_FENCES = ['', 'bash', 'ts', 'json', 'yaml', 'text', 'http', 'sh', 'python'];

/** A piece of technical text: plain, inline or in a fence. */
export function technicalSnippet(dice: Dice): string {
  if (dice.chance(0.2)) {
    return technicalOutput(dice);
  }
  const kind = dice.pick([shell, shell, code, code, structured, structured, dump, dump, table, note, note, labelled]);
  const text = kind(dice);
  if (kind === note || kind === table) {
    return text;
  }
  if (dice.chance(0.15)) {
    return text
      .split('\n')
      .map((line) => (kind === shell ? `$ ${line}` : `    ${line}`))
      .join('\n');
  }
  return dice.chance(0.6) ? `\`\`\`${dice.pick(LANGUAGES_OF_FENCES)}\n${text}\n\`\`\`` : text;
}
