/** Technical tickets without private data: commands, code, configuration, dumps, output of tools, tables and notes. */

import type { Alphabet, Dice } from './dice.ts';
import { CREDENTIAL_WORDS, LANGUAGES } from './languages.ts';
import { LOCALE_NAMES, LOCALES } from './locales.ts';
import type { GeneratedTicket } from './marked-text.ts';
import { makeCharacter, recordOf } from './people.ts';
import { expand, placeholder, timestamp, word, write } from './technical-values.ts';

const pairs = (dice: Dice, alphabet: Alphabet, length: number) => Array.from({ length }, () => dice.chars(alphabet, 2));

/** Lines after a heading, each from a template or a function. */
function rows(dice: Dice, heading: string | null, min: number, max: number, row: string | ((index: number) => string)) {
  const lines = dice.times(min, max, (index) => (typeof row === 'string' ? expand(dice, row) : row(index)));
  return [...(heading === null ? [] : [heading]), ...lines].join('\n');
}

function shell(dice: Dice): string {
  const host = expand(dice, '«anyHost»');
  return write(
    dice,
    [
      `curl -H "Authorization: Bearer «shellPlaceholder»" https://«host»/v1/«word»s | jq '.items[] | .«word»'`,
      `curl -X POST https://«host»/v1/«word»s -H "Content-Type: application/json" -H "X-Api-Key: «shellPlaceholder»" -d '{"«word»": "«word»"}'`,
      `curl -u «shellPlaceholder»: https://«host»/«word»`,
      `curl -u "$USER:$PASSWORD" https://«host»/«word»`,
      `curl -sSfL https://«host»/install.sh | sh -s -- -b /usr/local/bin «version»`,
      `docker run -u «0..2000»:«0..2000» -p «1000..9999»:«1000..9999» -v $(pwd):/app acme/«word»:«version»`,
      `docker run --rm -e «constant»=«shellPlaceholder» acme/«kebab»:latest`,
      `docker login -u «shellPlaceholder» -p «shellPlaceholder» registry.«word».dev`,
      `docker build -t acme/«word»:«version» --build-arg «constant»=«word» .`,
      `rsync -avz -u «word»:/var/www/«word» ./«word»`,
      `rsync -u host:/path/«word» backup-host:/srv/«word» --delete`,
      `scp «kebab».tar.gz «word»-host:/tmp/`,
      `ssh -i ~/.ssh/id_ed25519 -p «22..9999» git@my-host`,
      `git clone git@github.com:acme/«kebab».git`,
      `git checkout -b «word»/«kebab» origin/main && git cherry-pick «hex 9»`,
      `git log --oneline «hex 7»..«hex 7» -- «file»`,
      `git config --global user.name "$NAME"`,
      `git reset --hard «hex 40»`,
      `kubectl get pods -n «word» -l app=«kebab» -o jsonpath='{.items[0].metadata.name}'`,
      `kubectl create secret generic «kebab» --from-literal=«secretName»=«shellPlaceholder»`,
      `kubectl port-forward svc/«word» «1000..9999»:«80..9999»`,
      `kubectl -n «word» logs «kebab»-«hex 9»-«lowerDigit 5» --since=«1..24»h`,
      `npm install @acme/«kebab»@«version» --save-exact`,
      `npx «kebab»@latest --token «shellPlaceholder» --space «word»`,
      `npm ERR! code E«401|404|RESOLVE|INTEGRITY»\nnpm ERR! «400..404» «pascal» - GET https://registry.packages.example/@acme%2f«kebab»`,
      `export «constant»=«shellPlaceholder»`,
      `echo "$«constant»" | docker login --username "$USER" --password-stdin`,
      `mysql -u root -p «word» < dump.sql`,
      `mysql --user=root --password=«shellPlaceholder» -e "SHOW PROCESSLIST"`,
      `psql -U postgres -p «5000..5999» -d «word»`,
      `ssh-keygen -t ed25519 -C "«word»" -f ./«kebab»`,
      `openssl rand -base64 «16..64»`,
      `openssl x509 -in «word».pem -noout -dates`,
      `tar -xzf «kebab»-«version».tar.gz -C /opt/«word»`,
      `chown -R «0..2000»:«0..2000» /data && chmod 0644 «file»`,
      `aws s3 cp s3://acme-«word»/«word».json - --region eu-west-«1..3»`,
      `terraform import «word»_«word».«word» «alnum 20»`,
      `helm upgrade --install «word» ./chart --set image.tag=«version» --set auth.existingSecret=«kebab»`,
      `grep -rn "«word»" src/ | awk -F: '{print $1}' | sort | uniq -c`,
      `find . -name '*.«md|ts»' -mtime -«1..30» -exec sed -i 's/«word»/«word»/g' {} +`,
      `[user@host ~]$ sudo systemctl restart «word»\n[user@host ~]$ journalctl -u «word» -n «10..200»`,
      `root@«kebab»:/app# node --max-old-space-size=«1024..8192» «file»`,
    ],
    { host },
  );
}

