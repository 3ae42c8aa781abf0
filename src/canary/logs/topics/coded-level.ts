import { LEVEL_OF_SYSLOG } from './level-words.js'
import type { StatedLevel } from './level-words.js'

/** Where in a line its layout is told. */
const LAYOUT_WITHIN = 200

/** Cisco's devices: `%LINK-3-UPDOWN: `, the severity of syslog between facility and mnemonic. */
const MNEMONIC = /(?:^|[\s:])%[A-Z][A-Z\d_]*(?:-[A-Z\d_]+)??-([0-7])-[A-Z\d_]+:/
/** ArcSight's Common Event Format: seven fields, bars within them escaped, the last one is the severity. */
const CEF = /(?:^|\s)CEF:\d\|(?:(?:[^|\\]|\\.)*\|){5}([\w-]+)\|/
/** QRadar's Log Event Extended Format. Where it may begin is bounded here and below, lest a line that repeats it take the square of its length. */
const LEEF = /^(?:.{0,200}?\s)?LEEF:[\d.]+\|.*(?:[^\w]|x\d\d)sev=(\d{1,2})(?!\w)/
/** What Windows exports of an event. */
const WINDOWS = /^<Event [^>]*>.{0,2000}?<Level>(\d)<\/Level>/s
const LAMBDA = /^REPORT RequestId: .*\bStatus: (?:timeout|error)\b/
/** The same where Lambda writes JSON. */
const LAMBDA_RECORD =
  /^.{0,200}?"type": ?"platform\.(?:report|runtimeDone)".*"status": ?"(?:timeout|error|failure)"/

/** Of CEF and LEEF, by their least numbers: low up to 3, medium up to 6, high up to 8. */
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

/** The level that a line has as a number or a word at its place in the line, whatever its words say; undefined in layouts that have no such place. */
export function codedLevel(text: string): StatedLevel | undefined {
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
