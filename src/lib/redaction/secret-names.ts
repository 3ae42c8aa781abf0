/** Between the words of a name: `api_key`, `api-key`, `API Key`, `apiKey`. */
const GAP = '[^a-z0-9]{0,3}'

/** What the name of a member that holds a secret contains, in any letter case. */
const SECRET_WORDS = [
  `pass${GAP}(?:wor[dt]|wd|phrase|code)`,
  'pwd',
  'secret',
  'token',
  `(?:api|access|auth|client|encryption|private|session|shared|signing|ssh|subscription)${GAP}key`,
  'credential',
  'authorization(?!s)',
  'cookie',
  'bearer',
  'kubeconfig',
  `connection${GAP}string`,
].join('|')

const SECRET_NAME = new RegExp(SECRET_WORDS, 'i')
const SECRET_HEADER = /auth|bearer|cookie|credential|key|pass|secret|session|signature|token/i

/** The start of Base64 of `{` or `[`, long enough to hold a secret. */
const BASE64_JSON = '"[eW][w-z0-9+/_-][A-Za-z0-9+/_-]{14}'
/** Letters may be written as escapes, so that a name cannot be seen in the text. */
const ESCAPED_ASCII = String.raw`\\u00[4-7]`
const HEADERS = String.raw`request${GAP}headers[\\"]*\s*:\s*\{\s*[\\"]`

const HEADER_MEMBER = new RegExp(`^request${GAP}headers$`, 'i')

const MAY_HOLD_SECRETS = new RegExp([SECRET_WORDS, BASE64_JSON, ESCAPED_ASCII, HEADERS].join('|'), 'i')

/** Whether a member of this name is taken to hold a secret. */
export function isSecretName(name: string): boolean {
  return SECRET_NAME.test(name)
}

/** As `isSecretName`, for the names of request headers, of which fewer are harmless. */
export function isSecretHeader(name: string): boolean {
  return SECRET_HEADER.test(name)
}

/** Whether this is a member that holds the headers of a request. */
export function isHeaderMember(name: string): boolean {
  return HEADER_MEMBER.test(name)
}

/** Whether there can be anything to redact in a JSON text: a quick look that may say yes for nothing, never no for something. */
export function mayHoldSecrets(json: string): boolean {
  return MAY_HOLD_SECRETS.test(json)
}