function code(dice: Dice): string {
  const name = expand(dice, '«secretName»');
  return write(
    dice,
    [
      `const «name» = «expression»;\nconst «camel» = await client.«camel»({ «name», «word»: «1..99» });`,
      `«name» = «expression»`,
      `let «name»: string | undefined = «expression»;`,
      `if («name» !== «expression») {\n  throw new Error('«name» is «missing|invalid|required»');\n}`,
      `export function «camel»({ «name», «word» }: «pascal»Props): «pascal» {\n  return new «pascal»(«name», { retries: «1..9» });\n}`,
      `interface «pascal» {\n  «name»: string;\n  «camel»?: number;\n  readonly «camel»: Record<string, «pascal»>;\n}`,
      `const «camel»Schema = z.object({\n  email: z.string().email(),\n  «name»: z.string().min(«6..16»).max(«32..128»),\n  «camel»: z.number().int().positive(),\n});`,
      `Joi.object({ «name»: Joi.string().min(«6..16»).required(), «word»: Joi.number() })`,
      `class «pascal»(BaseModel):\n    «name»: str = Field(..., min_length=«6..16»)\n    «snake»: Optional[int] = None`,
      `def «snake»(«name»: str, «word»=None) -> dict:\n    return requests.get(f"https://«anyHost»/«word»", headers={"Authorization": f"Bearer {«name»}"}).json()`,
      `@app.route("/«word»/<int:«word»_id>", methods=["POST"])\ndef «snake»():\n    «name» = request.json.get("«name»")`,
      `@«pascal»({ selector: '«kebab»', providers: [«pascal»] })\nexport class «pascal»Component {}`,
      `func (c *Client) «pascal»(ctx context.Context, «name» string) (*«pascal», error) {\n\treq.Header.Set("Authorization", "Bearer "+«name»)\n\treturn c.do(ctx, req)\n}`,
      `let «name» = std::env::var("«constant»").expect("«constant» must be set");\nlet client = Client::new(&«name»)?;`,
      `pub struct «pascal» {\n    pub «name»: Option<String>,\n    «snake»: u«8|16|32|64»,\n}`,
      `String «name» = System.getenv("«constant»");\nlogger.info("«word» {} took {} ms", «camel», «1..9999»);`,
      `fetch('https://«anyHost»/v1/«word»s', {\n  headers: { Authorization: \`Bearer \${«name»}\`, 'X-«Word»-Id': «camel» },\n})`,
      `headers: { 'Authorization': 'Bearer ' + «name», 'Content-Type': '«mime»' }`,
      `<input type="password" name="«name»" placeholder="«Word»" autocomplete="current-password" />`,
      `<label for="«name»">Password</label>\n<input id="«name»" type="password" value={«camel»} onChange={(e) => set«pascal»(e.target.value)} />`,
      `<«pascal» «name»={«camel»} «camel»="«word»" />`,
      `const [«name», set«Name»] = useState('');`,
      `expect(«camel».«name»).toBe('«placeholder»');`,
      `jwt.verify(token, publicKey, { algorithms: ['«algorithm»'], issuer: '«word»' }, (err, decoded) => next(err));`,
      `const signature = createHmac('sha256', «expression»).update(rawBody).digest('hex');`,
      `const PATTERN = /^[A-Za-z0-9._%+-]{«1..9»,«10..64»}@(?:[a-z0-9-]+\\.)+[a-z]{2,}$/;`,
      `/^(?=.*[A-Z])(?=.*\\d)(?=.*[!@#$%^&*]).{«8..16»,}$/.test(«name»)`,
      `re.compile(r"\\b\\d{3}-\\d{2}-\\d{4}\\b|\\+?\\d{1,3}[ -]\\d{«2..4»,«5..9»}")`,
      `type «pascal» = Omit<«pascal», '«name»'> & { «name»: never };`,
      `.«kebab» { margin: «0..64»px «0..64»px; color: #«hex 6»; transition: all .«1..9»s; }`,
      `$«name» = $_POST['«name»'];\n$hash = password_hash($«name», PASSWORD_DEFAULT);`,
      `token = Lexer.next_token; secret = nil if token.type == :«word»`,
    ],
    { name },
  );
}

