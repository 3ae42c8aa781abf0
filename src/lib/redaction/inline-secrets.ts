import { REDACTION_MARK } from './redacted.js'
import { isOutcome, isSecretUnder, PASS_WORDS, SECRET_WORDS, SHORT_NAME } from './secret-names.js'
import { literal, TOKEN_KINDS, TOKEN_START, TOKENS } from './token-kinds.js'

/** A redacted text and the removed secrets. */
export interface InlineRedaction {
  readonly text: string
  readonly count: number
  readonly names: readonly string[]
  readonly values: readonly string[]
}

/**
 * A form of secrets in texts. The secret is replaced and the rest of the match stays. Each
 * pattern runs in linear time: no run of characters is scanned again from inside.
 */
interface Form {
  readonly name: string
  readonly pattern: RegExp
  /** Whether `secret` is a secret under `name`. By default every match is one. */
  readonly isSecret?: (name: string, secret: string) => boolean
}

/** Excludes replacements of an earlier redaction. */
const KEPT = String.raw`(?!\[(?:redacted|masked)\])`
/** Excludes the start of a multi-line string in YAML. */
const NO_BLOCK = String.raw`(?![|>][+\-\d]{0,2}\s)`
const VALUE = String.raw`[^\s&;,"'<>\\(){}]`
const CERTAIN_WORDS = `pass(?:word|wd|phrase|code)|pwd|(?:${PASS_WORDS})[_ -]?pass(?![a-z])|api[_ -]?key|secret[_ -]?(?:access[_ -]?)?key|client[_ -]?secret`
const HEADER_WORDS = '(?:proxy-)?authorization|(?:set-)?cookie|x-[a-z-]{1,30}-(?:token|key)'
const QUOTE = String.raw`\\{0,3}["']`
const IS = String.raw`(?:${QUOTE}\s{0,2}[:=]\s{0,3}(?:${QUOTE})?|\s?:\s{1,3}(?:${QUOTE})?)`
/** A secret that ends with its word, or at the closing quote. */
const WORD_OR_QUOTED = String.raw`(?:(?<=["'])(?<b>[^"'\\\r\n]+)|(?<a>${VALUE}+))`
const NAME_END = String.raw`[\w.-]{0,40}`

/** Commands whose option `-p` is a password. */
const LOGINS = String.raw`(?:(?:az|buildah|cf|docker|nerdctl|oc|oras|podman|skopeo)|helm\s{1,3}registry|crane\s{1,3}auth)\s{1,3}login`

/** Secrets in command options. */
const COMMAND_FORMS: readonly Form[] = [
  {
    name: '(argument)',
    pattern: new RegExp(
      String.raw`(?<![\w-])--(?<name>\w[\w-]{0,80})[ \t]{1,3}["']?${KEPT}(?<a>(?![-|])${VALUE}+)`,
      'gi',
    ),
    isSecret: (name, secret) => isSecretUnder(name, secret) && !name.endsWith('-stdin'),
  },
  {
    name: '(argument)',
    pattern: new RegExp(
      String.raw`\bcurl\s(?:[^\r\n]{0,300}?\s)?(?:-u|--(?:proxy-)?user)[\s=]{0,3}["']?[^\s:"']{0,100}:${KEPT}(?<a>[^\s"']+)`,
      'gi',
    ),
  },
  {
    name: '(argument)',
    pattern: new RegExp(
      String.raw`\b(?:mysql\w{0,20}|mariadb[\w-]{0,20}|sshpass)\s(?:[^\r\n]{0,300}?\s)?-p["']?${KEPT}(?<a>[^\s"']+)`,
      'g',
    ),
  },
  {
    name: '(argument)',
    pattern: new RegExp(
      String.raw`\b(?:${LOGINS})\s(?:[^\r\n]{0,300}?\s)?-p[ \t=]{0,3}(?![ \t=])["']?${KEPT}(?<a>(?![-|])[^\s"']+)`,
      'g',
    ),
  },
  {
    name: '(argument)',
    pattern: new RegExp(
      String.raw`\b(?:redis-cli\s(?:[^\r\n]{0,300}?\s)?-a|ldap(?:search|modify|add|delete|passwd|whoami)\s(?:[^\r\n]{0,300}?\s)?-w)[ \t]{0,3}(?![ \t])["']?${KEPT}(?<a>(?![-|])[^\s"']+)`,
      'g',
    ),
  },
]

