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

/** The level that a line states, as a field (`level=warn`) or in capitals near its beginning. */
export function statedLevel(text: string): StatedLevel | undefined {
  const name = (BARE.exec(text.slice(0, STATED_WITHIN)) ?? FIELD.exec(text))?.[1]
  return name === undefined ? undefined : LEVEL_OF.get(name.toUpperCase())
}