function structured(dice: Dice): string {
  const name = expand(dice, '«secretName»');
  return write(
    dice,
    [
      `{\n  "id": "«uuid»",\n  "«word»": «0..9999»,\n  "«camel»": "«kebab»",\n  "createdAt": "«timestamp»"\n}`,
      `{"error":{"code":«400..504»,"message":"«Word» «word» is «not found|invalid|expired|required»","type":"«snake»"}}`,
      `{"«name»": "«placeholder»", "«word»": «true|false|null»}`,
      `{"type":"object","required":["«name»"],"properties":{"«name»":{"type":"string","minLength":«6..16»,"description":"The «name» of the «word»"}}}`,
      `openapi: 3.«0..1».«0..3»\ninfo:\n  title: «Word» API\n  version: «version»\npaths:\n  /«word»s/{«camel»}:\n    get:\n      operationId: «camel»\n      security:\n        - bearerAuth: []`,
      `components:\n  securitySchemes:\n    bearerAuth:\n      type: http\n      scheme: bearer\n      bearerFormat: JWT\n    apiKey:\n      type: apiKey\n      in: «header|query»\n      name: «X-API-Key|api_key|token»`,
      `    «pascal»:\n      type: object\n      properties:\n        «name»:\n          type: string\n          format: password\n          example: «placeholder»`,
      `name: «Word» «word»\non:\n  push:\n    branches: [main]\njobs:\n  «word»:\n    runs-on: ubuntu-«20..24».04\n    steps:\n      - uses: actions/checkout@v«2..5»\n      - uses: actions/setup-node@«hex 40»\n        with:\n          «name»: \${{ secrets.«constant» }}`,
      `apiVersion: v1\nkind: Secret\nmetadata:\n  name: «kebab»\nstringData:\n  «name»: «placeholder»`,
      `env:\n  - name: «constant»\n    valueFrom:\n      secretKeyRef:\n        name: «kebab»\n        key: «name»`,
      `resources:\n  limits: { cpu: «100..2000»m, memory: «128..4096»Mi }\nreplicas: «1..9»\nimage: acme/«word»:«version»`,
      `variable "«snake»_«name»" {\n  type      = string\n  sensitive = true\n  default   = «null|""»\n}`,
      `resource "«word»_«word»" "«word»" {\n  «name» = var.«snake»\n  count = «1..9»\n}`,
      `[tool.poetry.dependencies]\npython = "^3.«8..13»"\n«kebab» = "~«version»"`,
      `«constant»=«placeholder»\n«constant»_PORT=«1000..9999»\nLOG_LEVEL=debug`,
      `# .env.example\nDB_PASSWORD=\nAPI_KEY=«placeholder»\nSESSION_SECRET=changeme`,
      `server {\n  listen «80..9999» ssl http2;\n  server_name _;\n  ssl_protocols TLSv1.2 TLSv1.3;\n  location /«word» { proxy_pass http://127.0.0.1:«1000..9999»; proxy_read_timeout «10..600»s; }\n}`,
      `<dependency>\n  <groupId>com.acme.«word»</groupId>\n  <artifactId>«kebab»</artifactId>\n  <version>«version»</version>\n</dependency>`,
      `SELECT «snake», COUNT(*) FROM «word»s WHERE «name» IS NOT NULL AND created_at > '«2019..2026»-01-01' GROUP BY 1 LIMIT «10..1000»;`,
      `INSERT INTO «word»s (id, «name»_hash, «word») VALUES ($1, $2, $3) ON CONFLICT DO NOTHING;`,
      `CREATE TABLE «word»s (id BIGINT PRIMARY KEY, «name» VARCHAR(«32..255») NOT NULL, «snake» TIMESTAMPTZ);`,
      `UPDATE «word»s SET «name» = crypt(:«name», gen_salt('bf')) WHERE id = ?;`,
      `---\ntitle: «Word» and «word»\ndescription: How to «word» a «word»\nicon: «kebab»\nlayout:\n  title: { visible: true }\n---`,
      `{% hint style="«info|warning»" %}\nPass your «name» in the \`Authorization\` header.\n{% endhint %}`,
    ],
    { name },
  );
}

