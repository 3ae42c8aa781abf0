import { spawnSync } from 'node:child_process'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

import { median } from 'd3-array'

import { partsOf, readFlags, runParts, table } from '../lib/report.js'
import { PROGRAM, opaPeers, startOpa, startTidegate, waitedForSeconds, withFolder } from '../lib/servers.js'
import type { Server } from '../lib/servers.js'
import { saveFile, writeBindings, writePackages } from './generate.js'
import { measure } from './measure.js'
import type { Change } from './measure.js'

/**
 * `make bench-growth`: cost of many packages and large data compared with OPA, and whether every
 * number of packages loads.
 */

const flags = readFlags({
  only: ['packages,data', 'some of packages,data,counts'],
  packages: ['100,300,1000,3000', 'numbers of packages'],
  data: ['1,10,50,100', 'megabytes of data'],
  decisions: ['200', 'maximum number of decisions'],
  reloads: ['10', 'saves of a policy before memory is measured again'],
  opa: ['', 'additional opa programs to compare, as PATH,PATH'],
  counts: ['1-800', 'range of numbers of packages to load'],
  step: ['1', 'step within this range'],
  beside: ['', 'a folder of policies to add to each set'],
})
const MB = 1_000_000
/** Short runs are repeated and the median is used, because CPU time has a resolution of 10 ms. */
const [SOON_SECONDS, RUNS] = [2, 7]
const COLUMNS = 'size | server | build CPU s | load CPU s | decision CPU ms | MB | peak MB | MB after reloads'

interface Growth {
  readonly size: string
  readonly policies: string
  readonly input: unknown
  readonly tidegatePath: string
  readonly opaPath: string
  readonly change?: Change | undefined
}

type Row = ReturnType<typeof table>

async function packages(): Promise<void> {
  const row = table('Packages of two rules, all evaluated for 20 stages', COLUMNS)
  for (const count of partsOf(flags.packages).map(Number)) {
    await withFolder(async (directory) => {
      const policies = join(directory, 'policies')
      const input = writePackages(policies, count)
      const file = join(policies, 'team0', 'policy.rego')
      const text = readFileSync(file, 'utf8')
      const make = (number: number): void => saveFile(file, `${text}\nrevision := "change ${number}."\n`)
      const change = { times: Number(flags.reloads), make, path: '/v1/data/static/team0/revision' }
      const paths = { tidegatePath: '/v1/staticPolicy/eval', opaPath: '/v1/data/static' }
      const growth = { size: `${count} packages`, policies, input, ...paths }
      await measureAll({ ...growth, ...(change.times > 0 && { change }) }, directory, row)
    })
  }
}

async function data(): Promise<void> {
  const row = table('Role bindings, one read per decision', COLUMNS)
  for (const megabytes of partsOf(flags.data).map(Number)) {
    await withFolder(async (directory) => {
      const policies = join(directory, 'policies')
      const input = writeBindings(policies, megabytes * MB)
      const path = '/v1/data/access/allow'
      await measureAll(
        { size: `${megabytes} MB of data`, policies, input, tidegatePath: path, opaPath: path },
        directory,
        row,
      )
    })
  }
}

/** Starts each server once, one after the other, and prints a line for each. */
async function measureAll(growth: Growth, directory: string, row: Row): Promise<void> {
  const { policies } = growth
  const bundle = join(directory, 'bundle.tar.gz')
  const args = growth.change === undefined ? [] : ['--watch']
  await measureRow(
    growth,
    {
      name: 'tidegate',
      path: growth.tidegatePath,
      build: [process.execPath, PROGRAM, 'build', policies, '-o', bundle],
    },
    // One process only, because the measurement covers one.
    () => startTidegate({ directory, policies, args, config: { server: { workers: 1 } } }),
    row,
  )
  const entrypoint = growth.opaPath.replace('/v1/data/', '')
  for (const peer of await opaPeers(flags.opa)) {
    await measureRow(
      growth,
      {
        name: peer.name,
        path: growth.opaPath,
        build: [peer.path, 'build', '-t', 'wasm', '-e', entrypoint, '-o', bundle, policies],
      },
      () => startOpa(peer, { directory, policies, args }),
      row,
    )
  }
}

async function measureRow(
  { size, ...growth }: Growth,
  { name, path, build }: { readonly name: string; readonly path: string; readonly build: readonly string[] },
  start: () => Promise<Server>,
  row: Row,
): Promise<void> {
  try {
    const buildSeconds = cpuSecondsOf(build)
    const measured = await measure(await start(), { ...growth, path, decisions: Number(flags.decisions) })
    const { loadSeconds, decisionMs, residentMb, peakMb, reloadedMb } = measured
    row(size, name, buildSeconds, loadSeconds, decisionMs, residentMb, peakMb, reloadedMb)
  } catch (raw) {
    console.error(`${size}, ${name}: ${String(raw)}`)
    process.exitCode = 1
  }
}

/**
 * CPU seconds of a program until its end, including child processes. Throws if it fails. Needs
 * /proc.
 */
function cpuSecondsOf([program = '', ...args]: readonly string[]): number {
  // Node.js reads these certificates at each start. Those of a system take 35 ms.
  const env = { ...process.env, NODE_EXTRA_CA_CERTS: '' }
  const runs: number[] = []
  do {
    const before = waitedForSeconds()
    const { status, stderr } = spawnSync(program, args, { env, encoding: 'utf8' })
    if (status !== 0) throw new Error(`${program} ended with ${String(status)}: ${stderr}`)
    runs.push(waitedForSeconds() - before)
  } while ((runs[0] ?? 0) < SOON_SECONDS && runs.length < RUNS)
  return median(runs) ?? Number.NaN
}

/** Compiles and loads sets of 1, 2, 3 … packages and evaluates the last package of each set. */
async function counts(): Promise<void> {
  const [first = 1, last = first] = flags.counts.split('-').map(Number)
  const row = table(
    'Sets of packages that load and deny as expected',
    'numbers of packages | loaded | failed',
  )
  await withFolder((directory) => {
    let [loaded, failed] = [0, 0]
    for (let count = 1; count <= last; count += 1) {
      const reason = `stages of this kind are refused: no ${count}`
      const rule = `deny[message] { input.stage == "kind${count}"; message := "${reason}" }`
      mkdirSync(join(directory, `p${count}`))
      writeFileSync(
        join(directory, `p${count}`, 'policy.rego'),
        `package static.generated${count}\n${rule}\n`,
      )
      if (count < first || (count - first) % Number(flags.step) !== 0) continue
      const problem = problemOf([...partsOf(flags.beside), directory], count, reason)
      if (problem === undefined) loaded += 1
      else failed += 1
      if (problem !== undefined) console.error(`${count} packages: ${problem}`)
    }
    row(`${first} to ${last}, every ${flags.step}`, loaded, failed)
    if (failed > 0) process.exitCode = 1
    return Promise.resolve()
  })
}

/** The problem of a set. Undefined if it loads and denies as expected. */
function problemOf(directories: readonly string[], count: number, reason: string): string | undefined {
  const policies = directories.flatMap((path) => ['--policies', path])
  const args = [PROGRAM, 'eval', ...policies, '--entrypoint', `static/generated${count}/deny`, '--input', '-']
  const input = JSON.stringify({ stage: `kind${count}` })
  const { status, stdout, stderr } = spawnSync(process.execPath, args, { input, encoding: 'utf8' })
  if (status !== 0) return stderr.trim()
  return stdout === `{"result":["${reason}"]}\n` ? undefined : `answers ${stdout.trim()}`
}

await runParts(flags.only, { packages, data, counts })
