import type { SearchedWord } from '../scanner/word-leads.js'
import { KEY_WORDS, PASS_WORDS } from './secret-names.js'

/**
 * A word without which a JSON text holds no secret of some form. Where `before` or `after` do not match what is there it is no sign;
 * they read the text as it is written, and so must allow for each escape that a decoder would read.
 */
export interface SecretSign extends SearchedWord {
  /** Of the text that ends before the word. */
  readonly before?: RegExp
  /** Of the text that begins with the word. */
  readonly after?: RegExp
}

/** An escape, of which a letter or digit may be the last: the character that it stands for need be none. */
const ESCAPE = String.raw`\\u[0-9a-f]{4}|\\[bfnrt]`
/** What up to three characters of JSON between two words may look like that are no letters and no digits. */
const GAP = `(?:[^a-z0-9]|${ESCAPE}){0,24}`
/** The least Base64 of JSON that can hold a secret: `{"pwd":1}`. */
const BASE64_JSON = /^"[\w+/\\-]{12}/

/** The programs and services that are known by the words beside these. */
const LOGIN_PROGRAMS = 'az|buildah|cf|docker|nerdctl|oc|oras|podman|registry|auth|skopeo'

type Context = Pick<SecretSign, 'before' | 'after'>

const anyCase = (words: readonly string[], context: Context = {}): SecretSign[] =>
  words.map((word) => ({ word, isAnyCase: true, ...context }))
const exactly = (words: readonly string[], context: Context = {}): SecretSign[] =>
  words.map((word) => ({ word, isAnyCase: false, ...context }))

/** All of them, apart from those of single bytes. */
export const SECRET_SIGNS: readonly SecretSign[] = [
  ...anyCase(['pwd', 'secret', 'token', 'credential', 'cookie', 'bearer', 'kubeconfig']),
  ...anyCase(['_pw', '-pw'], { after: /^.pw(?![a-z])/i }),
  ...anyCase(['pass'], { after: new RegExp(`^pass${GAP}(?:wor[dt]|wd|phrase|code)`, 'i') }),
  ...anyCase(['pass'], { before: new RegExp(`(?:${PASS_WORDS})${GAP}$`, 'i') }),
  ...anyCase(['connection'], { after: new RegExp(`^connection${GAP}string`, 'i') }),
  ...anyCase(['authorization'], { after: /^.{13}(?!s)/is }),
  ...anyCase(['key'], { before: new RegExp(`(?:-|(?:${KEY_WORDS})${GAP})$`, 'i') }),
  // The name of a member, or the first of two texts: `"auth": …`, `["auths", …]`.
  ...anyCase(['auth'], { before: new RegExp(`(?:(?<![a-z])|${ESCAPE})$`, 'i'), after: /^auths?\\*"/i }),
  // Unless there are none, as in most events of the orchestrator.
  ...anyCase(['headers'], { after: /^headers[\\"]*[\s\\nrt]*:[\s\\nrt]*[{[](?![\s\\nrt]*[}\]])/i }),
  ...anyCase(['basic', 'digest'], { after: /^(?:basic|digest)[\s\\\x80-\xff]/i }),
  ...anyCase(['curl']),
  ...exactly(['mysql', 'mariadb', 'sshpass', 'redis-cli']),
  ...exactly(['ldap'], { after: /^ldap(?:search|modify|add|delete|passwd|whoami)/ }),
  ...exactly(['login'], { before: new RegExp(`(?:${LOGIN_PROGRAMS})${GAP}$`) }),
  // URLs that are secrets as a whole.
  ...anyCase(['hooks.slack', 'webhook.office', 'telegram.org', '/webhooks']),
  ...exactly(['eyJ', 'AKIA', 'ASIA', 'AIza', 'hvs.', 'hvb.', 'npm_', 'glpat-', 'whsec_']),
  ...exactly(['ghp_', 'gho_', 'ghu_', 'ghs_', 'ghr_', 'github_pat_', 'dckr_pat_']),
  ...exactly(['glrt-', 'gldt-', 'glcbt-', 'glptt-', 'glft-', 'glsoat-', 'pypi-', 'SG.']),
  ...exactly(['ya29.', 'GOCSPX-', 'dop_v1_', 'doo_v1_', 'dor_v1_']),
  ...exactly(['xoxa-', 'xoxb-', 'xoxe-', 'xoxo-', 'xoxp-', 'xoxr-', 'xoxs-']),
  ...exactly(['sk_', 'sk-'], { before: new RegExp(String.raw`(?:^|[^\w-]|${ESCAPE})$`, 'i') }),
  // Base64 of `{` or `[` and of what may follow these.
  ...exactly(['"ew', '"ey', '"Ww', '"Wy', '"Wz', '"W1', '"W2', '"W3'], { after: BASE64_JSON }),
  // A letter written as an escape, so that a name cannot be seen.
  ...exactly(['\\u00'], { after: /^\\u00[2-7]/ }),
]

/** Signs of a single byte: they are seldom, and a search for one byte costs next to nothing. */
export const BYTE_SIGNS: readonly SecretSign[] = [
  // p%61ssword=…
  ...exactly(['%'], { after: /^%[\da-f]{2}[\w.%-]{0,60}=/i }),
  // ?sig=…; an access token before `=` is a word.
  ...exactly(['='], { before: /[?&](?:[\w-]{0,30}signature|sig|key|code|auth)$/i }),
]
