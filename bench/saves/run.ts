import { mkdirSync, readFileSync, renameSync, rmSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'

import { max, median } from 'd3-array'

import { LIBRARY_FILE, saveFile, writeBindings, writePackages } from '../growth/generate.js'
import { partsOf, readFlags, table } from '../lib/report.js'
import { startTidegate, withFolder } from '../lib/servers.js'
import { Probes } from './probes.js'

/**
 * `make bench-saves`: time from a saved file to serving it, by kind of change, and the latency of
 * requests during it.
 */

const flags = readFlags({
  only: ['', 'some of the kinds, by their names; all by default'],
  packages: ['1000', 'packages of two rules, which use one library'],
  megabytes: ['5', 'megabytes of data'],
  workers: ['1,2', 'processes that decide, as a list'],
  saves: ['3', 'saves of each kind; the median is printed'],
  rate: ['200', 'small decisions per second during it'],
  connections: ['8', 'connections of these decisions'],
  pauseSeconds: ['1', 'pause between two saves'],
})
/** The package whose answer shows which version is served. */
const VERSION_PACKAGE = 'team7'
const CHECKED_OUT = 200

/**
 * Policies mounted like a Kubernetes ConfigMap: the directory is a symbolic link that is replaced as
 * a whole.
 */
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

  /** Each returns the text that every answer contains once the change is served. */
  readonly kinds: Readonly<Record<string, () => string | Promise<string>>> = {
    'a policy': () => this.tell(),
    'a library used by all': () => {
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

  /** Writes the policies to a new directory and points the link to it. */
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

  /** Changes the answer of the evaluated package. */
  tell(directory = this.current): string {
    this.#mark += 1
    const revision = `revision := {"mark": "m${this.#mark}.", "library": data.lib.accounts.revision, "data": data.mark, "end": 0}`
    this.#save(VERSION_PACKAGE, `deny contains "no" if input.never\n\n${revision}`, directory)
    return `m${this.#mark}.`
  }

  #of(name: string): string {
    return join(this.current, name)
  }

  #save(name: string, rules: string, directory = this.current): void {
    mkdirSync(join(directory, name), { recursive: true })
    saveFile(join(directory, name, 'policy.rego'), `package static.${name}\n\nimport rego.v1\n\n${rules}\n`)
  }

  /** Large data with a marker. */
  #saveData(directory: string): void {
    this.#mark += 1
    const file = join(directory, 'data.json')
    saveFile(file, readFileSync(file, 'utf8').replace(/^\{(?:"mark":\d+,)?/, `{"mark":${this.#mark},`))
  }
}

/** Duration of one save, in milliseconds. */
interface Save {
  readonly servedMs: number
  readonly cpuMs: number
  readonly longestMs: number
}

/** A service that watches its policies and receives requests. */
async function measure(
  workers: number,
  directory: string,
  row: (...cells: (string | number)[]) => void,
): Promise<void> {
  const files = new Files(directory)
  const config = { server: { workers } }
  const server = await startTidegate({
    directory: join(directory, 'service'),
    policies: files.current,
    args: ['--watch'],
    config,
  })
  const url = `${server.url}/v1/data/static/${VERSION_PACKAGE}/revision`
  const probes = new Probes(url, Number(flags.connections), Number(flags.rate))
  const saveOnce = async (change: () => string | Promise<string>): Promise<Save> => {
    probes.takeLongestMs()
    const cpuBefore = server.cpuSeconds()
    const said = await change()
    const savedAt = performance.now()
    await probes.untilAllSay(said)
    const servedMs = performance.now() - savedAt
    const cpuMs = (server.cpuSeconds() - cpuBefore) * 1000
    await sleep(Number(flags.pauseSeconds) * 1000)
    return { servedMs, cpuMs, longestMs: probes.takeLongestMs() }
  }
  try {
    await saveOnce(() => files.tell())
    const wanted = partsOf(flags.only)
    for (const [name, change] of Object.entries(files.kinds)) {
      if (wanted.length > 0 && !wanted.includes(name)) continue
      const saves: Save[] = []
      for (let round = 0; round < Number(flags.saves); round += 1) saves.push(await saveOnce(change))
      const served = saves.map(({ servedMs }) => servedMs)
      const measurements = [
        median(served),
        max(served),
        median(saves, ({ cpuMs }) => cpuMs),
        max(saves, ({ longestMs }) => longestMs),
      ]
      row(name, workers, ...measurements.map((ms) => Math.round(ms ?? Number.NaN)))
    }
  } finally {
    await probes.stop()
    await server.end()
  }
}

const columns = 'change | processes | serves ms | max ms | CPU ms | longest request ms'
const row = table(
  `${flags.packages} packages, ${flags.megabytes} MB of data, ${flags.rate} decisions per second`,
  columns,
)
for (const workers of partsOf(flags.workers).map(Number))
  await withFolder((directory) => measure(workers, directory, row))
