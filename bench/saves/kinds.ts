import { mkdirSync, mkdtempSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'

import { saveFile, writePackages } from '../growth/generate.js'
import type { Probes } from './probes.js'
import { startWatchedService } from './watched-service.js'

const { values: flags } = parseArgs({
  options: {
    packages: { type: 'string', default: '1000' },
    /** How many processes decide. */
    workers: { type: 'string', default: '1' },
    only: { type: 'string', default: '' },
    /** Longer than it takes until all has been compiled together again. */
    pauseSeconds: { type: 'string', default: '7' },
    port: { type: 'string', default: '18290' },
  },
})
const CONNECTIONS = 8
const RATE = 200
const DATA_BYTES = 5_000_000
const CHECKED_OUT = 200
const [STORM_MS, STORM_EVERY_MS] = [10_000, 50]
/** The package that tells what serves. */
const TOLD_BY = 'team7'

const directory = mkdtempSync(join(tmpdir(), 'tidegate-kinds-'))
/** As Kubernetes mounts a ConfigMap: the files lead through a link that is replaced as a whole. */
const [root, current] = [join(directory, 'mounted'), join(directory, 'mounted', '..data')]
let generation = 0
let mark = 0

const at = (...path: string[]): string => join(current, ...path)

/** Makes the policies anew in a directory of their own, and has the link lead there. */
function mount(): void {
  generation += 1
  const name = `..version${generation}`
  writePackages(join(root, name), Number(flags.packages))
  writeFileSync(join(root, name, 'data.json'), dataText())
  tell(join(root, name))
  symlinkSync(name, `${current}.new`)
  renameSync(`${current}.new`, current)
}

function dataText(): string {
  return JSON.stringify({
    bulk: { mark, text: Array.from({ length: DATA_BYTES / 50 }, (_, n) => `entry ${n} ${'x'.repeat(34)}`) },
  })
}

/** Another answer of the package that is asked. */
function tell(policies = current): string {
  mark += 1
  const text = `package static.${TOLD_BY}\n\nimport rego.v1\n\ndeny contains "no" if input.never\n\nrevision := {"mark": "m${mark}.", "bulk": data.bulk.mark}\n`
  saveFile(join(policies, TOLD_BY, 'policy.rego'), text)
  return `m${mark}.`
}

const text = (name: string, rule: string): string => `package static.${name}\n\nimport rego.v1\n\n${rule}\n`

/** What is done to the files; gives what every answer says once it serves. */
const KINDS: Readonly<Record<string, () => string | Promise<string>>> = {
  'a policy saved': () => tell(),
  'a policy added': () => {
    mkdirSync(at('added'))
    saveFile(at('added', 'policy.rego'), text('added', 'deny contains "added" if input.never'))
    return tell()
  },
  'a policy renamed': () => {
    renameSync(at('added'), at('renamed'))
    return tell()
  },
  'a policy removed': () => {
    rmSync(at('renamed'), { recursive: true })
    return tell()
  },
  'a data.json of 5 MB saved': () => {
    mark += 1
    saveFile(at('data.json'), dataText())
    return `"bulk":${mark},`
  },
  'a broken file repaired': async () => {
    saveFile(at('team8', 'policy.rego'), text('team8', 'deny contains if'))
    await sleep(1000)
    saveFile(at('team8', 'policy.rego'), text('team8', 'deny contains "repaired" if input.never'))
    return tell()
  },
  '200 files checked out': () => {
    for (let number = 20; number < 20 + CHECKED_OUT; number += 1) {
      const name = `team${number}`
      saveFile(at(name, 'policy.rego'), text(name, `deny contains "checked out ${mark}" if input.never`))
    }
    return tell()
  },
  'a link that leads to another directory': () => {
    mount()
    return `m${mark}.`
  },
  'a save during a save': async () => {
    tell()
    await sleep(150)
    return tell()
  },
}

async function measure(workers: number): Promise<void> {
  mount()
  const { probes, takeLongestTurnMs, stop } = await startWatchedService({
    policies: current,
    workers,
    port: Number(flags.port) + workers,
    directory,
    asked: `static/${TOLD_BY}/revision`,
    connections: CONNECTIONS,
    rate: RATE,
  })
  const wanted = flags.only.split(',').filter(Boolean)
  try {
    await probes.untilAllSay(tell())
    await sleep(Number(flags.pauseSeconds) * 1000)
    for (const [name, change] of Object.entries(KINDS)) {
      if (wanted.length > 0 && !wanted.includes(name)) continue
      probes.takeLongestMs()
      takeLongestTurnMs()
      const said = await change()
      const savedAt = performance.now()
      await probes.untilAllSay(said)
      const servedMs = performance.now() - savedAt
      await sleep(Number(flags.pauseSeconds) * 1000)
      row(workers, name, servedMs, probes.takeLongestMs(), takeLongestTurnMs())
    }
    if (wanted.length === 0 || wanted.includes('storm')) {
      takeLongestTurnMs()
      await measureStorm(workers, probes, takeLongestTurnMs)
    }
  } finally {
    await stop()
  }
}

/** Saves without a pause: how old what serves is at the most, and when the last one does. */
async function measureStorm(workers: number, probes: Probes, takeLongestTurnMs: () => number): Promise<void> {
  probes.takeLongestMs()
  const savedAt = new Map<number, number>()
  const begun = performance.now()
  let [said, stalestMs] = ['', 0]
  while (performance.now() - begun < STORM_MS) {
    said = tell()
    savedAt.set(mark, performance.now())
    await sleep(STORM_EVERY_MS)
    const served = Math.min(...probes.answers.map((answer) => Number(/m(\d+)\./.exec(answer)?.[1])))
    const next = savedAt.get(served + 1) ?? begun
    stalestMs = Math.max(stalestMs, performance.now() - next)
  }
  const endedAt = performance.now()
  await probes.untilAllSay(said)
  row(
    workers,
    'a save every 50 ms: the last',
    performance.now() - endedAt,
    probes.takeLongestMs(),
    takeLongestTurnMs(),
  )
  row(workers, 'the one that waited longest', stalestMs)
}

function row(workers: number, name: string, ...tookMs: number[]): void {
  console.log(`| ${[workers, name, ...tookMs.map((ms) => ms.toFixed(0))].join(' | ')} |`)
}

try {
  mkdirSync(root)
  console.log(`${flags.packages} packages, ${DATA_BYTES / 1e6} MB of data, ${RATE} decisions a second`)
  console.log('| processes | what | save to serving, ms | longest request, ms | longest turn on a core, ms |')
  console.log('| --------- | ---- | ------------------- | ------------------- | -------------------------- |')
  for (const workers of flags.workers.split(',').map(Number)) await measure(workers)
} finally {
  rmSync(directory, { recursive: true, force: true })
}