/** URLs that let anyone who knows them post messages. */
const SECRET_URLS = [
  String.raw`hooks\.slack(?:-gov)?\.com\/\w{1,20}`,
  String.raw`discord(?:app)?\.com\/api(?:\/v\d{1,2})?\/webhooks`,
  String.raw`\.webhook\.office\.com\/\w{1,20}`,
].join('|')

const FORMS: readonly Form[] = [
  // https://user:password@host, https://token@host. Not ssh://git@host, whose user is not secret.
  {
    name: '(credentials in a URL)',
    pattern: new RegExp(
      String.raw`(?:(?<=https?:\/\/)${KEPT}(?<a>[^\s/?#"'<>]+)|(?<=:\/\/)${KEPT}(?<b>[^\s/?#"'<>:]*:[^\s/?#"'<>]+))@`,
      'gi',
    ),
  },
  {
    name: '(secret URL)',
    pattern: new RegExp(String.raw`(?:${SECRET_URLS})\/${KEPT}(?<a>[^\s?#"'<>\\|)]+)`, 'gi'),
  },
  { name: '(token)', pattern: /\bapi\.telegram\.org\/bot(?<a>\d{3,20}:[\w-]+)/gi },
  { name: '(token)', pattern: new RegExp(`${TOKEN_START}(?<a>${TOKENS})`, 'g') },
  {
    name: '(authorization)',
    pattern: /\b(?:bearer|basic|digest|token)\s{1,3}(?=[\w.~+/-]{0,200}[\d=])(?<a>[\w.~+/-]{6,}=*)/gi,
  },
  {
    name: '(authorization)',
    pattern: new RegExp(String.raw`(?:${HEADER_WORDS})${IS}${KEPT}(?<a>[^\r\n"'\\]+)`, 'gi'),
  },
  ...COMMAND_FORMS,
  // The indented lines below `secret: |` or `secret: >-` in YAML.
  {
    name: '(named in a text)',
    pattern: new RegExp(
      String.raw`(?<name>(?:${SECRET_WORDS})${NAME_END})["']?:[ \t]{1,3}[|>][+\-\d]{0,2}[ \t]{0,3}\r?\n(?<indent>[ \t]{1,60})${KEPT}(?<a>[^\s][^\n]*(?:\n\k<indent>[^\n]*)*)`,
      'gi',
    ),
    isSecret: isSecretUnder,
  },
  // A line of YAML or of a settings file, in a multi-line text.
  {
    name: '(named in a text)',
    pattern: new RegExp(
      String.raw`(?:(?<=\n)|^(?=[^\n]*\n))[ \t]{0,60}(?:-[ \t]{1,3}|export[ \t]{1,3})?["']?(?<name>[\w.-]{1,80})["']?(?:[ \t]{0,3}=|:[ \t])[ \t]{0,3}["']?${KEPT}${NO_BLOCK}(?<a>[^\s"'{}[\]&*!|>$][^\r\n]*?)["']?[ \t]{0,3}(?=\r?\n|$)`,
      'g',
    ),
    isSecret: isSecretUnder,
  },
  // An entry of .netrc.
  {
    name: '(named in a text)',
    pattern: new RegExp(
      String.raw`\bmachine\s{1,20}[^\s"']{1,253}\s{1,20}(?:login\s{1,20}[^\s"']{1,200}\s{1,20})?password\s{1,20}${KEPT}(?<a>[^\s"'\\]+)`,
      'g',
    ),
  },
  // <password>…</password>
  {
    name: '(named in a text)',
    pattern: new RegExp(
      String.raw`<(?<name>[\w:.-]{1,80})(?:\s[^<>]{0,200})?>(?:<!\[CDATA\[)?${KEPT}(?<a>[^<>]+?)(?=(?:\]\]>)?<\/|$)`,
      'gi',
    ),
    isSecret: isSecretUnder,
  },
  // p%61ssword=…
  {
    name: '(named in a text)',
    pattern: new RegExp(
      String.raw`(?<![\w.%-])(?<name>[\w.-]{0,60}%[\da-f]{2}[\w.%-]{0,60})=${KEPT}(?<a>${VALUE}+)`,
      'gi',
    ),
    isSecret: (name, secret) => isSecretUnder(withoutEscapes(name), secret),
  },
  {
    name: '(named in a text)',
    pattern: new RegExp(
      String.raw`(?<name>(?:${CERTAIN_WORDS})${NAME_END})(?:${QUOTE})?\s{0,3}(?:=>|:=|=)(?!=)\s{0,3}(?:${QUOTE})?${KEPT}${WORD_OR_QUOTED}`,
      'gi',
    ),
    isSecret: isSecretUnder,
  },
  {
    name: '(signature)',
    pattern: new RegExp(
      String.raw`[?&](?:[\w-]{0,30}signature|sig|key|code|auth)=${KEPT}(?<a>${VALUE}+)`,
      'gi',
    ),
  },
  {
    name: '(named in a text)',
    pattern: new RegExp(
      String.raw`(?<name>(?:${SECRET_WORDS})${NAME_END})(?:=|%3d)["']?${KEPT}${WORD_OR_QUOTED}`,
      'gi',
    ),
    isSecret: isSecretUnder,
  },
  {
    name: '(named in a text)',
    pattern: new RegExp(
      String.raw`${SHORT_NAME}(?:(?:${QUOTE})?\s{0,3}(?:=>|:=|=|%3[dD])(?!=)\s{0,3}(?:${QUOTE})?|${QUOTE}\s{0,2}:\s{0,3}${QUOTE})${KEPT}${WORD_OR_QUOTED}`,
      'g',
    ),
    isSecret: (_, secret) => !isOutcome(secret),
  },
  {
    name: '(named in a text)',
    pattern: new RegExp(String.raw`(?<name>${CERTAIN_WORDS})${IS}${KEPT}${NO_BLOCK}${WORD_OR_QUOTED}`, 'gi'),
  },
  {
    name: '(named in a text)',
    pattern: new RegExp(
      String.raw`(?<name>(?:${SECRET_WORDS})${NAME_END})${IS}${KEPT}(?=${VALUE}{0,200}\d)(?<a>${VALUE}{6,})`,
      'gi',
    ),
    isSecret: isSecretUnder,
  },
  {
    name: '(named in a text)',
    pattern: new RegExp(String.raw`${SHORT_NAME}${IS}${KEPT}(?=${VALUE}{0,200}\d)(?<a>${VALUE}{4,})`, 'g'),
    isSecret: (_, secret) => !isOutcome(secret),
  },
]

