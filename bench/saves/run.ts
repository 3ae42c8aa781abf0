import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'

import { LIBRARY_FILE, saveFile, writePackages } from '../growth/generate.js'
import { startWatchedService } from './watched-service.js'

const { values: flags } = parseArgs({
  options: {
    packages: { type: 'string', default: '1000' },
    /** Has all packages call one library, and saves that. */
    library: { type: 'boolean', default: false },
    /** How many processes decide. */
    workers: { type: 'string', default: '1,2' },
    saves: { type: 'string', default: '10' },
    /** Small decisions a second meanwhile, over so many connections. */
    rate: { type: 'string', default: '200' },
    connections: { type: 'string', default: '8' },
    /** Between two saves: longer than it takes until all has been compiled together again. */
    pauseSeconds: { type: 'string', default: '8' },
    port: { type: 'string', default: '18190' },
  },
})

/** What one save took. */
interface Save {
  readonly servedMs: number
  readonly cpuMs: number
  readonly longestRequestMs: number
}

/** Saves one of many packages again and again while small decisions are asked for, with so many processes; prints a row. */
async function measureSaves(workers: number, directory: string): Promise<string> {
  const policies = join(directory, `policies-${workers}`)
  writePackages(policies, Number(flags.packages), flags.library)
  const saved = flags.library
    ? { name: LIBRARY_FILE, path: 'lib/accounts' }
    : { name: join('team7', 'policy.rego'), path: 'static/team7' }
  const { probes, cpuSeconds, takeLongestTurnMs, stop } = await startWatchedService({
    policies,
    workers,
    port: Number(flags.port) + workers,
    directory,
    asked: `${saved.path}/revision`,
    connections: Number(flags.connections),
    rate: Number(flags.rate),
  })
  try {
    const file = join(policies, saved.name)
    const text = readFileSync(file, 'utf8')
    const saveOnce = async (number: number): Promise<Save> => {
      const cpuBefore = cpuSeconds()
      probes.takeLongestMs()
      const begun = performance.now()
      saveFile(file, `${text}\nrevision := "save ${number}."\n`)
      await probes.untilAllSay(`save ${number}.`)
      const servedMs = performance.now() - begun
      const cpuMs = (cpuSeconds() - cpuBefore) * 1000
      // All is compiled together once more.
      await sleep(Number(flags.pauseSeconds) * 1000)
      return { servedMs, cpuMs, longestRequestMs: probes.takeLongestMs() }
    }
    await saveOnce(0)
    takeLongestTurnMs()
    const saves: Save[] = []
    for (let number = 1; number <= Number(flags.saves); number += 1) saves.push(await saveOnce(number))
    return row(workers, saves, takeLongestTurnMs())
  } finally {
    await stop()
  }
}

function row(workers: number, saves: readonly Save[], longestTurnMs: number): string {
  const of = (key: keyof Save): number[] => saves.map((save) => save[key]).sort((a, b) => a - b)
  const median = (values: readonly number[]): number => values[values.length >> 1] ?? 0
  const [served, cpu, longest] = [of('servedMs'), of('cpuMs'), of('longestRequestMs')]
  const cells = [
    workers,
    `${median(served).toFixed(0)} (${served.at(-1)?.toFixed(0)})`,
    median(cpu).toFixed(0),
    `${median(longest).toFixed(0)} (${longest.at(-1)?.toFixed(0)})`,
    longestTurnMs.toFixed(0),
  ]
  return `| ${cells.join(' | ')} |`
}

const directory = mkdtempSync(join(tmpdir(), 'tidegate-saves-'))
try {
  console.log(
    `${flags.packages} packages, ${flags.saves} saves, ${flags.rate} decisions a second; medians (and the worst)`,
  )
  console.log(
    '| processes | save to serving, ms | CPU until then, ms | longest request, ms | longest turn on a core, ms |',
  )
  console.log(
    '| --------- | ------------------- | ------------------ | ------------------- | -------------------------- |',
  )
  for (const workers of flags.workers.split(',').map(Number))
    console.log(await measureSaves(workers, directory))
} finally {
  rmSync(directory, { recursive: true, force: true })
}
