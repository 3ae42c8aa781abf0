import { mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'

import { writeBindings } from '../growth/generate.js'
import { startWatchedService } from './watched-service.js'

const { values: flags } = parseArgs({
  options: {
    /** Of the data that is replaced by as much. */
    megabytes: { type: 'string', default: '100' },
    /** How many processes decide. */
    workers: { type: 'string', default: '1,2' },
    replacements: { type: 'string', default: '3' },
    rate: { type: 'string', default: '500' },
    pauseSeconds: { type: 'string', default: '5' },
    port: { type: 'string', default: '18390' },
  },
})
const CONNECTIONS = 16
const ASKED =
  'package generation\n\nimport rego.v1\n\nrevision := data.mark if data.bindings.users["user-1@example.com"].active\n'

/** Replaces much data by as much while decisions are asked for; prints a row each time. */
async function measure(workers: number, directory: string): Promise<void> {
  const policies = join(directory, `policies-${workers}`)
  const [file, next] = [join(policies, 'data.json'), join(directory, 'next')]
  writeBindings(policies, Number(flags.megabytes) * 1e6)
  writeFileSync(join(policies, 'generation.rego'), ASKED)
  const bindings = readFileSync(file, 'utf8').slice(1)
  writeFileSync(file, `{"mark":"m0.",${bindings}`)
  const { probes, takeLongestTurnMs, stop } = await startWatchedService({
    policies,
    workers,
    port: Number(flags.port) + workers,
    directory,
    asked: 'generation/revision',
    connections: CONNECTIONS,
    rate: Number(flags.rate),
  })
  try {
    await probes.untilAllSay('m0.')
    await sleep(Number(flags.pauseSeconds) * 1000)
    for (let mark = 1; mark <= Number(flags.replacements); mark += 1) {
      writeFileSync(next, `{"mark":"m${mark}.",${bindings}`)
      probes.takeLongestMs()
      takeLongestTurnMs()
      await sleep(1000)
      const beforeMs = probes.takeLongestMs()
      const begun = performance.now()
      renameSync(next, file)
      await probes.untilAllSay(`m${mark}.`)
      const servedMs = performance.now() - begun
      await sleep(Number(flags.pauseSeconds) * 1000)
      const figures = [servedMs, beforeMs, probes.takeLongestMs(), takeLongestTurnMs()]
      console.log(`| ${[workers, ...figures.map((ms) => ms.toFixed(0))].join(' | ')} |`)
    }
  } finally {
    await stop()
  }
}

const directory = mkdtempSync(join(tmpdir(), 'tidegate-data-'))
try {
  console.log(`${flags.megabytes} MB of data replaced by as much, ${flags.rate} decisions a second`)
  console.log(
    '| processes | until it serves, ms | longest request before, ms | meanwhile, ms | longest turn on a core, ms |',
  )
  console.log(
    '| --------- | ------------------- | -------------------------- | ------------- | -------------------------- |',
  )
  for (const workers of flags.workers.split(',').map(Number)) await measure(workers, directory)
} finally {
  rmSync(directory, { recursive: true, force: true })
}
