import { asBuffer } from '../bytes.js'
import { findBase64Text } from './base64-text.js'
import { KEY_WORDS, PASS_WORDS, SHORT_WORDS } from './secret-names.js'
import { literal, TOKEN_KINDS, TOKEN_START } from './token-kinds.js'

/** A word that every secret of some form contains, with regular expressions of its context. */
interface SecretPattern {
  readonly word: string
  /** These match the undecoded text, so they allow for escapes. */
  readonly before?: string
  readonly after?: string
}

/**
 * An escape, whose last character may be a letter or digit although the escaped character is
 * neither.
 */
const ESCAPE = String.raw`\\u[0-9A-Fa-f]{4}|\\[bfnrt]`
/**
 * Up to three characters between two words that are neither letters nor digits, as written in JSON.
 */
const GAP = `(?:[^A-Za-z0-9]|${ESCAPE}){0,24}`
const NO_LETTER_BEFORE = `(?:(?<![A-Za-z])|(?<=${ESCAPE}))`
/** White space between JSON tokens, also inside an escaped JSON text. */
const SPACES = String.raw`[\s\\nrt]*`

/** Programs and services that give a meaning to the words next to them. */
const LOGIN_PROGRAMS = 'az|buildah|cf|docker|nerdctl|oc|oras|podman|registry|auth|skopeo'
const LDAP_PROGRAMS = 'search|modify|add|delete|passwd|whoami'

type Context = Pick<SecretPattern, 'before' | 'after'>

const each = (words: readonly string[], context: Context = {}): SecretPattern[] =>
  words.map((word) => ({ word, ...context }))

/** Words in any letter case. */
const WORDS: readonly SecretPattern[] = [
  ...each(['pwd', 'secret', 'token', 'credential', 'cookie', 'bearer', 'kubeconfig', 'curl']),
  ...each(['pass'], { after: `${GAP}(?:wor[dt]|wd|phrase|code)` }),
  ...each(['pass'], { before: `(?:${PASS_WORDS})${GAP}` }),
  ...each(SHORT_WORDS, { after: '(?![a-z])' }),
  ...each(['connection'], { after: `${GAP}string` }),
  ...each(['authorization'], { after: '(?!s)' }),
  ...each(['key'], { before: `(?:-|(?:${KEY_WORDS})${GAP})` }),
  // The name of a member, or the first of two strings: `"auth": …`, `["auths", …]`.
  ...each(['auth'], { before: NO_LETTER_BEFORE, after: String.raw`s?\\*"` }),
  // Not if empty, as in most events of the orchestrator.
  ...each(['headers'], { after: String.raw`[\\"]*${SPACES}:${SPACES}[{[](?!${SPACES}[}\]])` }),
  ...each(['basic', 'digest'], { after: String.raw`[\s\\\x80-\xff]` }),
  ...each(['mysql', 'mariadb', 'sshpass', 'redis-cli']),
  ...each(['ldap'], { after: `(?:${LDAP_PROGRAMS})` }),
  ...each(['login'], { before: `(?:${LOGIN_PROGRAMS})${GAP}` }),
  // URLs that are secrets as a whole.
  ...each(['hooks.slack', 'webhook.office', 'telegram.org', '/webhooks']),
]

/** Prefixes of tokens, in their letter case. */
const PREFIXES: readonly SecretPattern[] = TOKEN_KINDS.flatMap(({ lead, prefixes }) =>
  each(prefixes, lead === undefined ? { before: TOKEN_START } : {}),
)

/** Characters that are rare in pipelines. Each word contains one. */
const WORD_ANCHORS = 'kqpbcghd'
const PREFIX_ANCHORS = '~_-.JKGA'
const hasPrefixAnchor = ({ word }: SecretPattern): boolean =>
  Array.from(PREFIX_ANCHORS).some((anchor) => word.includes(anchor))

/**
 * Builds one pattern for all words. A match starts at the character of a word that is first in
 * `anchors`; its context is matched from there. V8 skips characters that start no match several
 * times as fast as it tries words, so anchors are few and rare.
 */
function anyOf(patterns: readonly SecretPattern[], anchors: string, flags: string): RegExp {
  const anchorOf = ({ word }: SecretPattern): string =>
    Array.from(anchors).find((anchor) => word.includes(anchor)) ?? ''
  const alternatives = [...Map.groupBy(patterns, anchorOf)].map(([anchor, own]) => {
    const rests = Map.groupBy(own, ({ word }) => word.slice(word.lastIndexOf(anchor) + 1))
    return `${literal(anchor)}${oneOf([...rests].map(([rest, same]) => literal(rest) + oneOf(around(same))))}`
  })
  return new RegExp(alternatives.join('|'), flags)
}

/** The contexts of words, matched after the word. */
function around(patterns: readonly SecretPattern[]): string[] {
  const contexts = Map.groupBy(patterns, ({ before = '', after = '' }) => `(?=${after})(?<=${before}`)
  return [...contexts].map(([context, same]) => `${context}${oneOf(same.map(({ word }) => literal(word)))})`)
}

function oneOf(patterns: readonly string[]): string {
  return `(?:${patterns.join('|')})`
}

const PATTERNS: readonly RegExp[] = [
  anyOf([...WORDS, ...PREFIXES.filter((sign) => !hasPrefixAnchor(sign))], WORD_ANCHORS, 'gi'),
  anyOf(PREFIXES.filter(hasPrefixAnchor), PREFIX_ANCHORS, 'g'),
  // https://user:password@host, with slashes escaped or not.
  /:\\?\/\\?\/[^\s/?#"'<>]*@/g,
  // p%61ssword=…; ?sig=… with an access token; and a letter written as an escape, which would hide
  // a name.
  /%(?=[\da-f]{2}[\w.%-]{0,60}=)|=(?<=[?&](?:[\w-]{0,30}signature|sig|key|code|auth)=)|\\u00[2-7]/gi,
]
/** Length of `"pwd=x"`. Most answers are shorter. */
const MIN_BYTES = 7
const NONE: readonly number[] = []

/**
 * Returns offsets in a JSON text that may contain a secret or show that another value is one, in
 * text order. A fast check with false positives, but without false negatives compared with
 * `findSecrets`.
 */
export function findCandidates(json: Uint8Array): readonly number[] {
  if (json.length < MIN_BYTES) return NONE
  const text = asBuffer(json).toString('latin1')
  const offsets: number[] = []
  for (const pattern of PATTERNS) {
    pattern.lastIndex = 0
    // The last character of the match is in the string that counts.
    while (pattern.test(text)) offsets.push(pattern.lastIndex - 1)
  }
  findBase64Text(json, (at) => offsets.push(at))
  return offsets.length === 0 ? NONE : offsets.sort((a, b) => a - b)
}

/** Whether a JSON text may contain anything to redact. */
export function mayHoldSecrets(json: Uint8Array): boolean {
  return findCandidates(json).length > 0
}