/** Redacts secrets that are recognized by their form. Undefined if there are none. */
export function redactInline(text: string): InlineRedaction | undefined {
  const names: string[] = []
  const values: string[] = []
  let redacted = text
  for (const { name, pattern, isSecret } of FORMS) {
    redacted = redacted.replace(pattern, (match: string, ...rest: unknown[]) => {
      const groups = rest.at(-1) as { readonly a?: string; readonly b?: string; readonly name?: string }
      const secret = groups.a ?? groups.b ?? ''
      if (isSecret?.(groups.name ?? '', secret) === false) return match
      names.push(name)
      values.push(secret)
      const at = match.lastIndexOf(secret)
      return match.slice(0, at) + REDACTION_MARK + match.slice(at + secret.length)
    })
  }
  return names.length === 0 ? undefined : { text: redacted, count: names.length, names, values }
}

function withoutEscapes(name: string): string {
  return name.replace(/%([\da-f]{2})/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)))
}

/** The start of a secret whose end was truncated with the text. */
const CUT = new RegExp(
  String.raw`(?:(?<=:\/\/)[^\s/?#"'<>]+|${TOKEN_START}(?:${TOKEN_KINDS.flatMap(({ lead = '', prefixes }) => prefixes.map((prefix) => lead + literal(prefix))).join('|')})[\w.+/=~-]*|(?<=\b(?:[Bb]earer|[Bb]asic|[Dd]igest|[Tt]oken)\s{1,3})\S+)$`,
)
const CUT_SEARCHED = 4096

/** Removes the start of a truncated secret at the end of a text. */
export function withoutCutSecret(text: string): string {
  const from = Math.max(0, text.length - CUT_SEARCHED)
  const end = text.slice(from)
  const shown = end.replace(CUT, REDACTION_MARK)
  return shown === end ? text : text.slice(0, from) + shown
}
