import { spawn, spawnSync } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { closeSync, mkdtempSync, openSync, rmSync } from 'node:fs'
import { request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'

import { treeCpuSeconds, treeMemory } from '../process-tree.js'
import type { HeldMemory } from '../process-tree.js'

const { values: flags } = parseArgs({
  options: {
    runs: { type: 'string', default: '9' },
    /** How many processes decide; `default` leaves it to the program. */
    workers: { type: 'string', default: '1,2' },
    policies: { type: 'string', default: 'bundle,sources' },
    /** How long a service that has answered one decision has nothing to do before its memory is read. */
    idleSeconds: { type: 'string', default: '10' },
    /** The program: that of another build, to be compared with. */
    program: { type: 'string', default: 'dist/cli.js' },
    port: { type: 'string', default: '18290' },
  },
})
const POLL_MS = 2
const LIMIT_MS = 30_000
const DECISION = '/v1/data/static/manual_judgment'

/** One start, and what is held some seconds later. */
interface Start {
  readonly wallMs: number
  /** Until the first decision is answered, and some seconds later, when everything has been started. */
  readonly cpuMs: number
  readonly settledCpuMs: number
  readonly memory: HeldMemory
}

/** Starts the service in a directory, asks until it decides, and ends it. */
async function measureStart(args: readonly string[], workers: string, directory: string): Promise<Start> {
  const output = openSync(join(directory, 'service.log'), 'a')
  const env = workers === 'default' ? process.env : { ...process.env, TIDEGATE_SERVER_WORKERS: workers }
  const address = `127.0.0.1:${flags.port}`
  const command = [flags.program, 'serve', '--addr', address, '--data-dir', join(directory, 'data'), ...args]
  const begun = performance.now()
  const child = spawn(process.execPath, command, { stdio: ['ignore', output, output], env })
  closeSync(output)
  try {
    await untilDecided(`http://${address}${DECISION}`, child)
    const wallMs = performance.now() - begun
    const { pid = 0 } = child
    const cpuMs = treeCpuSeconds(pid) * 1000
    await sleep(Number(flags.idleSeconds) * 1000)
    return { wallMs, cpuMs, settledCpuMs: treeCpuSeconds(pid) * 1000, memory: treeMemory(pid) }
  } finally {
    await end(child)
  }
}

async function untilDecided(url: string, child: ChildProcess): Promise<void> {
  const begun = performance.now()
  while (!(await isDecided(url))) {
    if (child.exitCode !== null) throw new Error(`it ended with ${child.exitCode} before it decided`)
    if (performance.now() - begun > LIMIT_MS) throw new Error('it did not decide in time')
    await sleep(POLL_MS)
  }
}

function isDecided(url: string): Promise<boolean> {
  return new Promise((resolve) => {
    const sent = request(url, { method: 'POST', agent: false })
    sent.on('response', (response) => {
      response.resume()
      response.on('end', () => resolve(response.statusCode === 200))
    })
    sent.on('error', () => resolve(false))
    sent.end('{"input":{"pipeline":{"stages":[]}}}')
  })
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null) return
  const ended = new Promise((resolve) => child.once('exit', resolve))
  child.kill('SIGTERM')
  await ended
}

/** Measures starts of one kind; each has an empty data directory. */
async function measureRow(policies: string, workers: string, bundle: string): Promise<string> {
  const args = policies === 'bundle' ? ['--bundle', bundle] : ['--policies', 'policies']
  const starts: Start[] = []
  for (let run = 0; run < Number(flags.runs); run += 1) {
    const directory = mkdtempSync(join(tmpdir(), 'tidegate-start-'))
    try {
      starts.push(await measureStart(args, workers, directory))
    } finally {
      rmSync(directory, { recursive: true, force: true })
    }
  }
  const of = (read: (start: Start) => number): string => {
    const values = starts.map(read).sort((a, b) => a - b)
    return `${values[values.length >> 1]?.toFixed(0)} (${values[0]?.toFixed(0)}–${values.at(-1)?.toFixed(0)})`
  }
  const cells = [
    policies,
    workers,
    of(({ memory }) => memory.processes),
    of(({ wallMs }) => wallMs),
    of(({ cpuMs }) => cpuMs),
    of(({ settledCpuMs }) => settledCpuMs),
    of(({ memory }) => memory.residentMb),
    of(({ memory }) => memory.proportionalMb),
  ]
  return `| ${cells.join(' | ')} |`
}

const directory = mkdtempSync(join(tmpdir(), 'tidegate-start-'))
try {
  const bundle = join(directory, 'bundle.tar.gz')
  const built = spawnSync(process.execPath, [flags.program, 'build', 'policies', '-o', bundle])
  if (built.status !== 0) throw new Error(built.stderr.toString())
  console.log(`the shipped policies, an empty data directory, ${flags.runs} starts; medians (and the range)`)
  console.log(
    `| policies | server.workers | processes | first decision, ms | CPU until then, ms | CPU ${flags.idleSeconds} s later, ms | resident, all processes, MB | proportional, MB |`,
  )
  console.log('| --- | --- | --- | --- | --- | --- | --- | --- |')
  for (const policies of flags.policies.split(','))
    for (const workers of flags.workers.split(',')) console.log(await measureRow(policies, workers, bundle))
} finally {
  rmSync(directory, { recursive: true, force: true })
}
