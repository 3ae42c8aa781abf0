import { LEVEL_NAMES, LEVEL_OF_SYSLOG, levelNamed } from './level-words.js'
import type { StatedLevel } from './level-words.js'
import { requestFailed } from './request-status.js'

const FIELD = new RegExp(
  `\\b(?:level|severity|lvl|log_?level|(?:entry_?)?type(?==critical))"?\\s*[=:]\\s*"?(${LEVEL_NAMES})\\b`,
  'i',
)
/** In capitals; after a dot as in `production.CRITICAL:`. */
const BARE = new RegExp(`(?:^|[\\s[(|<!]|\\w\\.(?=[A-Z]+:))(${LEVEL_NAMES})(?=[\\s\\]):|>[!]|$)`)
/** In brackets in any case, optionally after the component: `[crit]`, `[core:emerg]`. */
const BRACKETED = new RegExp(`[[<(](?:[\\w-]+:)?(${LEVEL_NAMES})[\\])>]`, 'i')
/**
 * At the start in any case, with a separator that no sentence has there: `fail: Shop[0]`,
 * `Critical,2026-…`.
 */
const LEADING = new RegExp(`^(FAIL|DBUG|TRCE|${LEVEL_NAMES})(?::\\s|,|\\t)`, 'i')
/** After a time in any case. */
const AFTER_TIME = new RegExp(`^\\S*\\d\\d:\\d\\d\\S*\\s+(${LEVEL_NAMES})\\s`, 'i')
/** A word further on is part of the message. */
const STATED_WITHIN = 100

/**
 * Layouts with a letter or a mark: klog and glog, logcat in its long and brief forms, a letter
 * after a time of day, Redis.
 */
