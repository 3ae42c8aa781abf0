/** Between the words of a name: `api_key`, `api-key`, `API Key`, `apiKey`. */
const GAP = '[^a-z0-9]{0,3}'

/** Before `key`, in the name of a secret. */
export const KEY_WORDS =
  'api|access|account|auth|client|encryption|private|session|shared|signing|ssh|subscription'

/** Before `pass`, in the name of a secret: `DB_PASS`, `redisPass`. Alone it is a score or an outcome. */
export const PASS_WORDS: string = [
  'admin|artifactory|auth|basic|database|db|docker|ftp|git|http|jenkins|jks|keystore|ldap|login|mail|mariadb|mongo|mysql',
  'nexus|oracle|pg|postgres|postgresql|proxy|rabbitmq|redis|registry|root|smtp|sonar|sql|ssh|sudo|svc|truststore|user|usr|vault',
].join('|')

/** What the name of a member that holds a secret contains, in any letter case. */
export const SECRET_WORDS: string = [
  `pass${GAP}(?:wor[dt]|wd|phrase|code)`,
  `(?:${PASS_WORDS})${GAP}pass(?![a-z])`,
  'pwd',
  '[_-]pw(?![a-z])',
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

const MAX_NAME_LENGTH = 100
const SECRET_NAME = new RegExp(SECRET_WORDS, 'i')
const SECRET_TEXT_NAME = /^_?auth$/i
const SECRET_AT_END = new RegExp(`^[\\w.-]{0,64}(?:${SECRET_WORDS}|(?<![a-z])auth)s?$`, 'i')
const SECRET_HEADER = /auth|bearer|cookie|credential|key|pass|secret|session|signature|token/i

const HEADER_MEMBER = new RegExp(`^(?:(?:request|response|custom)${GAP})?headers$`, 'i')

/** Whether a member of this name is taken to hold a secret. */
export function isSecretName(name: string): boolean {
  return SECRET_NAME.test(name)
}

/** Whether a text under this name is a secret, while an object is looked through: `auth` of a registry, or of a request with its kind and user. */
export function isSecretTextName(name: string): boolean {
  return SECRET_TEXT_NAME.test(name)
}

/** Whether this is a single word of a name that ends with one for a secret: `DB_PASSWORD`, not `secrets-sync`. */
export function endsLikeSecret(name: string): boolean {
  return name.length <= MAX_NAME_LENGTH && SECRET_AT_END.test(name)
}

/** As `isSecretName`, for the names of request headers, of which fewer are harmless. */
export function isSecretHeader(name: string): boolean {
  return SECRET_HEADER.test(name)
}

/** Whether this is a member that holds the headers of a request. */
export function isHeaderMember(name: string): boolean {
  return HEADER_MEMBER.test(name)
}
