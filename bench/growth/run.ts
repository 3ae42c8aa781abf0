import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'

import { opaPeers } from '../opa-programs.js'
import type { OpaPeer } from '../opa-programs.js'
import { cpuSecondsOf } from './compile-alone.js'
import { drawCharts } from './draw-curves.js'
import type { Curve } from './draw-curves.js'
import { saveFile, writeBindings, writePackages } from './generate.js'
import { measure } from './measure.js'
import type { Change, Figures, Measured } from './measure.js'

const { values: flags } = parseArgs({
  options: {
    packages: { type: 'string', default: '100,300,1000,3000' },
    /** Megabytes of data. */
    data: { type: 'string', default: '1,10,50,100' },
    decisions: { type: 'string', default: '200' },
    /** How often a policy is saved, before memory is looked at once more. */
    reloads: { type: 'string', default: '10' },
    /** A folder for curves as SVG; none are drawn where it is empty. */
    pictures: { type: 'string', default: '' },
    /** More `opa` programs to measure beside the one in use, as PATH,PATH; those of BENCH_OPA too. */
    opa: { type: 'string', default: '' },
  },
})
const CLI = 'dist/cli.js'
const MB = 1_000_000
const LIMIT_MS = 300_000
const FIRST_PORT = 18_200

interface Question {
  readonly what: string
  readonly size: number
  readonly directory: string
  readonly input: unknown
  readonly tidegatePath: string
  readonly opaPath: string
  readonly change: Change | undefined
}

/** What was seen of one server at one size. */
interface Row extends Partial<Figures> {
  readonly size: number
  readonly server: string
  /** CPU seconds of compiling alone; undefined where that was not measured. */
  readonly buildSeconds: number | undefined
}

let port = FIRST_PORT

/** Starts each server once for each size, one after the other, and prints a row for each. */
async function main(): Promise<void> {
  const temporary = mkdtempSync(join(tmpdir(), 'tidegate-growth-'))
  const opas = await opaPeers(flags.opa)
  try {
    console.log(
      '| what | server | build, CPU s | load, CPU s | decision, CPU ms | MB | peak MB | MB after reloads |',
    )
    console.log('| ---- | ------ | --- | --- | --- | -- | -- | -- |')
    const packages: Row[] = []
    for (const size of sizes(flags.packages))
      packages.push(...(await measureAll(packagesOf(size, temporary), opas, temporary)))
    const data: Row[] = []
    for (const size of sizes(flags.data))
      data.push(...(await measureAll(dataOf(size, temporary), opas, temporary)))
    if (flags.pictures !== '') drawAll(packages, data)
  } finally {
    rmSync(temporary, { recursive: true, force: true })
  }
}

function packagesOf(size: number, temporary: string): Question {
  const directory = join(temporary, `packages-${size}`)
  const input = writePackages(directory, size)
  const file = join(directory, 'team0', 'policy.rego')
  const text = readFileSync(file, 'utf8')
  const make = (number: number): void => {
    saveFile(file, `${text}\nrevision := "change ${number}."\n`)
  }
  const paths = { tidegatePath: '/v1/staticPolicy/eval', opaPath: '/v1/data/static' }
  const change = { make, path: '/v1/data/static/team0/revision' }
  return { what: `${size} packages`, size, directory, input, ...paths, change }
}

function dataOf(size: number, temporary: string): Question {
  const directory = join(temporary, `data-${size}`)
  const input = writeBindings(directory, size * MB)
  const path = '/v1/data/access/allow'
  const paths = { tidegatePath: path, opaPath: path }
  return { what: `${size} MB of data`, size, directory, input, ...paths, change: undefined }
}

async function measureAll(question: Question, opas: readonly OpaPeer[], temporary: string): Promise<Row[]> {
  const body = JSON.stringify({ input: question.input })
  const { directory, change } = question
  const times = Number(flags.reloads)
  const reloads = change === undefined || times === 0 ? undefined : { times, change }
  const common = { body, decisions: Number(flags.decisions), limitMs: LIMIT_MS, reloads }
  const watch = reloads === undefined ? [] : ['--watch']
  const bundle = join(temporary, 'bundle.tar.gz')
  const own = ['serve', '--policies', directory, '--data-dir', join(temporary, `store-${port}`), ...watch]
  const ownBuild = [process.execPath, CLI, 'build', directory, '-o', bundle]
  const rows = [
    await measureRow(question, 'tidegate', ownBuild, (address) => ({
      ...common,
      command: [process.execPath, CLI, ...own, '--addr', address],
      url: `http://${address}`,
      path: question.tidegatePath,
    })),
  ]
  for (const opa of opas) {
    const entrypoint = question.opaPath.replace('/v1/data/', '')
    const build = [opa.path, 'build', '-t', 'wasm', '-e', entrypoint, '-o', bundle, directory]
    const row = await measureRow(question, opa.name, build, (address) => ({
      ...common,
      command: [opa.path, 'run', '--server', ...watch, '--addr', address, directory],
      url: `http://${address}`,
      path: question.opaPath,
    }))
    rows.push(row)
  }
  return rows
}

async function measureRow(
  { what, size }: Question,
  server: string,
  build: readonly string[],
  at: (address: string) => Measured,
): Promise<Row> {
  port += 1
  const failed = (raw: unknown): undefined => {
    console.error(`${what}, ${server}: ${String(raw)}`)
  }
  const buildSeconds = await cpuSecondsOf(build).catch(failed)
  const figures = await measure(at(`127.0.0.1:${port}`)).catch(failed)
  const { loadSeconds, decisionMs, residentMb, peakMb, reloadedMb } = figures ?? {}
  const cells = [
    ...[buildSeconds, loadSeconds, decisionMs].map((value) => value?.toFixed(2) ?? '–'),
    ...[residentMb, peakMb, reloadedMb].map((value) => value?.toFixed(0) ?? '–'),
  ]
  console.log(`| ${what} | ${server} | ${cells.join(' | ')} |`)
  return { size, server, buildSeconds, ...figures }
}

/** A picture for the sizes of policies, and one for those of data. */
function drawAll(packages: readonly Row[], data: readonly Row[]): void {
  const draw = (
    name: string,
    rows: readonly Row[],
    charts: readonly (readonly [string, keyof Row])[],
  ): void => {
    if (rows.length === 0) return
    mkdirSync(flags.pictures, { recursive: true })
    const drawn = charts.map(([title, key]) => ({ title, curves: curvesOf(rows, key) }))
    writeFileSync(join(flags.pictures, name), drawCharts(drawn))
  }
  const decision = ['a decision, CPU ms', 'decisionMs'] as const
  const memory = ['resident, MB', 'residentMb'] as const
  draw('growth-packages.svg', packages, [['build, CPU s', 'buildSeconds'], decision, memory])
  draw('growth-data.svg', data, [['load, CPU s', 'loadSeconds'], decision, memory])
}

function curvesOf(rows: readonly Row[], key: keyof Row): Curve[] {
  return [...new Set(rows.map(({ server }) => server))].map((server) => ({
    server,
    points: rows
      .filter((row) => row.server === server)
      .map((row) => ({ size: row.size, value: typeof row[key] === 'number' ? row[key] : undefined })),
  }))
}

function sizes(list: string): number[] {
  return list
    .split(',')
    .filter((size) => size !== '')
    .map(Number)
}

await main()
