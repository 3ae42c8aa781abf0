import { REDACTION_MARK } from './redacted.js'
import { isSecretName, PASS_WORDS, SECRET_WORDS } from './secret-names.js'

/** A text without the secrets in it, and those. */
export interface InlineRedaction {
  readonly text: string
  readonly count: number
  readonly names: readonly string[]
  readonly values: readonly string[]
}

/**
 * A form in which texts carry a secret. `secret` is what goes; the rest of the match stays. Each pattern takes time in proportion to the text:
 * no run that it looks along is begun again inside.
 */
interface Form {
  readonly name: string
  readonly pattern: RegExp
  /** Whether the group `name` of a match is the name of a secret; where absent, every match is one. */
  readonly isNamed?: (name: string) => boolean
}

/** What an earlier redaction left. */
const KEPT = String.raw`(?!\[(?:redacted|masked)\])`
/** Begins a text of many lines in YAML. */
const NO_BLOCK = String.raw`(?![|>][+\-\d]{0,2}\s)`
const VALUE = String.raw`[^\s&;,"'<>\\(){}]`
const CERTAIN_WORDS = `pass(?:word|wd|phrase|code)|pwd|(?:${PASS_WORDS})[_ -]?pass(?![a-z])|api[_ -]?key|secret[_ -]?(?:access[_ -]?)?key|client[_ -]?secret`
const HEADER_WORDS = '(?:proxy-)?authorization|(?:set-)?cookie|x-[a-z-]{1,30}-(?:token|key)'
const QUOTE = String.raw`\\{0,3}["']`
const IS = String.raw`(?:${QUOTE}\s{0,2}[:=]\s{0,3}(?:${QUOTE})?|\s?:\s{1,3}(?:${QUOTE})?)`
const TOKENS = [
  String.raw`gh[pousr]_\w{20,}`,
  String.raw`github_pat_\w{20,}`,
  String.raw`gl(?:pat|rt|dt|cbt|ptt|ft|soat)-[\w.-]{16,}`,
  String.raw`pypi-[\w-]{50,}`,
  String.raw`SG\.[\w-]{16,}\.[\w-]{16,}`,
  String.raw`ya29\.[\w-]{20,}`,
  String.raw`GOCSPX-[\w-]{20,}`,
  String.raw`do[opr]_v1_[0-9a-f]{32,}`,
  'AGE-SECRET-KEY-1[A-Z0-9]{20,}',
  String.raw`xox[abeoprs]-[\w-]{10,}`,
  String.raw`sk[_-](?:live_|test_|proj-|ant-)?[\w-]{20,}`,
  String.raw`AIza[\w-]{35}`,
  String.raw`hv[sb]\.[\w-]{20,}`,
  String.raw`npm_\w{30,}`,
  String.raw`dckr_pat_[\w-]{20,}`,
  String.raw`whsec_[\w+/=]{16,}`,
].join('|')

/** Commands whose `-p` is a password. */
const LOGINS = String.raw`(?:(?:az|buildah|cf|docker|nerdctl|oc|oras|podman|skopeo)|helm\s{1,3}registry|crane\s{1,3}auth)\s{1,3}login`

