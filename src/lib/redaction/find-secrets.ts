import { asBuffer } from '../bytes.js'
import { decodeString } from '../json/scan/decode-string.js'
import { OPEN_ARRAY, OPEN_OBJECT, QUOTE } from '../json/scan/json-bytes.js'
import type { Extent } from '../json/scan/json-bytes.js'
import { MAX_NESTING, nestedTooDeeply } from '../json/scan/nesting.js'
import { walkElements, walkMembers } from '../json/scan/scan-members.js'
import { scanString } from '../json/scan/scan-string.js'
import { scanSpace, scanValue } from '../json/scan/scan-value.js'
import type { OpenContainers } from './close-json.js'
import { LabelledValues, MemberNames } from './member-names.js'
import type { MemberName } from './member-names.js'
import { redactText } from './redact-text.js'
import type { TextSurroundings } from './redact-text.js'
import { REDACTED } from './redacted.js'
import type { Redacted } from './redacted.js'
import { isCounter, isOutcome, isSecretTextName, endsLikeSecret, isSecretUnder } from './secret-names.js'

/** A value to replace: a secret, or a string that contains secrets. */
type FoundSecret = Extent & Redacted

/** Values that reveal nothing, and replacements of an earlier redaction or mask. */
const HARMLESS: ReadonlySet<string> = new Set([
  'null',
  'true',
  'false',
  '""',
  '[]',
  '{}',
  REDACTED.toString(),
  '"[masked]"',
])

/** Where and in which state a JSON text was truncated before it was completed. */
export interface Cut {
  /** Offset of the truncation. The rest is the completion. */
  readonly at: number
  /** State of the containers at that offset. */
  readonly containers: OpenContainers
}

export interface Search extends Omit<TextSurroundings, 'isCut'> {
  /** Offsets of possible secrets in text order, as returned by `findCandidates`. */
  readonly candidates: readonly number[]
  readonly cut: Cut | undefined
  /** Whether numbers are never redacted. */
  readonly keepsNumbers: boolean
}

/** Returns the secrets of a JSON text in text order, without overlaps. Throws as `scanValue`. */
export function findSecrets(json: Buffer, search: Search): FoundSecret[] {
  const finder = new SecretFinder(json, search)
  finder.walk(scanSpace(json, 0), 0, false)
  // A value redacted completely because of its siblings takes precedence over secrets inside it.
  const isPart = ({ text }: FoundSecret): number => (text === REDACTED ? 0 : 1)
  const inOrder = finder.found.sort((a, b) => a.start - b.start || b.end - a.end || isPart(a) - isPart(b))
  let end = 0
  return inOrder.filter((secret) => {
    if (secret.start < end) return false
    end = secret.end
    return true
  })
}

const NAMES = new MemberNames()

class SecretFinder {
  readonly found: FoundSecret[] = []
  private readonly json: Buffer
  private readonly search: Search
  private nextCandidate = 0
  /** Number of truncated containers entered so far. */
  private enteredOpen = 0

  constructor(json: Buffer, search: Search) {
    this.json = json
    this.search = search
  }

  /**
   * Searches the value at `at`. `areHeaders` says whether its members are headers. Returns the
   * offset after it.
   */
  walk(at: number, depth: number, areHeaders: boolean): number {
    if (depth > MAX_NESTING) throw nestedTooDeeply()
    const first = this.json[at]
    if (first === QUOTE) return this.walkText(at)
    if (first !== OPEN_OBJECT && first !== OPEN_ARRAY) return scanValue(this.json, at)
    const open = this.search.cut?.containers.open ?? []
    const isCut = open[this.enteredOpen] === at
    if (isCut) this.enteredOpen++
    if (this.isQuietFrom(at)) {
      if (!isCut) return scanValue(this.json, at)
      const inner = open[this.enteredOpen]
      if (first === OPEN_ARRAY && inner !== undefined) return this.walkLast(inner, depth, areHeaders)
    }
    return first === OPEN_OBJECT
      ? this.walkObject(at, depth, areHeaders)
      : this.walkArray(at, depth, areHeaders)
  }

