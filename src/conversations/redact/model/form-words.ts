/** Words that follow a label in forms and messages and are not a value: "required", "invalid", "forgotten". */
export const FORM_WORDS: readonly string[] = (
  'deleted blank recommended mandatory obligatory editable n/a ' +
  'erforderlich pflichtfeld notwendig optional ungültig falsch leer abgelaufen geändert vergessen gesperrt fehlt unbekannt ' +
  'obligatoire requis requise facultatif facultative invalide incorrect incorrecte vide expiré expirée oublié modifié manquant ' +
  'obligatorio obligatoria requerido requerida opcional inválido inválida vacío vacía caducado caducada olvidado olvidada incorrecto incorrecta ' +
  'obrigatório obrigatória necessário necessária vazio vazia expirado expirada esquecido esquecida incorreto incorreta ' +
  'obbligatorio obbligatoria richiesto richiesta facoltativo facoltativa opzionale non valido vuoto scaduta dimenticata errata ' +
  'verplicht vereist optioneel ongeldig onjuist leeg verlopen vergeten ' +
  'wymagane wymagany wymagana obowiązkowe obowiązkowy opcjonalne nieprawidłowe nieprawidłowy puste wygasło zapomniane ' +
  'povinné povinný povinná nepovinné vyžadováno volitelné neplatné nesprávné prázdné zapomenuté povinne voliteľné nesprávne ' +
  'obvezno obavezno obavezna neobavezno opcionalno opcijsko neispravno netočno zaboravljeno ' +
  'krävs obligatoriskt obligatorisk valfritt ogiltigt ogiltig fel tomt glömt påkrævet valgfri valgfritt ugyldig ugyldigt forkert glemt påkrevd feil krav ' +
  'pakollinen vaadittu valinnainen virheellinen väärä tyhjä unohtunut nauðsynlegt kohustuslik nõutav valikuline vale obligāts obligāta nepareiza privalomas privaloma neteisingas ' +
  'kötelező szükséges opcionális érvénytelen hibás üres elfelejtett obligatoriu obligatorie opțional opțională invalidă greșită necesară ' +
  'zorunlu gerekli isteğe geçersiz yanlış boş unutuldu məcburi tələb ' +
  'обязательно обязательное обязательный необязательно требуется неверно неверный неверен пусто забыт истёк истек недействителен нет ' +
  'обов’язково обовʼязково обовязково обов’язкове необов’язково неправильний невірний задължително задължителна незадължително грешна обавезно обавезна задолжително ' +
  'υποχρεωτικό υποχρεωτικός απαιτείται προαιρετικό λάθος λανθασμένος άκυρο κενό ' +
  'חובה נדרש נדרשת שדה שגויה שגוי ריק מטלوب מطلوب مطلوبة إلزامي إجباري اختياري غير خاطئة خطأ فارغ اجباری الزامی ضروری اختیاری اشتباه نامعتبر ' +
  '必須 必須項目 任意 省略可 無効 不正 未設定 変更済み 設定済み 空欄 なし 必填 必需 可选 选填 选项 错误 錯誤 无效 無效 为空 空 必選 選填 已过期 已過期 无 無 ' +
  '필수 선택 필수입력 오류 없음 변경됨 무효 ' +
  'bắt buộc tùy chọn sai trống จำเป็น ต้องระบุ ไม่ถูกต้อง wajib diperlukan opsional salah kosong diisi diwajibkan अनिवार्य आवश्यक गलत वैकल्पिक আবশ্যক ভুল obligatori obligatòria opcional requerit'
)
  .split(' ')
  .filter((word) => word !== '');
