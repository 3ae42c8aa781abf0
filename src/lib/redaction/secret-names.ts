/** Between the words of a name: `api_key`, `api-key`, `API Key`, `apiKey`. */
const GAP = '[^a-z0-9]{0,3}'

/** What the name of a member that holds a secret contains, in any letter case. */
export const SECRET_WORDS: string = [
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
const ESCAPED_ASCII = String.raw`\\u00[2-7]`
const HEADERS = String.raw`headers[\\"]*\s*:\s*\{\s*[\\"]`

/** What tells that a JSON text may hold secrets by their names, or in texts inside it. */
export const NAMED_STARTS: string = [SECRET_WORDS, BASE64_JSON, ESCAPED_ASCII, HEADERS].join('|')

const HEADER_MEMBER = new RegExp(`^(?:(?:request|response|custom)${GAP})?headers$`, 'i')

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