  /**
   * Searches the last element of a truncated array whose other elements have no candidates. Returns
   * the offset after the array.
   */
  private walkLast(start: number, depth: number, areHeaders: boolean): number {
    return scanSpace(this.json, this.walk(start, depth + 1, areHeaders)) + 1
  }

  /** Whether only the truncated end can contain secrets from this offset on. */
  private isQuietFrom(at: number): boolean {
    return this.search.known.length === 0 && this.firstCandidate(at) === this.search.candidates.length
  }

  private walkArray(open: number, depth: number, areHeaders: boolean): number {
    const mark = this.firstCandidate(open)
    const beginsWithText = this.json[scanSpace(this.json, open + 1)] === QUOTE
    const elements: Extent[] = []
    const end = walkElements(this.json, open, (_, start) => {
      const valueEnd = this.walk(start, depth + 1, areHeaders)
      if (beginsWithText) elements.push({ start, end: valueEnd })
      return valueEnd
    })
    if (elements.length < 2 || !this.hasCandidate(mark, end)) return end
    const texts = elements.map(({ start }) => (this.json[start] === QUOTE ? this.textAt(start) : undefined))
    for (const { index, name } of secretElements(texts)) {
      const extent = elements[index]
      if (extent !== undefined) this.redact(name, extent)
    }
    return end
  }

  private walkObject(open: number, depth: number, areHeaders: boolean): number {
    let labelled: LabelledValues | undefined
    const end = walkMembers(this.json, open, (keyStart, start) => {
      this.walkText(keyStart)
      const member = NAMES.read(this.json, keyStart)
      const mark = this.firstCandidate(start)
      const valueEnd = this.isHidden(member, start, areHeaders)
        ? this.redact(member.name, { start, end: scanValue(this.json, start) })
        : this.walk(start, depth + 1, member.isHeaders)
      if (member.role !== undefined) {
        labelled ??= new LabelledValues()
        const text = this.hasCandidate(mark, valueEnd) ? this.textAt(start) : ''
        labelled.note(member.role, { start, end: valueEnd }, text)
      }
      return valueEnd
    })
    for (const { name, extent } of labelled?.secrets(this.isCut(end)) ?? []) {
      if (!isSecretTextName(name) || this.isSecretText(extent.start)) this.redact(name, extent)
    }
    return end
  }

  private isHidden(member: MemberName, start: number, areHeaders: boolean): boolean {
    if (areHeaders ? member.isSecretHeader : member.isSecret) return true
    return member.isSecretText && this.isSecretText(start)
  }

  /**
   * Whether a string is there that is a secret under an ambiguous name. Limits and outcomes have
   * similar names.
   */
  private isSecretText(start: number): boolean {
    return this.json[start] === QUOTE && !isOutcome(this.textAt(start))
  }

  private walkText(start: number): number {
    const mark = this.firstCandidate(start)
    const end = scanString(this.json, start)
    const { known } = this.search
    const isCut = this.isCut(end)
    if (known.length === 0 && !isCut && !this.hasCandidate(mark, end)) return end
    const text = asBuffer(decodeString(this.json, start, end))
    const redacted = redactText(text, { ...this.search, isCut })
    if (redacted !== undefined) this.found.push({ start, end, ...redacted })
    return end
  }

  /** Index of the first sign from an offset on. Offsets must not decrease between calls. */
  private firstCandidate(start: number): number {
    const { candidates } = this.search
    while ((candidates[this.nextCandidate] ?? Infinity) < start) this.nextCandidate++
    return this.nextCandidate
  }

  /** Whether that sign is before `end`. */
  private hasCandidate(mark: number, end: number): boolean {
    return (this.search.candidates[mark] ?? Infinity) < end
  }

  private redact(name: string, { start, end }: Extent): number {
    if (!this.isHarmless(name, { start, end })) {
      this.found.push({
        start,
        end,
        text: REDACTED,
        count: 1,
        names: [name],
        values: this.textsIn(start, end),
      })
    }
    return end
  }