function dump(dice: Dice): string {
  const host = expand(dice, '«anyHost»');
  return write(
    dice,
    [
      `POST /v1/«word»s HTTP/1.1\nHost: «host»\nAuthorization: Bearer «placeholder»\nContent-Type: «mime»\nAccept: */*\nContent-Length: «10..9999»`,
      `GET /v1/«word» HTTP/2\nhost: «host»\nauthorization: Basic «placeholder»\nx-api-key: «placeholder»\nuser-agent: Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/«90..130».0.«0..9».«0..9» Safari/537.36`,
      `HTTP/1.1 «401 Unauthorized|403 Forbidden|429 Too Many Requests»\nWWW-Authenticate: Bearer realm="«word»", error="invalid_token", error_description="The token is expired"\nRetry-After: «1..120»\nX-RateLimit-Reset: «1600000000..1790000000»`,
      `< HTTP/2 «200|301|304»\n< content-type: «mime»\n< «digest»\n< cache-control: public, max-age=«60..31536000», s-maxage=«60..9999»\n< strict-transport-security: max-age=31536000`,
      `Use \`Authorization: Bearer «placeholder»\` header. The «word» then answers with «200..204».`,
      `Set-Cookie: «word»=«deleted|»; Path=/; Max-Age=0; SameSite=Lax`,
      `«timestamp» «ERROR|WARN|INFO» [«kebab»] «word» «word» failed after «1..9999» ms (attempt «1..9»/«3..9»)`,
      `«timestamp» level=«info|error» msg="«word» «word»" «word»=«1..99999» «digest»`,
      `127.0.0.1 - - «timestamp» "GET /«word»/«kebab» HTTP/1.1" «200|404|500» «100..99999»`,
      `TypeError: Cannot read properties of undefined (reading '«camel»')\n    at «pascal».«camel» (https://«host»/_next/static/chunks/main-«hex 16».js:«1..9»:«1000..999999»)\n    at async «camel» (webpack-internal:///./«file»:«1..999»:«1..99»)`,
      `Traceback (most recent call last):\n  File "/app/«word»/«snake».py", line «1..2000», in «snake»\n    raise «pascal»Error("«word» «1..999999999»")\n«pascal»Error: «word» «1..999999999»`,
      `java.lang.NullPointerException: «word»\n\tat com.acme.«word».«pascal».«camel»(«pascal».java:«1..2000»)\n\tat jdk.internal.reflect.GeneratedMethodAccessor«1..999».invoke(Unknown Source)`,
      `goroutine «1..999» [running]:\nmain.«camel»(0x«hex 10», 0x«hex 2»)\n\t/go/src/«kebab»/main.go:«1..999» +0x«hex 3»`,
      `thread 'main' panicked at src/«word».rs:«1..999»:«1..99»:\ncalled \`Option::unwrap()\` on a \`None\` value`,
      `Warning: «pascal»: «camel» is deprecated since «version» and will be removed in «version»`,
      `Error: «constant»: «word» «alnum 20» not found in space «alnum 20»`,
      `commit «hex 40»\nDate:   Mon Mar «1..28» «10..23»:12:08 2024 +0100\n\n    «Word» the «word» (#«1..9999»)`,
      `diff --git a/«file» b/«file»\nindex «hex 7»..«hex 7» 100644\n@@ -«1..99»,«1..9» +«1..99»,«1..9» @@\n-  «camel»: '«word»',\n+  «camel»: '«word»',`,
      `"node_modules/«kebab»": { "version": "«1..9».«0..9».«0..9»", "resolved": "https://registry.packages.example/«kebab»/-/«kebab»-«1..9».0.0.tgz", "integrity": "sha512-«base64 86»==" }`,
      `-----BEGIN PUBLIC KEY-----\n«base64 64»\n«base64 64»\n«base64 24»\n-----END PUBLIC KEY-----`,
      `data:image/png;base64,iVBORw0KGgo«base64 40..200»=`,
    ],
    { host },
  );
}

