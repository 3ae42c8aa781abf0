// Writes two hours of latencies for three versions of a service: node make-series.js FOLDER
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import process from 'node:process'

const MINUTE_MS = 60_000
const MINUTES = 120
/** Mean latency of each version, in milliseconds. */
const VERSIONS = { stable: 100, healthy: 101, slow: 140 }

const [, , folder = 'series'] = process.argv
mkdirSync(folder, { recursive: true })
const firstMs = Math.floor(Date.now() / MINUTE_MS - MINUTES) * MINUTE_MS
for (const [version, mean] of Object.entries(VERSIONS)) {
  const rows = Array.from({ length: MINUTES + 1 }, (_, minute) => {
    const time = new Date(firstMs + minute * MINUTE_MS).toISOString()
    return `${time},${(mean * (0.95 + 0.1 * Math.random())).toFixed(1)}`
  })
  writeFileSync(join(folder, `${version}.csv`), `time,latency\n${rows.join('\n')}\n`)
}