  private isHarmless(name: string, { start, end }: Extent): boolean {
    if (isNumberStart(this.json[start]) && (this.search.keepsNumbers || isCounter(name))) return true
    return end - start <= REDACTED.length && HARMLESS.has(this.json.toString('latin1', start, end))
  }

  /** Whether the value that ends there was truncated. */
  private isCut(end: number): boolean {
    return end > (this.search.cut?.at ?? Infinity)
  }

  /** The strings of a secret, so that quotations of them are redacted too. */
  private textsIn(start: number, end: number): readonly string[] {
    return this.json[start] === QUOTE
      ? [this.textAt(start)]
      : textsOf(JSON.parse(this.json.toString('utf8', start, end)))
  }

  /** The string at `start`. Empty for other values. */
  private textAt(start: number): string {
    if (this.json[start] !== QUOTE) return ''
    return asBuffer(decodeString(this.json, start, scanString(this.json, start))).toString()
  }
}

function isNumberStart(byte: number | undefined): boolean {
  return byte !== undefined && /[-\d]/.test(String.fromCharCode(byte))
}

function textsOf(value: unknown): readonly string[] {
  if (typeof value === 'string') return [value]
  return typeof value === 'object' && value !== null
    ? (Object.values(value) as unknown[]).flatMap(textsOf)
    : []
}

/** Programs with an option for a password that its name does not show. */
const MYSQL = /(?:^|\/)(?:mysql\w*|mariadb[\w-]*|sshpass)$/
const LOGS_IN = /(?:^|\/)(?:az|buildah|cf|crane|docker|helm|nerdctl|oc|oras|podman|skopeo)$/
/** Programs with a one-letter option for a password. */
const PASSWORD_OPTIONS: readonly (readonly [RegExp, string])[] = [
  [/(?:^|\/)redis-cli$/, '-a'],
  [/(?:^|\/)ldap(?:search|modify|add|delete|passwd|whoami)$/, '-w'],
]
const CURL = /(?:^|\/)curl$/
const OPTION = /^--?[\w-]{1,80}$/
const USER_OPTION = /^(?:-u|--user|-U|--proxy-user)$/
/** A plain word, as in a list of required members. Passwords usually contain other characters. */
const WORD = /^[A-Za-z_-]*$/

/** Index of a secret in a list, and the name to report. */
interface SecretElement {
  readonly index: number
  readonly name: string
}

/**
 * Finds elements of a list that are secret because of earlier ones: the value in `["password",
 * "…"]`, and arguments such as `["--password", "…"]`, `["curl", "-u", "ana:…"]`, `["mysql", "-p…"]`
 * and `["docker", "login", "-p", "…"]`. Elements that are not strings are undefined.
 */
function secretElements(elements: readonly (string | undefined)[]): SecretElement[] {
  const found: SecretElement[] = []
  const [first = '', second] = elements
  if (elements.length === 2 && second !== undefined && endsLikeSecret(first) && !WORD.test(second))
    found.push({ index: 1, name: first })
  const takesPassword = MYSQL.test(first)
  const takesUser = CURL.test(first)
  const passwordOption = passwordOptionOf(first, elements)
  elements.forEach((element, index) => {
    if (element === undefined || index === 0) return
    const before = elements[index - 1] ?? ''
    if (before === passwordOption) found.push({ index, name: before })
    else if (OPTION.test(before) && isValueOf(before, element, takesUser)) found.push({ index, name: before })
    else if (takesPassword && /^-p./.test(element)) found.push({ index, name: '-p' })
  })
  return found
}

function passwordOptionOf(program: string, elements: readonly (string | undefined)[]): string | undefined {
  if (LOGS_IN.test(program) && elements.includes('login')) return '-p'
  return PASSWORD_OPTIONS.find(([pattern]) => pattern.test(program))?.[1]
}

function isValueOf(option: string, value: string, takesUser: boolean): boolean {
  if (takesUser && USER_OPTION.test(option)) return value.includes(':')
  return isSecretUnder(option, value) && !option.endsWith('-stdin') && !value.startsWith('-')
}