function table(dice: Dice): string {
  const name = expand(dice, '«secretName»');
  const fields = dice.times(2, 5, () =>
    expand(dice, `| «word» | «string|number|boolean|object» | «yes|no» | «figure» |`),
  );
  return write(dice, [
    () =>
      [
        expand(
          dice,
          `| Field | Type | Required | Example |\n| --- | --- | --- | --- |\n| ${name} | string | yes | «placeholder» |`,
        ),
        ...fields,
      ].join('\n'),
    () =>
      rows(
        dice,
        'id,name,status,updated_at',
        2,
        5,
        () => `${expand(dice, `«1..99999»,«kebab»,«active|draft»`)},${timestamp(dice).replaceAll(',', '.')}`,
      ),
    `| Password | Token | Secret |\n| --- | --- | --- |\n| required | optional | optional |`,
    `| «Password|Token|API key|Secret» | «string|required|The password of the user|your token|n/a|yes|✓|see below» |`,
    () =>
      rows(
        dice,
        '| Browser | Version |\n| --- | --- |',
        2,
        4,
        `| «Chrome|Firefox|Edge|Safari» | «90..130».0.«0..6000».«0..200» |`,
      ),
    () => rows(dice, 'Metric\tp50\tp95\tp99', 2, 4, `«word»\t«1..99»\t«100..999»\t«1000..9999»`),
    () =>
      rows(
        dice,
        '| Plan | Price | Seats |\n| --- | ---: | ---: |',
        2,
        3,
        `| «Free|Plus|Pro|Ultimate» | «figure» | «1..500» |`,
      ),
    () => rows(dice, 'USER       PID %CPU %MEM COMMAND', 2, 4, `root «1..99999» «0..99».«0..9» «0..99».«0..9» «word»`),
  ]);
}

function note(dice: Dice): string {
  const words =
    CREDENTIAL_WORDS[dice.chance(0.5) ? 'en' : dice.pick(Object.keys(CREDENTIAL_WORDS))] ?? CREDENTIAL_WORDS.en;
  const harmless = () => dice.pick(words?.harmless ?? []);
  return write(dice, [
    harmless,
    harmless,
    harmless,
    `We are on «productVersion».`,
    `Browser: «productVersion»`,
    `It happens since «version», «digest».`,
    `See «digest».`,
    `The answer has «figure», and «figure».`,
    `We were charged «figure» for «figure».`,
    `«figure» / «figure» / «figure»`,
    () =>
      `${expand(dice, `Steps:\n1. Open \`«file»\`\n2. Change \`«camel»\` to \`«1..999»\``)}\n3. Run \`${shell(dice).split('\n')[0]}\``,
    `The JWT is signed with «algorithm»; the header is \`{"alg":"«algorithm»","typ":"JWT"}\` and the payload has \`sub\`, \`iat\` and \`exp\`.`,
    `The token looks like \`eyJhbGciOi...\`, is that right?`,
    `Signature: «algorithm», token type: «Bearer|JWT|opaque», algorithm=«algorithm»`,
    `The signature scheme is «v0|v1|v2|v4» and the secret: «placeholder»`,
    `\`«secretName»\` «is required|must be a string|was not sent|has the wrong type|defaults to null».`,
    `- «secretName» (string, «required|optional»): the «word» of the «word»`,
    `Content-Type must be «mime», not «mime».`,
    `Our «word» listens on «127.0.0.1|0.0.0.0|localhost|[::1]»:«1024..65535» with netmask 255.255.255.0.`,
    `The decorator @«camel» and the package @acme/«kebab»@«version» conflict with «kebab»@«version».`,
    `Files: «kebab»_«version».zip, «snake».«2019..2026»-«10..12»-«10..28».log, «camel».test.ts`,
    () =>
      `Breakpoints: ${[dice.int(320, 640), dice.int(768, 1024), dice.int(1280, 1920)].join(dice.pick([', ', '/', ' / ', '-']))}${expand(dice, `, ratio «1..21»:«1..9», dated «timestamp»`)}`,
    `Between «timestamp» and «timestamp» we saw «figure».`,
  ]);
}

