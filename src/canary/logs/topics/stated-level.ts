import { codedLevel } from './coded-level.js'
import { LEVEL_NAMES, LEVEL_OF_SYSLOG, levelNamed } from './level-words.js'
import type { StatedLevel } from './level-words.js'
import { requestFailed } from './request-status.js'

const FIELD = new RegExp(
  `\\b(?:level|severity|lvl|log_?level|(?:entry_?)?type(?==critical))"?\\s*[=:]\\s*"?(${LEVEL_NAMES})\\b`,
  'i',
)
/** In capitals; behind a dot as in `production.CRITICAL:`. */
const BARE = new RegExp(`(?:^|[\\s[(|<!]|\\w\\.(?=[A-Z]+:))(${LEVEL_NAMES})(?=[\\s\\]):|>[!]|$)`)
/** In brackets in any case, behind the part of the program perhaps: `[crit]`, `[core:emerg]`. */
const BRACKETED = new RegExp(`[[<(](?:[\\w-]+:)?(${LEVEL_NAMES})[\\])>]`, 'i')
/** At the start in any case, with something behind it that no sentence has there: `fail: Shop[0]`, `Critical,2026-…`. */
const LEADING = new RegExp(`^(FAIL|DBUG|TRCE|${LEVEL_NAMES})(?::\\s|,|\\t)`, 'i')
/** Behind a time in any case. */
const BEHIND_TIME = new RegExp(`^\\S*\\d\\d:\\d\\d\\S*\\s+(${LEVEL_NAMES})\\s`, 'i')
/** Further behind a word is part of the message. */
const STATED_WITHIN = 100

/** Layouts that write a letter or a mark: klog and glog, logcat in its long and its brief form, a letter behind a time of day, Redis. */
const LETTERS: readonly RegExp[] = [
  /^([IWEF])(?:\d{4}|\d{8}) \d\d:\d\d:\d\d\.\d+ +\d+ [\w./-]+:\d+\]/,
  /^\d\d-\d\d \d\d:\d\d:\d\d\.\d+ +\d+ +\d+ ([VDIWEF]) \S/,
  /^([VDIWEF])\/[^\s(:]{1,60} *(?:\( *\d+\))?: /,
  /^(?:\S{1,30} |[\d-]{10}T)?\d\d:\d\d:\d\d\S* \[?([DIWEF])\]? \S/,
  /^\d+:[MSCX] \d\d \w{3} \d{4} \d\d:\d\d:\d\d\.\d+ ([.*#-]) /,
  // What MySQL calls neither an error nor a warning
  /^[-\dT:.Z+]+(?: {1,2}[\d:]{7,8})?(?: \d+)? \[(Note|System)\] /,
]
const LETTER_LEVELS: ReadonlyMap<string, StatedLevel> = new Map([
  ...['V', 'D', 'I', '.', '*', '-', 'Note', 'System'].map((letter) => [letter, 'quiet'] as const),
  ...(['W', '#'] as const).map((letter) => [letter, 'warn'] as const),
  ['E', 'error'],
  ['F', 'fatal'],
])

/** The priority that syslog puts first: eight times the facility, and the severity (RFC 5424 section 6.2.1). */
const PRIORITY = /^<(\d{1,3})>/

/** The level that a line states: as a field (`level=warn`), as a word near its beginning, by a letter of its layout, or by the status of a request. */
export function statedLevel(text: string): StatedLevel | undefined {
  const coded = codedLevel(text)
  if (coded !== undefined) return coded
  const start = text.slice(0, STATED_WITHIN)
  const name = (BARE.exec(start) ??
    FIELD.exec(text) ??
    BRACKETED.exec(start) ??
    LEADING.exec(start) ??
    BEHIND_TIME.exec(start))?.[1]
  if (name !== undefined) {
    const level = levelNamed(name) ?? (/^fail$/i.test(name) ? 'error' : 'quiet')
    // Many write every request at INFO, whatever became of it.
    return level === 'quiet' && requestFailed(text) === true ? 'error' : level
  }
  return levelOfLayout(start) ?? levelOfRequest(text)
}

/** The same of PostgreSQL, which writes two blanks behind its levels. */
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
