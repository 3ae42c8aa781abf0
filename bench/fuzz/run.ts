import { parseArgs } from 'node:util'

import { fuzzHttp } from '../../test/support/fuzz/fuzz-http.js'
import { ask } from '../../test/support/http-client.js'
import { startTidegate } from '../../test/support/tidegate-process.js'
import { makeWorkspace } from '../../test/support/workspace.js'

const { values: flags } = parseArgs({
  options: {
    requests: { type: 'string', default: '200000' },
    seed: { type: 'string', default: '1' },
    callers: { type: 'string', default: '50' },
  },
})
const CHEAP_EVERY_MS = 100

const workspace = makeWorkspace()
workspace.write({ 'policies/app.rego': 'package app\n\nimport rego.v1\n\nallow := true\n' })
const tidegate = await startTidegate({ workspace })
const waits: number[] = []
const cheap = setInterval(() => {
  const startedAt = performance.now()
  void ask(tidegate.url, { path: '/health' }).then(
    () => waits.push(performance.now() - startedAt),
    () => waits.push(Number.NaN),
  )
}, CHEAP_EVERY_MS)
const { sent, statuses, complaints } = await fuzzHttp(tidegate.url, {
  requests: Number(flags.requests),
  seed: Number(flags.seed),
  atOnce: Number(flags.callers),
})
clearInterval(cheap)
const isAlive = tidegate.isRunning()
const code = isAlive ? await tidegate.end('SIGTERM') : 'dead'
const byStatus = [...statuses].sort(([a], [b]) => a - b).map(([status, count]) => `${status}: ${count}`)
const answered = waits.filter((ms) => !Number.isNaN(ms)).sort((a, b) => a - b)
console.log(
  `${sent} malformed requests: ${isAlive ? 0 : 1} exits, ${complaints.length} undocumented or missing answers (${byStatus.join(', ')}); ` +
    `${waits.length} cheap requests beside them, ${waits.length - answered.length} failed, longest ${Math.round(answered.at(-1) ?? 0)} ms; exit code ${code}`,
)
for (const complaint of complaints.slice(0, 20)) console.log(`  ${JSON.stringify(complaint)}`)
workspace.remove()
process.exitCode = complaints.length === 0 && code === 0 ? 0 : 1
