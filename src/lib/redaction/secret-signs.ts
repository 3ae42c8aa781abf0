import { asBuffer } from '../bytes.js'
import { findBase64Text } from './base64-text.js'
import { KEY_WORDS, PASS_WORDS, SHORT_WORDS } from './secret-names.js'
import { literal, TOKEN_KINDS, TOKEN_START } from './token-kinds.js'

/** A word without which a JSON text holds no secret of some form, and regular expressions of what is before and after it. */
interface Sign {
  readonly word: string
  /** These read a text as it is written, and so allow for each escape that a decoder would read. */
  readonly before?: string
  readonly after?: string
}

/** An escape, of which a letter or digit may be the last: the character that it stands for need be none. */
const ESCAPE = String.raw`\\u[0-9A-Fa-f]{4}|\\[bfnrt]`
/** What up to three characters of JSON between two words may look like that are no letters and no digits. */
const GAP = `(?:[^A-Za-z0-9]|${ESCAPE}){0,24}`
const NO_LETTER_BEFORE = `(?:(?<![A-Za-z])|(?<=${ESCAPE}))`
/** White space as JSON has it between tokens, and as a text of JSON inside one has it. */
const SPACES = String.raw`[\s\\nrt]*`

/** The programs and services that are known by the words beside these. */
const LOGIN_PROGRAMS = 'az|buildah|cf|docker|nerdctl|oc|oras|podman|registry|auth|skopeo'
const LDAP_PROGRAMS = 'search|modify|add|delete|passwd|whoami'

type Context = Pick<Sign, 'before' | 'after'>

const each = (words: readonly string[], context: Context = {}): Sign[] =>
  words.map((word) => ({ word, ...context }))

/** What is found in any letter case. */
const WORDS: readonly Sign[] = [
  ...each(['pwd', 'secret', 'token', 'credential', 'cookie', 'bearer', 'kubeconfig', 'curl']),
  ...each(['pass'], { after: `${GAP}(?:wor[dt]|wd|phrase|code)` }),
  ...each(['pass'], { before: `(?:${PASS_WORDS})${GAP}` }),
  ...each(SHORT_WORDS, { after: '(?![a-z])' }),
  ...each(['connection'], { after: `${GAP}string` }),
  ...each(['authorization'], { after: '(?!s)' }),
  ...each(['key'], { before: `(?:-|(?:${KEY_WORDS})${GAP})` }),
  // The name of a member, or the first of two texts: `"auth": …`, `["auths", …]`.
  ...each(['auth'], { before: NO_LETTER_BEFORE, after: String.raw`s?\\*"` }),
  // Unless there are none, as in most events of the orchestrator.
  ...each(['headers'], { after: String.raw`[\\"]*${SPACES}:${SPACES}[{[](?!${SPACES}[}\]])` }),
  ...each(['basic', 'digest'], { after: String.raw`[\s\\\x80-\xff]` }),
  ...each(['mysql', 'mariadb', 'sshpass', 'redis-cli']),
  ...each(['ldap'], { after: `(?:${LDAP_PROGRAMS})` }),
  ...each(['login'], { before: `(?:${LOGIN_PROGRAMS})${GAP}` }),
  // URLs that are secrets as a whole.
  ...each(['hooks.slack', 'webhook.office', 'telegram.org', '/webhooks']),
]

/** What tokens begin with, found in its letter case. */
const PREFIXES: readonly Sign[] = TOKEN_KINDS.flatMap(({ lead, prefixes }) =>
  each(prefixes, lead === undefined ? { before: TOKEN_START } : {}),
)

/** Characters that are seldom in pipelines, and of which each word has one. */
const WORD_ANCHORS = 'kqpbcghd'
const PREFIX_ANCHORS = '~_-.JKGA'
const hasPrefixAnchor = ({ word }: Sign): boolean =>
  Array.from(PREFIX_ANCHORS).some((anchor) => word.includes(anchor))

/**
 * A pattern of all the words at once. A match begins at that character of a word which is first in `anchors`, and
 * what is around is looked at from there: V8 passes over characters that no match begins with several times as fast as it tries words. So anchors are few and seldom.
 */
function anyOf(signs: readonly Sign[], anchors: string, flags: string): RegExp {
  const anchorOf = ({ word }: Sign): string =>
    Array.from(anchors).find((anchor) => word.includes(anchor)) ?? ''
  const alternatives = [...Map.groupBy(signs, anchorOf)].map(([anchor, own]) => {
    const rests = Map.groupBy(own, ({ word }) => word.slice(word.lastIndexOf(anchor) + 1))
    return `${literal(anchor)}${oneOf([...rests].map(([rest, same]) => literal(rest) + oneOf(around(same))))}`
  })
  return new RegExp(alternatives.join('|'), flags)
}

/** What is around words, where one has been read to its end. */
function around(signs: readonly Sign[]): string[] {
  const contexts = Map.groupBy(signs, ({ before = '', after = '' }) => `(?=${after})(?<=${before}`)
  return [...contexts].map(([context, same]) => `${context}${oneOf(same.map(({ word }) => literal(word)))})`)
}

function oneOf(patterns: readonly string[]): string {
  return `(?:${patterns.join('|')})`
}

const PATTERNS: readonly RegExp[] = [
  anyOf([...WORDS, ...PREFIXES.filter((sign) => !hasPrefixAnchor(sign))], WORD_ANCHORS, 'gi'),
  anyOf(PREFIXES.filter(hasPrefixAnchor), PREFIX_ANCHORS, 'g'),
  // https://user:password@host, its slashes escaped or not.
  /:\\?\/\\?\/[^\s/?#"'<>]*@/g,
  // p%61ssword=…; ?sig=…, where an access token is a word; and a letter written as an escape, so that a name cannot be seen.
  /%(?=[\da-f]{2}[\w.%-]{0,60}=)|=(?<=[?&](?:[\w-]{0,30}signature|sig|key|code|auth)=)|\\u00[2-7]/gi,
]
/** `"pwd=x"`; answers are shorter more often than not. */
const LEAST_BYTES = 7
const NONE: readonly number[] = []

/**
 * Where something may be in a JSON text that is a secret or tells that another is one, in the order of the text: a quick look that may
 * find what is nothing, but never nothing where `findSecrets` finds something.
 */
export function findSigns(json: Uint8Array): readonly number[] {
  if (json.length < LEAST_BYTES) return NONE
  const text = asBuffer(json).toString('latin1')
  const signs: number[] = []
  for (const pattern of PATTERNS) {
    pattern.lastIndex = 0
    // The last character of the match: the text that it is in is the one that counts.
    while (pattern.test(text)) signs.push(pattern.lastIndex - 1)
  }
  findBase64Text(json, (at) => signs.push(at))
  return signs.length === 0 ? NONE : signs.sort((a, b) => a - b)
}

/** Whether there can be anything to redact in a JSON text. */
export function mayHoldSecrets(json: Uint8Array): boolean {
  return findSigns(json).length > 0
}
