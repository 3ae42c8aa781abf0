import { LEVEL_NAMES } from '../topics/level-words.js'
import { CHARACTER, characterClass } from '../masking/characters.js'

const CLOCK = String.raw`\d{1,2}:\d\d(?::\d\d)?(?:[.,]\d+)?`
const ZONE = String.raw`(?:\s?(?:Z|UTC|GMT|[A-Z]{3,4}T|[+-]\d\d:?\d\d)(?![\w:]))?`
const MONTH = '(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)'
const DAY = '(?:(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun),? )?'

/** As syslog has it (RFC 3164). */
const SYSLOG_TIME = String.raw`${MONTH} [ \d]\d \d\d:\d\d:\d\d`

/** The times that layouts begin a line with, as a source of a regular expression. */
const TIME = [
  String.raw`\d{4}[-/.]\d\d[-/.]\d\d(?:[T_ ]${CLOCK}${ZONE})?`,
  String.raw`\d\d[-/.]\d\d[-/.]\d{2,4}[T ]${CLOCK}${ZONE}`,
  String.raw`\d\d\/${MONTH}\/\d{4}:\d\d:\d\d:\d\d(?: [+-]\d{4})?`,
  String.raw`${DAY}${MONTH} +\d{1,2},? (?:\d{4} )?${CLOCK}(?: [AP]M)?${ZONE}(?: \d{4})?`,
  String.raw`${DAY}\d{1,2} ${MONTH} \d{4} ${CLOCK}${ZONE}`,
  String.raw`\d{6} \d{6}(?=\s)`,
  String.raw`\d\d:\d\d:\d\d(?:[.,]\d+)?${ZONE}`,
  String.raw`1\d{9}(?:\.\d+|\d{3})?(?=\s)`,
]
  .map((choice) => `(?:${choice})`)
  .join('|')
  .replace(/^(.*)$/s, '(?:$1)')

/**
 * Fields of a line in `key=value` form for time, level and origin, which are not part of the
 * message.
 */
const LAYOUT_FIELDS = new Set(
  'time ts timestamp @timestamp date level lvl severity logger caller source thread pid hostname'.split(' '),
)

/** Whether a field belongs to the message. */
function isKeptField(name: string): boolean {
  return !LAYOUT_FIELDS.has(name)
}

/** A line of a log without what its layout writes before the message. */
interface SplitLine {
  /** The component that logged the line. Empty if the layout has none. */
  readonly logger: string
  /** The message, with the following lines. */
  readonly message: string
}

/** A part of a header, matched from one position on. `logger` is the group of that name. */
interface HeaderPart {
  readonly pattern: RegExp
  /**
   * The class of its first character, so that most parts are not tried. A word begins with a
   * letter, `_` or `$`.
   */
  readonly first: 'digit' | 'letter' | 'word' | 'mark' | 'any'
  readonly holds?: 'time' | 'level' | undefined
  /** Parts that must have been read before, since a message may look the same. */
  readonly needs?: 'nothing' | 'something' | 'time' | 'timeAlone' | 'timeAndLevel' | undefined
}

const MAX_PARTS = 14
const MAX_HEADER = 300
const NAME = String.raw`[A-Za-z_$][\w$-]*`
const DOTTED = String.raw`[A-Za-z_$][\w$]*(?:\.[\w$]+)+`
/** `PaymentService`, but neither `Timeout` nor a word at the start of a sentence. */
const MIXED = String.raw`[A-Z][a-z\d]+(?:[A-Z][a-z\d]*)+`
const FAILURE = String.raw`(?!\S*(?:Exception|Error|Throwable|Failure|Fault|Timeout|Warning)\b)`
const LEVEL = `(?:${LEVEL_NAMES})`
/** No sentence begins like that. */
const HOST = String.raw`[a-z\d][\w.-]*`

const part = (
  first: HeaderPart['first'],
  source: string,
  { holds, needs }: Pick<HeaderPart, 'holds' | 'needs'> = {},
  flags = 'y',
): HeaderPart => ({ first, pattern: new RegExp(source, flags), holds, needs })