const LETTERS: readonly RegExp[] = [
  /^([IWEF])(?:\d{4}|\d{8}) \d\d:\d\d:\d\d\.\d+ +\d+ [\w./-]+:\d+\]/,
  /^\d\d-\d\d \d\d:\d\d:\d\d\.\d+ +\d+ +\d+ ([VDIWEF]) \S/,
  /^([VDIWEF])\/[^\s(:]{1,60} *(?:\( *\d+\))?: /,
  /^(?:\S{1,30} |[\d-]{10}T)?\d\d:\d\d:\d\d\S* \[?([DIWEF])\]? \S/,
  /^\d+:[MSCX] \d\d \w{3} \d{4} \d\d:\d\d:\d\d\.\d+ ([.*#-]) /,
  // Levels of MySQL that are neither an error nor a warning
  /^[-\dT:.Z+]+(?: {1,2}[\d:]{7,8})?(?: \d+)? \[(Note|System)\] /,
]
const LETTER_LEVELS: ReadonlyMap<string, StatedLevel> = new Map([
  ...['V', 'D', 'I', '.', '*', '-', 'Note', 'System'].map((letter) => [letter, 'quiet'] as const),
  ...(['W', '#'] as const).map((letter) => [letter, 'warn'] as const),
  ['E', 'error'],
  ['F', 'fatal'],
])

/**
 * The leading priority of syslog: eight times the facility, plus the severity (RFC 5424 section
 * 6.2.1).
 */
const PRIORITY = /^<(\d{1,3})>/

/**
 * The level that a line states: by a field (`level=warn`), a word near its beginning, a letter of
 * its layout, or the status of a request.
 */
export function statedLevel(text: string): StatedLevel | undefined {
  const coded = codedLevel(text)
  if (coded !== undefined) return coded
  const start = text.slice(0, STATED_WITHIN)
  const name = (BARE.exec(start) ??
    FIELD.exec(text) ??
    BRACKETED.exec(start) ??
    LEADING.exec(start) ??
    AFTER_TIME.exec(start))?.[1]
  if (name !== undefined) {
    const level = levelNamed(name) ?? (/^fail$/i.test(name) ? 'error' : 'quiet')
    // Many programs log every request at INFO, whatever its status is.
    return level === 'quiet' && requestFailed(text) === true ? 'error' : level
  }
  return levelOfLayout(start) ?? levelOfRequest(text)
}

/** Levels of PostgreSQL, which writes two blanks after them. */
const POSTGRES = /(?:^|[\s\]])(?:LOG|DETAIL|HINT|CONTEXT|STATEMENT|QUERY|LOCATION): {2}/

function levelOfLayout(start: string): StatedLevel | undefined {
  if (start.includes(':  ') && POSTGRES.test(start)) return 'quiet'
  for (const layout of LETTERS) {
    const letter = layout.exec(start)?.[1]
    if (letter !== undefined) return LETTER_LEVELS.get(letter)
  }
  const priority = PRIORITY.exec(start)?.[1]
  return priority === undefined ? undefined : LEVEL_OF_SYSLOG[Number(priority) % 8]
}

function levelOfRequest(text: string): StatedLevel | undefined {
  const hasFailed = requestFailed(text)
  if (hasFailed === undefined) return undefined
  return hasFailed ? 'error' : 'quiet'
}

/** Number of characters within which the layout of a line is recognized. */
const LAYOUT_WITHIN = 200

/** Cisco's devices: `%LINK-3-UPDOWN: `, the severity of syslog between facility and mnemonic. */
const MNEMONIC = /(?:^|[\s:])%[A-Z][A-Z\d_]*(?:-[A-Z\d_]+)??-([0-7])-[A-Z\d_]+:/
/** ArcSight's Common Event Format: seven fields with escaped bars; the last one is the severity. */
const CEF = /(?:^|\s)CEF:\d\|(?:(?:[^|\\]|\\.)*\|){5}([\w-]+)\|/
/**
 * QRadar's Log Event Extended Format. The position of its start is bounded here and below, since a
 * line that repeats it would otherwise take quadratic time.
 */
const LEEF = /^(?:.{0,200}?\s)?LEEF:[\d.]+\|.*(?:[^\w]|x\d\d)sev=(\d{1,2})(?!\w)/
/** An event exported by Windows. */
const WINDOWS = /^<Event [^>]*>.{0,2000}?<Level>(\d)<\/Level>/s
const LAMBDA = /^REPORT RequestId: .*\bStatus: (?:timeout|error)\b/
/** The report of Lambda in JSON. */
const LAMBDA_RECORD =
  /^.{0,200}?"type": ?"platform\.(?:report|runtimeDone)".*"status": ?"(?:timeout|error|failure)"/

/** Levels of CEF and LEEF by their minimum numbers: low up to 3, medium up to 6, high up to 8. */
const SECURITY: readonly (readonly [number, StatedLevel])[] = [
  [9, 'fatal'],
  [7, 'error'],
  [4, 'warn'],
  [0, 'quiet'],
]
const SECURITY_WORDS: ReadonlyMap<string, StatedLevel> = new Map([
  ['very-high', 'fatal'],
  ['high', 'error'],
  ['medium', 'warn'],
  ['low', 'quiet'],
])
const WINDOWS_LEVELS: readonly StatedLevel[] = ['quiet', 'fatal', 'error', 'warn', 'quiet', 'quiet']

/**
 * The level that a line has as a number or a word at a fixed place of its layout, whatever its
 * words are. Undefined in other layouts.
 */
function codedLevel(text: string): StatedLevel | undefined {
  // Most lines have nothing of this, and are spared the longer searches.
  if (isEarly(text, '%')) {
    const severity = MNEMONIC.exec(text.slice(0, LAYOUT_WITHIN))?.[1]
    if (severity !== undefined) return LEVEL_OF_SYSLOG[Number(severity)]
  }
  if (isEarly(text, 'EF:')) {
    const severity = (CEF.exec(text) ?? LEEF.exec(text))?.[1]
    if (severity !== undefined) return levelOfSecurity(severity)
  }
  switch (text.charAt(0)) {
    case '<':
      return text.startsWith('<Event ') ? WINDOWS_LEVELS[Number(WINDOWS.exec(text)?.[1])] : undefined
    case 'R':
      return LAMBDA.test(text) ? 'error' : undefined
    case '{':
      return isEarly(text, '"platform.') && LAMBDA_RECORD.test(text) ? 'error' : undefined
    default:
      return undefined
  }
}

function isEarly(text: string, part: string): boolean {
  const at = text.indexOf(part)
  return at >= 0 && at < LAYOUT_WITHIN
}

function levelOfSecurity(severity: string): StatedLevel | undefined {
  if (!/^\d+$/.test(severity)) return SECURITY_WORDS.get(severity.toLowerCase())
  return SECURITY.find(([least]) => Number(severity) >= least)?.[1]
}