/** What the options of commands carry. */
const COMMAND_FORMS: readonly Form[] = [
  {
    name: '(argument)',
    pattern: new RegExp(
      String.raw`(?<![\w-])--(?<name>\w[\w-]{0,80})[ \t]{1,3}["']?${KEPT}(?<a>(?![-|])${VALUE}+)`,
      'gi',
    ),
    isNamed: (name) => isSecretName(name) && !name.endsWith('-stdin'),
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

/** URLs that whoever knows them may post to. */
const SECRET_URLS = [
  String.raw`hooks\.slack(?:-gov)?\.com\/\w{1,20}`,
  String.raw`discord(?:app)?\.com\/api(?:\/v\d{1,2})?\/webhooks`,
  String.raw`\.webhook\.office\.com\/\w{1,20}`,
].join('|')

const FORMS: readonly Form[] = [
  // https://user:password@host, https://token@host; not ssh://git@host, where the user is no secret.
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
  { name: '(token)', pattern: /(?<![\w-])(?<a>eyJ[\w-]{5,}\.[\w-]{5,}\.[\w-]*)/g },
  { name: '(token)', pattern: new RegExp(String.raw`(?<![\w-])(?<a>${TOKENS})`, 'g') },
  { name: '(access key)', pattern: /(?<![A-Za-z0-9])(?<a>A(?:KI|SI)A[A-Z0-9]{16})(?![A-Za-z0-9])/g },
  {
    name: '(authorization)',
    pattern: /\b(?:bearer|basic|digest|token)\s{1,3}(?=[\w.~+/-]{0,200}[\d=])(?<a>[\w.~+/-]{6,}=*)/gi,
  },
  {
    name: '(authorization)',
    pattern: new RegExp(String.raw`(?:${HEADER_WORDS})${IS}${KEPT}(?<a>[^\r\n"'\\]+)`, 'gi'),
  },
  ...COMMAND_FORMS,
  // The indented lines below `secret: |` or `secret: >-` of YAML.
  {
    name: '(named in a text)',
    pattern: new RegExp(
      String.raw`(?:${SECRET_WORDS})[\w.-]{0,40}["']?:[ \t]{1,3}[|>][+\-\d]{0,2}[ \t]{0,3}\r?\n(?<indent>[ \t]{1,60})${KEPT}(?<a>[^\s][^\n]*(?:\n\k<indent>[^\n]*)*)`,
      'gi',
    ),
  },
  // <password>…</password>
  {
    name: '(named in a text)',
    pattern: new RegExp(
      String.raw`<(?<name>[\w:.-]{1,80})(?:\s[^<>]{0,200})?>(?:<!\[CDATA\[)?${KEPT}(?<a>[^<>]+?)(?=(?:\]\]>)?<\/|$)`,
      'gi',
    ),
    isNamed: isSecretName,
  },
  // p%61ssword=…
  {
    name: '(named in a text)',
    pattern: new RegExp(
      String.raw`(?<![\w.%-])(?<name>[\w.-]{0,60}%[\da-f]{2}[\w.%-]{0,60})=${KEPT}(?<a>${VALUE}+)`,
      'gi',
    ),
    isNamed: (name) => isSecretName(withoutEscapes(name)),
  },
  {
    name: '(named in a text)',
    pattern: new RegExp(
      String.raw`(?:${CERTAIN_WORDS})[\w.-]{0,40}(?:${QUOTE})?\s{0,3}(?:=>|:=|=)(?!=)\s{0,3}(?:${QUOTE})?${KEPT}(?<a>${VALUE}+)`,
      'gi',
    ),
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
      String.raw`(?:${SECRET_WORDS})[\w.-]{0,40}(?:=|%3d)["']?${KEPT}(?<a>${VALUE}+)`,
      'gi',
    ),
  },
  {
    name: '(named in a text)',
    pattern: new RegExp(String.raw`(?:${CERTAIN_WORDS})${IS}${KEPT}${NO_BLOCK}(?<a>${VALUE}+)`, 'gi'),
  },
  {
    name: '(named in a text)',
    pattern: new RegExp(
      String.raw`(?:${SECRET_WORDS})[\w.-]{0,40}${IS}${KEPT}(?=${VALUE}{0,200}\d)(?<a>${VALUE}{6,})`,
      'gi',
    ),
  },
]

/** The text without secrets that are in it by their form; undefined where it holds none. */
export function redactInline(text: string): InlineRedaction | undefined {
  const names: string[] = []
  const values: string[] = []
  let redacted = text
  for (const { name, pattern, isNamed } of FORMS) {
    redacted = redacted.replace(pattern, (match: string, ...rest: unknown[]) => {
      const groups = rest.at(-1) as { readonly a?: string; readonly b?: string; readonly name?: string }
      if (isNamed?.(groups.name ?? '') === false) return match
      const secret = groups.a ?? groups.b ?? ''
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

/** How a secret begins whose end was cut off with the text. */
const CUT = new RegExp(
  String.raw`(?:(?<=:\/\/)[^\s/?#"'<>]+|(?<![\w-])(?:eyJ|gh[pousr]_|github_pat_|glpat-|xox[abeoprs]-|sk[_-]|AIza|hv[sb]\.|npm_|dckr_pat_|whsec_)[\w.+/=-]*|(?<![A-Za-z0-9])A(?:KI|SI)A[A-Z0-9]*|(?<=\b(?:bearer|basic|digest|token)\s{1,3})\S+)$`,
  'i',
)
const CUT_SEARCHED = 4096

/** The text without the beginning of a secret at its end. */
export function withoutCutSecret(text: string): string {
  const from = Math.max(0, text.length - CUT_SEARCHED)
  const end = text.slice(from)
  const shown = end.replace(CUT, REDACTION_MARK)
  return shown === end ? text : text.slice(0, from) + shown
}