const PARTS: readonly HeaderPart[] = [
  // syslog: `<11>1 2026-… host app 12 ID47 - ` (RFC 5424), the structured data as it comes
  part(
    'mark',
    String.raw`<\d{1,3}>1 (?:${TIME}|-) \S+ (?<logger>[\w./-]+) \S+ \S+ (?:-|(?:\[[^\]]*\])+)(?=\s)`,
    {
      holds: 'time',
      needs: 'nothing',
    },
  ),
  part('mark', String.raw`<\d{1,3}>(?:1\s)?`),
  // logcat: `11-21 06:00:00.123  1234  1250 E Stock   : `, `E/Stock( 1234): `
  part('digit', String.raw`\d\d-\d\d \d\d:\d\d:\d\d\.\d+ +\d+ +\d+ [VDIWEF] (?<logger>[^\s:]+) *:`, {
    holds: 'level',
    needs: 'nothing',
  }),
  part('letter', String.raw`[VDIWEF]\/(?<logger>[^\s(:]{1,60}) *(?:\( *\d+\))?:`, {
    holds: 'level',
    needs: 'nothing',
  }),
  // klog: `E0102 15:04:05.678901   12 server.go:34] `
  part('letter', String.raw`[IWEF](?:\d{4}|\d{8}) \d\d:\d\d:\d\d\.\d+ +\d+ (?<logger>[\w./-]+):\d+\]`, {
    holds: 'level',
    needs: 'nothing',
  }),
  // syslog: `Nov 21 06:00:00 host app[12]: `
  part('any', String.raw`${TIME} [\w.-]+ (?<logger>[\w./-]+)\[\d+\]:`, { holds: 'time' }),
  part(
    'letter',
    String.raw`${SYSLOG_TIME} ${HOST} (?:(?<logger>[A-Za-z_][\w./-]*):(?=\s)|(?=(?:CEF|LEEF):\d))`,
    {
      holds: 'time',
    },
  ),
  part('any', String.raw`[[(]?(?:${TIME})[\])]?(?=[\s:|,\]-]|$)`, { holds: 'time' }),
  // Python: `ERROR:shop.orders:`
  part('letter', String.raw`${LEVEL}:(?<logger>${NAME}(?:\.[\w$]+)*):`, { holds: 'level' }),
  part('letter', String.raw`${LEVEL}(?=[\s:|\]-]|$):?`, { holds: 'level' }),
  // logrus: `INFO[0012] `
  part('letter', String.raw`${LEVEL}\[\d+\]`, { holds: 'level' }),
  part('mark', String.raw`[[(<]\s*${LEVEL}\s*[\])>]:?`, { holds: 'level' }, 'iy'),
  part('letter', String.raw`${LEVEL}(?:\s|:\s)`, { holds: 'level', needs: 'time' }, 'iy'),
  part('mark', String.raw`\[(?<logger>${FAILURE}(?:${DOTTED}|${MIXED}))\]:?`, { needs: 'something' }),
  part('mark', String.raw`\[[^\][]{0,80}\]:?`, { needs: 'something' }),
  part('mark', String.raw`\([\w.-]+(?:\/\d+)?(?: on \S+)?\):`, { needs: 'something' }),
  part('mark', String.raw`(?:---|--|-|:|\||=>)(?=\s)`, { needs: 'something' }),
  part('digit', String.raw`\d+(?=\s+(?:---|-|\[|${DOTTED}))`, { needs: 'something' }),
  part('word', String.raw`(?<logger>${FAILURE}${DOTTED})(?::\d+)?(?=\s*[:|\]]|\s)`, { needs: 'something' }),
  part('letter', String.raw`(?<logger>${FAILURE}${MIXED})(?=:\s|\s+[:|-]\s)`, { needs: 'something' }),
  // `2026-… web-1 shop ERROR `
  part('any', String.raw`${HOST} (?<logger>[A-Za-z][A-Za-z./_-]*)(?:\[\d+\])?:? (?=${LEVEL}[\s:\]])`, {
    needs: 'timeAlone',
  }),
  part('word', String.raw`(?<logger>${NAME})(?=\s+-\s+[[(]?${LEVEL}\b)`, { needs: 'time' }),
  part('word', String.raw`(?<logger>${FAILURE}${NAME})(?=\s+-\s)`, { needs: 'timeAndLevel' }),
]

