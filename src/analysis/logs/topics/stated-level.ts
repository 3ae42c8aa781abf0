const LEVELS = {
  fatal: 'FATAL|CRITICAL|EMERG|ALERT|PANIC',
  severe: 'SEVERE',
  error: 'ERROR|ERR',
  warn: 'WARN|WARNING',
  quiet: 'INFO|NOTICE|DEBUG|TRACE|FINE|FINER|FINEST|VERBOSE',
} as const

/** What a line says of itself; `quiet` is everything below a warning. */
export type StatedLevel = keyof typeof LEVELS

const NAMES = Object.values(LEVELS).join('|')
const FIELD = new RegExp(`\\b(?:level|severity|lvl)"?\\s*[=:]\\s*"?(${NAMES})\\b`, 'i')
const BARE = new RegExp(`(?:^|[\\s[(|<])(${NAMES})(?=[\\s\\]):|>]|$)`)
/** Further behind a word in capitals is part of the message. */
const STATED_WITHIN = 100

const LEVEL_OF = new Map(
  (Object.keys(LEVELS) as StatedLevel[]).flatMap((level) =>
    LEVELS[level].split('|').map((name) => [name, level] as const),
  ),
)

/** A request in the common log format of web servers, with the class of its status. */
const REQUEST = /"[A-Z]{3,7} \S+(?: HTTP\/[\d.]+)?" ([1-5])\d\d\b/
/** The header of klog: `E0102 15:04:05.678901   12 server.go:34] …`. */
const KLOG = /^([IWEF])\d{4} \d\d:\d\d:\d\d\.\d+ +\d+ [\w./-]+:\d+\]/
const KLOG_LEVELS: Readonly<Record<string, StatedLevel>> = { I: 'quiet', W: 'warn', E: 'error', F: 'fatal' }

/** The level that a line states, as a field (`level=warn`) or in capitals near its beginning. */
export function statedLevel(text: string): StatedLevel | undefined {
  const name = (BARE.exec(text.slice(0, STATED_WITHIN)) ?? FIELD.exec(text))?.[1]
  if (name !== undefined) return LEVEL_OF.get(name.toUpperCase())
  const klog = KLOG.exec(text)?.[1]
  if (klog !== undefined) return KLOG_LEVELS[klog]
  const status = text.includes('" ') ? REQUEST.exec(text)?.[1] : undefined
  if (status === undefined) return undefined
  return status === '5' ? 'error' : 'quiet'
}