/** Labels of forms that have another meaning in technical texts. */
function labelled(dice: Dice): string {
  return write(dice, [
    `address: «127.0.0.1|0.0.0.0|localhost|[::]»:«1024..65535»`,
    `listen_address = ":«1024..65535»"`,
    `Address: 0x«hex 12»`,
    `"address": { "type": "string", "maxLength": «32..255» }`,
    `address: «pascal»;\n  phone?: string;\n  dob: Date;\n  email: string;`,
    `dob: z.coerce.date().optional(), phone: z.string().regex(/^\\+?[0-9 ]{«5..9»,«10..20»}$/)`,
    `birth_date DATE, phone VARCHAR(«16..64»), address TEXT, full_name VARCHAR(«64..255»)`,
    `| address | string | The billing address of the «word» |`,
    `| phone | string | optional |\n| dob | date | optional |\n| name | string | «kebab» |`,
    `Email address: must be a valid address`,
    `Address: required, Phone: optional, Date of birth: optional`,
    `Phone: this field is required`,
    `Name: «kebab»\nType: «word»\nStatus: «active|failed»`,
    `name: «Word» «word»\ndescription: «Word» of the «word»`,
    `Title: «Word» «Word»\nAuthor: Docs Team\nDate: «timestamp»`,
    `From: «word»/«kebab»\nTo: main\nSubject: [PATCH «1..9»/9] «Word» the «word»`,
    `contact:\n  name: API Support\n  url: https://«anyHost»/support`,
    `Look at dot files first, then at «camel».at(«0..9») dot by dot.`,
    `The page at docs slash «word» is fine, but at «version» it breaks.`,
    () => `SHA1 Fingerprint=${pairs(dice, 'HEX', 20).join(':')}`,
    `use std::«word»::{«pascal», «pascal»};\nlet «word» = «pascal»::<u«8|16|32»>::new();`,
    `link/ether ff:ff:ff:ff:ff:ff, default 00:00:00:00:00:00`,
    `duration «0..23»:«10..59»:«10..59»:«10..29» at 25 fps`,
    `![«word»](https://«anyHost»/assets/«kebab»-«hex 8».png)`,
    `https://github.com/acme/«kebab»/blob/«hex 40»/«file»#L«1..99»-L«100..900»`,
    `https://«anyHost»/«word»/«kebab»?page=«1..99»&sort=«snake»&per_page=100#«kebab»`,
    () =>
      `${expand(dice, `https://«anyHost»/oauth/authorize?response_type=code&client_id=`)}${placeholder(dice).replaceAll(/[^\w-]/g, '') || 'docs'}&scope=read&state=xyz`,
    `@media (min-width: «320..1920»px) { .«kebab» { width: calc(100% - «1..99»px); } }`,
    `Fig. «1..9»: «word» = «10..99» °C at «10..99»°«10..59»'«10..59»" N`,
  ]);
}

const numbers = (dice: Dice, count: number, max: number) =>
  Array.from({ length: count }, () => dice.int(0, max)).join(' ');
/** Labels of forms in other languages, as translation files contain them. */
const TRANSLATIONS: readonly (readonly [
  password: string,
  email: string,
  phone: string,
  address: string,
  token: string,
])[] = [
  ['Passwort', 'E-Mail-Adresse', 'Telefonnummer', 'Rechnungsadresse', 'API-Schlüssel'],
  ['Mot de passe', 'Adresse e-mail', 'Téléphone', 'Adresse de facturation', 'Clé API'],
  ['Contraseña', 'Correo electrónico', 'Teléfono', 'Dirección', 'Clave de API'],
  ['Senha', 'E-mail', 'Telefone', 'Endereço', 'Chave de API'],
  ['密码', '电子邮件', '电话号码', '地址', 'API 密钥'],
  ['パスワード', 'メールアドレス', '電話番号', '住所', 'APIキー'],
  ['비밀번호', '이메일 주소', '전화번호', '주소', 'API 키'],
  ['Пароль', 'Электронная почта', 'Телефон', 'Адрес', 'Ключ API'],
  ['Hasło', 'Adres e-mail', 'Numer telefonu', 'Adres', 'Klucz API'],
  ['Wachtwoord', 'E-mailadres', 'Telefoonnummer', 'Adres', 'API-sleutel'],
  ['Lösenord', 'E-postadress', 'Telefonnummer', 'Adress', 'API-nyckel'],
  ['Şifre', 'E-posta adresi', 'Telefon numarası', 'Adres', 'API anahtarı'],
  ['كلمة المرور', 'البريد الإلكتروني', 'رقم الهاتف', 'العنوان', 'مفتاح API'],
];

