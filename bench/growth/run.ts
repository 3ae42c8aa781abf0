import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'

import { findOpa } from '../../src/pdp/opa/find-opa.js'
import { writeBindings, writePackages } from './generate.js'
import { measure } from './measure.js'
import type { Figures, Measured } from './measure.js'

const { values: flags } = parseArgs({
  options: {
    packages: { type: 'string', default: '100,300,1000,3000' },
    /** Megabytes of data. */
    data: { type: 'string', default: '1,10,50,100' },
    decisions: { type: 'string', default: '200' },
    /** More `opa` programs to measure beside the one in use, as PATH,PATH; those of BENCH_OPA too. */
    opa: { type: 'string', default: '' },
  },
})
const MB = 1_000_000
const LIMIT_MS = 300_000
const FIRST_PORT = 18_200

interface Question {
  readonly directory: string
  readonly input: unknown
  readonly tidegatePath: string
  readonly opaPath: string
}

let port = FIRST_PORT

/** Starts each server once for each size, one after the other, and prints a row for each. */
async function main(): Promise<void> {
  const temporary = mkdtempSync(join(tmpdir(), 'tidegate-growth-'))
  const opas = [
    (await findOpa({ env: process.env })).path,
    ...[...flags.opa.split(','), ...(process.env['BENCH_OPA'] ?? '').split(',')].filter(isThere),
  ]
  try {
    console.log('| what | server | load, CPU s | decision, CPU ms | MB | peak MB |')
    console.log('| ---- | ------ | ----------- | ---------------- | -- | ------- |')
    for (const count of sizes(flags.packages)) {
      const directory = join(temporary, `packages-${count}`)
      const input = writePackages(directory, count)
      const paths = { tidegatePath: '/v1/staticPolicy/eval', opaPath: '/v1/data/static' }
      await printRows(`${count} packages`, { directory, input, ...paths }, opas, temporary)
    }
    for (const size of sizes(flags.data)) {
      const directory = join(temporary, `data-${size}`)
      const input = writeBindings(directory, size * MB)
      const path = '/v1/data/access/allow'
      await printRows(
        `${size} MB of data`,
        { directory, input, tidegatePath: path, opaPath: path },
        opas,
        temporary,
      )
    }
  } finally {
    rmSync(temporary, { recursive: true, force: true })
  }
}

async function printRows(
  what: string,
  question: Question,
  opas: readonly string[],
  temporary: string,
): Promise<void> {
  const body = JSON.stringify({ input: question.input })
  const common = { body, decisions: Number(flags.decisions), limitMs: LIMIT_MS }
  const { directory } = question
  const serve = [process.execPath, 'dist/cli.js', 'serve', '--policies', directory]
  const own = [...serve, '--data-dir', join(temporary, `store-${port}`)]
  await printRow(what, 'tidegate', (address) => ({
    ...common,
    command: [...own, '--addr', address],
    url: `http://${address}`,
    path: question.tidegatePath,
  }))
  for (const opa of opas) {
    await printRow(what, opa, (address) => ({
      ...common,
      command: [opa, 'run', '--server', '--addr', address, directory],
      url: `http://${address}`,
      path: question.opaPath,
    }))
  }
}

async function printRow(what: string, server: string, at: (address: string) => Measured): Promise<void> {
  port += 1
  const row = await measure(at(`127.0.0.1:${port}`)).then(
    ({ loadSeconds, decisionMs, residentMb, peakMb }: Figures) =>
      `${loadSeconds.toFixed(2)} | ${decisionMs.toFixed(2)} | ${residentMb.toFixed(0)} | ${peakMb.toFixed(0)}`,
    (raw: unknown) => `${String(raw)} | | |`,
  )
  console.log(`| ${what} | ${server} | ${row} |`)
}

/** A program that is not there is left out, with a word. */
function isThere(path: string): boolean {
  if (path === '') return false
  const is = existsSync(path)
  if (!is) console.error(`${path} is not there: it is left out`)
  return is
}

function sizes(list: string): number[] {
  return list
    .split(',')
    .filter((size) => size !== '')
    .map(Number)
}

await main()
