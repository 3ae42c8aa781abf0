import { mkdirSync, readFileSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'

import { max, median } from 'd3-array'

import { LIBRARY_FILE, saveFile, writeBindings, writePackages } from '../growth/generate.js'
import { partsOf, readFlags, table } from '../lib/report.js'
import { startTidegate, withFolder } from '../lib/servers.js'
import { Probes } from './probes.js'

/** `make bench-saves`: from a saved file to serving, by what was saved, and how long requests take meanwhile. */

const flags = readFlags({
  only: ['', 'some of the kinds, by their names; all where it is empty'],
  packages: ['1000', 'of two rules each, which call one library'],
  megabytes: ['5', 'of data beside them'],
  workers: ['1,2', 'processes that decide, as a list'],
  saves: ['3', 'of each kind, of which the medians are told'],
  rate: ['200', 'small decisions a second meanwhile'],
  connections: ['8', 'over which they come'],
  pauseSeconds: ['7', 'between two saves: longer than it takes until all has been compiled together again'],
})
const TURNS = fileURLToPath(new URL('note-turns.js', import.meta.url))
/** The package that tells what serves. */
const TOLD_BY = 'team7'
const CHECKED_OUT = 200
const [STORM_MS, STORM_EVERY_MS] = [10_000, 50]

/** Policies in a folder, as Kubernetes mounts a ConfigMap: the files lead through a link that is replaced as a whole. */
class Files {
  readonly #root: string
  readonly current: string
  readonly #shared: string
  #generation = 0
  #mark = 0
  #last = Number(flags.packages) - 1

  constructor(root: string) {
    this.#root = root
    this.current = join(root, '..data')
    this.mount()
    this.#shared = readFileSync(this.#of(LIBRARY_FILE), 'utf8')
  }

  /** Each gives what every answer holds once the change serves. */
  readonly kinds: Readonly<Record<string, () => string | Promise<string>>> = {
    'a policy': () => this.tell(),
    'a library that all call': () => {
      saveFile(
        this.#of(LIBRARY_FILE),
        this.#shared.replace(/revision := .*/, `revision := ${(this.#mark += 1)}`),
      )
      return `"library":${this.#mark},`
    },
    'a policy added': () => {
      this.#save(`added${this.#mark}`, 'deny contains "added" if input.never')
      return this.tell()
    },
    'a policy renamed': () => {
      renameSync(this.#of('team9'), this.#of(`renamed${this.#mark}`))
      this.#save('team9', 'deny contains "another" if input.never')
      return this.tell()
    },
    'a policy removed': () => {
      rmSync(this.#of(`team${this.#last--}`), { recursive: true })
      return this.tell()
    },
    'a data file': () => {
      this.#saveData(this.current)
      return `"data":${this.#mark},`
    },
    'a broken file repaired': async () => {
      this.#save('team8', 'deny contains if')
      await sleep(1000)
      this.#save('team8', 'deny contains "repaired" if input.never')
      return this.tell()
    },
    '200 files checked out': () => {
      for (let number = 20; number < 20 + CHECKED_OUT; number += 1)
        this.#save(`team${number}`, `deny contains "checked out ${this.#mark}" if input.never`)
      return this.tell()
    },
    'a link to another directory': () => this.mount(),
    'a save during a save': async () => {
      this.tell()
      await sleep(150)
      return this.tell()
    },
  }

  /** Makes the policies anew in a directory of their own, and has the link lead there. */
  mount(): string {
    this.#generation += 1
    this.#last = Number(flags.packages) - 1
    const name = `..version${this.#generation}`
    const directory = join(this.#root, name)
    writeBindings(directory, Number(flags.megabytes) * 1e6)
    writePackages(directory, Number(flags.packages), true)
    saveFile(
      join(directory, LIBRARY_FILE),
      `${readFileSync(join(directory, LIBRARY_FILE), 'utf8')}\nrevision := 0\n`,
    )
    this.#saveData(directory)
    const said = this.tell(directory)
    symlinkSync(name, `${this.current}.new`)
    renameSync(`${this.current}.new`, this.current)
    return said
  }

  /** Another answer of the package that is asked. */
  tell(directory = this.current): string {
    this.#mark += 1
    const revision = `revision := {"mark": "m${this.#mark}.", "library": data.lib.accounts.revision, "data": data.mark, "end": 0}`
    this.#save(TOLD_BY, `deny contains "no" if input.never\n\n${revision}`, directory)
    return `m${this.#mark}.`
  }

  #of(name: string): string {
    return join(this.current, name)
  }

  #save(name: string, rules: string, directory = this.current): void {
    mkdirSync(join(directory, name), { recursive: true })
    saveFile(join(directory, name, 'policy.rego'), `package static.${name}\n\nimport rego.v1\n\n${rules}\n`)
  }

  /** Large, and with a mark in it. */
  #saveData(directory: string): void {
    this.#mark += 1
    const file = join(directory, 'data.json')
    saveFile(file, readFileSync(file, 'utf8').replace(/^\{(?:"mark":\d+,)?/, `{"mark":${this.#mark},`))
  }
}

type Row = (...cells: (string | number)[]) => void

/** A service that watches its policies, is asked meanwhile, and notes the longest pieces of work of the threads that decide. */
async function measure(workers: number, directory: string, row: Row): Promise<void> {
  const files = new Files(directory)
  const turnsFile = join(directory, 'turns')
  writeFileSync(turnsFile, '')
  const env = {
    NODE_OPTIONS: `${process.env['NODE_OPTIONS'] ?? ''} --import=file://${TURNS}`,
    BENCH_TURNS_FILE: turnsFile,
  }
  const config = { server: { workers } }
  const server = await startTidegate({
    directory: join(directory, 'service'),
    policies: files.current,
    args: ['--watch'],
    config,
    env,
  })
  const url = `${server.url}/v1/data/static/${TOLD_BY}/revision`
  const probes = new Probes(url, Number(flags.connections), Number(flags.rate))
  /** The longest of them since this was last asked, in milliseconds on a core; 0 where none was long. */
  const takeLongestTurnMs = (): number => {
    const noted = partsOf(readFileSync(turnsFile, 'utf8').replaceAll('\n', ','))
    writeFileSync(turnsFile, '')
    return max(noted, (line) => Number(line.split(' ')[2])) ?? 0
  }
  try {
    await probes.untilAllSay(files.tell())
    await sleep(Number(flags.pauseSeconds) * 1000)
    const wanted = partsOf(flags.only)
    const isWanted = (name: string): boolean => wanted.length === 0 || wanted.includes(name)
    const saves = new Map<string, number[][]>()
    for (let round = 0; round < Number(flags.saves); round += 1) {
      for (const [name, change] of Object.entries(files.kinds).filter(([kind]) => isWanted(kind))) {
        probes.takeLongestMs()
        takeLongestTurnMs()
        const cpuBefore = server.cpuSeconds()
        const said = await change()
        const savedAt = performance.now()
        await probes.untilAllSay(said)
        const servedMs = performance.now() - savedAt
        const cpuMs = (server.cpuSeconds() - cpuBefore) * 1000
        // All is compiled together once more.
        await sleep(Number(flags.pauseSeconds) * 1000)
        saves.set(name, [
          ...(saves.get(name) ?? []),
          [servedMs, cpuMs, probes.takeLongestMs(), takeLongestTurnMs()],
        ])
      }
    }
    for (const [name, of] of saves) {
      const [served = [], cpu = [], longest = [], turns = []] = [0, 1, 2, 3].map((figure) =>
        of.map((save) => save[figure] ?? 0),
      )
      const worst = [max(longest), max(turns)].map((ms) => Math.round(ms ?? 0))
      row(
        name,
        workers,
        ...[median(served), max(served), median(cpu)].map((ms) => Math.round(ms ?? 0)),
        ...worst,
      )
    }
    if (isWanted('storm'))
      await measureStorm(files, probes, (...figures) =>
        row('a save every 50 ms: the last, the oldest', workers, ...figures),
      )
  } finally {
    await probes.stop()
    await server.end()
  }
}

/** Saves without a pause: when the last one serves, and how old what serves is at the most. */
async function measureStorm(files: Files, probes: Probes, row: Row): Promise<void> {
  probes.takeLongestMs()
  const savedAt = new Map<number, number>()
  const markOf = (said: string): number => Number(/m(\d+)\./.exec(said)?.[1])
  const begun = performance.now()
  let [said, stalestMs] = ['', 0]
  while (performance.now() - begun < STORM_MS) {
    said = files.tell()
    savedAt.set(markOf(said), performance.now())
    await sleep(STORM_EVERY_MS)
    const next = savedAt.get(Math.min(...probes.answers.map(markOf)) + 1) ?? begun
    stalestMs = Math.max(stalestMs, performance.now() - next)
  }
  const endedAt = performance.now()
  await probes.untilAllSay(said)
  row(...[performance.now() - endedAt, stalestMs].map(Math.round), '', Math.round(probes.takeLongestMs()), '')
}

const columns =
  'what is saved | processes | serves ms | at the most | CPU ms | longest request ms | longest piece of work ms'
const row = table(
  `${flags.packages} packages, ${flags.megabytes} MB of data, ${flags.rate} decisions a second`,
  columns,
)
for (const workers of partsOf(flags.workers).map(Number))
  await withFolder((directory) => measure(workers, directory, row))
