import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { redactText } from './redacted.ts';

describe('technical text without secrets', () => {
  it.each([
    // Placeholders, and the text after them
    'Use `Authorization: Bearer <token>` header. More text on the same line, 100% of it.',
    'Send `X-Api-Key: <your key>` and then abc123def456 is returned',
    'curl -H "Authorization: Bearer $TOKEN" https://api.example/v1/pages?limit=100',
    'curl -H "Authorization: Bearer YOUR_API_KEY" https://api.example/v1/pages',
    'curl -H "Authorization: Token {{token}}" -d @body2.json https://api.example',
    'Authorization: Basic <base64(user:password)>',
    'curl -u user:pass https://api.example',
    'curl -u "$USER:$PASSWORD" https://api.example',
    'git clone https://<user>:<token>@git.example/acme/docs.git',
    'DATABASE_URL=postgres://user:password@localhost:5432/acme',
    'https://username:password@host/',
    'api_key: xxxxxxxx',
    'api_key: ***',
    'token: "sk-..."',
    'token: ghp_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx',
    'AWS_ACCESS_KEY_ID=AKIAIOSFODNN7EXAMPLE',
    'API_KEY=your_api_key_here node index.js',
    'password: changeme',
    'password: {{ secret.password }} # see step 2b',
    // biome-ignore lint/suspicious/noTemplateCurlyInString: a template of a workflow
    'token: ${{ secrets.GITHUB_TOKEN }}',
    'Cookie: session=<id>; theme=dark',
    'password: !secret wifi_password',
    // Code
    'password = form.password.value',
    'password: z.string().min(8)',
    'const token = await getToken(user2);',
    'const password = prompt("Password: ") + "foo";',
    'login(username: string, password: string): Promise<void>',
    'interface Login { password: string; token?: string }',
    'if (password === confirmPassword) {',
    'fields: ["username", "password", "email"]',
    'token=response.data.access_token',
    'client_secret: process.env.CLIENT_SECRET!',
    'api_key = settings.API_KEY',
    'password: os.getenv("DB_PASSWORD")',
    'self.token = token2header(request)',
    "credentials: 'include'",
    '"password": { "type": "string", "minLength": 8 }',
    "'password' => 'required|min:8'",
    '"accessToken": "string"',
    'secretKeyRef:\n  name: my-secret\n  key: password',
    'imagePullSecrets:\n  - name: regcred',
    'max_tokens: 4096',
    'grant_type=password&client_id=abc',
    // Commands
    'docker run -u 1000:1000 alpine',
    'docker run --user 1000:1000 -p 8080:80 nginx',
    'rsync -u host:/path /backup',
    'sudo -u postgres:postgres psql',
    'mysql -p acme',
    'app login --password --verbose',
    'app login --token $TOKEN --password <password> next2',
    'docker login --username ana --password-stdin registry2.example',
    'ssh -p 2222 web-01 && mkdir -p /tmp/x',
    'unzip -p file.zip',
    'curl -b cookies.txt https://api.example',
    'openssl rsa -passin env:KEY_PASSWORD -in key.pem',
    // Prose and tables
    'The password must be 8 characters long',
    'password: 8-64 characters',
    'The token expires in 24h, the secret is base64-encoded',
    '| Name | Type | Description |\n|---|---|---|\n| password | string | The password of the user |\n| token | string | Token for v2 |',
    '| Header | Value |\n|---|---|\n| X-Api-Key | your key |',
    'PASS: TestFoo_2',
    'pin: 13, and pin the version to 1.2.3',
    'Passwort vergessen',
    'пароль: забыл',
    '密码错误',
    'パスワードを忘れた場合',
    'Authorization: enabled',
    'bypass: node2x, compass: 12north34',
  ])('stays unchanged: %s', (text) => {
    expect(redactText(text)).toBe(text);
  });

  it('keeps the header after basic credentials, whatever their padding', () => {
    for (const user of ['ana:hunter2', 'ana:hunter22', 'ana:hunter222']) {
      const encoded = Buffer.from(user).toString('base64');
      expect(redactText(`Authorization: Basic ${encoded}\nX-Request: keep this\n\nBody`)).toBe(
        'Authorization: Basic [SECRET_1]\nX-Request: keep this\n\nBody',
      );
    }
  });

  it('keeps the rest of the line after a placeholder', () => {
    const placeholder = fc.constantFrom(
      '<token>',
      'YOUR_API_KEY',
      // biome-ignore lint/suspicious/noTemplateCurlyInString: a variable of a shell
      '${TOKEN}',
      '{{ token }}',
      'xxxxx',
      '***',
      '...',
      '$TOKEN',
      '<your-token>',
    );
    const before = fc.constantFrom(
      'Authorization: Bearer ',
      'token: ',
      'API_KEY=',
      'X-Api-Key: ',
      'password: ',
      '`secret=',
    );
    const rest = fc.constantFrom(
      '` header. More text',
      ' and then the build b2c3d4e5 fails',
      ' # replace it by step 3a',
      '", "page": 2',
    );
    fc.assert(
      fc.property(before, placeholder, rest, (start, middle, end) => {
        expect(redactText(`${start}${middle}${end}`)).toBe(`${start}${middle}${end}`);
      }),
    );
  });
});