function listing(dice: Dice): string {
  return write(dice, [
    () =>
      rows(
        dice,
        'total 48',
        2,
        5,
        () =>
          `-rw-r--r--  1 root root ${String(dice.int(10, 99_999)).padStart(6)} ${expand(dice, `Mar «1..28» «10..23»:«10..59» «kebab».md`)}`,
      ),
    () =>
      rows(
        dice,
        'NAME                          READY   STATUS    RESTARTS   AGE',
        2,
        4,
        `«kebab»-«hex 10»-«lowerDigit 5»   1/1     Running   «0..40»          «1..99»d`,
      ),
    () =>
      rows(
        dice,
        'Filesystem      Size  Used Avail Use% Mounted on',
        1,
        3,
        `/dev/sd«a|b»«1..9»       «10..999»G  «1..99»G   «1..99»G  «1..99»% /«word»`,
      ),
    () =>
      rows(
        dice,
        null,
        2,
        4,
        (line) =>
          `${(line * 16).toString(16).padStart(8, '0')}  ${pairs(dice, 'hex', 8).join(' ')}  ${pairs(dice, 'hex', 8).join(' ')}  |${dice.chars('lower', 16)}|`,
      ),
    `added «1..999» packages, and audited «100..9999» packages in «1..99»s\n\n«0..99» vulnerabilities («0..9» moderate, «0..9» high)`,
    () =>
      rows(
        dice,
        null,
        2,
        4,
        () =>
          `${word(dice).padEnd(12)} ${expand(dice, `x «1..99»,«digit 3» ops/sec ±«0..9».«digit 2»% («60..99» runs sampled)`)}`,
      ),
    `Plan: «0..20» to add, «0..20» to change, «0..20» to destroy.\n  + «snake» = (sensitive value)\n  + password = (sensitive value)\n  ~ token = (known after apply)`,
    `webpack «4..5».«0..99».«0..9» compiled with «1..9» warnings in «100..99999» ms\nasset main.«hex 20».js «1..9».«10..99» MiB [emitted] [immutable]`,
    `Step «1..9»/«10..20» : RUN npm ci\n ---> Running in «hex 12»\n ---> «hex 12»\nSuccessfully built «hex 12»`,
    `«digest»\n«digest»\n«digest»`,
    `LCP «1..9».«0..9» s, FID «1..300» ms, CLS 0.«digit 3», TTFB «10..900» ms, score «1..100»/100`,
    () => rows(dice, null, 2, 5, `PASS test/«kebab».test.ts («1..99».«digit 3» s)`),
  ]);
}

function dataFile(dice: Dice): string {
  const [secret, email, phone, address, token] = dice.pick(TRANSLATIONS);
  return write(
    dice,
    [
      `{\n  "login": {\n    "password": "«secret»",\n    "email": "«email»",\n    "phone": "«phone»",\n    "address": "«address»",\n    "apiKey": "«token»"\n  }\n}`,
      `login.password=«secret»\nlogin.email=«email»\nlogin.phone=«phone»\nlogin.token=«token»`,
      `password: «secret»\nemail: «email»\nphone: «phone»\naddress: «address»`,
      `msgid "Password"\nmsgstr "«secret»"`,
      `<string name="password">«secret»</string>\n<string name="phone">«phone»</string>`,
      `| key | translation |\n| --- | --- |\n| password | «secret» |\n| phone | «phone» |\n| address | «address» |`,
      () =>
        `<svg viewBox="0 0 ${dice.int(16, 999)} ${dice.int(16, 999)}"><path d="M${numbers(dice, 2, 99)} C ${numbers(dice, 6, 999)} L${dice.int(0, 99)}.${dice.int(0, 99)} ${dice.int(0, 99)} Z"/></svg>`,
      `{"type":"Point","coordinates":[«-179..179».«digit 7»,«-89..89».«digit 7»]}`,
      () => `[${dice.times(4, 12, () => dice.int(0, 9_999_999)).join(', ')}]`,
      () => `${numbers(dice, 4, 999)}\n${numbers(dice, 4, 999)}\n${numbers(dice, 4, 999)}`,
      `1.3.6.1.4.1.«1..99999».«1..9».«1..99»`,
      `doi:10.«1000..9999»/«snake».«2000..2025».«1000..9999»`,
      `EAN «digit 13», SKU «upper 3»-«digit 5»`,
      `fontSize: [«10..20», «20..40»], spacing: «0..9».«0..9»rem, zIndex: «1..999999999»`,
      `graph TD\n  A[«Word»] -->|«word»| B(«Word»)\n  B --> C{«word»?}`,
      `$$E = mc^2,\\quad \\sum_{i=«0..9»}^{«10..99»} x_i = «100..9999».«1..99»$$`,
      `seed=«1..2147483647» lr=«1..9»e-«1..6» batch=«1..512» loss=«0..9».«digit 8»`,
    ],
    { secret, email, phone, address, token },
  );
}

