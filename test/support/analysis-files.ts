const MINUTE_MS = 60_000
/** How far back the files go. */
export const HISTORY_MINUTES = 120

/** The points of the last minutes around a level, in milliseconds, as a file of a source. */
export function latencies(level: number, minutes = HISTORY_MINUTES): string {
  const firstMs = Math.floor(Date.now() / MINUTE_MS - minutes) * MINUTE_MS
  const rows = Array.from({ length: minutes }, (_, minute) => {
    const atMs = firstMs + minute * MINUTE_MS
    return `${new Date(atMs).toISOString()},${level * (1 + 0.05 * Math.sin(minute * 2.4))}`
  })
  return `time,latency\n${rows.join('\n')}\n`
}
