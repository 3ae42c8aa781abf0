/** How layouts spell levels, in capitals; `quiet` is everything below a warning. */
export const LEVEL_SPELLINGS = {
  fatal: 'FATAL|FTL|CRITICAL|CRIT|EMERGENCY|EMERG|ALERT|DPANIC|PANIC',
  severe: 'SEVERE',
  error: 'ERROR|ERRO|EROR|ERRR|ERR|FAILURE|FEHLER|ERREUR|FOUT|HATA|BŁĄD|ОШИБКА|错误|錯誤|エラー|오류',
  warn: 'WARNING|WARNUNG|WARN|WRN|ПРЕДУПРЕЖДЕНИЕ|警告|경고',
  quiet: 'INFORMATION|INFO|INF|NOTICE|DEBUG|DBG|TRACE|TRC|FINEST|FINER|FINE|VERBOSE|VRB',
} as const

/** The level that a line states. */
export type StatedLevel = keyof typeof LEVEL_SPELLINGS

/** Levels by the severity of syslog (RFC 5424 section 6.2.1) and its followers. */
export const LEVEL_OF_SYSLOG: readonly StatedLevel[] = [
  ...(['fatal', 'fatal', 'fatal', 'error', 'warn'] as const),
  ...(['quiet', 'quiet', 'quiet'] as const),
]

/** All spellings, as the choices of a regular expression. */
export const LEVEL_NAMES = Object.values(LEVEL_SPELLINGS).join('|')

const LEVEL_OF: ReadonlyMap<string, StatedLevel> = new Map(
  (Object.keys(LEVEL_SPELLINGS) as StatedLevel[]).flatMap((level) =>
    LEVEL_SPELLINGS[level].split('|').map((name) => [name, level] as const),
  ),
)

/** The level that a word in any case means. */
export function levelNamed(word: string): StatedLevel | undefined {
  return LEVEL_OF.get(word.toUpperCase())
}