function document(dice: Dice): string {
  return write(dice, [
    `## [«version»] - 2024-03-0«1..9»\n### Fixed\n- «Word»: reset password mail (#«1..9999», «hex 7»)\n- Token refresh in \`«camel»\``,
    `### \`POST /«word»s\`\n\n| Parameter | In | Description |\n| --- | --- | --- |\n| \`«camel»\` | body | The «word» to «word» |\n| \`password\` | body | At least «8..16» characters |\n| \`token\` | header | See [Authentication](#auth) |`,
    `1. Go to **Settings > API keys** and create a key\n2. Copy the key; it is shown once\n3. Set it as \`«constant»\` in CI: \`«constant»: \${{ secrets.«constant» }}\``,
    `FROM node:«18..24»-alpine\nARG «constant»\nENV «constant»=«placeholder»\nRUN adduser -u «1000..9999» -D «word»\nEXPOSE «1000..9999»`,
    `.PHONY: «word»\n«word»:\n\t@test -n "$(TOKEN)" || (echo "TOKEN is not set" && exit «1..9»)\n\tcurl -H "Authorization: Bearer $(TOKEN)" $(URL)`,
    `query «pascal»($token: String!, $first: Int = «1..100») {\n  «camel»(token: $token, first: $first) { id name email phone }\n}`,
    `type User {\n  id: ID!\n  name: String!\n  email: String!\n  phone: String\n  address: Address\n  passwordHash: String! @deprecated(reason: "«word»")\n}`,
    `> **Note:** passwords are hashed with bcrypt (cost «8..14»); tokens expire after «1..90» days.`,
    `Given a user with an invalid password\nWhen they log in «3..9» times\nThen the account is locked for «5..60» minutes`,
    `The chart shows «figure» on «timestamp», up from «figure».`,
    `Expected: 200, got: «400..504». Password reset works, sign in with token does not; phone and address fields are empty.`,
    `- [x] rotate the API key\n- [ ] change password policy to «12..20» characters\n- [ ] drop phone from the form («kebab»)`,
    `logger.debug("password=%s token=%s", mask(password), mask(token)); // line «1..999»`,
    `errors.password: "must have at least «8..16» characters", errors.phone: "is invalid", errors.address: "can't be blank"`,
    `password_confirmation: [ 'required', 'min:«6..16»', 'same:password' ], phone: [ 'nullable', 'regex:/^[0-9]+$/' ]`,
    `<input name="address" placeholder="Street and number"><input name="phone" placeholder="+1 ..."><input name="password" type="password" minlength="«6..16»">`,
  ]);
}

/** Output of a tool, a data file or a document. */
function technicalOutput(dice: Dice): string {
  const text = dice.pick([listing, dataFile, document])(dice);
  return dice.chance(0.5) ? `\`\`\`\n${text}\n\`\`\`` : text;
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

const OPENINGS = 'Hi team,|Hello,|Hi there!|Hi,||||Hey,|## Description|### Steps to reproduce|Hi support,'.split('|');
const CLOSINGS = 'Thanks!|Thank you|Cheers||||Best regards|Any help is appreciated.|/cc @docs-team'.split('|');

/** The ticket `index` of the seed's sequence. Its people are known to the helpdesk and not named in the text. */
export function technicalTicket(dice: Dice, seed: number, index: number): GeneratedTicket {
  dice.seed(seed, 3, index);
  const locale = dice.pick(LOCALE_NAMES);
  const language = LANGUAGES[LOCALES[dice.chance(0.6) ? 'en_US' : locale].language];
  const parts = dice.times(1, 3, () => technicalSnippet(dice));
  const sentences = dice.sample(language.filler, dice.int(0, 2));
  const text = [dice.pick(OPENINGS), ...dice.shuffle([...parts, ...sentences]), dice.pick(CLOSINGS)]
    .filter((part) => part !== '')
    .join('\n\n');
  const people = [makeCharacter(dice, locale), makeCharacter(dice, dice.pick(LOCALE_NAMES))].map((one) =>
    recordOf(dice, one),
  );
  return { fragment: text, people, region: 'US', manyRegions: false };
}