const partsFor = (...firsts: HeaderPart['first'][]): readonly HeaderPart[] =>
  PARTS.filter(({ first }) => first === 'any' || firsts.includes(first))
const PARTS_BY_FIRST = {
  digit: partsFor('digit'),
  letter: partsFor('letter', 'word'),
  mark: partsFor('mark', 'word'),
}

function firstOf(code: number): keyof typeof PARTS_BY_FIRST {
  const kind = characterClass(code)
  if (kind === CHARACTER.digit) return 'digit'
  return kind === CHARACTER.letter ? 'letter' : 'mark'
}

const FIELDS = /(?<![\w.@-])([\w.@-]+)=("(?:[^"\\]|\\.)*"|[^\s"]*)\s*/g
const HAS_FIELDS = /(?:^|\s)(?:msg|message)=/
const HAS_LETTERS = /\p{L}{2}/u

/**
 * Splits a line into its logger and its message, without time, level, thread and process, so that
 * another layout of the same log gives the same result. A line without a leading time or level is a
 * message as a whole.
 */
export function splitHeader(text: string): SplitLine {
  if (text.includes('msg=') || text.includes('message='))
    if (HAS_FIELDS.test(text.slice(0, MAX_HEADER))) return splitFields(text)
  return splitText(text)
}

function splitText(text: string): SplitLine {
  const parsed = new Set<string>()
  let [at, logger] = [0, '']
  for (let count = 0; count < MAX_PARTS && at < MAX_HEADER; count += 1) {
    at = afterSpaces(text, at)
    const found = readPart(text, at, parsed)
    if (found === undefined) break
    at += found.length
    logger = found.logger ?? logger
    if (found.holds !== undefined) parsed.add(found.holds)
  }
  const message = text.slice(afterSpaces(text, at))
  return parsed.size > 0 && HAS_LETTERS.test(message) ? { logger, message } : { logger: '', message: text }
}

interface FoundPart {
  readonly length: number
  readonly logger: string | undefined
  readonly holds: HeaderPart['holds']
}

function readPart(text: string, at: number, parsed: ReadonlySet<string>): FoundPart | undefined {
  const parts = PARTS_BY_FIRST[firstOf(text.charCodeAt(at))]
  for (const { pattern, holds, needs } of parts) {
    if (!isAllowed(needs, parsed) || (holds !== undefined && parsed.has(holds))) continue
    pattern.lastIndex = at
    const found = pattern.exec(text)
    if (found !== null) return { length: found[0].length, logger: found.groups?.['logger'], holds }
  }
  return undefined
}

function isAllowed(needs: HeaderPart['needs'], parsed: ReadonlySet<string>): boolean {
  if (needs === undefined) return true
  if (needs === 'nothing') return parsed.size === 0
  if (needs === 'something') return parsed.size > 0
  return parsed.has('time') && (needs === 'time' || parsed.has('level') === (needs === 'timeAndLevel'))
}

/**
 * `time=… level=error logger=shop msg="no answer" host=db1` has the message `no answer host=db1`.
 */
function splitFields(text: string): SplitLine {
  const end = text.indexOf('\n')
  const first = end < 0 ? text : text.slice(0, end)
  let logger = ''
  const line = first
    .replaceAll(FIELDS, (field, name: string, quoted: string) => {
      const value = quoted.startsWith('"') ? quoted.slice(1, -1) : quoted
      if (name === 'logger') logger = value
      if (name === 'msg' || name === 'message') return `${value} `
      return isKeptField(name) ? field : ''
    })
    .trim()
  const message = `${line}${text.slice(first.length)}`
  return HAS_LETTERS.test(line) ? { logger, message } : { logger: '', message: text }
}

function afterSpaces(text: string, start: number): number {
  let at = start
  while (text.charAt(at) === ' ' || text.charAt(at) === '\t') at += 1
  return at
}
