/** Separator between the words of a name: `api_key`, `api-key`, `API Key`, `apiKey`. */
const GAP = '[^a-z0-9]{0,3}'

/** Words before `key` in the name of a secret. */
export const KEY_WORDS: string = [
  'access|account|admin|api|auth|client|decryption|deploy|encryption|gpg|hmac|integration|jwt|license|master|pgp|private|sas|session',
  'shared|signing|ssh|ssl|subscription|tls|webhook',
].join('|')

/** Words before lower-case `pass` in the name of a secret, such as `dbpass`. */
export const PASS_WORDS: string = [
  'admin|artifactory|auth|basic|database|db|docker|ftp|git|http|jenkins|jks|keystore|ldap|login|mail|mariadb|mongo|mysql',
  'nexus|oracle|pg|postgres|postgresql|proxy|rabbitmq|redis|registry|root|smtp|sonar|sql|ssh|sudo|svc|truststore|user|usr|vault',
].join('|')

/** Parts of the names of secret members, in any letter case. */
export const SECRET_WORDS: string = [
  `pass${GAP}(?:wor[dt]|wd|phrase|code)`,
  `(?:${PASS_WORDS})${GAP}pass(?![a-z])`,
  'pwd',
  'secret',
  'token',
  `(?:${KEY_WORDS})${GAP}key`,
  'credential',
  'authorization(?!s)',
  'cookie',
  'bearer',
  'kubeconfig',
  `connection${GAP}string`,
].join('|')

/**
 * Last words of the names of secret strings. They must be separate words: `dbPass` and `DB_PW`, not
 * `bypass` or `passed`.
 */
export const SHORT_WORDS: readonly string[] = ['pass', 'pw', 'pswd', 'psw', 'creds', 'cred', 'psk', 'pat']
const capitalized = (word: string): string => word.charAt(0).toUpperCase() + word.slice(1)
/**
 * `SHORT_WORDS` as separate words in any usual letter case, with an optional number. `pat` alone
 * may be a person.
 */
export const SHORT_NAME: string =
  `(?:(?<![A-Za-z])(?:${SHORT_WORDS.join('|')})|(?<![A-Z]|[Bb]y)(?:${SHORT_WORDS.map(capitalized).join('|')})|` +
  String.raw`(?<![A-Z])(?:${SHORT_WORDS.join('|').toUpperCase()}))(?<![^\w-][Pp][Aa][Tt]|^[Pp][Aa][Tt])(?:[_-]?\d{1,3})?(?![A-Za-z\d])`
/** Values under such names that are test outcomes or limits. */
const OUTCOME =
  /^(?:\d{1,3}(?:\.\d+)?%?|true|false|yes|no|on|off|ok|none|null|(?:pass|fail|skipp)(?:ed)?|success)$/i

/** Names that describe where a secret is or how it is made. */
const TELLS_OF_SECRET =
  /(?:secret|token|password|credential|key|cookie)s?[_.-]?(?:(?:key)?ref|name|type|ur[il]|endpoint|path|domain|policy|provider|algorithm|length|count|limit|size|budget|ttl|expir\w{0,20}|seconds|version|per[_-]?\w{1,20})s?$|^credentials?[_.-]?ids?$|^imagePullSecrets$/i
const COUNTER = /tokens/i

const MAX_NAME_LENGTH = 100
const SECRET_NAME = new RegExp(SECRET_WORDS, 'i')
const SECRET_TEXT_NAME = new RegExp(`^_?[Aa](?:uth|UTH)$|${SHORT_NAME}$`)
const SHORT_SECRET_NAME = new RegExp(`${SHORT_NAME}$`)
const SECRET_AT_END = new RegExp(`^[\\w.-]{0,64}(?:${SECRET_WORDS}|(?<![a-z])auth)s?$`, 'i')
const SECRET_HEADER = /auth|bearer|cookie|credential|key|pass|secret|session|signature|token/i

const HEADER_MEMBER = new RegExp(`^(?:(?:request|response|custom)${GAP})?headers$`, 'i')

export function isSecretName(name: string): boolean {
  return SECRET_NAME.test(name) && !TELLS_OF_SECRET.test(name)
}

/** Whether a string under this name is secret, for example `auth` of a registry. */
export function isSecretTextName(name: string): boolean {
  return SECRET_TEXT_NAME.test(name)
}

/** Whether a value under a name such as `pass` is a test outcome or a limit instead of a secret. */
export function isOutcome(text: string): boolean {
  return OUTCOME.test(text)
}

export function isSecretUnder(name: string, text: string): boolean {
  if (isSecretName(name)) return !(isCounter(name) && /^\d+$/.test(text))
  return SHORT_SECRET_NAME.test(name) && !isOutcome(text)
}

/** Whether a number under this name is a count. */
export function isCounter(name: string): boolean {
  return COUNTER.test(name)
}

/** Whether a name is a single word that ends like a secret: `DB_PASSWORD`, not `secrets-sync`. */
export function endsLikeSecret(name: string): boolean {
  return name.length <= MAX_NAME_LENGTH && SECRET_AT_END.test(name)
}

/** As `isSecretName`, for request headers, which are more often secret. */
export function isSecretHeader(name: string): boolean {
  return SECRET_HEADER.test(name)
}

export function isHeaderMember(name: string): boolean {
  return HEADER_MEMBER.test(name)
}
