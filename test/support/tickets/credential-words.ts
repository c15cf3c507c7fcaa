/** Wordings of credentials in tickets in many languages; alternatives are separated by `|`. */

interface Words {
  /** Labels of a password. */
  readonly password: string;
  /** Labels of a key or token. */
  readonly token: string;
  /** Sentences that contain a password; `{}` is the value. */
  readonly sentences: string;
  /** Sentences about passwords and keys without anything private. */
  readonly harmless: string;
}
export type CredentialWords = { readonly [Key in keyof Words]: readonly string[] };

const WORDS: Readonly<Record<string, Words>> = {
  en: {
    password:
      'Password|password|Passwd|pwd|PW|Pass|Passphrase|Login password|Wifi password|Temporary password|Root password|Admin password',
    token:
      'API key|Token|Access token|Secret|Client secret|Secret key|Bearer token|Signing secret|API token|Private key|Refresh token|Webhook secret',
    sentences:
      'my password is {}|The password is {}|the password for the staging site is {}|My current password is {}, does that help?|you can log in with the password {}|I changed the password to {}|use password {} for now',
    harmless:
      'The password field stays empty after I reload the page.|My password is not accepted any more.|Password must contain at least 8 characters and one digit.|I forgot my password and the reset mail never arrives.|Is the password case-sensitive?|Where do I find the API key for the new space?|The token expires after 24 hours, can that be extended?|password: required|API key: see the settings page|The secret is rotated every month.|We use a password manager.|Password is wrong, it says.|Token is invalid or expired|Our password policy changed last week.|The API key is missing from the request.|What is the secret to fast search?|pass the token in the header',
  },
  de: {
    password: 'Passwort|Kennwort|Zugangspasswort|Passwort (temporär)|PW|WLAN-Passwort|Login-Passwort',
    token: 'API-Schlüssel|Zugriffstoken|Geheimnis|API-Key|Zugangstoken|Token',
    sentences: 'mein Passwort ist {}|das Passwort lautet {}|Das Kennwort lautet: {}|mein aktuelles Passwort ist {}',
    harmless:
      'Das Passwort ist leider falsch.|Passwort vergessen funktioniert nicht.|Das Passwort muss mindestens 12 Zeichen lang sein.|Das Kennwort ist abgelaufen.|Der API-Schlüssel ist ungültig.|Passwort: erforderlich',
  },
  fr: {
    password: 'Mot de passe|mot de passe|MDP|mdp|Mot de passe temporaire|Code d’accès',
    token: 'Clé API|Jeton d’accès|Clé secrète|Jeton|Clé d’API',
    sentences: 'mon mot de passe est {}|le mot de passe est {}|mon mdp est {}|le mot de passe est : {}',
    harmless:
      'Le mot de passe est incorrect.|Mot de passe oublié ne fonctionne pas.|Le mot de passe doit contenir au moins 8 caractères.|La clé API est introuvable.|Mot de passe : obligatoire|Le jeton est expiré.',
  },
  es: {
    password: 'Contraseña|contraseña|Clave|Clave de acceso|Contrasena|Contraseña temporal',
    token: 'Clave de API|Token de acceso|Clave secreta|Token',
    sentences: 'mi contraseña es {}|la contraseña es {}|la clave es {}|mi clave es: {}',
    harmless:
      'La contraseña es incorrecta.|Olvidé mi contraseña y no llega el correo.|La contraseña debe tener al menos 8 caracteres.|La clave es obligatoria.|¿Dónde está la clave de API?|Contraseña: obligatoria',
  },
  pt: {
    password: 'Senha|senha|Palavra-passe|Senha provisória|Palavra passe|Senha de acesso',
    token: 'Chave da API|Token de acesso|Chave secreta|Chave de API',
    sentences: 'a senha é {}|minha senha é {}|a minha palavra-passe é {}|a senha atual é: {}',
    harmless:
      'A senha está incorreta.|Esqueci a senha e o e-mail não chega.|A senha deve ter pelo menos 8 caracteres.|A chave da API é inválida.|Senha: obrigatória',
  },
  it: {
    password: 'Password|Parola d’ordine|Chiave di accesso|Password temporanea|Parola chiave',
    token: 'Chiave API|Token di accesso|Chiave segreta',
    sentences: 'la mia password è {}|la password è {}|la password attuale è: {}',
    harmless:
      'La password è errata.|Ho dimenticato la password.|La password deve contenere almeno 8 caratteri.|La chiave API non è valida.|Password: obbligatoria',
  },
  nl: {
    password: 'Wachtwoord|wachtwoord|Toegangscode|Tijdelijk wachtwoord|WW',
    token: 'API-sleutel|Toegangstoken|Geheime sleutel',
    sentences: 'mijn wachtwoord is {}|het wachtwoord is {}|het wachtwoord luidt {}',
    harmless:
      'Het wachtwoord is onjuist.|Ik ben mijn wachtwoord vergeten.|Het wachtwoord moet minstens 8 tekens bevatten.|De API-sleutel is ongeldig.',
  },
  pl: {
    password: 'Hasło|hasło|Haslo|Hasło tymczasowe|Hasło dostępu',
    token: 'Klucz API|Token dostępu|Tajny klucz',
    sentences: 'moje hasło to {}|hasło to {}|hasło jest {}|Moje hasło: {}',
    harmless:
      'Hasło jest nieprawidłowe.|Nie pamiętam hasła.|Hasło musi mieć co najmniej 8 znaków.|Klucz API jest nieważny.|Hasło: wymagane',
  },
  cs: {
    password: 'Heslo|heslo|Přístupové heslo|Dočasné heslo',
    token: 'Klíč API|API klíč|Přístupový token',
    sentences: 'moje heslo je {}|heslo je {}|heslo zní {}',
    harmless:
      'Heslo je nesprávné.|Zapomněl jsem heslo.|Heslo musí mít alespoň 8 znaků.|API klíč je neplatný.|Heslo: povinné',
  },
  sk: {
    password: 'Heslo|heslo|Prístupové heslo',
    token: 'API kľúč|Kľúč API|Prístupový token',
    sentences: 'moje heslo je {}|heslo je {}',
    harmless: 'Heslo je nesprávne.|Zabudol som heslo.|Heslo musí mať aspoň 8 znakov.',
  },
  sv: {
    password: 'Lösenord|lösenord|Tillfälligt lösenord|Losenord',
    token: 'API-nyckel|Åtkomsttoken|Hemlig nyckel',
    sentences: 'mitt lösenord är {}|lösenordet är {}',
    harmless:
      'Lösenordet är fel.|Jag har glömt mitt lösenord.|Lösenordet måste vara minst 8 tecken.|API-nyckeln är ogiltig.|Lösenord: krävs',
  },
  da: {
    password: 'Adgangskode|adgangskode|Kodeord|Midlertidig adgangskode',
    token: 'API-nøgle|Adgangstoken',
    sentences: 'min adgangskode er {}|adgangskoden er {}|mit kodeord er {}',
    harmless: 'Adgangskoden er forkert.|Jeg har glemt min adgangskode.|Adgangskoden skal være på mindst 8 tegn.',
  },
  nb: {
    password: 'Passord|passord|Midlertidig passord',
    token: 'API-nøkkel|Tilgangstoken',
    sentences: 'passordet mitt er {}|passordet er {}',
    harmless: 'Passordet er feil.|Jeg har glemt passordet.|Passordet må ha minst 8 tegn.',
  },
  fi: {
    password: 'Salasana|salasana|Väliaikainen salasana',
    token: 'API-avain|Käyttöoikeustunnus',
    sentences: 'salasanani on {}|salasana on {}',
    harmless: 'Salasana on väärä.|Unohdin salasanani.|Salasanassa on oltava vähintään 8 merkkiä.',
  },
  is: {
    password: 'Lykilorð|lykilorð',
    token: 'API-lykill',
    sentences: 'lykilorðið mitt er {}|lykilorðið er {}',
    harmless: 'Lykilorðið er rangt.|Ég gleymdi lykilorðinu.',
  },
  hu: {
    password: 'Jelszó|jelszó|Ideiglenes jelszó|Jelszavam',
    token: 'API-kulcs|Hozzáférési token',
    sentences: 'a jelszavam: {}|a jelszó: {}|A jelszavam {}',
    harmless:
      'A jelszó hibás.|Elfelejtettem a jelszavamat.|A jelszónak legalább 8 karakterből kell állnia.|Jelszó: kötelező',
  },
  ro: {
    password: 'Parolă|parola|Parola|Parolă temporară',
    token: 'Cheie API|Token de acces',
    sentences: 'parola mea este {}|parola este {}|parola e {}',
    harmless: 'Parola este greșită.|Am uitat parola.|Parola trebuie să aibă cel puțin 8 caractere.',
  },
  bg: {
    password: 'Парола|парола|Временна парола',
    token: 'API ключ|Токен за достъп',
    sentences: 'паролата ми е {}|паролата е {}',
    harmless: 'Паролата е грешна.|Забравих си паролата.|Паролата трябва да е поне 8 символа.',
  },
  ru: {
    password: 'Пароль|пароль|Временный пароль|Пароль от админки|Пасс',
    token: 'Ключ API|API-ключ|Токен|Токен доступа|Секретный ключ',
    sentences: 'мой пароль {}|пароль такой: {}|пароль — {}|мой пароль: {}',
    harmless:
      'Пароль не подходит.|Я забыл пароль, письмо не приходит.|Пароль должен содержать не менее 8 символов.|Токен истёк.|Пароль: обязательное поле|Ключ API недействителен.',
  },
  uk: {
    password: 'Пароль|пароль|Тимчасовий пароль',
    token: 'Ключ API|API-ключ|Токен доступу',
    sentences: 'мій пароль {}|пароль такий: {}|пароль — {}',
    harmless: 'Пароль не підходить.|Я забув пароль.|Пароль має містити щонайменше 8 символів.',
  },
  sr: {
    password: 'Lozinka|lozinka|Лозинка|Šifra|Шифра',
    token: 'API ključ|Pristupni token',
    sentences: 'moja lozinka je {}|lozinka je {}|šifra je {}|лозинка је {}',
    harmless: 'Lozinka je pogrešna.|Zaboravio sam lozinku.|Лозинка је погрешна.',
  },
  hr: {
    password: 'Lozinka|lozinka|Zaporka|zaporka|Privremena lozinka',
    token: 'API ključ|Pristupni token',
    sentences: 'moja lozinka je {}|lozinka je {}|zaporka je {}',
    harmless: 'Lozinka je pogrešna.|Lozinka mora imati najmanje 8 znakova.|Zaporka: obavezno',
  },
  sl: {
    password: 'Geslo|geslo|Začasno geslo',
    token: 'Ključ API|Dostopni žeton',
    sentences: 'moje geslo je {}|geslo je {}',
    harmless: 'Geslo je napačno.|Geslo mora imeti vsaj 8 znakov.',
  },
  lt: {
    password: 'Slaptažodis|slaptažodis',
    token: 'API raktas',
    sentences: 'mano slaptažodis yra {}|slaptažodis: {}',
    harmless: 'Slaptažodis neteisingas.|Pamiršau slaptažodį.',
  },
  lv: {
    password: 'Parole|parole',
    token: 'API atslēga',
    sentences: 'mana parole ir {}|parole ir {}',
    harmless: 'Parole ir nepareiza.|Aizmirsu paroli.',
  },
  et: {
    password: 'Parool|parool|Salasõna',
    token: 'API-võti',
    sentences: 'minu parool on {}|parool on {}',
    harmless: 'Parool on vale.|Unustasin parooli.',
  },
  el: {
    password: 'Κωδικός|κωδικός|Κωδικός πρόσβασης|Συνθηματικό',
    token: 'Κλειδί API|Διακριτικό πρόσβασης',
    sentences: 'ο κωδικός μου είναι {}|ο κωδικός είναι {}',
    harmless: 'Ο κωδικός είναι λάθος.|Ξέχασα τον κωδικό μου.|Ο κωδικός πρέπει να έχει τουλάχιστον 8 χαρακτήρες.',
  },
  tr: {
    password: 'Şifre|şifre|Parola|parola|Geçici şifre|Şifrem',
    token: 'API anahtarı|Erişim belirteci|Gizli anahtar',
    sentences: 'şifrem {}|şifre: {}|parolam: {}|Benim şifrem {}',
    harmless:
      'Şifre yanlış.|Şifremi unuttum, e-posta gelmiyor.|Şifre en az 8 karakter olmalıdır.|API anahtarı geçersiz.|Şifre: zorunlu',
  },
  az: {
    password: 'Parol|Şifrə|parol',
    token: 'API açarı',
    sentences: 'parolum {}|şifrəm: {}',
    harmless: 'Parol səhvdir.|Parolu unutdum.',
  },
  he: {
    password: 'סיסמה|סיסמא|סיסמה זמנית',
    token: 'מפתח API|אסימון גישה',
    sentences: 'הסיסמה שלי היא {}|הסיסמה היא {}|הסיסמה: {}',
    harmless: 'הסיסמה שגויה.|שכחתי את הסיסמה.|הסיסמה חייבת להכיל לפחות 8 תווים.',
  },
  ar: {
    password: 'كلمة المرور|كلمة السر|كلمة مرور|الرقم السري',
    token: 'مفتاح API|رمز الوصول',
    sentences: 'كلمة المرور هي {}|كلمة السر الخاصة بي هي {}|كلمة المرور: {}',
    harmless: 'كلمة المرور غير صحيحة.|نسيت كلمة المرور.|يجب أن تتكون كلمة المرور من 8 أحرف على الأقل.',
  },
  fa: {
    password: 'رمز عبور|گذرواژه|کلمه عبور|پسورد',
    token: 'کلید API|توکن دسترسی',
    sentences: 'رمز عبور من {} است|گذرواژه: {}|رمز عبور: {}',
    harmless: 'رمز عبور اشتباه است.|رمز عبور را فراموش کردم.',
  },
  ja: {
    password: 'パスワード|暗証番号|パス|仮パスワード|ログインパスワード',
    token: 'APIキー|アクセストークン|シークレットキー|トークン|秘密鍵',
    sentences: 'パスワードは{}です。|パスワードは「{}」です。|パスワード： {}|初期パスワードは {} です。',
    harmless:
      'パスワードが違うと表示されます。|パスワードを忘れました。|パスワードは8文字以上にしてください。|APIキーが無効です。|パスワード：必須|パスワードは変更済みです。|トークンの有効期限が切れました。',
  },
  ko: {
    password: '비밀번호|패스워드|암호|비번|임시 비밀번호',
    token: 'API 키|액세스 토큰|비밀 키|토큰',
    sentences: '비밀번호는 {}입니다.|제 비밀번호는 {} 입니다|비번은 {}이에요|비밀번호: {}',
    harmless:
      '비밀번호가 틀렸다고 나옵니다.|비밀번호를 잊어버렸습니다.|비밀번호는 8자 이상이어야 합니다.|API 키가 유효하지 않습니다.|비밀번호: 필수',
  },
  zh: {
    password: '密码|口令|登录密码|初始密码|临时密码|管理员密码',
    token: 'API 密钥|访问令牌|密钥|API密钥|令牌',
    sentences: '密码是{}|我的密码是 {}|密码为{}|初始密码为：{}|密码：{}',
    harmless:
      '密码错误。|我忘记密码了，收不到邮件。|密码必须至少包含8个字符。|API 密钥无效。|密码：必填|密码是必填项。|令牌已过期。|密码不能为空',
  },
  zhTw: {
    password: '密碼|登入密碼|通關密語|臨時密碼',
    token: 'API 金鑰|存取權杖|金鑰',
    sentences: '密碼是{}|我的密碼是 {}|密碼為{}|密碼：{}',
    harmless: '密碼錯誤。|我忘記密碼了。|密碼必須至少包含8個字元。|密碼：必填',
  },
  vi: {
    password: 'Mật khẩu|mật khẩu|Mật khẩu tạm|MK',
    token: 'Khóa API|Mã truy cập',
    sentences: 'mật khẩu của tôi là {}|mật khẩu là {}',
    harmless: 'Mật khẩu không đúng.|Tôi quên mật khẩu.|Mật khẩu phải có ít nhất 8 ký tự.',
  },
  th: {
    password: 'รหัสผ่าน|พาสเวิร์ด',
    token: 'คีย์ API|โทเค็น',
    sentences: 'รหัสผ่านคือ {}|รหัสผ่านของผมคือ {}|รหัสผ่าน: {}',
    harmless: 'รหัสผ่านไม่ถูกต้อง|ลืมรหัสผ่าน|รหัสผ่านต้องมีอย่างน้อย 8 ตัวอักษร',
  },
  id: {
    password: 'Kata sandi|kata sandi|Sandi|Kata sandi sementara',
    token: 'Kunci API|Token akses',
    sentences: 'kata sandi saya {}|kata sandinya adalah {}|password saya adalah {}',
    harmless: 'Kata sandi salah.|Saya lupa kata sandi.|Kata sandi minimal 8 karakter.',
  },
  ms: {
    password: 'Kata laluan|kata laluan',
    token: 'Kunci API',
    sentences: 'kata laluan saya ialah {}|kata laluan: {}',
    harmless: 'Kata laluan salah.|Saya terlupa kata laluan.',
  },
  hi: {
    password: 'पासवर्ड|कूटशब्द',
    token: 'API कुंजी|टोकन',
    sentences: 'मेरा पासवर्ड {} है|पासवर्ड है {}',
    harmless: 'पासवर्ड गलत है।|मैं पासवर्ड भूल गया।|पासवर्ड कम से कम 8 अक्षरों का होना चाहिए।',
  },
  bn: {
    password: 'পাসওয়ার্ড',
    token: 'API কী',
    sentences: 'আমার পাসওয়ার্ড {}|পাসওয়ার্ড হল {}',
    harmless: 'পাসওয়ার্ড ভুল।|পাসওয়ার্ড ভুলে গেছি।',
  },
  ca: {
    password: 'Contrasenya|contrasenya',
    token: 'Clau API',
    sentences: 'la meva contrasenya és {}|la contrasenya és {}',
    harmless: 'La contrasenya és incorrecta.|He oblidat la contrasenya.',
  },
};

/** Every language, with its alternatives as lists. */
export const CREDENTIAL_WORDS = Object.fromEntries(
  Object.entries(WORDS).map(([code, words]) => [
    code,
    Object.fromEntries(Object.entries(words).map(([key, text]) => [key, text.split('|')])),
  ]),
) as Readonly<Record<string, CredentialWords>>;
